// A remote arrival with explicit release semantics at cluster scope, for the ablation of that name.
#pragma once

#include <ptx/mbarrier.cuh>

namespace ptx {

// As mbarrier_arrive_cluster, with .release.cluster: all that the calling thread has written is
// published to the cluster first. PTX ISA, "mbarrier.arrive".
__device__ __forceinline__ void mbarrier_arrive_release_cluster(MBarrier* barrier, uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}

}  // namespace ptx
