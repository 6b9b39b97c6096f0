// Stand-in for CUDA's fp16 header: IEEE 754 binary16, in software where the CPU has no instruction.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

struct alignas(2) __half {
  uint16_t bits;
};
struct alignas(4) __half2 {
  __half x, y;
};
using half = __half;
using half2 = __half2;

inline float __half2float(half value) {
  const uint32_t sign = (value.bits & 0x8000u) << 16;
  const uint32_t exponent = value.bits >> 10 & 0x1f;
  const uint32_t mantissa = value.bits & 0x3ff;
  uint32_t bits;
  if (exponent == 0x1f) {  // infinity, NaN
    bits = sign | 0x7f800000 | mantissa << 13;
  } else if (exponent != 0) {
    bits = sign | (exponent + 112) << 23 | mantissa << 13;
  } else {  // zero, subnormal: a multiple of 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    std::memcpy(&bits, &magnitude, sizeof(bits));
    bits |= sign;
  }
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

namespace emulator {
// Speaks if a thread of a kernel rounds what a register holds while a WGMMA owns it, or what nobody
// has set. Such values are NaN or large. (__builtin_FILE and __builtin_LINE: the caller's place.)
void check_rounded(uint32_t bits, const char* file, int line);
}  // namespace emulator

// Rounds to nearest, ties to even; magnitudes of 65520 and more become infinite.
inline half __float2half_rn(float value, const char* file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  auto round = [](uint32_t mantissa, uint32_t shift) {
    const uint32_t quotient = mantissa >> shift;
    const uint32_t rest = mantissa & ((1u << shift) - 1);
    const uint32_t tie = 1u << (shift - 1);
    return quotient + (rest > tie || (rest == tie && (quotient & 1)));
  };
  uint32_t result;
  if (magnitude >= 0x477ff000) emulator::check_rounded(bits, file, line);
  if (magnitude > 0x7f800000) {  // NaN, as the hardware makes it
    return {0x7fff};
  } else if (magnitude >= 0x477ff000) {  // 65520 and more
    result = 0x7c00;
  } else if (magnitude >= 0x38800000) {  // normal: 2^-14 and more
    result = round(magnitude - 0x38000000, 13);
  } else if (magnitude >= 0x33000000) {  // subnormal: 2^-25 and more
    result = round((magnitude & 0x7fffff) | 0x800000, 126 - (magnitude >> 23));
  } else {
    result = 0;
  }
  return {static_cast<uint16_t>(sign | result)};
}

inline half __float2half(float value, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE()) {
  return __float2half_rn(value, file, line);
}
inline half2 __floats2half2_rn(float x, float y, const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) {
  return {__float2half_rn(x, file, line), __float2half_rn(y, file, line)};
}
inline half __low2half(half2 pair) { return pair.x; }
inline half __high2half(half2 pair) { return pair.y; }
inline uint16_t __half_as_ushort(half value) { return value.bits; }
inline half __ushort_as_half(uint16_t bits) { return {bits}; }
