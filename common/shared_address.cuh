// The 32-bit shared-memory address that PTX instructions and matrix descriptors take.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// `pointer` must point into the calling block's shared memory. Any thread. PTX ISA, "cvta".
__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
