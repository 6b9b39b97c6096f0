// v5: the next K tile's WGMMAs are issued before the last one's end. Chapter: docs/v5_async_mma.md
// Read it as a change: diff -u v4_two_consumers/kernel.cu v5_async_mma/kernel.cu
#include <launch.h>
#include <matmul.h>
#include <matrix_descriptor.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <rasterization.h>
#include <store_accumulator.cuh>
#include <tensor_map.h>

namespace v5_async_mma {

constexpr int kBlockM = 128;
constexpr int kBlockN = 256;
constexpr int kBlockK = 64;  // a row of a K tile is 128 bytes: one row of the swizzle pattern
constexpr int kConsumers = 2;  // each multiplies its rows of A by the whole tile of B
constexpr int kConsumerThreads = kConsumers * 128;  // warps 0-7: two warp groups
constexpr int kThreads = kConsumerThreads + 32;  // warp 8 is the producer
constexpr int kBlocksPerSm = 1;  // the registers of 288 threads leave room for no second
constexpr int kStageBytes = (kBlockM + kBlockN) * kBlockK * sizeof(half);
constexpr uint32_t kProducerInitialPhase = 1;  // a fresh barrier lets it pass: stages begin empty
constexpr uint32_t kConsumerInitialPhase = 0;

template <int kStages>
struct SharedStorage {
  alignas(1024) half a[kStages][kConsumers][64 * kBlockK];  // one slab for each consumer
  alignas(1024) half b[kStages][kBlockN * kBlockK];
  MBarrier full[kStages];  // completes on 1 arrival + kStageBytes
  MBarrier empty[kStages];  // completes on 2 arrivals: one thread speaks for its whole consumer
};

using Accumulator = float[kBlockN / 2];  // a thread's registers of one m64n256 product

// The ring of stages as one thread sees it. All threads construct it, before a block barrier.
template <int kStages>
class Pipeline {
 public:
  __device__ Pipeline(MBarrier* full, MBarrier* empty, uint32_t producer_arrive_count,
                      uint32_t consumer_arrive_count)
      : full_(full), empty_(empty) {
    for (int stage = 0; threadIdx.x == 0 && stage < kStages; ++stage) {
      ptx::mbarrier_init(&full[stage], producer_arrive_count);
      ptx::mbarrier_init(&empty[stage], consumer_arrive_count);
    }
    if (threadIdx.x == 0) ptx::fence_mbarrier_init();
  }

  // Wait until the producer's stage is empty; whoever fills it arrives at producer_barrier().
  __device__ void producer_acquire() { wait(empty_, producer); }
  __device__ MBarrier* producer_barrier() { return &full_[producer.stage]; }
  __device__ void producer_advance() { advance(producer); }

  // Wait until the consumer's stage is full; whoever has read it arrives at consumer_barrier(), or
  // one stage later at prev_consumer_barrier().
  __device__ void consumer_acquire() { wait(full_, consumer); }
  __device__ MBarrier* consumer_barrier() { return &empty_[consumer.stage]; }
  __device__ MBarrier* prev_consumer_barrier() {
    return &empty_[(consumer.stage + kStages - 1) % kStages];
  }
  __device__ void consumer_advance() { advance(consumer); }

  struct State {
    int stage;
    uint32_t phase;  // flips when the stage wraps around
  };
  State producer{0, kProducerInitialPhase}, consumer{0, kConsumerInitialPhase};

 private:
  __device__ static void wait(MBarrier* barriers, State state) {
    ptx::mbarrier_wait_parity(&barriers[state.stage], state.phase);
  }
  __device__ static void advance(State& state) {
    if (++state.stage == kStages) state = {0, state.phase ^ 1};
  }
  MBarrier* full_;
  MBarrier* empty_;
};

// N is cut into groups of kGroupSize tile columns; inside a group tiles go row by row, so that
// blocks which run together read few strips of A and B.
template <int kGroupSize>
__host__ __device__ TileCoordinates tile_coordinates(int x, int y, const Rasterization& raster) {
  if (kGroupSize == 1) return {x, y};  // the plain 2-D grid
  const auto [group, in_group] = raster.tiles_per_group.divmod(x);
  const int first = group * kGroupSize;
  const auto [row, column] =
      first + kGroupSize <= raster.across  // else the last group, which is narrower
          ? FastDivmod::Result{in_group / kGroupSize, in_group % kGroupSize}
          : raster.last_group_width.divmod(in_group);
  return {row, first + column};
}

template <int kStages, int kGroupSize>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    matmul_kernel(const __grid_constant__ CUtensorMap map_a,
                  const __grid_constant__ CUtensorMap map_b, const OutputMatrix c, int k,
                  const Rasterization raster) {
  static_assert(kStages >= 2, "a stage is released one K tile late");
  auto& smem = shared_storage<SharedStorage<kStages>>();
  const auto [m_block, n_block] = tile_coordinates<kGroupSize>(blockIdx.x, blockIdx.y, raster);
  const int tile_m = m_block * kBlockM;
  const int tile_n = n_block * kBlockN;
  const int k_tiles = ceil_div(k, kBlockK);
  const int warpgroup = threadIdx.x / 128;
  Pipeline<kStages> pipeline(smem.full, smem.empty, 1, kConsumers);

  // One thread: announce the bytes of a K tile, then ask the TMA unit for them.
  auto load_tile = [&](int k_tile, int stage) {
    MBarrier* const full = pipeline.producer_barrier();
    ptx::mbarrier_arrive_expect_tx(full, kStageBytes);
    ptx::cp_async_bulk_tensor_2d(smem.a[stage][0], &map_a, k_tile * kBlockK, tile_m, full);
    ptx::cp_async_bulk_tensor_2d(smem.a[stage][1], &map_a, k_tile * kBlockK, tile_m + 64, full);
    ptx::cp_async_bulk_tensor_2d(smem.b[stage], &map_b, k_tile * kBlockK, tile_n, full);
  };

  // One warp group: issue the K tile's WGMMAs as one wgmma-group; the caller waits for it.
  auto multiply_tile = [&](Accumulator& acc, int stage, bool accumulate) {
    ptx::wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < kBlockK; kk += 16) {
      ptx::wgmma_m64n256k16(acc, matrix_descriptor(smem.a[stage][warpgroup], kk),
                            matrix_descriptor(smem.b[stage], kk), accumulate || kk > 0);
    }
    ptx::wgmma_commit_group();
  };

  __syncthreads();

  if (threadIdx.x >= kConsumerThreads) {  // --- producer ---
#pragma unroll kStages
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
      pipeline.producer_acquire();
      if (ptx::elect_sync()) load_tile(k_tile, pipeline.producer.stage);
      pipeline.producer_advance();
    }
    for (int i = 0; i < kStages; ++i) {  // drain; only clusters will need it
      pipeline.producer_acquire();
      pipeline.producer_advance();
    }
    return;
  }

  // --- consumer ---
  Accumulator acc;  // never cleared: the first WGMMA of the tile overwrites it
#pragma unroll kStages  // makes the stage a compile-time constant in the copies
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    pipeline.consumer_acquire();
    multiply_tile(acc, pipeline.consumer.stage, k_tile > 0);
    ptx::wgmma_wait_group<1>();  // the group before has finished; this one stays in flight
    if (threadIdx.x % 128 == 0 && k_tile > 0) {
      ptx::mbarrier_arrive(pipeline.prev_consumer_barrier());
    }
    pipeline.consumer_advance();
  }
  ptx::wgmma_wait_group<0>(acc);
  if (threadIdx.x % 128 == 0) ptx::mbarrier_arrive(pipeline.prev_consumer_barrier());
  store_accumulator(acc, c, tile_m + warpgroup * 64, tile_n);
}

template <int kStages = 4, int kGroupSize = 4>
Status matmul(const MatmulArguments& args, cudaStream_t stream) {
  CUtensorMap map_a, map_b;
  Status status = check_arguments(args);
  if (status.ok() && is_trivial(args)) return clear_result(args, stream);
  if (status.ok()) status = make_tensor_map(&map_a, matrix_a(args), 64, kBlockK);
  if (status.ok()) status = make_tensor_map(&map_b, matrix_b(args), kBlockN, kBlockK);
  if (!status.ok()) return status;

  const Rasterization raster(ceil_div(args.m, kBlockM), ceil_div(args.n, kBlockN), kGroupSize);
  return launch(matmul_kernel<kStages, kGroupSize>, raster.grid(), kThreads,
                sizeof(SharedStorage<kStages>), stream, map_a, map_b, matrix_c(args), args.k,
                raster);
}

Status matmul(const MatmulArguments& args, cudaStream_t stream) { return matmul<>(args, stream); }

}  // namespace v5_async_mma
