// The GPU's clock, for waits that end by the time; no kernel of the ladder reads it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// %globaltimer: nanoseconds of a clock that the whole GPU shares. Any thread. PTX ISA,
// "%globaltimer".
__device__ __forceinline__ uint64_t globaltimer() {
  uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}
