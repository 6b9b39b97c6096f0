// What v4 and v5 add in kernel.cu besides their schedule: the walk over the tiles and
// the Pipeline class, here against plain models. The kernels' own text is compiled in; of the PTX
// functions only the mbarrier ones are called, and they are a model of an mbarrier.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../../v4_two_consumers/kernel.cu"
#include "../../v5_async_mma/kernel.cu"

// --- a model of an mbarrier: completes a phase on so many arrivals; a wait that would block throws
// ---

namespace {

struct ModelBarrier {
  uint32_t arrivals;
  uint32_t pending;
  uint32_t phase = 0;
};
std::map<const MBarrier*, ModelBarrier> g_barriers;

struct WouldBlock : std::runtime_error {
  WouldBlock() : std::runtime_error("would block") {}
};

}  // namespace

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;

namespace ptx {
void mbarrier_init(MBarrier* barrier, uint32_t arrivals, SourceLine) {
  g_barriers[barrier] = {arrivals, arrivals};
}
void fence_mbarrier_init(SourceLine) {}
void mbarrier_arrive(MBarrier* barrier, SourceLine) {
  ModelBarrier& model = g_barriers.at(barrier);
  if (model.pending == 0) throw std::logic_error("more arrivals than the barrier counts");
  if (--model.pending == 0) {
    model.pending = model.arrivals;
    ++model.phase;
  }
}
void mbarrier_arrive_expect_tx(MBarrier* barrier, uint32_t, SourceLine where) {
  mbarrier_arrive(barrier, where);
}
void mbarrier_wait_parity(MBarrier* barrier, uint32_t parity, SourceLine) {
  if (g_barriers.at(barrier).phase % 2 == parity) throw WouldBlock();
}
// Never called here.
bool elect_sync(SourceLine) { throw std::logic_error("not modelled"); }
uint32_t shfl_sync_bfly(uint32_t, uint32_t, SourceLine) { throw std::logic_error("not modelled"); }
void cp_async_bulk_tensor_2d(void*, const CUtensorMap*, int, int, MBarrier*, SourceLine) {}
void wgmma_fence(SourceLine) {}
void wgmma_commit_group(SourceLine) {}
void wgmma_m64n128k16(float (&)[64], uint64_t, uint64_t, bool, SourceLine) {}
void wgmma_m64n256k16(float (&)[128], uint64_t, uint64_t, bool, SourceLine) {}
}  // namespace ptx

void __syncthreads(const char*, int) {}
namespace emulator {
void* dynamic_shared_memory(size_t, SourceLine) { return nullptr; }
void wgmma_wait_group(int, SourceLine) {}
}  // namespace emulator

namespace {

// --- FastDivmod ---

void expect_division(int n, int divisor) {
  const auto [quotient, remainder] = FastDivmod(divisor).divmod(n);
  ASSERT_EQ(quotient, n / divisor) << n << " / " << divisor;
  ASSERT_EQ(remainder, n % divisor) << n << " % " << divisor;
}

TEST(FastDivmod, ExactAtTheEdges) {
  constexpr int kMax = 2147483647;
  std::set<int> divisors = {1, 2, 3, 5, 7, 641, kMax, kMax - 1, kMax / 2, kMax / 2 + 1};
  for (int bit = 1; bit < 31; ++bit) {
    for (const int64_t near : {-1, 0, 1}) {
      divisors.insert(static_cast<int>((int64_t{1} << bit) + near));
    }
  }
  for (const int divisor : divisors) {
    if (divisor < 1) continue;
    for (const int64_t multiple : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{kMax / divisor - 1},
                                   int64_t{kMax / divisor}}) {
      for (const int64_t near : {-1, 0, 1}) {
        const int64_t n = multiple * divisor + near;
        if (n >= 0 && n <= kMax) expect_division(static_cast<int>(n), divisor);
      }
    }
    expect_division(kMax, divisor);
  }
}

TEST(FastDivmod, ExactOnAMillionRandomPairs) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000000; ++i) {
    const int n = static_cast<int>(random() >> 1);
    const int divisor = static_cast<int>(random() >> (1 + random() % 31));
    expect_division(n, divisor == 0 ? 1 : divisor);
  }
}

// --- tile_coordinates ---

using Coordinates = TileCoordinates (*)(int x, int y, const Rasterization& raster);

void expect_bijection(Coordinates coordinates, int m_tiles, int n_tiles, int width) {
  const Rasterization raster(m_tiles, n_tiles, width);
  const Grid grid = raster.grid();
  ASSERT_EQ(grid.x * grid.y, m_tiles * n_tiles);
  std::vector<bool> seen(m_tiles * n_tiles);
  for (int y = 0; y < grid.y; ++y) {
    for (int x = 0; x < grid.x; ++x) {
      const auto [m_block, n_block] = coordinates(x, y, raster);
      ASSERT_TRUE(m_block >= 0 && m_block < m_tiles && n_block >= 0 && n_block < n_tiles)
          << x << " of " << m_tiles << " x " << n_tiles << ", groups of " << width;
      ASSERT_FALSE(seen[m_block * n_tiles + n_block]);
      seen[m_block * n_tiles + n_block] = true;
    }
  }
}

TEST(TileCoordinates, ABijectionForEveryGridAndGroupWidth) {
  const std::vector<std::pair<int, Coordinates>> widths = {
      {1, v4_two_consumers::tile_coordinates<1>}, {2, v4_two_consumers::tile_coordinates<2>},
      {3, v4_two_consumers::tile_coordinates<3>}, {4, v4_two_consumers::tile_coordinates<4>},
      {5, v5_async_mma::tile_coordinates<5>},     {8, v5_async_mma::tile_coordinates<8>},
      {16, v5_async_mma::tile_coordinates<16>},   {64, v5_async_mma::tile_coordinates<64>}};
  for (const auto& [width, coordinates] : widths) {
    for (int m_tiles = 1; m_tiles <= 40; ++m_tiles) {
      for (int n_tiles = 1; n_tiles <= 40; ++n_tiles) {
        expect_bijection(coordinates, m_tiles, n_tiles, width);
      }
    }
  }
}

TEST(TileCoordinates, SixteenBlocksTouchEightStripsInsteadOfTen) {
  // The example of chapter 4: 8 × 8 tiles, 16 blocks at a time.
  const auto strips = [](Coordinates coordinates, int width) {
    const Rasterization raster(8, 8, width);
    std::set<int> rows, columns;
    for (int i = 0; i < 16; ++i) {
      const auto [m_block, n_block] =
          width == 1 ? coordinates(i % 8, i / 8, raster) : coordinates(i, 0, raster);
      rows.insert(m_block);
      columns.insert(n_block);
    }
    return std::make_pair(rows.size(), columns.size());
  };
  EXPECT_EQ(strips(v4_two_consumers::tile_coordinates<1>, 1), std::make_pair(size_t{8}, size_t{2}));
  EXPECT_EQ(strips(v4_two_consumers::tile_coordinates<4>, 4), std::make_pair(size_t{4}, size_t{4}));
}

// --- Pipeline ---

// One producer and kConsumers consumers walk the ring in random order, each step only if its
// barrier lets it. `lag`: a consumer releases a stage so many tiles after it has read it.
template <template <int> class Pipeline, int kStages>
void walk(int k_tiles, int lag, unsigned seed) {
  constexpr int kConsumers = 2;
  g_barriers.clear();
  MBarrier full[kStages], empty[kStages];
  threadIdx = {0, 0, 0};
  Pipeline<kStages> producer(full, empty, 1, kConsumers);
  threadIdx.x = 1;  // only thread 0 initialises
  std::vector<Pipeline<kStages>> consumers(kConsumers,
                                           Pipeline<kStages>(full, empty, 1, kConsumers));
  int stage_holds[kStages];
  int readers_left[kStages] = {};
  int produced = 0;
  std::vector<int> consumed(kConsumers, 0), released(kConsumers, 0);
  std::mt19937 random(seed);

  const auto release = [&](int who, MBarrier* barrier) {
    ++released[who];
    ptx::mbarrier_arrive(barrier, SourceLine::current());
  };
  const auto try_producer = [&]() -> bool {
    if (produced == k_tiles) return false;
    try {
      producer.producer_acquire();
    } catch (const WouldBlock&) {
      return false;
    }
    const int stage = producer.producer.stage;
    EXPECT_EQ(stage, produced % kStages);
    EXPECT_EQ(readers_left[stage], 0) << "a stage is overwritten before everyone has read it";
    stage_holds[stage] = produced++;
    readers_left[stage] = kConsumers;
    ptx::mbarrier_arrive(producer.producer_barrier(), SourceLine::current());
    producer.producer_advance();
    return true;
  };
  const auto try_consumer = [&](int who) -> bool {
    if (consumed[who] == k_tiles) return false;
    try {
      consumers[who].consumer_acquire();
    } catch (const WouldBlock&) {
      return false;
    }
    const int stage = consumers[who].consumer.stage;
    EXPECT_EQ(stage_holds[stage], consumed[who]) << "tiles arrive in order";
    if constexpr (std::is_same_v<Pipeline<kStages>, v5_async_mma::Pipeline<kStages>>) {
      if (lag == 1 && consumed[who] > 0) {
        --readers_left[(stage + kStages - 1) % kStages];
        release(who, consumers[who].prev_consumer_barrier());
      }
    }
    if (lag == 0) {
      --readers_left[stage];
      release(who, consumers[who].consumer_barrier());
    }
    ++consumed[who];
    consumers[who].consumer_advance();
    if constexpr (std::is_same_v<Pipeline<kStages>, v5_async_mma::Pipeline<kStages>>) {
      if (lag == 1 && consumed[who] == k_tiles) {
        --readers_left[stage];
        release(who, consumers[who].prev_consumer_barrier());
      }
    }
    return true;
  };

  int refused = 0;
  while (produced < k_tiles || consumed[0] < k_tiles || consumed[1] < k_tiles) {
    const int who = static_cast<int>(random() % 3);
    const bool moved = who == 2 ? try_producer() : try_consumer(who);
    refused = moved ? 0 : refused + 1;
    ASSERT_LT(refused, 1000) << "nobody can go on: " << kStages << " stages, " << k_tiles
                             << " tiles";
  }
  EXPECT_EQ(released, (std::vector<int>{k_tiles, k_tiles}));
  for (int i = 0; i < kStages; ++i) {  // the producer's drain must end, and see every stage empty
    ASSERT_NO_THROW(producer.producer_acquire());
    producer.producer_advance();
  }
}

template <template <int> class Pipeline, int kStages>
void walk_all(int lag) {
  for (int k_tiles = 0; k_tiles <= 20; ++k_tiles) {
    for (unsigned seed = 0; seed < 20; ++seed) walk<Pipeline, kStages>(k_tiles, lag, seed);
  }
}

TEST(Pipeline, WalksOneToFiveStages) {
  walk_all<v4_two_consumers::Pipeline, 1>(0);
  walk_all<v4_two_consumers::Pipeline, 2>(0);
  walk_all<v4_two_consumers::Pipeline, 3>(0);
  walk_all<v4_two_consumers::Pipeline, 4>(0);
  walk_all<v4_two_consumers::Pipeline, 5>(0);
}

TEST(Pipeline, WalksTwoToFiveStagesWithReleasesOneTileLate) {
  walk_all<v5_async_mma::Pipeline, 2>(1);
  walk_all<v5_async_mma::Pipeline, 3>(1);
  walk_all<v5_async_mma::Pipeline, 4>(1);
  walk_all<v5_async_mma::Pipeline, 5>(1);
}

TEST(Pipeline, TheDrainWaitsForStagesThatAreStillInUse) {
  g_barriers.clear();
  MBarrier full[3], empty[3];
  threadIdx = {0, 0, 0};
  v4_two_consumers::Pipeline<3> pipeline(full, empty, 1, 2);
  pipeline.producer_acquire();
  ptx::mbarrier_arrive(pipeline.producer_barrier(), SourceLine::current());
  pipeline.producer_advance();
  pipeline.producer_acquire();  // two stages that were never filled
  pipeline.producer_advance();
  pipeline.producer_acquire();
  pipeline.producer_advance();
  EXPECT_THROW(pipeline.producer_acquire(), WouldBlock) << "the one tile was not released";
}

}  // namespace
