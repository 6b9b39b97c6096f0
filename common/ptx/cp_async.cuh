// cp.async: copies of 4, 8 or 16 bytes from global to shared memory that every thread starts for
// itself and that land while it goes on. A thread waits for its own copies alone: what others have
// copied is there after they have waited and a barrier has followed.
// One function is one instruction.
// The emulator has a file of this name, with the same functions: the include path chooses.
#pragma once

#include <cstdint>
#include <ptx/mbarrier.cuh>
#include <shared_address.cuh>

namespace ptx {

// cp.async.ca: starts a copy of kBytes (4, 8 or 16) from `source` in global memory to `destination`
// in the calling block's shared memory, both aligned to kBytes, by way of L1 and L2. Part of the
// calling thread's current group. Any thread. PTX ISA, "cp.async".
template <int kBytes>
__device__ __forceinline__ void cp_async_ca(void* destination, const void* source) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async.ca takes 4, 8 or 16 bytes");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(destination)),
               "l"(source), "n"(kBytes)
               : "memory");
}

// The same where only the first `source_bytes` (0 … kBytes) are read; the rest arrives as zero.
template <int kBytes>
__device__ __forceinline__ void cp_async_ca(void* destination, const void* source,
                                            uint32_t source_bytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async.ca takes 4, 8 or 16 bytes");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(destination)),
               "l"(source), "n"(kBytes), "r"(source_bytes)
               : "memory");
}

// cp.async.cg: the same for 16 bytes, 16-byte aligned, by way of L2 alone. PTX ISA, "cp.async".
__device__ __forceinline__ void cp_async_cg(void* destination, const void* source) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(destination)),
               "l"(source)
               : "memory");
}
__device__ __forceinline__ void cp_async_cg(void* destination, const void* source,
                                            uint32_t source_bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(destination)),
               "l"(source), "r"(source_bytes)
               : "memory");
}

// cp.async.commit_group: the copies that the calling thread has started since its last commit, none
// perhaps, become one group. PTX ISA, "cp.async.commit_group".
__device__ __forceinline__ void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// cp.async.wait_group: waits until at most `kPending` of the calling thread's newest groups are
// under way. It then sees what the others have copied; other threads do after a barrier, TMA and
// WGMMA after fence_proxy_async and a barrier. PTX ISA, "cp.async.wait_group".
template <int kPending>
__device__ __forceinline__ void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// cp.async.wait_all: waits for all copies of the calling thread, committed or not. PTX ISA,
// "cp.async.wait_all".
__device__ __forceinline__ void cp_async_wait_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// cp.async.mbarrier.arrive.noinc: once all copies that the calling thread has started have landed,
// counts one arrival at `barrier`, one of those that its init has counted. Who waits for the phase
// sees what was copied. PTX ISA, "cp.async.mbarrier.arrive".
__device__ __forceinline__ void cp_async_mbarrier_arrive_noinc(MBarrier* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

}  // namespace ptx
