// v3: one warp loads, one warp group multiplies. Chapter: docs/v3_warp_specialized.md
// Read it as a change: diff -u v2_pipelined/kernel.cu v3_warp_specialized/kernel.cu
#include <launch.h>
#include <matmul.h>
#include <matrix_descriptor.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <store_accumulator.cuh>
#include <tensor_map.h>

namespace v3_warp_specialized {

constexpr int kBlockM = 128;
constexpr int kBlockN = 128;
constexpr int kBlockK = 64;  // a row of a K tile is 128 bytes: one row of the swizzle pattern
constexpr int kConsumerThreads = 128;  // warps 0-3: one warp group
constexpr int kThreads = kConsumerThreads + 32;  // warp 4 is the producer
constexpr int kBlocksPerSm = 2;  // must fit; their registers leave room for no third
constexpr int kStageBytes = (kBlockM + kBlockN) * kBlockK * sizeof(half);

template <int kStages>
struct SharedStorage {
  alignas(1024) half a[kStages][kBlockM * kBlockK];
  alignas(1024) half b[kStages][kBlockN * kBlockK];
  MBarrier full[kStages];  // completes on 1 arrival + kStageBytes
  MBarrier empty[kStages];  // completes on 128 arrivals: every thread of the consumer
};

using Accumulator = float[2][kBlockN / 2];  // a thread's registers of two m64n128 products

template <int kStages>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    matmul_kernel(const __grid_constant__ CUtensorMap map_a,
                  const __grid_constant__ CUtensorMap map_b, const OutputMatrix c, int k) {
  auto& smem = shared_storage<SharedStorage<kStages>>();
  const int tile_m = blockIdx.x * kBlockM;
  const int tile_n = blockIdx.y * kBlockN;
  const int k_tiles = ceil_div(k, kBlockK);

  // One thread: announce the bytes of a K tile, then ask the TMA unit for them.
  auto load_tile = [&](int k_tile, int stage) {
    MBarrier* const full = &smem.full[stage];
    ptx::mbarrier_arrive_expect_tx(full, kStageBytes);
    ptx::cp_async_bulk_tensor_2d(smem.a[stage], &map_a, k_tile * kBlockK, tile_m, full);
    ptx::cp_async_bulk_tensor_2d(smem.b[stage], &map_b, k_tile * kBlockK, tile_n, full);
  };

  // One warp group: issue the K tile's WGMMAs as one wgmma-group; the caller waits for it.
  auto multiply_tile = [&](Accumulator& acc, int stage, bool accumulate) {
    ptx::wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < kBlockK; kk += 16) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        ptx::wgmma_m64n128k16(acc[i], matrix_descriptor(&smem.a[stage][i * 64 * kBlockK], kk),
                              matrix_descriptor(smem.b[stage], kk), accumulate || kk > 0);
      }
    }
    ptx::wgmma_commit_group();
  };

  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      ptx::mbarrier_init(&smem.full[stage], 1);
      ptx::mbarrier_init(&smem.empty[stage], kConsumerThreads);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();

  if (threadIdx.x >= kConsumerThreads) {  // --- producer ---
    uint32_t phases = ~0u;  // parity 1, which a fresh barrier lets pass: every stage begins empty
    int stage = 0;
#pragma unroll kStages
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
      ptx::mbarrier_wait_parity(&smem.empty[stage], (phases >> stage) & 1);
      if (ptx::elect_sync()) load_tile(k_tile, stage);
      phases ^= 1u << stage;
      stage = (stage + 1) % kStages;
    }
    for (stage = 0; stage < min(kStages, k_tiles); ++stage)  // drain; only clusters will need it
      ptx::mbarrier_wait_parity(&smem.empty[stage], (phases >> stage) & 1);
    return;
  }

  // --- consumer ---
  Accumulator acc;  // never cleared: the first WGMMA of the tile overwrites it
  uint32_t phases = 0;  // one phase bit per stage
  int stage = 0;
#pragma unroll kStages  // makes the stage a compile-time constant in the copies
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    ptx::mbarrier_wait_parity(&smem.full[stage], (phases >> stage) & 1);
    multiply_tile(acc, stage, k_tile > 0);
    ptx::wgmma_wait_group<0>(acc);  // the whole warp group has read the K tile
    ptx::mbarrier_arrive(&smem.empty[stage]);
    phases ^= 1u << stage;
    stage = (stage + 1) % kStages;
  }
  store_accumulator(acc, c, tile_m, tile_n);
}

template <int kStages = 2>
Status matmul(const MatmulArguments& args, cudaStream_t stream) {
  CUtensorMap map_a, map_b;
  Status status = check_arguments(args);
  if (status.ok() && is_trivial(args)) return clear_result(args, stream);
  if (status.ok()) status = make_tensor_map(&map_a, matrix_a(args), kBlockM, kBlockK);
  if (status.ok()) status = make_tensor_map(&map_b, matrix_b(args), kBlockN, kBlockK);
  if (!status.ok()) return status;

  const Grid grid{ceil_div(args.m, kBlockM), ceil_div(args.n, kBlockN)};
  return launch(matmul_kernel<kStages>, grid, kThreads, sizeof(SharedStorage<kStages>), stream,
                map_a, map_b, matrix_c(args), args.k);
}

Status matmul(const MatmulArguments& args, cudaStream_t stream) { return matmul<>(args, stream); }

}  // namespace v3_warp_specialized
