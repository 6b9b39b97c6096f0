// The way of an accumulator to a TMA store: into shared memory, as fp16.
#pragma once

#include <cuda_fp16.h>
#include <ptx/warpgroup.cuh>

// The address of element (row, column) of a tile of 64 columns that TMA reads or writes with the
// 128-byte swizzle: in each row of 128 bytes, 16-byte unit u lies where unit u ^ (row % 8) would.
__device__ __forceinline__ half* swizzled(half* tile, int row, int column) {
  return tile + row * 64 + ((column / 8) ^ (row % 8)) * 8 + column % 8;
}

// Rounds 64 columns of the accumulator of an m64nN WGMMA, those from `first_column` on, to fp16 and
// writes them to `tile` (64 × 64, 1024-byte aligned, swizzled). One warp group; each warp writes
// the 16 rows that its registers hold (common/store_accumulator.cuh). TMA may read the tile after
// fence_proxy_async and a barrier.
template <int kRegisters>
__device__ __forceinline__ void stage_fragment(const float (&acc)[kRegisters], int first_column,
                                               half* tile) {
  const int lane = threadIdx.x % 32;
  const int row = threadIdx.x % 128 / 32 * 16 + lane % 16;
#pragma unroll
  for (int column = 0; column < 64; column += 16) {
    const float* const r = &acc[(first_column + column) / 2];  // 8 registers hold 16 columns
    ptx::stmatrix_m8n8_x4(swizzled(tile, row, column + lane / 16 * 8),
                          __floats2half2_rn(r[0], r[1]), __floats2half2_rn(r[2], r[3]),
                          __floats2half2_rn(r[4], r[5]), __floats2half2_rn(r[6], r[7]));
  }
}
