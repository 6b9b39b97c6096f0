// Division by a number that is fixed for a launch, without a division on the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// Divides 0 ≤ n < 2^31 by 1 ≤ divisor < 2^31, exactly: with 2^(s-1) < divisor ≤ 2^s, the quotient
// is n · ceil(2^(31+s) / divisor) / 2^(31+s), because the rounding of the multiplier adds less than
// n · divisor / 2^(31+s) < 1 part in `divisor`. The multiplier fits 32 bits. (Granlund, Montgomery:
// Division by Invariant Integers using Multiplication.)
class FastDivmod {
 public:
  struct Result {
    int quotient;
    int remainder;
  };

  __host__ __device__ explicit FastDivmod(int divisor) : divisor_(divisor) {
    uint32_t bits = 0;
    while (bits < 31 && (uint64_t{1} << bits) < static_cast<uint64_t>(divisor)) ++bits;
    if (bits == 0) return;  // divisor 1
    const uint64_t power = uint64_t{1} << (31 + bits);
    multiplier_ = static_cast<uint32_t>((power + divisor - 1) / divisor);
    shift_ = bits - 1;
  }

  __host__ __device__ Result divmod(int n) const {
    const uint32_t high =
        static_cast<uint32_t>(static_cast<uint64_t>(static_cast<uint32_t>(n)) * multiplier_ >> 32);
    const int quotient = divisor_ == 1 ? n : static_cast<int>(high >> shift_);
    return {quotient, n - quotient * divisor_};
  }

 private:
  int divisor_;
  uint32_t multiplier_ = 0;
  uint32_t shift_ = 0;
};
