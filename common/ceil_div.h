// Whole-number arithmetic that hosts and kernels share.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// a / b, rounded up; 0 <= a, 0 < b.
constexpr __host__ __device__ int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
