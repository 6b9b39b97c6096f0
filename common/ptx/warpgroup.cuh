// The block, its warps and warp groups: who a thread is, and the memory that a block shares.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace ptx {

// elect.sync: true in one lane of the calling warp, the same one at every call. One whole warp.
// PTX ISA, "elect.sync".
__device__ __forceinline__ bool elect_sync() {
  uint32_t elected;
  asm volatile(
      "{\n"
      ".reg .pred elected;\n"
      "elect.sync _|elected, 0xffffffff;\n"
      "selp.b32 %0, 1, 0, elected;\n"
      "}"
      : "=r"(elected)
      :
      : "memory");
  return elected;
}

// shfl.sync.bfly: the `value` of the lane whose number differs from the caller's in the bits of
// `lane_mask`. One whole warp. PTX ISA, "shfl.sync".
__device__ __forceinline__ uint32_t shfl_sync_bfly(uint32_t value, uint32_t lane_mask) {
  uint32_t received;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=r"(received)
               : "r"(value), "r"(lane_mask)
               : "memory");
  return received;
}

}  // namespace ptx

// The block's dynamic shared memory, seen as one T. The launch must ask for sizeof(T) bytes
// (common/launch.h does). Any thread.
template <class T>
__device__ __forceinline__ T& shared_storage() {
  static_assert(alignof(T) <= 1024, "dynamic shared memory is aligned to 1024 bytes");
  extern __shared__ __align__(1024) unsigned char dynamic_shared_memory[];
  return *reinterpret_cast<T*>(dynamic_shared_memory);
}
