// What each instruction does: mbarriers, TMA loads and the swizzle, WGMMA and its fragments, warps,
// blocks and launches.
#include <harness/random.h>
#include <matrix_descriptor.cuh>
#include <ptx/cluster.cuh>
#include <ptx/global.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernel_test.h"
#include "product_kernel.h"

namespace {

using emulator::Check;
using emulator::Delay;
using emulator::Options;
using kernel_test::expect_report;
using kernel_test::expect_silent;
using kernel_test::Matrix;
using kernel_test::Operands;
using kernel_test::product_kernel;
using kernel_test::quiet;
using kernel_test::run;
using kernel_test::Shape;

// --- launches ---

void count_kernel(int* counts) {
  counts[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] += 1 + gridDim.y;
}

TEST(Launch, EveryThreadOfTheGridRunsOnce) {
  std::vector<int> counts(3 * 5 * 96);
  for (const int threads : {1, 3}) {
    counts.assign(counts.size(), 0);
    Options options = quiet();
    options.threads = threads;
    expect_silent(run(options, {dim3(3, 5), 96}, count_kernel, counts.data()));
    EXPECT_EQ(counts, std::vector<int>(counts.size(), 6));
  }
}

void nothing() {}

TEST(Launch, RefusesWhatTheRuntimeWouldRefuse) {
  expect_report(run(quiet(), {1, 100}, nothing), Check::kLaunch, {"whole warps"});
  expect_report(run(quiet(), {1, 1056}, nothing), Check::kLaunch);
  expect_report(run(quiet(), {0, 32}, nothing), Check::kLaunch, {"grid is empty"});
  expect_report(run(quiet(), {3, 32, 0, 2}, nothing), Check::kLaunch,
                {"no multiple of the cluster"});
  expect_report(run(quiet(), {1, 32, 232449}, nothing), Check::kSharedMemorySize, {"232448"});
  expect_silent(run(quiet(), {1, 32, 232448}, nothing));
}

struct Aligned {
  alignas(1024) char bytes[2048];
};

void address_kernel(uint32_t* address, bool* aligned) {
  auto& smem = shared_storage<Aligned>();
  if (threadIdx.x != 0) return;
  *address = shared_address(&smem.bytes[16]);
  *aligned = reinterpret_cast<uintptr_t>(&smem) % 1024 == 0;
}

TEST(SharedMemory, LiesAligned) {
  uint32_t address = 0;
  bool aligned = false;
  expect_silent(run(quiet(), {1, 32, sizeof(Aligned)}, address_kernel, &address, &aligned));
  EXPECT_EQ(address % 1024, 16u);
  EXPECT_GE(address, 1024u);
  EXPECT_TRUE(aligned);
}

// --- warps and blocks ---

void shfl_idx_kernel(int* received) {
  received[threadIdx.x] = ptx::shfl_sync_idx(static_cast<int>(threadIdx.x) - 40, 5);
}

TEST(Warp, OneLanesValueInAllLanes) {
  std::vector<int> received(64);
  expect_silent(run(quiet(), {1, 64}, shfl_idx_kernel, received.data()));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(received[i], i / 32 * 32 + 5 - 40);
}

void elect_kernel(int* elected) {
  if (ptx::elect_sync()) ++elected[threadIdx.x];
}

TEST(Elect, OneLanePerWarp) {
  std::vector<int> elected(96);
  expect_silent(run(quiet(), {1, 96}, elect_kernel, elected.data()));
  for (int i = 0; i < 96; ++i) EXPECT_EQ(elected[i], i % 32 == 0 ? 1 : 0);
}

void shuffle_kernel(uint32_t* sums) {
  uint32_t sum = threadIdx.x;
  for (uint32_t mask = 1; mask < 32; mask *= 2) sum += ptx::shfl_sync_bfly(sum, mask);
  sums[threadIdx.x] = sum;
}

TEST(Shuffle, EveryLaneGetsTheSum) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::vector<uint32_t> sums(64);
    expect_silent(run(quiet(seed), {1, 64}, shuffle_kernel, sums.data()));
    for (int i = 0; i < 64; ++i) EXPECT_EQ(sums[i], i < 32 ? 496u : 1520u);
  }
}

void block_barrier_kernel(int* values, int* errors) {
  for (int step = 0; step < 5; ++step) {
    values[threadIdx.x] = step;
    __syncthreads();
    if (values[(threadIdx.x + 33) % blockDim.x] != step) ++*errors;
    __syncthreads();
  }
}

TEST(BlockBarrier, HoldsAllThreads) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<int> values(160);
    int errors = 0;
    expect_silent(run(quiet(seed), {1, 160}, block_barrier_kernel, values.data(), &errors));
    EXPECT_EQ(errors, 0);
  }
}

void half_a_block_leaves() {
  if (threadIdx.x >= 64) return;
  __syncthreads();
}

TEST(BlockBarrier, DoesNotWaitForThreadsThatHaveLeft) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    expect_silent(run(quiet(seed), {1, 128}, half_a_block_leaves));
  }
}

void barrier_in_one_lane() {
  if (threadIdx.x == 0) __syncthreads();
}

TEST(BlockBarrier, NeedsWholeWarps) {
  expect_report(run(quiet(), {1, 64}, barrier_in_one_lane), Check::kLaneDivergence);
}

// --- mbarriers ---

struct OneBarrier {
  MBarrier ready;
};

// Phase after phase, each seen by all; parities alternate.
void phases_kernel(int* order) {
  auto& smem = shared_storage<OneBarrier>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.ready, 32);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int phase = 0; phase < 4; ++phase) {
      if (threadIdx.x == 0) *order = phase + 1;
      ptx::mbarrier_arrive(&smem.ready);
      __syncthreads();
    }
  } else {
    for (int phase = 0; phase < 4; ++phase) {
      ptx::mbarrier_wait_parity(&smem.ready, phase & 1);
      if (*order != phase + 1) *order = -100;
      ptx::mbarrier_wait_parity(&smem.ready, phase & 1);  // passes again: the next is not complete
      __syncthreads();
    }
  }
}

TEST(MBarrier, RunsThroughPhases) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    int order = 0;
    expect_silent(run(quiet(seed), {1, 64, sizeof(OneBarrier)}, phases_kernel, &order));
    EXPECT_EQ(order, 4);
  }
}

void fresh_barrier_kernel(bool* passes) {
  auto& smem = shared_storage<OneBarrier>();
  if (threadIdx.x != 0) return;
  ptx::mbarrier_init(&smem.ready, 1);
  ptx::mbarrier_wait_parity(&smem.ready, 1);  // as if a phase before the first were complete
  passes[0] = ptx::mbarrier_try_wait_parity(&smem.ready, 1);
  passes[1] = ptx::mbarrier_try_wait_parity(&smem.ready, 0);
  ptx::mbarrier_arrive(&smem.ready);
  passes[2] = ptx::mbarrier_try_wait_parity(&smem.ready, 0);
  passes[3] = ptx::mbarrier_try_wait_parity(&smem.ready, 1);
}

TEST(MBarrier, ParitiesOfAFreshBarrier) {
  bool passes[4] = {};
  expect_silent(run(quiet(), {1, 32, sizeof(OneBarrier)}, fresh_barrier_kernel, &passes[0]));
  EXPECT_TRUE(passes[0]);
  EXPECT_FALSE(passes[1]);
  EXPECT_TRUE(passes[2]);
  EXPECT_FALSE(passes[3]);
}

void spinning_kernel() {
  auto& smem = shared_storage<OneBarrier>();
  if (threadIdx.x == 0) ptx::mbarrier_init(&smem.ready, 1);
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&smem.ready, 0)) {
  }
}

TEST(MBarrier, ALoopAroundTryWaitCanDeadlock) {
  expect_report(run(quiet(), {1, 32, sizeof(OneBarrier)}, spinning_kernel), Check::kDeadlock,
                {"waits for parity 0 of ready"});
}

// --- addresses of mbarriers ---

void arrive_at_kernel(int offset) {
  auto* const memory = reinterpret_cast<char*>(&shared_storage<OneBarrier>());
  if (threadIdx.x == 0) ptx::mbarrier_arrive(reinterpret_cast<MBarrier*>(memory + offset));
}

TEST(MBarrier, TakesEightAlignedBytes) {
  expect_report(run(quiet(), {1, 32, 16}, arrive_at_kernel, 4), Check::kMisaligned,
                {"the mbarrier begins 4 bytes past a multiple of 8"});
  expect_report(run(quiet(), {1, 32, 12}, arrive_at_kernel, 8), Check::kNotShared);
  expect_report(run(quiet(), {1, 32, 16}, arrive_at_kernel, 8), Check::kBarrierNotInitialised);
}

// --- TMA loads ---

constexpr int kBoxRows = 24;

struct OneTile {
  alignas(1024) half tile[kBoxRows * 64];
  MBarrier full;
};

void load_kernel(const CUtensorMap map, int column, int row, half* out) {
  auto& smem = shared_storage<OneTile>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, sizeof(smem.tile));
    ptx::cp_async_bulk_tensor_2d(smem.tile, &map, column, row, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  if (threadIdx.x == 0) std::memcpy(out, smem.tile, sizeof(smem.tile));
}

// Element (row, column) of a tile with the 128-byte swizzle, per the PTX ISA ("Swizzling modes"):
// 16-byte chunks of a row are exchanged by the row's number modulo 8.
int swizzled_index(int row, int column) {
  return row * 64 + ((column / 8) ^ (row % 8)) * 8 + column % 8;
}

TEST(TmaLoad, SwizzlesAndFillsWithZero) {
  Matrix source(40, 72);
  source.set([](int row, int column) { return row * 40 + column + 1; });  // exact in fp16 to 2048
  const CUtensorMap map = source.map(kBoxRows);
  const int corners[][2] = {{0, 0}, {8, 16}, {64, 32}, {72, 0}, {0, 40}, {-16, -5}, {-64, 0}};
  for (const auto& [column, row] : corners) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      std::vector<half> tile(kBoxRows * 64);
      expect_silent(
          run(quiet(seed), {1, 64, sizeof(OneTile)}, load_kernel, map, column, row, tile.data()));
      for (int i = 0; i < kBoxRows; ++i) {
        for (int j = 0; j < 64; ++j) {
          const int y = row + i, x = column + j;
          const bool inside = y >= 0 && y < 40 && x >= 0 && x < 72;
          const float expected = inside ? source.value(y, x) : 0;
          ASSERT_EQ(__half2float(tile[swizzled_index(i, j)]), expected) << i << " " << j;
        }
      }
    }
  }
}

CUresult encode(CUtensorMap* map, void* base, cuuint64_t columns, cuuint64_t rows, cuuint64_t pitch,
                cuuint32_t box_columns, cuuint32_t box_rows,
                CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B, cuuint32_t stride = 1) {
  const cuuint64_t size[2] = {columns, rows};
  const cuuint32_t box[2] = {box_columns, box_rows};
  const cuuint32_t strides[2] = {stride, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, base, size, &pitch, box,
                                strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

// Kernels take maps by value: cuda.h says what becomes of those that are copied bit by bit.
static_assert(!std::is_trivially_copyable_v<CUtensorMap>);

TEST(TensorMap, RulesOfTheDriver) {
  Matrix source(128, 128);
  char* const base = reinterpret_cast<char*>(source.data());
  CUtensorMap map;
  EXPECT_EQ(encode(&map, base, 128, 128, 256, 64, 64), CUDA_SUCCESS);
  EXPECT_EQ(encode(&map, base, 1, 1, 16, 64, 256), CUDA_SUCCESS);
  EXPECT_EQ(encode(&map, base, 128, 128, 256, 128, 64, CU_TENSOR_MAP_SWIZZLE_NONE), CUDA_SUCCESS);
  EXPECT_NE(encode(nullptr, base, 128, 128, 256, 64, 64), CUDA_SUCCESS);
  EXPECT_NE(encode(&map, nullptr, 128, 128, 256, 64, 64), CUDA_SUCCESS);
  EXPECT_NE(encode(&map, base + 8, 128, 128, 256, 64, 64), CUDA_SUCCESS);
  EXPECT_NE(encode(&map, base, 0, 128, 256, 64, 64), CUDA_SUCCESS);
  EXPECT_NE(encode(&map, base, 128, (cuuint64_t{1} << 32) + 1, 256, 64, 64), CUDA_SUCCESS);
  EXPECT_NE(encode(&map, base, 120, 128, 248, 64, 64), CUDA_SUCCESS);
  EXPECT_NE(encode(&map, base, 128, 128, cuuint64_t{1} << 40, 64, 64), CUDA_SUCCESS);
  EXPECT_NE(encode(&map, base, 128, 128, 128, 64, 64), CUDA_SUCCESS);
  EXPECT_NE(encode(&map, base, 128, 128, 256, 64, 257), CUDA_SUCCESS);
  EXPECT_NE(encode(&map, base, 128, 128, 256, 64, 0), CUDA_SUCCESS);
  EXPECT_NE(encode(&map, base, 128, 128, 256, 128, 64), CUDA_SUCCESS);
  EXPECT_NE(encode(&map, base, 128, 128, 256, 60, 64), CUDA_SUCCESS);
  EXPECT_NE(encode(&map, base, 128, 128, 256, 64, 64, CU_TENSOR_MAP_SWIZZLE_128B, 2), CUDA_SUCCESS);
}

TEST(TensorMap, EncoderIsFoundByName) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                             cudaEnableDefault, &found),
            cudaSuccess);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuTensorMapEncodeTiled));
  EXPECT_NE(
      cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, cudaEnableDefault, &found),
      cudaSuccess);
}

// --- WGMMA ---

template <int kColumns>
void expect_product(int laps) {
  Matrix a(64, 64), b(kColumns, 64);
  // Every element of D is its own row and column: A picks B's k = 0 and 1.
  a.set([](int row, int k) { return k == 0 ? row : k == 17 ? 1 : 0; });
  b.set([](int column, int k) { return k == 0 ? 256 : k == 17 ? column : 0; });
  std::vector<float> registers(128 * (kColumns / 2));
  expect_silent(run(quiet(), {1, 128, sizeof(Operands<kColumns>)}, product_kernel<kColumns>,
                    a.map(64), b.map(kColumns), laps, registers.data()));
  for (int thread = 0; thread < 128; ++thread) {
    for (int r = 0; r < kColumns / 2; ++r) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + r / 2 % 2 * 8;
      const int column = r / 4 * 8 + thread % 4 * 2 + r % 2;
      const auto expected = static_cast<float>(laps * (row * 256 + column));
      ASSERT_EQ(registers[thread * (kColumns / 2) + r], expected) << thread << " " << r;
    }
  }
}

TEST(Wgmma, FragmentsOfM64N128) { expect_product<128>(1); }
TEST(Wgmma, FragmentsOfM64N256) { expect_product<256>(1); }
TEST(Wgmma, AccumulatesOverGroupsInFlight) {
  expect_product<128>(5);
  expect_product<256>(5);
}

TEST(Wgmma, InfinityAndNanAndSubnormals) {
  Matrix a(64, 64), b(128, 64);
  a.set([](int row, int k) {
    return k == 0 ? (row == 0 ? INFINITY : row == 1 ? NAN : 0x1p-24f) : 0;
  });
  b.set([](int column, int k) {
    return k == 0 ? (column == 0 ? 0 : column == 1 ? -1 : 0x1p-20f) : 0;
  });
  std::vector<float> registers(128 * 64);
  expect_silent(run(quiet(), {1, 128, sizeof(Operands<128>)}, product_kernel<128>, a.map(64),
                    b.map(128), 1, registers.data()));
  EXPECT_TRUE(std::isnan(registers[0]));  // inf · 0
  EXPECT_EQ(registers[1], -INFINITY);  // inf · -1
  EXPECT_TRUE(std::isnan(registers[4 * 64]));  // NaN · 0
  EXPECT_EQ(registers[8 * 64 + 1], -0x1p-24f);  // a subnormal of fp16
  EXPECT_EQ(registers[9 * 64], 0x1p-44f);  // beyond fp16, not beyond fp32
}

// --- clusters ---

void rank_kernel(int* ranks) {
  if (threadIdx.x == 0) ranks[blockIdx.x] = static_cast<int>(ptx::cluster_ctarank());
}

TEST(Cluster, RanksCountWithinTheCluster) {
  std::vector<int> ranks(6);
  expect_silent(run(quiet(), {6, 32, 0, 2}, rank_kernel, ranks.data()));
  EXPECT_EQ(ranks, (std::vector<int>{0, 1, 0, 1, 0, 1}));
}

void cluster_barrier_kernel(int* values, int* errors) {
  const uint32_t rank = ptx::cluster_ctarank();
  for (int step = 0; step < 4; ++step) {
    if (threadIdx.x == 0) values[rank] = step;
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    if (values[1 - rank] != step) ++*errors;
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
  }
}

TEST(Cluster, BarrierHoldsAllBlocks) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    int values[2] = {};
    int errors = 0;
    expect_silent(run(quiet(seed), {2, 64, 0, 2}, cluster_barrier_kernel, &values[0], &errors));
    EXPECT_EQ(errors, 0);
  }
}

// --- reports, counters, trace ---

// --- global memory that clusters share, and time ---

struct Shared {
  uint32_t counted = 0, taken = 0, flag = 0;
};

void shared_kernel(Shared* shared, uint32_t* tickets) {
  if (threadIdx.x != 0) return;
  ptx::red_add_relaxed_gpu(&shared->counted, 2);
  tickets[blockIdx.x] = ptx::atom_add_acq_rel_gpu(&shared->taken, 1);
  if (blockIdx.x == 0) ptx::st_release_gpu(&shared->flag, ptx::ld_relaxed_gpu(&shared->taken));
}

TEST(Global, CountersOfAllClusters) {
  for (const int threads : {1, 3}) {
    Options options = quiet();
    options.threads = threads;
    Shared shared;
    std::vector<uint32_t> tickets(50);
    expect_silent(run(options, {50, 32}, shared_kernel, &shared, tickets.data()));
    std::sort(tickets.begin(), tickets.end());
    for (uint32_t i = 0; i < 50; ++i) EXPECT_EQ(tickets[i], i);
    EXPECT_EQ(shared.counted, 100u);
    EXPECT_GE(shared.flag, 1u);
  }
}

// A wait for somebody who never comes ends when its time is over, whoever else runs.
void patience_kernel(const uint32_t* flag, uint32_t* waited, bool sleeps) {
  if (threadIdx.x != 0) return;
  const uint32_t begin = ptx::globaltimer_lo();
  while (ptx::ld_acquire_gpu(flag) == 0 && ptx::globaltimer_lo() - begin < 20000) {
    if (sleeps) ptx::nanosleep(64);
  }
  *waited = ptx::globaltimer_lo() - begin;
}

TEST(Global, WaitsEndByPatience) {
  for (const auto schedule : {emulator::Schedule::kRandom, emulator::Schedule::kRoundRobin}) {
    for (const Delay delay : {Delay::kMixed, Delay::kAtOnce, Delay::kOnlyWhenIdle}) {
      for (const bool sleeps : {false, true}) {
        Options options = quiet();
        options.schedule = schedule;
        options.delay = delay;
        const uint32_t flag = 0;
        uint32_t waited = 0;
        expect_silent(run(options, {1, 64}, patience_kernel, &flag, &waited, sleeps));
        EXPECT_GE(waited, 20000u);
      }
    }
  }
}

// Every block but the first few deadlocks.
void late_deadlock_kernel() {
  auto& smem = shared_storage<OneBarrier>();
  if (threadIdx.x == 0) ptx::mbarrier_init(&smem.ready, 1);
  __syncthreads();
  if (blockIdx.x >= 5) ptx::mbarrier_wait_parity(&smem.ready, 0);
}

TEST(Reports, DoNotDependOnTheNumberOfThreads) {
  Options options = quiet(3);
  const auto alone = run(options, {40, 64, sizeof(OneBarrier)}, late_deadlock_kernel);
  expect_report(alone, Check::kDeadlock, {"block (5, 0, 0)"});
  for (const int threads : {2, 4}) {
    options.threads = threads;
    for (int repeat = 0; repeat < 20; ++repeat) {
      const auto report = run(options, {40, 64, sizeof(OneBarrier)}, late_deadlock_kernel);
      ASSERT_TRUE(report.has_value());
      EXPECT_EQ(report->text, alone->text);
    }
  }
}

TEST(Counters, CountWhatHappened) {
  Matrix source(40, 72);
  std::vector<half> tile(kBoxRows * 64);
  emulator::reset_counters();
  expect_silent(
      run(quiet(), {1, 64, sizeof(OneTile)}, load_kernel, source.map(kBoxRows), 0, 0, tile.data()));
  const emulator::Counters counters = emulator::counters();
  EXPECT_EQ(counters.launches, 1u);
  EXPECT_EQ(counters.blocks, 1u);
  EXPECT_EQ(counters.tma_loads, 1u);
  EXPECT_EQ(counters.tma_load_bytes, kBoxRows * 128u);
  EXPECT_EQ(counters.barrier_waits, 2u);
  EXPECT_EQ(counters.max_stages_in_flight, 1);
  EXPECT_EQ(counters.reports, 0u);
}

}  // namespace
