// Shared memory of other blocks of the cluster: loads, stores and st.async, right and wrong.
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>

#include <functional>

#include "kernel_test.h"

namespace {

using emulator::Check;
using emulator::Options;
using emulator::Report;
using kernel_test::expect_bug;
using kernel_test::expect_silent;
using kernel_test::Matrix;
using kernel_test::quiet;
using kernel_test::run;

void meet() {
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

enum class Bug {
  kNone,
  kNoFirstMeeting,
  kNoMeeting,  // between writing and reading
  kBlockBarrier,  // instead of it
  kNoLastMeeting,
  kNoSecondMeeting,  // before the memory is written again
  kWrongRank,
  kMisaligned,
};

struct Partial {
  alignas(16) float sums[4][32];
  alignas(16) float mean[8];
};

// Each block has a part of a dot product; block 0 adds them up and hands the sum to all.
template <Bug kBug>
void dot_kernel(const float* x, const float* y, int rounds, float* result) {
  auto& smem = shared_storage<Partial>();
  const uint32_t rank = ptx::cluster_ctarank(), ranks = gridDim.x;
  if (kBug != Bug::kNoFirstMeeting) meet();
  for (int round = 0; round < rounds; ++round) {
    const uint32_t i = rank * 32 + threadIdx.x;
    ptx::st_shared_cluster_f32(&smem.sums[rank][threadIdx.x], 0, x[i] * y[i]);
    if (kBug == Bug::kBlockBarrier) __syncthreads();
    if (kBug != Bug::kNoMeeting && kBug != Bug::kBlockBarrier) meet();
    if (rank == 0 && threadIdx.x == 0) {
      float sum = 0;
      for (uint32_t block = 0; block < ranks; ++block) {
        for (const float& part : smem.sums[block]) sum += ptx::ld_shared_cluster_f32(&part, 0);
      }
      const uint32_t past = kBug == Bug::kWrongRank;
      for (uint32_t block = 0; block < ranks + past; ++block) {
        float* const place = &smem.mean[kBug == Bug::kMisaligned];
        ptx::st_shared_cluster_v4_f32(reinterpret_cast<float4*>(place), block,
                                      make_float4(sum, sum / 2, sum / 3, sum / 4));
      }
    }
    if (kBug != Bug::kNoSecondMeeting || round == rounds - 1) meet();
  }
  const uint32_t next = (rank + 1) % ranks;
  const float4 mean = ptx::ld_shared_cluster_v4_f32(reinterpret_cast<float4*>(smem.mean), next);
  result[rank * 32 + threadIdx.x] = mean.x + 4 * mean.w;
  if (kBug != Bug::kNoLastMeeting) meet();
}

template <Bug kBug>
std::optional<Report> dot(const Options& options) {
  std::vector<float> x(128), y(128), result(128);
  for (int i = 0; i < 128; ++i) x[i] = i % 5, y[i] = i % 3;
  float sum = 0;
  for (int i = 0; i < 128; ++i) sum += x[i] * y[i];
  const auto report = run(options, {4, 32, sizeof(Partial), 4}, dot_kernel<kBug>, x.data(),
                          y.data(), 3, result.data());
  EXPECT_TRUE(report || std::count(result.begin(), result.end(), 2 * sum) == 128);
  return report;
}

TEST(RemoteSharedMemory, ADotProductOfACluster) {
  for (const auto delay :
       {emulator::Delay::kMixed, emulator::Delay::kAtOnce, emulator::Delay::kOnlyWhenIdle}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      Options options = quiet(seed);
      options.delay = delay;
      expect_silent(dot<Bug::kNone>(options));
    }
  }
}

TEST(RemoteSharedMemory, ClusterBarriersOrder) {
  const std::vector<std::string> parts = {
      "of block (0, 0, 0), rank 0 of its cluster, which ", "st.shared::cluster",
      "nothing orders the two", "barrier.cluster.arrive and .wait by all threads between the two"};
  expect_bug({Check::kDataRace}, parts, dot<Bug::kNoMeeting>);
  expect_bug({Check::kDataRace}, parts, dot<Bug::kBlockBarrier>);
  expect_bug({Check::kDataRace}, {"nothing orders the two"}, dot<Bug::kNoSecondMeeting>);
}

TEST(RemoteSharedMemory, OnlyOfBlocksThatAreThere) {
  expect_bug({Check::kDataRace}, {"which need not have begun yet"}, dot<Bug::kNoFirstMeeting>);
  expect_bug({Check::kBlockLeft}, {"access", "a cluster barrier before"}, dot<Bug::kNoLastMeeting>);
  expect_bug({Check::kLimit}, {"there is no block of rank 4"}, dot<Bug::kWrongRank>);
  expect_bug({Check::kMisaligned}, {"the address begins 4 bytes past a multiple of 16"},
             dot<Bug::kMisaligned>);
}

// An arrival at the other's mbarrier orders, too.
struct Mail {
  float letter[32];
  MBarrier arrived;
};

template <bool kWaits>
void mail_kernel(float* received) {
  auto& smem = shared_storage<Mail>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.arrived, 32);
    ptx::fence_mbarrier_init();
  }
  meet();
  const uint32_t rank = ptx::cluster_ctarank();
  if (rank == 0) {
    ptx::st_shared_cluster_f32(&smem.letter[threadIdx.x], 1, threadIdx.x);
    ptx::mbarrier_arrive_cluster(&smem.arrived, 1);
  } else {
    if (kWaits) ptx::mbarrier_wait_parity_cluster(&smem.arrived, 0);
    received[threadIdx.x] = ptx::ld_shared_cluster_f32(&smem.letter[threadIdx.x], 1);
  }
  meet();
}

TEST(RemoteSharedMemory, MbarriersOrder) {
  float received[32] = {};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    expect_silent(run(quiet(seed), {2, 32, sizeof(Mail), 2}, mail_kernel<true>, &received[0]));
    for (int i = 0; i < 32; ++i) ASSERT_EQ(received[i], i);
  }
  expect_bug({Check::kDataRace}, {"nothing orders the two"}, [&](const Options& options) {
    return run(options, {2, 32, sizeof(Mail), 2}, mail_kernel<false>, &received[0]);
  });
}

// --- st.async ---

template <int kAnnounced, bool kWaits>
void st_async_kernel(float* received) {
  auto& smem = shared_storage<Mail>();
  const uint32_t rank = ptx::cluster_ctarank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.arrived, 1);
    ptx::fence_mbarrier_init();
    if (rank == 1) ptx::mbarrier_arrive_expect_tx(&smem.arrived, kAnnounced);
  }
  meet();
  if (rank == 0) {
    ptx::st_async_f32(&smem.letter[threadIdx.x], 1, threadIdx.x, &smem.arrived);
  } else {
    if (kWaits) ptx::mbarrier_wait_parity_cluster(&smem.arrived, 0);
    received[threadIdx.x] = ptx::ld_shared_cluster_f32(&smem.letter[threadIdx.x], 1);
  }
  meet();
}

TEST(RemoteSharedMemory, StAsyncArrivesWithItsBytes) {
  float received[32] = {};
  const auto run_on = [&](auto* kernel) {
    return [&received, kernel](const Options& options) {
      return run(options, {2, 32, sizeof(Mail), 2}, kernel, &received[0]);
    };
  };
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    expect_silent(run_on(st_async_kernel<128, true>)(quiet(seed)));
    for (int i = 0; i < 32; ++i) ASSERT_EQ(received[i], i);
  }
  expect_bug({Check::kTooFewBytesExpected, Check::kReadBeforeFull}, {},
             run_on(st_async_kernel<64, true>));
  expect_bug({Check::kTooManyBytesExpected}, {}, run_on(st_async_kernel<132, true>));
  expect_bug({Check::kReadBeforeFull, Check::kLeftInFlight}, {},
             run_on(st_async_kernel<128, false>));
}

// --- what TMA has loaded into another block ---

struct Tile {
  alignas(1024) half tile[64 * 64];
  MBarrier full;
};

template <bool kTells>
void tile_kernel(const CUtensorMap map, float* received) {
  auto& smem = shared_storage<Tile>();
  const uint32_t rank = ptx::cluster_ctarank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, sizeof(smem.tile));
    ptx::cp_async_bulk_tensor_2d(smem.tile, &map, 0, 0, &smem.full);
  }
  __syncthreads();
  if (!kTells) meet();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  if (kTells) meet();
  const float* const place = reinterpret_cast<const float*>(smem.tile) + threadIdx.x;
  received[rank * 32 + threadIdx.x] = ptx::ld_shared_cluster_f32(place, 1 - rank);
  meet();
}

TEST(RemoteSharedMemory, WhatTmaHasLoadedMustBeWaitedForThere) {
  Matrix source(64, 64);
  float received[64];
  const auto run_on = [&](auto* kernel) {
    return [&, kernel](const Options& options) {
      return run(options, {2, 32, sizeof(Tile), 2}, kernel, source.map(64), &received[0]);
    };
  };
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    expect_silent(run_on(tile_kernel<true>)(quiet(seed)));
  }
  expect_bug({Check::kReadBeforeFull}, {"has not been told that what was to be written there"},
             run_on(tile_kernel<false>));
}

}  // namespace
