// The transpose of a matrix, a tile of 64 × 64 a block: in by TMA, across by ldmatrix (which turns
// 8 × 8 elements on the way) and stmatrix, out by TMA. Both tiles are swizzled, so that neither a
// row nor a column of 8 × 8 elements is in one bank alone.
#include "transpose.h"

#include <ceil_div.h>
#include <launch.h>
#include <ptx/ldmatrix.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <stage_fragment.cuh>
#include <tensor_map.h>

#include <cstring>

namespace {

constexpr int kTile = 64;
constexpr int kThreads = 128;

struct Storage {
  alignas(1024) half in[kTile * kTile];
  alignas(1024) half out[kTile * kTile];
  MBarrier full;
};

__device__ half2 pair_of(uint32_t bits) {
  half2 pair;
  memcpy(&pair, &bits, sizeof(pair));
  return pair;
}

__global__ void __launch_bounds__(kThreads)
    transpose_kernel(const __grid_constant__ CUtensorMap map_in,
                     const __grid_constant__ CUtensorMap map_out) {
  auto& smem = shared_storage<Storage>();
  const int row = blockIdx.y * kTile;
  const int column = blockIdx.x * kTile;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, sizeof(smem.in));
    ptx::cp_async_bulk_tensor_2d(smem.in, &map_in, column, row, &smem.full);
  }
  __syncthreads();  // the barrier is there for all
  ptx::mbarrier_wait_parity(&smem.full, 0);

  // A warp takes 16 rows, 32 columns at a time: four 8 × 8 matrices, one beside the other, become
  // four below each other. Each lane names one row of one of them, in and out.
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 4; ++i) {
    const int from_row = threadIdx.x / 32 * 16 + i / 2 * 8;
    const int from_column = i % 2 * 32;
    uint32_t matrices[4];
    ptx::ldmatrix_m8n8_x4_trans(matrices,
                                swizzled(smem.in, from_row + lane % 8, from_column + lane / 8 * 8));
    ptx::stmatrix_m8n8_x4(swizzled(smem.out, from_column + lane, from_row), pair_of(matrices[0]),
                          pair_of(matrices[1]), pair_of(matrices[2]), pair_of(matrices[3]));
  }
  ptx::fence_proxy_async();  // what was written is for TMA to read
  __syncthreads();  // by all
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_tensor_2d(&map_out, row, column, smem.out);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read<0>();  // the tile ends with its block
  }
}

}  // namespace

Status transpose(const half* from, half* to, int rows, int columns, cudaStream_t stream) {
  if (rows % 8 != 0 || columns % 8 != 0) {
    return {ExitCode::kUsage, std::to_string(rows) + " × " + std::to_string(columns) +
                                  ": TMA stores whole units of 8 elements: pad both to a multiple"};
  }
  CUtensorMap map_in, map_out;
  Status status = make_tensor_map(&map_in, {"A", from, rows, columns, columns}, kTile, kTile);
  if (status.ok()) status = make_tensor_map(&map_out, {"B", to, columns, rows, rows}, kTile, kTile);
  if (!status.ok()) return status;
  const Grid grid = {ceil_div(columns, kTile), ceil_div(rows, kTile)};
  return launch(transpose_kernel, grid, kThreads, sizeof(Storage), stream, map_in, map_out);
}
