// Thread block clusters: blocks that run at the same time and reach each other's shared memory.
// One function is one instruction. For versions whose blocks work in pairs.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace ptx {

// %cluster_ctarank: the calling block's number within its cluster, from 0. Any thread.
// PTX ISA, "%cluster_ctarank".
__device__ __forceinline__ uint32_t cluster_ctarank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// barrier.cluster.arrive: marks the calling thread as arrived at the cluster's barrier, with
// release semantics. All threads of the cluster, whole warps. PTX ISA, "barrier.cluster".
__device__ __forceinline__ void barrier_cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

// barrier.cluster.wait: waits until all threads of the cluster have arrived, with acquire
// semantics. All threads of the cluster, each after its arrive. PTX ISA, "barrier.cluster".
__device__ __forceinline__ void barrier_cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

}  // namespace ptx
