// Global memory that blocks write and read: what orders them, what does not, and what is said then.
#include <ptx/cluster.cuh>
#include <ptx/cp_async.cuh>
#include <ptx/global.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <stage_fragment.cuh>
#include <store_accumulator.cuh>

#include <algorithm>
#include <cstring>
#include <functional>

#include "kernel_test.h"

namespace {

using emulator::Check;
using emulator::Options;
using emulator::Report;
using kernel_test::expect_bug;
using kernel_test::expect_report;
using kernel_test::expect_silent;
using kernel_test::Matrix;
using kernel_test::quiet;
using kernel_test::run;

// Expects silence on many seeds, for every delay policy and some numbers of threads.
void expect_legal(const std::function<std::optional<Report>(const Options&)>& run_on) {
  for (const auto delay :
       {emulator::Delay::kMixed, emulator::Delay::kAtOnce, emulator::Delay::kOnlyWhenIdle}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      Options options = quiet(seed);
      options.delay = delay;
      options.threads = seed % 5 == 0 ? 3 : 1;
      expect_silent(run_on(options));
      if (testing::Test::HasFailure()) return;
    }
  }
}

// --- a message and a flag ---

enum class Flag {
  kReleaseAcquire,
  kFences,  // around relaxed accesses
  kFencesOfEachThread,  // before and after the barriers of the blocks
  kRedAdd,
  kAtomics,
  kRelay,  // by a block in between
  kUpdateInBetween,  // a release sequence
  kNoRelease,
  kNoAcquire,
  kNoFenceBefore,
  kNoFenceAfter,
  kNoBarrierBefore,
  kNoBarrierAfter,
  kOverwrittenInBetween,  // by a relaxed store: it releases nothing
};

struct Message {
  float4 text[64] = {};
  uint32_t flag = 0, second = 0;
};

template <Flag kFlag>
void raise(Message* message) {
  switch (kFlag) {
    case Flag::kFences:
    case Flag::kNoFenceAfter:
      ptx::fence_acq_rel_gpu();
      ptx::st_relaxed_gpu(&message->flag, 1);
      break;
    case Flag::kFencesOfEachThread:
    case Flag::kNoFenceBefore:
    case Flag::kNoRelease:
      ptx::st_relaxed_gpu(&message->flag, 1);
      break;
    case Flag::kRedAdd:
      ptx::red_add_release_gpu(&message->flag, 1);
      break;
    case Flag::kAtomics:
      ptx::atom_add_acq_rel_gpu(&message->flag, 1);
      break;
    default:
      ptx::st_release_gpu(&message->flag, 1);
  }
}

template <Flag kFlag>
void wait(Message* message) {
  switch (kFlag) {
    case Flag::kFences:
    case Flag::kNoFenceBefore:
      while (ptx::ld_relaxed_gpu(&message->flag) == 0) ptx::nanosleep(20);
      ptx::fence_acq_rel_gpu();
      break;
    case Flag::kNoAcquire:
    case Flag::kNoFenceAfter:
      while (ptx::ld_relaxed_gpu(&message->flag) == 0) ptx::nanosleep(20);
      break;
    case Flag::kAtomics:
      while (ptx::atom_cas_acquire_gpu(&message->flag, 1, 2) != 1) ptx::nanosleep(20);
      break;
    case Flag::kRelay:
    case Flag::kUpdateInBetween:
    case Flag::kOverwrittenInBetween:
      while (ptx::ld_acquire_gpu(&message->second) == 0) ptx::nanosleep(20);
      while (kFlag != Flag::kRelay && ptx::ld_acquire_gpu(&message->flag) != 2) {
      }
      break;
    default:
      while (ptx::ld_acquire_gpu(&message->flag) == 0) ptx::nanosleep(20);
  }
}

template <Flag kFlag>
void between(Message* message) {
  if (kFlag == Flag::kRelay) {
    while (ptx::ld_acquire_gpu(&message->flag) == 0) {
    }
    ptx::st_release_gpu(&message->second, 1);
    return;
  }
  // Whoever reads `second` here learns nothing of the message: nobody acquires the flag.
  while (ptx::ld_relaxed_gpu(&message->flag) == 0) {
  }
  if (kFlag == Flag::kUpdateInBetween) ptx::red_add_relaxed_gpu(&message->flag, 1);
  if (kFlag == Flag::kOverwrittenInBetween) ptx::st_relaxed_gpu(&message->flag, 2);
  ptx::st_release_gpu(&message->second, 1);
}

// Block 0 writes, block 1 reads; block 2 is in between, if any is.
template <Flag kFlag>
void message_kernel(Message* message, float* received) {
  const bool has_block_between = kFlag == Flag::kRelay || kFlag == Flag::kUpdateInBetween ||
                                 kFlag == Flag::kOverwrittenInBetween;
  if (blockIdx.x == 0) {  // --- writer ---
    ptx::st_global_v4_f32(&message->text[threadIdx.x], make_float4(threadIdx.x, 1, 2, 3));
    if (kFlag == Flag::kFencesOfEachThread) ptx::fence_acq_rel_gpu();
    if (kFlag != Flag::kNoBarrierBefore) __syncthreads();
    if (threadIdx.x == 0) raise<kFlag>(message);
  } else if (blockIdx.x == 1) {  // --- reader ---
    if (threadIdx.x == 0) wait<kFlag>(message);
    if (kFlag != Flag::kNoBarrierAfter) __syncthreads();
    if (kFlag == Flag::kNoBarrierAfter && threadIdx.x < 32) return;
    received[threadIdx.x] = ptx::ld_global_f32(&message->text[threadIdx.x].x);
  } else if (has_block_between && threadIdx.x == 40) {
    between<kFlag>(message);
  }
}

template <Flag kFlag>
std::optional<Report> send(const Options& options) {
  Message message;
  std::vector<float> received(64, -1);
  const auto report = run(options, {3, 64}, message_kernel<kFlag>, &message, received.data());
  for (int i = 0; !report && i < 64; ++i) EXPECT_EQ(received[i], i);
  return report;
}

TEST(DataRace, NoneWhereAReleaseIsAcquired) {
  expect_legal(send<Flag::kReleaseAcquire>);
  expect_legal(send<Flag::kFences>);
  expect_legal(send<Flag::kRedAdd>);
  expect_legal(send<Flag::kAtomics>);
  expect_legal(send<Flag::kRelay>);
  expect_legal(send<Flag::kUpdateInBetween>);
}

// By the letter the fence must come from the thread that sets the flag; that those of others do,
// which it meets at a barrier afterwards, is relied upon everywhere.
TEST(DataRace, FencesBeforeTheBarrier) {
  const auto report = send<Flag::kFencesOfEachThread>(quiet());
  expect_silent(report);
}

TEST(DataRace, SaysWhatIsMissing) {
  const std::vector<std::string> who = {
      "ld.global reads address 0x",
      "which st.global.v4 of block (0, 0, 0), warp",
      "(writer), lane",
      "writes; nothing orders the two",
      "block (1, 0, 0), warp",
      "(reader), lane",
      "ptx::ld_global_f32(&message->text[threadIdx.x].x)",
      "ptx::st_global_v4_f32(&message->text[threadIdx.x], make_float4(threadIdx.x, 1, 2, 3))",
  };
  const auto with = [&](const std::string& fix) {
    std::vector<std::string> parts = who;
    parts.push_back(fix);
    return parts;
  };
  const std::string no_release = "block (0, 0, 0) has not released it: let it meet at a barrier";
  const std::string no_acquire =
      "the flag was read by a relaxed load: take ld.acquire.gpu, or fence";
  expect_bug({Check::kDataRace}, with(no_release), send<Flag::kNoRelease>);
  expect_bug({Check::kDataRace}, with(no_release), send<Flag::kNoFenceBefore>);
  expect_bug({Check::kDataRace}, with(no_release), send<Flag::kNoBarrierBefore>);
  expect_bug({Check::kDataRace}, with(no_acquire), send<Flag::kNoAcquire>);
  expect_bug({Check::kDataRace}, with(no_acquire), send<Flag::kNoFenceAfter>);
  expect_bug({Check::kDataRace}, with("block (0, 0, 0) has released it: acquire that here"),
             send<Flag::kOverwrittenInBetween>);
}

// Other warps of the block know nothing of what one has acquired, until they meet.
TEST(DataRace, NeedsTheBarrierAfterTheAcquire) {
  const auto report = send<Flag::kNoBarrierAfter>(quiet());
  expect_report(report, Check::kDataRace, {"block (1, 0, 0), warp 1"});
}

// A flag that a plain C++ store has set hands on nothing, whatever an earlier release did.
void plain_flag_kernel(Message* message) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    ptx::st_global_f32(&message->text[0].x, 1);
    ptx::st_release_gpu(&message->flag, 1);
  } else if (blockIdx.x == 1) {
    while (ptx::ld_relaxed_gpu(&message->flag) == 0) {
    }
    message->flag = 2;
  } else {
    while (ptx::ld_relaxed_gpu(&message->flag) != 2) {
    }
    ptx::ld_acquire_gpu(&message->flag);
    ptx::ld_global_f32(&message->text[0].x);
  }
}

TEST(DataRace, APlainStoreReleasesNothing) {
  expect_bug({Check::kDataRace}, {"ld.global reads", "nothing orders the two"},
             [](const Options& options) {
               Message message;
               return run(options, {3, 32}, plain_flag_kernel, &message);
             });
}

// --- counters, locks, the last block ---

// Partial sums of all blocks; the last to arrive adds them up, and puts the counter back.
template <bool kReleases>
void last_block_kernel(float* partial, uint32_t* arrived, float* sum) {
  bool& is_last = shared_storage<bool>();
  ptx::st_global_f32(&partial[blockIdx.x * 32 + threadIdx.x], blockIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) {
    if (kReleases) ptx::fence_acq_rel_gpu();
    is_last = ptx::atom_add_relaxed_gpu(arrived, 1) == gridDim.x - 1;
    if (is_last) ptx::fence_acq_rel_gpu();
  }
  __syncthreads();
  if (!is_last) return;
  float own = 0;
  for (unsigned i = 0; i < gridDim.x; ++i)
    own += ptx::ld_global_f32(&partial[i * 32 + threadIdx.x]);
  sum[threadIdx.x] = own;
  if (threadIdx.x == 0) ptx::st_relaxed_gpu(arrived, 0);
}

template <bool kReleases>
std::optional<Report> add_up(const Options& options, int launches) {
  constexpr int kBlocks = 10;
  std::vector<float> partial(kBlocks * 32), sum(32);
  uint32_t arrived = 0;
  for (int i = 0; i < launches; ++i) {
    std::fill(sum.begin(), sum.end(), 0);
    const auto report = run(options, {kBlocks, 32, 16}, last_block_kernel<kReleases>,
                            partial.data(), &arrived, sum.data());
    if (report) return report;
    EXPECT_EQ(arrived, 0u);
    for (const float value : sum) EXPECT_EQ(value, 45);
  }
  return std::nullopt;
}

TEST(DataRace, TheLastBlockAddsUp) {
  expect_legal([](const Options& options) { return add_up<true>(options, 3); });
  expect_bug({Check::kDataRace}, {"has not released it"},
             [](const Options& options) { return add_up<false>(options, 1); });
}

// All blocks count in by red, one waits for them with an acquiring load.
void counter_kernel(float* partial, uint32_t* counter, float* sum) {
  if (threadIdx.x != 0) return;
  ptx::st_global_f32(&partial[blockIdx.x], 1);
  ptx::red_add_release_gpu(counter, 1);
  if (blockIdx.x != 2) return;
  while (ptx::ld_acquire_gpu(counter) < gridDim.x) ptx::nanosleep(40);
  for (unsigned i = 0; i < gridDim.x; ++i) *sum += ptx::ld_global_f32(&partial[i]);
}

TEST(DataRace, NoneAfterACounter) {
  expect_legal([](const Options& options) {
    std::vector<float> partial(12);
    uint32_t counter = 0;
    float sum = 0;
    const auto report = run(options, {12, 32}, counter_kernel, partial.data(), &counter, &sum);
    EXPECT_EQ(sum, 12);
    return report;
  });
}

// The same with what CUDA itself offers: __threadfence() and atomicAdd.
template <bool kFences>
void threadfence_kernel(float* partial, uint32_t* arrived, float* sum) {
  if (threadIdx.x != 0) return;
  ptx::st_global_f32(&partial[blockIdx.x], 1);
  if (kFences) __threadfence();
  if (atomicAdd(arrived, 1) != gridDim.x - 1) return;
  if (kFences) __threadfence();
  for (unsigned i = 0; i < gridDim.x; ++i) *sum += ptx::ld_global_f32(&partial[i]);
}

TEST(DataRace, ThreadfenceAndAtomicAdd) {
  const auto run_on = [](auto* kernel) {
    return [kernel](const Options& options) {
      std::vector<float> partial(9);
      uint32_t arrived = 0;
      float sum = 0;
      const auto report = run(options, {9, 32}, kernel, partial.data(), &arrived, &sum);
      EXPECT_TRUE(report || sum == 9) << sum;
      return report;
    };
  };
  expect_legal(run_on(threadfence_kernel<true>));
  expect_bug({Check::kDataRace}, {"has not released it"}, run_on(threadfence_kernel<false>));
}

// A sum behind a lock.
template <bool kReleases>
void lock_kernel(uint32_t* lock, float* sum) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < 3; ++i) {
    while (ptx::atom_cas_acquire_gpu(lock, 0, 1) != 0) ptx::nanosleep(20);
    ptx::st_global_f32(sum, ptx::ld_global_f32(sum) + 1);
    if (kReleases) {
      ptx::st_release_gpu(lock, 0);
    } else {
      ptx::st_relaxed_gpu(lock, 0);
    }
  }
}

template <bool kReleases>
std::optional<Report> add_behind_lock(const Options& options) {
  uint32_t lock = 0;
  float sum = 0;
  const auto report = run(options, {8, 32}, lock_kernel<kReleases>, &lock, &sum);
  EXPECT_TRUE(report || sum == 24) << sum;
  return report;
}

TEST(DataRace, ALockMustBeReleased) {
  expect_legal(add_behind_lock<true>);
  expect_bug({Check::kDataRace}, {"has not released it"}, add_behind_lock<false>);
}

void float_red_kernel(float* sum, uint32_t* done, float* result) {
  ptx::red_add_relaxed_gpu(sum, 1.0f);
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (ptx::atom_add_acq_rel_gpu(done, 1) == gridDim.x - 1) *result = ptx::ld_global_f32(sum);
}

TEST(DataRace, NoneBetweenAtomics) {
  expect_legal([](const Options& options) {
    float sum = 0, result = 0;
    uint32_t done = 0;
    const auto report = run(options, {6, 64}, float_red_kernel, &sum, &done, &result);
    EXPECT_EQ(result, 384);
    return report;
  });
}

// --- without any flag ---

// Neighbours share `shared` elements.
void stripes_kernel(float* data, int shared) {
  const int width = 32 - shared;
  ptx::st_global_f32(&data[blockIdx.x * width + threadIdx.x], 1);
}

TEST(DataRace, TwoBlocksWriteOneElement) {
  std::vector<float> data(32 * 40);
  for (const int threads : {1, 2, 4}) {
    Options options = quiet();
    options.threads = threads;
    expect_silent(run(options, {40, 32}, stripes_kernel, data.data(), 0));
    expect_report(run(options, {40, 32}, stripes_kernel, data.data(), 1), Check::kDataRace,
                  {"st.global writes address 0x", "which st.global of block (0, 0, 0)",
                   "who:    block (1, 0, 0)", "give each element to one block"});
  }
}

// Threads of one block are not looked at: that is for compute-sanitizer's racecheck.
TEST(DataRace, OnlyBetweenBlocks) {
  float value = 0;
  expect_silent(run(
      quiet(), {1, 64}, +[](float* value) { ptx::st_global_f32(value, 1); }, &value));
}

// What another launch has written comes before.
TEST(DataRace, NoneBetweenLaunches) {
  std::vector<float> data(64);
  for (int i = 0; i < 3; ++i) {
    expect_silent(run(
        quiet(), {2, 32},
        +[](float* data, int shift) {
          const unsigned i = (blockIdx.x * 32 + threadIdx.x + shift * 16) % 64;
          ptx::st_global_f32(&data[i], ptx::ld_global_f32(&data[i]) + 1);
        },
        data.data(), i));
  }
  EXPECT_EQ(std::count(data.begin(), data.end(), 3), 64);
}

// Read, then written by another block: the flag must come before the write.
template <bool kWaits>
void write_after_read_kernel(float* data, uint32_t* flag, float* sum) {
  if (blockIdx.x == 0) {
    *sum = ptx::ld_global_f32(data);
    __syncthreads();
    if (threadIdx.x == 0) ptx::st_release_gpu(flag, 1);
  } else if (threadIdx.x == 0) {
    if (kWaits) {
      while (ptx::ld_acquire_gpu(flag) == 0) ptx::nanosleep(32);
    }
    ptx::st_global_f32(data, 1);
  }
}

TEST(DataRace, AReaderMustBeWaitedFor) {
  const auto run_on = [](auto* kernel) {
    return [kernel](const Options& options) {
      float data = 0, sum = 0;
      uint32_t flag = 0;
      return run(options, {2, 1 * 32}, kernel, &data, &flag, &sum);
    };
  };
  expect_legal(run_on(write_after_read_kernel<true>));
  expect_bug({Check::kDataRace}, {"st.global"}, run_on(write_after_read_kernel<false>));
}

// --- the ways into C ---

// Tiles of 64 × 64, `step` columns apart.
template <bool kByTma, bool kAdds = false>
void tiles_kernel(const CUtensorMap map, OutputMatrix c, int step) {
  struct Storage {
    alignas(1024) half tile[64 * 64];
  };
  const int column = static_cast<int>(blockIdx.x) * step;
  float acc[32] = {};
  if (!kByTma) return store_accumulator(acc, c, 0, column);
  auto& smem = shared_storage<Storage>();
  stage_fragment(acc, 0, smem.tile);
  ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (kAdds) {
    ptx::cp_reduce_async_bulk_tensor_2d_add(&map, column, 0, smem.tile);
  } else {
    ptx::cp_async_bulk_tensor_2d(&map, column, 0, smem.tile);
  }
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read<0>();
}

TEST(DataRace, TilesThatOverlap) {
  Matrix c(64, 1024);
  for (const int threads : {1, 3}) {
    Options options = quiet();
    options.threads = threads;
    const kernel_test::Shape shape = {10, 128, 64 * 64 * sizeof(half)};
    for (const int columns : {1000, 1003}) {  // 1003: pairs whose second element is outside
      const OutputMatrix matrix = {c.data(), 64, columns, 1024};
      expect_silent(run(options, shape, tiles_kernel<false>, c.map(64), matrix, 64));
      expect_report(run(options, shape, tiles_kernel<false>, c.map(64), matrix, 56),
                    Check::kDataRace,
                    {"a store writes address", "which a store of block (0, 0, 0)",
                     "who:    block (1, 0, 0)", "store_accumulator.cuh"});
    }
    const OutputMatrix none = {c.data(), 64, 1024, 1024};
    expect_silent(run(options, shape, tiles_kernel<true>, c.map(64), none, 64));
    expect_report(run(options, shape, tiles_kernel<true>, c.map(64), none, 56), Check::kDataRace,
                  {"a TMA store writes address", "who:    block (1, 0, 0)"});
    expect_silent(run(options, shape, tiles_kernel<true, true>, c.map(64), none, 56));  // sums
  }
}

// --- TMA reads what threads have written ---

enum class Proxy { kFenceOfWriters, kFenceOfReader, kNone, kFenceBeforeTheWrite, kNoFlag };

struct OneTile {
  alignas(1024) half tile[64 * 64];
  MBarrier full;
};

template <Proxy kProxy>
void proxy_kernel(half* matrix, const CUtensorMap map, uint32_t* flag, float* received) {
  if (blockIdx.x == 0) {
    if (kProxy == Proxy::kFenceBeforeTheWrite) ptx::fence_proxy_async_global();
    for (int i = 0; i < 16; ++i) {
      float4 ones;
      const half2 one = __floats2half2_rn(1, 1);
      for (float* word : {&ones.x, &ones.y, &ones.z, &ones.w}) {
        std::memcpy(word, &one, sizeof(one));
      }
      ptx::st_global_v4_f32(reinterpret_cast<float4*>(matrix) + threadIdx.x + i * 32, ones);
    }
    if (kProxy == Proxy::kFenceOfWriters) ptx::fence_proxy_async_global();
    __syncthreads();
    if (threadIdx.x == 0) ptx::st_release_gpu(flag, 1);
    return;
  }
  auto& smem = shared_storage<OneTile>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    if (kProxy == Proxy::kNoFlag) {
      while (ptx::ld_relaxed_gpu(flag) == 0) ptx::nanosleep(20);
    } else {
      while (ptx::ld_acquire_gpu(flag) == 0) ptx::nanosleep(20);
    }
    if (kProxy == Proxy::kFenceOfReader) ptx::fence_proxy_async_global();
    ptx::mbarrier_arrive_expect_tx(&smem.full, sizeof(smem.tile));
    ptx::cp_async_bulk_tensor_2d(smem.tile, &map, 0, 0, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  received[threadIdx.x] = __half2float(smem.tile[threadIdx.x]);
}

template <Proxy kProxy>
std::optional<Report> hand_over(const Options& options) {
  Matrix matrix(64, 64);
  uint32_t flag = 0;
  std::vector<float> received(32);
  const auto report = run(options, {2, 32, sizeof(OneTile)}, proxy_kernel<kProxy>, matrix.data(),
                          matrix.map(64), &flag, received.data());
  EXPECT_TRUE(report || std::count(received.begin(), received.end(), 1) == 32);
  return report;
}

TEST(DataRace, TmaReadsBehindAFenceBetweenTheProxies) {
  expect_legal(hand_over<Proxy::kFenceOfWriters>);
  expect_legal(hand_over<Proxy::kFenceOfReader>);
  const std::vector<std::string> parts = {
      "a TMA load reads global memory that st.global.v4 of block (0, 0, 0)",
      "fence.proxy.async.global (ptx::fence_proxy_async_global) in every thread that writes"};
  expect_bug({Check::kMissingProxyFence}, parts, hand_over<Proxy::kNone>);
  expect_bug({Check::kMissingProxyFence}, parts, hand_over<Proxy::kFenceBeforeTheWrite>);
  expect_bug({Check::kDataRace}, {"a TMA load reads address", "read by a relaxed load"},
             hand_over<Proxy::kNoFlag>);
}

// --- cp.async reads what threads have written ---

template <bool kAcquires>
void copy_kernel(float* data, uint32_t* flag) {
  struct Storage {
    alignas(16) float tile[32 * 4];
  };
  if (blockIdx.x == 0) {
    ptx::st_global_v4_f32(reinterpret_cast<float4*>(data) + threadIdx.x, make_float4(1, 2, 3, 4));
    __syncthreads();
    if (threadIdx.x == 0) ptx::st_release_gpu(flag, 1);
    return;
  }
  auto& smem = shared_storage<Storage>();
  if (threadIdx.x == 0) {
    while ((kAcquires ? ptx::ld_acquire_gpu(flag) : ptx::ld_relaxed_gpu(flag)) == 0) {
    }
  }
  __syncthreads();
  ptx::cp_async_cg(&smem.tile[threadIdx.x * 4], &data[threadIdx.x * 4]);
  ptx::cp_async_wait_all();
}

TEST(DataRace, CpAsyncReadsWhatHasBeenReleased) {
  const auto run_on = [](auto* kernel) {
    return [kernel](const Options& options) {
      std::vector<float4> data(32);
      uint32_t flag = 0;
      return run(options, {2, 32, 512}, kernel, &data[0].x, &flag);
    };
  };
  expect_legal(run_on(copy_kernel<true>));
  expect_bug({Check::kDataRace}, {"cp.async reads address"}, run_on(copy_kernel<false>));
}

}  // namespace
