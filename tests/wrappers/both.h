// For tests whose kernels run on either back end: on a GPU, compiled by nvcc, and in the emulator.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <launch.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace both {

// So many elements that host and device can use, zero at first.
template <class T>
class Shared {
 public:
  explicit Shared(size_t count) : count_(count) {
    if (cudaMallocManaged(&data_, count * sizeof(T)) != cudaSuccess) std::abort();
    std::memset(static_cast<void*>(data_), 0, count * sizeof(T));
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  T* get() const { return data_; }
  T& operator[](size_t i) const { return data_[i]; }
  size_t size() const { return count_; }

 private:
  T* data_ = nullptr;  // as long as the process: tests are short
  size_t count_;
};

// Launches, waits, and expects that all went well. (What a check of the emulator finds, it prints.)
template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), Grid grid, int threads, size_t shared_bytes,
         Arguments... arguments) {
  const Status status = launch(kernel, grid, threads, shared_bytes, nullptr, arguments...);
  ASSERT_TRUE(status.ok()) << status.message();
  const cudaError_t error = cudaDeviceSynchronize();
  ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
}

// Whole numbers that fp16, and bf16, hold exactly, and whose sums fp32 does.
inline float small_integer(int i) { return static_cast<float>(i * 7 % 11 - 5); }

}  // namespace both
