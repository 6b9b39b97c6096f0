// What several blocks compute of one tile of C, each for a part of K: partial sums. All of them but
// one leave theirs in global memory; that one adds them to its own and stores the tile.
#pragma once

#include <cuda_runtime.h>
#include <ptx/global.cuh>
#include <status.h>
#include <stream_memory.h>

#include <cstddef>
#include <cstdint>

// Places for partial sums, numbered through: one for each warp group that may have to leave one.
struct PartialSums {
  uint32_t* flags = nullptr;
  float4* sums = nullptr;
  int size = 0;  // of a sum, in float4

  // Those from place `first` on.
  __device__ PartialSums from(int first) const { return {flag(first), sum(first), size}; }
  // 1 while a sum is there and has not been added. All 0 between launches.
  __device__ uint32_t* flag(int place) const { return flags + place; }
  __device__ float4* sum(int place) const { return sums + int64_t{place} * size; }
};

// For sums of 64 × `columns` elements.
inline Status partial_sums_in(StreamMemory* memory, int64_t places, int columns,
                              PartialSums* partial_sums) {
  void *flags = nullptr, *sums = nullptr;
  partial_sums->size = 64 * columns * sizeof(float) / sizeof(float4);
  Status status = memory->zeroed(places * sizeof(uint32_t), &flags);
  if (status.ok()) {
    status = memory->scratch(places * partial_sums->size * sizeof(float4), &sums);
  }
  partial_sums->flags = static_cast<uint32_t*>(flags);
  partial_sums->sums = static_cast<float4*>(sums);
  return status;
}

// Leaves the accumulator of an m64nN WGMMA, N = 2 · kRegisters (common/store_accumulator.cuh says
// who holds what), as far as it lies in the first `rows` rows and `columns` columns, rounded up to
// whole warps' rows and 8 columns. Others may read it after a barrier of the group and a release.
// One warp group, each warp 512 bytes at a time.
template <int kRegisters>
__device__ __forceinline__ void leave_partial_sum(const float (&acc)[kRegisters],
                                                  const PartialSums& partial_sums, int place,
                                                  int rows, int columns) {
  if (static_cast<int>(threadIdx.x % 128 / 32 * 16) >= rows) return;
  float4* const sum = partial_sums.sum(place) + threadIdx.x % 128;
#pragma unroll
  for (int r = 0; r < kRegisters; r += 4) {  // 8 columns of the product
    if (2 * r >= columns) break;
    ptx::st_global_v4_f32(&sum[r * 32], make_float4(acc[r], acc[r + 1], acc[r + 2], acc[r + 3]));
  }
}

// Adds what leave_partial_sum() of the same place has left, once its release has been acquired.
template <int kRegisters>
__device__ __forceinline__ void add_partial_sum(float (&acc)[kRegisters],
                                                const PartialSums& partial_sums, int place,
                                                int rows, int columns) {
  if (static_cast<int>(threadIdx.x % 128 / 32 * 16) >= rows) return;
  const float4* const sum = partial_sums.sum(place) + threadIdx.x % 128;
#pragma unroll
  for (int r = 0; r < kRegisters; r += 4) {
    if (2 * r >= columns) break;
    const float4 more = ptx::ld_global_v4_f32(&sum[r * 32]);
    acc[r] += more.x;
    acc[r + 1] += more.y;
    acc[r + 2] += more.z;
    acc[r + 3] += more.w;
  }
}
