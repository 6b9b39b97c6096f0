// The finaliser of SplitMix64: 64 bits from 64 bits, one to one, each of which depends on all.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

inline __host__ __device__ uint64_t split_mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}
