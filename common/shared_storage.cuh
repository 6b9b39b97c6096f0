// The memory that the threads of a block share. (The emulator has a file of this name.)
#pragma once

#include <cuda_runtime.h>

// The block's dynamic shared memory, seen as one T. The launch must ask for sizeof(T) bytes
// (common/launch.h does). Any thread.
template <class T>
__device__ __forceinline__ T& shared_storage() {
  static_assert(alignof(T) <= 1024, "dynamic shared memory is aligned to 1024 bytes");
  static_assert(sizeof(T) <= 227 * 1024, "a block of sm_90 has 227 KiB of shared memory");
  extern __shared__ __align__(1024) unsigned char dynamic_shared_memory[];
  return *reinterpret_cast<T*>(dynamic_shared_memory);
}
