// v10: where tiles are few, clusters share them along K. Chapter: docs/v10_stream_k.md
// Read it as a change: diff -u v9_aligned_blocks/kernel.cu v10_stream_k/kernel.cu
#include <matmul.h>
#include <matrix_descriptor.cuh>
#include <partial_sums.cuh>
#include <persistent.h>
#include <ptx/cluster.cuh>
#include <ptx/global.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <ptx/wgmma_shapes.cuh>
#include <rasterization.h>
#include <stage_fragment.cuh>
#include <store_accumulator.cuh>
#include <stream_memory.h>
#include <tensor_map.h>

namespace v10_stream_k {

constexpr int kBlockK = 64;  // a row of a K tile is 128 bytes: one row of the swizzle pattern
constexpr int kClusterBlocks = 2;  // along M: their tiles of C need the same tile of B
constexpr int kConsumers = 2;  // each multiplies its rows of A by the whole tile of B
constexpr int kConsumerThreads = kConsumers * 128;  // warps 0-7: two warp groups
constexpr int kThreads = kConsumerThreads + 128;  // a third, whose first warp is the producer
constexpr int kProducerRegisters = 24;  // the launch gives each thread 168 of 65536 / 384
constexpr int kConsumerRegisters = 240;  // 128 · 24 + 256 · 240 = 384 · 168
constexpr int kBlocksPerSm = 1;  // the registers of 384 threads leave room for no second
constexpr int kStoreN = 64;  // columns of C in one TMA store
constexpr int kStoreBuffers = 2;  // of each consumer; one is filled while the other is stored
constexpr int kMeetingTiles = 4;  // K tiles from one meeting of all clusters to the next
constexpr uint32_t kPatience = 20000;  // nanoseconds that a cluster waits for the others
constexpr int kFixUp = 16;  // what it costs to add up partial sums, in K tiles
constexpr uint32_t kProducerInitialPhase = 1;  // a fresh barrier lets it pass: stages begin empty
constexpr uint32_t kConsumerInitialPhase = 0;

// A tile of C that suits a problem, and how shared memory is divided for it.
template <int kProducts_, int kBlockN_, bool kIsShared_ = false>
struct Tile {
  static constexpr bool kIsShared = kIsShared_;  // among clusters, which compute parts of its K
  static constexpr int kProducts = kProducts_;  // of 64 rows of A, that a consumer computes
  static constexpr int kBlockM = kConsumers * kProducts * 64;
  static constexpr int kBlockN = kBlockN_;
  static constexpr int kStages = kIsShared ? kBlockN == 64 ? 9 : 7 : kProducts == 1 ? 4 : 3;
  static constexpr int kStores = ceil_div(kBlockN, kStoreN);  // the last may overlap the one before
  static_assert(kIsShared || kProducts * kStores % kStoreBuffers == 0, "first store: buffer 0");
  static constexpr int kStageBytes = (kBlockM + kBlockN) * kBlockK * sizeof(half);
  // Rows of B that each block loads for both: whole units of 8 rows, as the swizzle repeats.
  static constexpr int kShareN[kClusterBlocks] = {(kBlockN / 8 + 1) / 2 * 8, kBlockN / 8 / 2 * 8};
  static constexpr int kGroupSize = 2048 / (kBlockM * kClusterBlocks);

  struct SharedStorage {
    alignas(1024) half a[kStages][kBlockM * kBlockK];  // the upper half for the first consumer
    alignas(1024) half b[kStages][kBlockN * kBlockK];
    alignas(1024) half c[kConsumers][kStoreBuffers][kIsShared ? 8 : 64 * kStoreN];
    MBarrier full[kStages];  // completes on 1 arrival + kStageBytes
    MBarrier empty[kStages];  // completes on 4 arrivals: one for each consumer of both blocks
  };
};

// Where clusters meet; all zero between launches.
struct Meetings {
  uint32_t arrivals;
  uint32_t left;  // clusters that have computed all their tiles
};

// A K tile of a tile of C.
struct Position {
  int tile, k_tile;
  __device__ bool operator<(Position other) const {
    return tile < other.tile || (tile == other.tile && k_tile < other.k_tile);
  }
};

// Where a cluster's share begins, if the K tiles of all tiles are numbered through and dealt out
// evenly. Cluster 0 has the last share: whoever needs the partial sums of the shares after its own
// waits for clusters that were launched before it, so that all get ahead, however many run at once.
__device__ Position share_begin(int cluster, int clusters, int tiles, int k_tiles) {
  const int all = tiles * k_tiles, share = clusters - 1 - cluster;
  const int first = all / clusters * share + min(all % clusters, share);
  return {first / k_tiles, first % k_tiles};
}

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
    ptx::mbarrier_wait_parity_cluster(&barriers[state.stage], state.phase);
  }
  __device__ static void advance(State& state) {
    if (++state.stage == kStages) state = {0, state.phase ^ 1};
  }
  MBarrier* full_;
  MBarrier* empty_;
};

// M is cut into panels of kGroupSize rows of pairs; inside a panel tiles go column by column, so
// that blocks which run together read few strips of A and B.
template <int kGroupSize>
__host__ __device__ TileCoordinates tile_coordinates(int linear, const Rasterization& raster) {
  const auto [panel, in_panel] = raster.tiles_per_group.divmod(linear);
  const int first = panel * kGroupSize;
  const auto [column, row] =
      first + kGroupSize <= raster.across  // else the last panel, which is lower
          ? FastDivmod::Result{in_panel / kGroupSize, in_panel % kGroupSize}
          : raster.last_group_width.divmod(in_panel);
  return {first + row, panel % 2 == 0 ? column : raster.along - 1 - column};  // there and back
}

template <class Tile>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    matmul_kernel(const __grid_constant__ CUtensorMap map_a,
                  const __grid_constant__ CUtensorMap map_b0,
                  const __grid_constant__ CUtensorMap map_b1,
                  const __grid_constant__ CUtensorMap map_c, const bool c_by_tma,
                  const OutputMatrix c, int k, const Rasterization raster, Meetings* meetings,
                  const bool exchanged, const PartialSums partial_sums) {
  constexpr int kBlockM = Tile::kBlockM, kBlockN = Tile::kBlockN;
  constexpr int kStages = Tile::kStages, kGroupSize = Tile::kGroupSize;
  static_assert(kStages >= 2, "a stage is released one K tile late");
  auto& smem = shared_storage<typename Tile::SharedStorage>();
  const int tiles = raster.tiles();  // of clusters: pairs of tiles of C, one below the other
  const int k_tiles = ceil_div(k, kBlockK);
  const int warpgroup = ptx::shfl_sync_idx(threadIdx.x / 128, 0);  // known to be uniform
  const int rank = ptx::cluster_ctarank();
  const int cluster = blockIdx.x / kClusterBlocks, clusters = gridDim.x / kClusterBlocks;
  Pipeline<kStages> pipeline(smem.full, smem.empty, 1, kConsumers * kClusterBlocks);

  // One thread: announce the bytes of a K tile, then ask the TMA unit for them.
  auto load_tile = [&](int k_tile, int stage, int tile_m, int tile_n) {
    MBarrier* const full = pipeline.producer_barrier();
    ptx::mbarrier_arrive_expect_tx(full, Tile::kStageBytes);
    ptx::cp_async_bulk_tensor_2d(smem.a[stage], &map_a, k_tile * kBlockK, tile_m, full);
    // A share of B, into both blocks; the other comes from the other block, to this barrier too.
    const int row = rank * Tile::kShareN[0];
    ptx::cp_async_bulk_tensor_2d_multicast(&smem.b[stage][row * kBlockK],
                                           rank == 0 ? &map_b0 : &map_b1, k_tile * kBlockK,
                                           tile_n + row, full, 0b11);
  };

  // One warp group: issue the K tile's WGMMAs as one wgmma-group; the caller waits for it.
  using Accumulator = float[Tile::kProducts][kBlockN / 2];  // a thread's registers
  const uint64_t a_tile = matrix_descriptor(smem.a[0], 0);
  const uint64_t b_tile = matrix_descriptor(smem.b[0], 0);
  auto multiply_tile = [&](Accumulator& acc, int stage, bool accumulate) {
    ptx::wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < kBlockK; kk += 16) {
      for (int i = 0; i < Tile::kProducts; ++i) {
        const int row = stage * kBlockM + (warpgroup * Tile::kProducts + i) * 64;
        ptx::wgmma_m64nNk16<kBlockN>(
            acc[i], advance_descriptor(a_tile, (row * kBlockK + kk) * sizeof(half)),
            advance_descriptor(b_tile, (stage * kBlockN * kBlockK + kk) * sizeof(half)),
            accumulate || kk > 0);
      }
    }
    ptx::wgmma_commit_group();
  };

  // One warp group: copy the accumulator to shared memory, kStoreN columns at a time, and let TMA
  // store them, one buffer while the other is filled. Where TMA cannot store to C,
  // store_accumulator does.
  auto store_tile = [&](const Accumulator& acc, int row, int column) {
    if (Tile::kIsShared && exchanged) return store_transposed(acc, c, row, column);
    if (!c_by_tma) return store_accumulator(acc, c, row, column);
    const bool elected = threadIdx.x % 128 == 0;
#pragma unroll
    for (int i = 0; i < Tile::kProducts * Tile::kStores; ++i) {
      const int first = min(i % Tile::kStores * kStoreN, kBlockN - kStoreN);
      half* const buffer = smem.c[warpgroup][i % kStoreBuffers];
      if (elected) ptx::cp_async_bulk_wait_group_read<kStoreBuffers - 1>();
      ptx::bar_sync(1 + warpgroup, 128);  // the buffer has been read
      stage_fragment(acc[i / Tile::kStores], first, buffer);
      ptx::fence_proxy_async();
      ptx::bar_sync(1 + warpgroup, 128);  // the buffer has been written
      if (elected) {
        ptx::cp_async_bulk_tensor_2d(&map_c, column + first, row + i / Tile::kStores * 64, buffer);
        ptx::cp_async_bulk_commit_group();
      }
    }
  };

  // What a cluster computes: whole tiles, in turn with the others; or its share of all K tiles.
  Position first{cluster, 0}, last{tiles, 0};
  if (Tile::kIsShared) first = share_begin(cluster, clusters, tiles, k_tiles);
  if (Tile::kIsShared) last = share_begin(cluster - 1, clusters, tiles, k_tiles);
  const int stride = Tile::kIsShared ? 1 : clusters;

  ptx::barrier_cluster_arrive();  // the other block must see its barriers initialised, too
  ptx::barrier_cluster_wait();

  if (threadIdx.x >= kConsumerThreads) {  // --- producer ---
    ptx::setmaxnreg_dec<kProducerRegisters>();
    if (threadIdx.x >= kConsumerThreads + 32 || !ptx::elect_sync()) return;  // one thread stays
    // In one block of each cluster: wait until all have arrived at the meetings before this one,
    // then arrive at this one. Who waits in vain goes on alone: no result depends on it.
    uint32_t expected = 0;
    bool alone = meetings == nullptr || rank != 0;
    auto meet = [&](int participants) {
      if (alone) return;
      const uint32_t begin = ptx::globaltimer_lo();
      while ((alone = ptx::ld_relaxed_gpu(&meetings->arrivals) < expected) &&
             ptx::globaltimer_lo() - begin < kPatience) {
        ptx::nanosleep(64);
      }
      ptx::red_add_relaxed_gpu(&meetings->arrivals, 1);
      expected += participants;
    };
    bool backwards = false;  // every second tile begins with the K tiles that were loaded last
    for (Position at = first; at < last; at = {at.tile + stride, 0}, backwards = !backwards) {
      const auto [pair, n_block] = tile_coordinates<kGroupSize>(at.tile, raster);
      const int participants = min(clusters, tiles - at.tile / clusters * clusters);  // of a round
      const int end = at.tile < last.tile ? k_tiles : last.k_tile;
      for (int i = at.k_tile; i < end; ++i) {
        const int k_tile = backwards && !Tile::kIsShared ? k_tiles - 1 - i : i;
        if (i % kMeetingTiles == 0) meet(participants);
        pipeline.producer_acquire();
        load_tile(k_tile, pipeline.producer.stage, (pair * kClusterBlocks + rank) * kBlockM,
                  n_block * kBlockN);
        pipeline.producer_advance();
      }
    }
    if (meetings != nullptr && rank == 0 &&
        ptx::atom_add_acq_rel_gpu(&meetings->left, 1) == clusters - 1u) {
      *meetings = {};  // the last to leave
    }
    for (int i = 0; i < kStages; ++i) {  // drain: the other block may still signal this one
      pipeline.producer_acquire();
      pipeline.producer_advance();
    }
    return;
  }

  // --- consumer ---
  ptx::setmaxnreg_inc<kConsumerRegisters>();
  Accumulator acc;  // never cleared: the first WGMMA of the tile overwrites it
  for (Position at = first; at < last; at = {at.tile + stride, 0}) {
    const int end = at.tile < last.tile ? k_tiles : last.k_tile;
    for (int k_tile = at.k_tile; k_tile < end; ++k_tile) {
      pipeline.consumer_acquire();
      multiply_tile(acc, pipeline.consumer.stage, k_tile > at.k_tile);
      ptx::wgmma_wait_group<1>();  // the group before has finished; this one stays in flight
      if (threadIdx.x % 128 < kClusterBlocks && k_tile > at.k_tile) {  // thread i tells block i
        ptx::mbarrier_arrive_cluster(pipeline.prev_consumer_barrier(), threadIdx.x % 128);
      }
      pipeline.consumer_advance();
    }
    ptx::wgmma_wait_group<0>(acc);
    if (threadIdx.x % 128 < kClusterBlocks) {
      ptx::mbarrier_arrive_cluster(pipeline.prev_consumer_barrier(), threadIdx.x % 128);
    }
    const auto [pair, n_block] = tile_coordinates<kGroupSize>(at.tile, raster);
    const int row = (pair * kClusterBlocks + rank) * kBlockM + warpgroup * Tile::kProducts * 64;
    const int column = n_block * kBlockN, rows = c.rows - row, columns = c.columns - column;
    const PartialSums sums = partial_sums.from((rank * kConsumers + warpgroup) * clusters);
    if (Tile::kIsShared && at.k_tile > 0) {  // who has the tile's first K tiles stores it
      leave_partial_sum(acc[0], sums, cluster, rows, columns);
      ptx::bar_sync(1 + warpgroup, 128);  // all threads have left their part
      if (threadIdx.x % 128 == 0) ptx::st_release_gpu(sums.flag(cluster), 1);
      continue;
    }
    if (Tile::kIsShared && end < k_tiles) {
      int other = cluster;  // becomes the last that has a part of the tile
      while (share_begin(other - 1, clusters, tiles, k_tiles).tile <= at.tile) --other;
      for (int i = cluster - 1 - threadIdx.x % 128; i >= other; i -= 128) {
        while (ptx::ld_acquire_gpu(sums.flag(i)) == 0) ptx::nanosleep(32);
        ptx::st_relaxed_gpu(sums.flag(i), 0);  // for the next launch
      }
      ptx::bar_sync(1 + warpgroup, 128);  // all others have left theirs
      // In this order always: the same inputs give the same bits.
      for (int i = cluster - 1; i >= other; --i) add_partial_sum(acc[0], sums, i, rows, columns);
    }
    store_tile(acc, row, column);
  }
  if (threadIdx.x % 128 == 0) ptx::cp_async_bulk_wait_group_read<0>();  // before the memory goes
}

template <class Tile>
Status matmul(const MatmulArguments& as_called, cudaStream_t stream) {
  const bool exchanged = Tile::kIsShared && as_called.m < as_called.n;
  const MatmulArguments args = exchanged ? transposed(as_called) : as_called;
  CUtensorMap map_a, map_b0, map_b1, map_c = {};
  Status status = check_arguments(as_called);
  if (status.ok() && is_trivial(args)) return clear_result(as_called, stream);
  if (status.ok()) status = make_tensor_map(&map_a, matrix_a(args), Tile::kBlockM, kBlockK);
  if (status.ok()) status = make_tensor_map(&map_b0, matrix_b(args), Tile::kShareN[0], kBlockK);
  if (status.ok()) status = make_tensor_map(&map_b1, matrix_b(args), Tile::kShareN[1], kBlockK);
  const bool c_by_tma = !Tile::kIsShared && tma_can_store(args);
  if (status.ok() && c_by_tma) status = make_store_map(&map_c, args, 64, kStoreN);
  if (!status.ok()) return status;

  const Rasterization raster(ceil_div(args.n, Tile::kBlockN),
                             ceil_div(args.m, Tile::kBlockM * kClusterBlocks), Tile::kGroupSize);
  const auto kernel = matmul_kernel<Tile>;
  constexpr size_t kSharedBytes = sizeof(typename Tile::SharedStorage);
  Grid grid{1, 1, kClusterBlocks};
  status = persistent_cluster_grid(kernel, kThreads, kSharedBytes, raster.tiles(), args.max_blocks,
                                   &grid, Tile::kIsShared ? ceil_div(args.k, kBlockK) : 1);
  StreamMemory memory(stream);
  void* meetings = nullptr;  // none for a single round, which is over before clusters drift apart
  PartialSums partial_sums;
  if (status.ok() && Tile::kIsShared) {
    status = partial_sums_in(&memory, grid.x * kConsumers, Tile::kBlockN, &partial_sums);
  } else if (status.ok() && grid.tiles_per_block > 1) {
    status = memory.zeroed_if_kept(sizeof(Meetings), &meetings);
  }
  if (!status.ok()) return status;
  return launch(kernel, grid, kThreads, kSharedBytes, stream, map_a, map_b0, map_b1, map_c,
                c_by_tma, matrix_c(args), args.k, raster, static_cast<Meetings*>(meetings),
                exchanged, partial_sums);
}

struct Choice {
  double work;  // of the busiest block: K tiles · elements of a tile
  Status (*matmul)(const MatmulArguments& args, cudaStream_t stream);
};

template <class Tile>
Choice choice(const MatmulArguments& args, int clusters) {
  if (Tile::kIsShared && args.m < args.n) return choice<Tile>(transposed(args), clusters);
  const int64_t pairs =
      ceil_div(args.m, Tile::kBlockM * kClusterBlocks) * ceil_div(args.n, Tile::kBlockN);
  const double k_tiles = ceil_div(args.k, kBlockK);
  double longest = ceil_div(pairs, clusters) * k_tiles;
  if (Tile::kIsShared) longest = pairs * k_tiles / clusters + kFixUp;
  return {longest * Tile::kBlockM * std::max(Tile::kBlockN, 160), matmul<Tile>};  // memory's pace
}

// Takes the tile that leaves the busiest block the least to do.
Status matmul(const MatmulArguments& args, cudaStream_t stream) {
  int clusters = 0;
  Status status = check_operands(args);
  if (status.ok()) status = resident_clusters(kClusterBlocks, args.max_blocks, &clusters);
  if (!status.ok()) return status;
  return std::min({choice<Tile<2, 200>>(args, clusters), choice<Tile<2, 184>>(args, clusters),
                   choice<Tile<2, 176>>(args, clusters), choice<Tile<1, 256>>(args, clusters),
                   choice<Tile<1, 64, true>>(args, clusters),
                   choice<Tile<1, 128, true>>(args, clusters)},
                  [](const Choice& a, const Choice& b) { return a.work < b.work; })
      .matmul(args, stream);
}

}  // namespace v10_stream_k
