// Thread block clusters: blocks that run at the same time and reach each other's shared memory.
// One function is one instruction, but where it says otherwise.
// The emulator has a file of this name, with the same functions: the include path chooses.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <ptx/mbarrier.cuh>
#include <shared_address.cuh>
#include <source_line.h>

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

// mapa, then mbarrier.arrive on the result (two instructions): counts one arrival at the barrier
// that lies in block `rank` of the cluster where `barrier` lies in the calling block. The
// qualifiers are PTX's defaults (release.cta), which by the letter order nothing for another block;
// for a stage that was only read it is enough, since wgmma.wait_group has ended the reads before
// (CUTLASS relies on the same). Any thread. PTX ISA, "mapa", "mbarrier.arrive".
__device__ __forceinline__ void mbarrier_arrive_cluster(MBarrier* barrier, uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}

// mapa, then ld.shared::cluster on the result (two instructions): reads 4 bytes, or 16 that are
// aligned to 16, of block `rank` of the cluster, from the place where `address` lies in the calling
// block. That block must have begun, and not leave before: cluster barriers see to both. Any
// thread. PTX ISA, "mapa", "ld".
__device__ __forceinline__ float ld_shared_cluster_f32(const float* address, uint32_t rank) {
  float value;
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %1, %2;\n"
      "ld.shared::cluster.f32 %0, [remote];\n"
      "}"
      : "=f"(value)
      : "r"(shared_address(address)), "r"(rank)
      : "memory");
  return value;
}
__device__ __forceinline__ float4 ld_shared_cluster_v4_f32(const float4* address, uint32_t rank) {
  float4 value;
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %4, %5;\n"
      "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [remote];\n"
      "}"
      : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
      : "r"(shared_address(address)), "r"(rank)
      : "memory");
  return value;
}

// mapa, then st.shared::cluster on the result (two instructions): the same, written. Any thread.
// PTX ISA, "mapa", "st".
__device__ __forceinline__ void st_shared_cluster_f32(float* address, uint32_t rank, float value) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "st.shared::cluster.f32 [remote], %2;\n"
      "}" ::"r"(shared_address(address)),
      "r"(rank), "f"(value)
      : "memory");
}
__device__ __forceinline__ void st_shared_cluster_v4_f32(float4* address, uint32_t rank,
                                                         const float4& value) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "st.shared::cluster.v4.f32 [remote], {%2, %3, %4, %5};\n"
      "}" ::"r"(shared_address(address)),
      "r"(rank), "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w)
      : "memory");
}

// mapa twice, then st.async on the results (three instructions): writes 4 bytes in block `rank` of
// the cluster, some time later, and counts them at the barrier that lies there where `full` lies in
// the calling block; whoever waits for the barrier sees them. Any thread. PTX ISA, "mapa",
// "st.async".
__device__ __forceinline__ void st_async_f32(float* address, uint32_t rank, float value,
                                             MBarrier* full) {
  asm volatile(
      "{\n"
      ".reg .b32 remote, barrier;\n"
      "mapa.shared::cluster.u32 remote, %0, %2;\n"
      "mapa.shared::cluster.u32 barrier, %1, %2;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [remote], %3, [barrier];\n"
      "}" ::"r"(shared_address(address)),
      "r"(shared_address(full)), "r"(rank), "f"(value)
      : "memory");
}

// As mbarrier_wait_parity, for barriers that other blocks of the cluster signal (acquire.cluster).
__device__ __forceinline__ void mbarrier_wait_parity_cluster(
    MBarrier* barrier, uint32_t parity, [[maybe_unused]] SourceLine where = SourceLine::current()) {
  uint32_t complete;
#ifdef BOUNDED_WAITS
  bounded_wait::Watchdog watchdog;
#endif
  do {
    asm volatile(
        "{\n"
        ".reg .pred complete;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 complete, [%1], %2;\n"
        "selp.b32 %0, 1, 0, complete;\n"
        "}"
        : "=r"(complete)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
#ifdef BOUNDED_WAITS
    if (!complete && watchdog.expired()) bounded_wait::give_up(barrier, parity, where);
#endif
  } while (!complete);
}

// cp.async.bulk.tensor.2d with .multicast::cluster: as the load in tma.cuh, but the box arrives in
// every block of the cluster whose bit is set in `blocks`, at the place where `destination` lies in
// the calling block; its bytes count at the barrier where `full` lies, in each of them. One thread.
// PTX ISA, "cp.async.bulk.tensor".
__device__ __forceinline__ void cp_async_bulk_tensor_2d_multicast(void* destination,
                                                                  const CUtensorMap* map,
                                                                  int column, int row,
                                                                  MBarrier* full, uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(destination)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(full)), "h"(blocks)
      : "memory");
}

}  // namespace ptx
