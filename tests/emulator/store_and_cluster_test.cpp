// Instructions beyond those of emulator/ptx, right and wrong: the epilogue through shared memory,
// named barriers, setmaxnreg, multicast and signals between the blocks of a cluster.
#include <instructions.h>
#include <matrix_descriptor.cuh>
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>

#include <cstring>

#include "kernel_test.h"

namespace {

using emulator::Check;
using emulator::Delay;
using emulator::Options;
using emulator::Report;
using kernel_test::expect_bug;
using kernel_test::expect_report;
using kernel_test::expect_silent;
using kernel_test::Matrix;
using kernel_test::quiet;
using kernel_test::run;
using kernel_test::Shape;

SourceLine here(SourceLine where = SourceLine::current()) { return where; }

// --- stmatrix, fence.proxy.async, TMA stores ---

enum class StoreBug {
  kNone,
  kNoProxyFence,
  kFenceInOneWarp,
  kNoBarrier,
  kNoWaitRead,  // before the buffer is written again
  kNoBarrierAfterWait,
  kNoCommit,
  kCommitInAnotherThread,
  kCommitBeforeTheStore,
  kNoFinalWait,
  kHalfWritten,
};

constexpr int kStoreRows = 64;

struct StoreBuffer {
  alignas(1024) half c[kStoreRows * 64];
};

uint32_t pair(int row, int column) {
  const half2 values = __floats2half2_rn(static_cast<float>(row * 8 + column % 8),
                                         static_cast<float>(row * 8 + column % 8 + 1));
  uint32_t bits;
  std::memcpy(&bits, &values, sizeof(bits));
  return bits;
}

// One warp group stores `tiles` tiles of 64 × 64, one below the other; warp w writes rows 16w to
// 16w + 15, 16 columns per stmatrix.
template <StoreBug kBug>
void store_kernel(const CUtensorMap map, int tiles) {
  auto& smem = shared_storage<StoreBuffer>();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile > 0) {
      if (threadIdx.x == 0 && kBug != StoreBug::kNoWaitRead) {
        emulator::bulk_wait_group_read(0, here());
      }
      if (kBug != StoreBug::kNoBarrierAfterWait) emulator::bar_sync(1, 128, here());
    }
    const int columns = kBug == StoreBug::kHalfWritten ? 32 : 64;
    for (int column = 0; column < columns; column += 16) {
      // Matrices 0 to 3: upper left, lower left, upper right, lower right.
      uint32_t matrices[4];
      for (int i = 0; i < 4; ++i) {
        const int row = tile * 64 + warp * 16 + i % 2 * 8 + lane / 4;
        matrices[i] = pair(row, column + i / 2 * 8 + lane % 4 * 2);
      }
      const int row = warp * 16 + lane % 16, chunk = column / 8 + lane / 16;
      emulator::stmatrix_x4(&smem.c[row * 64 + (chunk ^ row % 8) * 8], matrices, here());
    }
    const bool fences =
        kBug != StoreBug::kNoProxyFence && (kBug != StoreBug::kFenceInOneWarp || warp == 0);
    if (fences) emulator::fence_proxy_async(here());
    if (kBug != StoreBug::kNoBarrier) emulator::bar_sync(1, 128, here());
    if (threadIdx.x == 0) {
      if (kBug == StoreBug::kCommitBeforeTheStore) emulator::bulk_commit_group(here());
      emulator::tma_store(&map, {0, tile * 64}, smem.c, here());
    }
    constexpr bool kCommits =
        kBug != StoreBug::kNoCommit && kBug != StoreBug::kCommitBeforeTheStore;
    const unsigned committer = kBug == StoreBug::kCommitInAnotherThread ? 33 : 0;
    if (kCommits && threadIdx.x == committer) emulator::bulk_commit_group(here());
  }
  if (threadIdx.x == 0 && kBug != StoreBug::kNoFinalWait) emulator::bulk_wait_group_read(0, here());
}

template <StoreBug kBug>
std::optional<Report> store(const Options& options, Matrix* c, int tiles) {
  return run(options, {1, 128, sizeof(StoreBuffer)}, store_kernel<kBug>, c->map(kStoreRows), tiles);
}

template <StoreBug kBug>
void expect_store_bug(const std::vector<Check>& checks, const std::vector<std::string>& parts,
                      int tiles = 1) {
  Matrix c(64 * tiles, 64);
  expect_bug(checks, parts,
             [&](const Options& options) { return store<kBug>(options, &c, tiles); });
}

TEST(TmaStore, StoresAndClips) {
  for (const auto& [rows, columns] : {std::pair{192, 64}, std::pair{150, 40}}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      Matrix c(rows, columns);
      c.set([](int, int) { return -1; });
      expect_silent(store<StoreBug::kNone>(quiet(seed), &c, 3));
      for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
          ASSERT_EQ(c.value(row, column), static_cast<float>(row * 8 + column % 8));
        }
      }
    }
  }
}

// As an H200 does (tests/wrappers): a row that ends inside a unit of 16 bytes is overrun.
TEST(TmaStore, WritesWholeUnitsOf16Bytes) {
  Matrix c(64, 48);
  c.set([](int, int) { return -1; });
  CUtensorMap map;
  ASSERT_TRUE(make_tensor_map(&map, {"X", c.data(), 64, 36, 48}, kStoreRows, 64).ok());
  expect_silent(
      run(quiet(1), {1, 128, sizeof(StoreBuffer)}, store_kernel<StoreBug::kNone>, map, 1));
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 48; ++column) {
      ASSERT_EQ(c.value(row, column), column < 40 ? row * 8 + column % 8 : -1) << column;
    }
  }
}

TEST(TmaStore, NeedsTheProxyFence) {
  expect_store_bug<StoreBug::kNoProxyFence>({Check::kMissingProxyFence},
                                            {"an asynchronous unit reads"});
  expect_store_bug<StoreBug::kFenceInOneWarp>({Check::kMissingProxyFence},
                                              {"in every thread that writes"});
}

TEST(TmaStore, NeedsTheBarrierBeforeIt) {
  // (The store's own warp has not fenced either: its other lanes come later.)
  expect_store_bug<StoreBug::kNoBarrier>({Check::kMissingProxyFence, Check::kReadBeforeFull},
                                         {"before the barrier"});
}

TEST(TmaStore, NeedsTheBufferToBeRead) {
  expect_store_bug<StoreBug::kNoWaitRead>({Check::kStoreBufferReused},
                                          {"that a TMA store may not have read yet"}, 2);
  expect_store_bug<StoreBug::kNoBarrierAfterWait>(
      {Check::kStoreBufferReused, Check::kReadBeforeFull}, {"cp.async.bulk.wait_group.read"}, 2);
}

TEST(TmaStore, NeedsCommitAndFinalWait) {
  const std::vector<std::string> parts = {
      "a TMA store belongs to no bulk-group", "store_and_cluster_test.cpp:",
      "cp.async.bulk.commit_group after the store, in the thread that has issued the store"};
  for (const int tiles : {1, 2}) {  // found as the thread leaves, or as the buffer is used again
    expect_store_bug<StoreBug::kNoCommit>({Check::kMissingBulkCommit}, parts, tiles);
    expect_store_bug<StoreBug::kCommitInAnotherThread>({Check::kMissingBulkCommit}, parts, tiles);
    expect_store_bug<StoreBug::kCommitBeforeTheStore>(
        {Check::kMissingBulkCommit}, {parts[0], parts[2], "latest commit_group came before the"},
        tiles);
  }
  expect_store_bug<StoreBug::kCommitInAnotherThread>(
      {Check::kMissingBulkCommit}, {"executed by warp 1, lane 1, which has issued no store"}, 2);
  expect_store_bug<StoreBug::kNoFinalWait>({Check::kStoreNotWaitedFor},
                                           {"may not have read shared"});
}

// Empty groups are legal, and so is one group of several stores.
enum class Groups { kEmptyOnesBefore, kOneOfTwo, kWaitWithoutGroups, kEmptyOneCounted };

void groups_kernel(const CUtensorMap map, Groups how) {
  auto& smem = shared_storage<StoreBuffer>();
  const auto write = [&] {
    const uint32_t matrices[4] = {};
    for (int row = 0; row < kStoreRows; row += 4) {
      emulator::stmatrix_x4(&smem.c[(row * 8 + threadIdx.x) * 8], matrices, here());
    }
    emulator::fence_proxy_async(here());
    __syncthreads();
  };
  const auto store = [&] { emulator::tma_store(&map, {0, 0}, smem.c, here()); };
  write();
  if (threadIdx.x == 0) {
    if (how == Groups::kEmptyOnesBefore) emulator::bulk_commit_group(here());
    if (how == Groups::kWaitWithoutGroups) emulator::bulk_wait_group_read(0, here());
    if (how == Groups::kOneOfTwo) store();
    store();
    if (how == Groups::kWaitWithoutGroups) emulator::bulk_wait_group_read(0, here());
    emulator::bulk_commit_group(here());
    if (how == Groups::kEmptyOneCounted) emulator::bulk_commit_group(here());
    emulator::bulk_wait_group_read(how == Groups::kEmptyOneCounted ? 1 : 0, here());
  }
  __syncthreads();
  write();
}

TEST(TmaStore, GroupsOfAnySize) {
  Matrix c(kStoreRows, 64);
  for (const Groups how : {Groups::kEmptyOnesBefore, Groups::kOneOfTwo, Groups::kWaitWithoutGroups,
                           Groups::kEmptyOneCounted}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      expect_silent(
          run(quiet(seed), {1, 32, sizeof(StoreBuffer)}, groups_kernel, c.map(kStoreRows), how));
    }
  }
}

// Two buffers in turn, each store one group; the commit comes before the store.
void late_groups_kernel(const CUtensorMap map) {
  auto& buffers = shared_storage<StoreBuffer[2]>();
  for (int i = 0; i < 4; ++i) {
    half* const buffer = buffers[i % 2].c;
    if (threadIdx.x == 0) emulator::bulk_wait_group_read(1, here());
    __syncthreads();
    const uint32_t matrices[4] = {};
    for (int row = 0; row < kStoreRows; row += 4) {
      emulator::stmatrix_x4(&buffer[(row * 8 + threadIdx.x) * 8], matrices, here());
    }
    emulator::fence_proxy_async(here());
    __syncthreads();
    if (threadIdx.x == 0) {
      emulator::bulk_commit_group(here());
      emulator::tma_store(&map, {0, 0}, buffer, here());
    }
  }
}

TEST(TmaStore, GroupsThatComeTooLate) {
  Matrix c(kStoreRows, 64);
  expect_bug(
      {Check::kStoreBufferReused},
      {"a commit_group of that thread found no store to commit: ",
       "cp.async.bulk.commit_group after each store"},
      [&](const Options& options) {
        return run(options, {1, 32, sizeof(StoreBuffer[2])}, late_groups_kernel, c.map(kStoreRows));
      });
}

TEST(TmaStore, NeedsTheWholeBox) {
  expect_store_bug<StoreBug::kHalfWritten>({Check::kReadUninitialised},
                                           {"where nothing was written"});
}

// --- named barriers ---

void named_barrier_kernel(int* errors, int* values) {
  const int group = static_cast<int>(threadIdx.x) / 64;
  for (int step = 0; step < 10 * (group + 1); ++step) {  // each group goes its own way
    values[threadIdx.x] = step;
    emulator::bar_sync(group + 1, 64, here());
    if (values[threadIdx.x ^ 63] != step) ++*errors;
    emulator::bar_sync(group + 1, 64, here());
  }
}

TEST(NamedBarrier, HoldsItsThreadsAlone) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    int errors = 0;
    std::vector<int> values(128);
    expect_silent(run(quiet(seed), {1, 128}, named_barrier_kernel, &errors, values.data()));
    EXPECT_EQ(errors, 0);
  }
}

void wrong_count_kernel() { emulator::bar_sync(1, 160, here()); }
void wrong_id_kernel() { emulator::bar_sync(16, 128, here()); }

TEST(NamedBarrier, WrongCountOrNumber) {
  expect_report(run(quiet(), {1, 128}, wrong_count_kernel), Check::kDeadlock,
                {"bar.sync 1 (128 of 160 threads have arrived)"});
  expect_report(run(quiet(), {1, 128}, wrong_id_kernel), Check::kLimit,
                {"bar.sync 16 for 128 threads"});
}

// --- setmaxnreg ---

void registers_kernel(int down, int up) {
  if (threadIdx.x >= 256) {
    emulator::setmaxnreg_dec(down, here());
  } else {
    emulator::setmaxnreg_inc(up, here());
  }
}

TEST(Setmaxnreg, SharesOutTheRegisters) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    expect_silent(run(quiet(seed), {1, 384}, registers_kernel, 40, 232));
    expect_silent(run(quiet(seed), {1, 384}, registers_kernel, 24, 240));
    expect_report(run(quiet(seed), {1, 384}, registers_kernel, 40, 240), Check::kRegisterBudget,
                  {"waits for 240 registers per thread"});
  }
  expect_report(run(quiet(), {1, 384}, registers_kernel, 40, 236), Check::kRegisterBudget,
                {"setmaxnreg with 236 registers"});
  expect_report(run(quiet(), {1, 384}, registers_kernel, 40, 160), Check::kRegisterBudget,
                {"from 168 to 160 registers is the wrong way"});
}

// --- clusters ---

enum class ClusterBug {
  kNone,
  kBlockBarrierAfterInit,
  kReleasedAtHomeOnly,
  kLeavesEarly,
  kWrongRank,
};

struct ClusterStorage {
  alignas(1024) half tile[2][64 * 64];
  MBarrier full[2];
  MBarrier empty[2];
};

// Two blocks: each loads its half of every tile into both; a consumer warp per block sums the first
// elements of the tiles' rows and releases the stage in both blocks.
template <ClusterBug kBug>
void multicast_kernel(const CUtensorMap map, int tiles, float* sums) {
  auto& smem = shared_storage<ClusterStorage>();
  const uint32_t rank = ptx::cluster_ctarank();
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < 2; ++stage) {
      ptx::mbarrier_init(&smem.full[stage], 1);
      ptx::mbarrier_init(&smem.empty[stage], kBug == ClusterBug::kReleasedAtHomeOnly ? 1 : 2);
    }
    ptx::fence_mbarrier_init();
  }
  if (kBug == ClusterBug::kBlockBarrierAfterInit) {
    __syncthreads();
  } else {
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
  }
  if (threadIdx.x >= 32) {  // --- producer ---
    for (int tile = 0; tile < tiles; ++tile) {
      const int stage = tile % 2;
      ptx::mbarrier_wait_parity(&smem.empty[stage], tile / 2 % 2 ^ 1);
      if (ptx::elect_sync()) {
        ptx::mbarrier_arrive_expect_tx(&smem.full[stage], sizeof(smem.tile[0]));
        emulator::tma_load_multicast(
            smem.tile[stage] + rank * 32 * 64, &map, {0, tile * 64 + static_cast<int>(rank) * 32},
            &smem.full[stage], kBug == ClusterBug::kWrongRank ? 7 : 3, here());
      }
    }
  } else {  // --- consumer ---
    float sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      const int stage = tile % 2;
      ptx::mbarrier_wait_parity(&smem.full[stage], tile / 2 % 2);
      sum += __half2float(smem.tile[stage][(threadIdx.x * 2) * 64 + threadIdx.x * 2 % 8 * 8]);
      __syncwarp();  // the others have read, too
      const bool signals =
          threadIdx.x < 2 && (kBug != ClusterBug::kReleasedAtHomeOnly || threadIdx.x == rank);
      if (signals) emulator::mbarrier_arrive_remote(&smem.empty[stage], threadIdx.x, here());
    }
    sums[rank * 32 + threadIdx.x] = sum;
  }
  if (kBug != ClusterBug::kLeavesEarly) {
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
  }
}

template <ClusterBug kBug>
std::optional<Report> multicast(const Options& options, float* sums) {
  constexpr int kTiles = 6;
  Matrix source(kTiles * 64, 64);
  source.set([](int row, int) { return row % 64 + row / 64; });
  return run(options, {2, 64, sizeof(ClusterStorage), 2}, multicast_kernel<kBug>, source.map(32),
             kTiles, sums);
}

TEST(Multicast, ReachesBothBlocks) {
  for (const Delay delay : {Delay::kMixed, Delay::kAtOnce, Delay::kOnlyWhenIdle}) {
    for (uint64_t seed = 1; seed <= 30; ++seed) {
      Options options = quiet(seed);
      options.delay = delay;
      float sums[64] = {};
      expect_silent(multicast<ClusterBug::kNone>(options, sums));
      for (int i = 0; i < 64; ++i) ASSERT_EQ(sums[i], 6 * (i % 32 * 2) + 15) << i;
    }
  }
}

template <ClusterBug kBug>
void expect_cluster_bug(const std::vector<Check>& checks,
                        const std::vector<std::string>& parts = {}) {
  float sums[64];
  expect_bug(checks, parts, [&](const Options& options) { return multicast<kBug>(options, sums); });
}

TEST(Multicast, NeedsAClusterBarrierAfterInit) {
  expect_cluster_bug<ClusterBug::kBlockBarrierAfterInit>(
      {Check::kInitNotVisible, Check::kBarrierNotInitialised},
      {"a cluster barrier (barrier.cluster arrive and wait) after the inits"});
}

TEST(Multicast, NeedsReleasesOfBothBlocks) {
  expect_cluster_bug<ClusterBug::kReleasedAtHomeOnly>({Check::kOverwrittenInFlight},
                                                      {"may still be filling"});
}

TEST(Multicast, BlocksLeaveTogether) {
  expect_cluster_bug<ClusterBug::kLeavesEarly>({Check::kBlockLeft},
                                               {"shared memory ends with its block"});
}

TEST(Multicast, OnlyToBlocksThatExist) {
  expect_cluster_bug<ClusterBug::kWrongRank>({Check::kLimit}, {"there is no block of rank 2"});
}

}  // namespace
