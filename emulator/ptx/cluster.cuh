// Clusters on the CPU: the functions of common/ptx/cluster.cuh, which says what each does.
//
// This folder holds the functions of common/ptx once more, with the same signatures: add and change
// them in both (a test compares).
#pragma once

#include <cuda.h>
#include <instructions.h>
#include <ptx/mbarrier.cuh>
#include <source_line.h>

#include <cstdint>

namespace ptx {

uint32_t cluster_ctarank(SourceLine where = SourceLine::current());
void barrier_cluster_arrive(SourceLine where = SourceLine::current());
void barrier_cluster_wait(SourceLine where = SourceLine::current());

float ld_shared_cluster_f32(const float* address, uint32_t rank,
                            SourceLine where = SourceLine::current());
float4 ld_shared_cluster_v4_f32(const float4* address, uint32_t rank,
                                SourceLine where = SourceLine::current());
void st_shared_cluster_f32(float* address, uint32_t rank, float value,
                           SourceLine where = SourceLine::current());
void st_shared_cluster_v4_f32(float4* address, uint32_t rank, const float4& value,
                              SourceLine where = SourceLine::current());
void st_async_f32(float* address, uint32_t rank, float value, MBarrier* full,
                  SourceLine where = SourceLine::current());

inline void mbarrier_arrive_cluster(MBarrier* barrier, uint32_t rank,
                                    SourceLine where = SourceLine::current()) {
  emulator::mbarrier_arrive_remote(barrier, rank, where);
}
inline void mbarrier_wait_parity_cluster(MBarrier* barrier, uint32_t parity,
                                         SourceLine where = SourceLine::current()) {
  mbarrier_wait_parity(barrier, parity, where);
}
inline void cp_async_bulk_tensor_2d_multicast(void* destination, const CUtensorMap* map, int column,
                                              int row, MBarrier* full, uint16_t blocks,
                                              SourceLine where = SourceLine::current()) {
  emulator::tma_load_multicast(destination, map, {column, row}, full, blocks, where);
}

}  // namespace ptx
