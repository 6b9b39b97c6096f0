// Clusters that speak to each other through global memory: who runs beside whom, waits that end and
// waits that do not.
#include <ptx/cluster.cuh>
#include <ptx/global.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/warpgroup.cuh>

#include <functional>
#include <utility>

#include "kernel_test.h"

namespace {

using emulator::Check;
using emulator::Delay;
using emulator::Options;
using emulator::Report;
using emulator::Schedule;
using kernel_test::expect_report;
using kernel_test::expect_silent;
using kernel_test::quiet;
using kernel_test::run;

// Every way to run: schedules, delays, threads of the operating system, seeds.
void for_all_ways(const std::function<void(const Options&)>& test) {
  for (const Schedule schedule : {Schedule::kRandom, Schedule::kRoundRobin}) {
    for (const Delay delay : {Delay::kMixed, Delay::kAtOnce, Delay::kOnlyWhenIdle}) {
      for (uint64_t seed = 1; seed <= 6; ++seed) {
        Options options = quiet(seed);
        options.schedule = schedule;
        options.delay = delay;
        options.threads = seed % 3 == 0 ? 3 : 1;
        test(options);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// Expects the same report on all of them, but for the seed.
void expect_always(Check check, const std::vector<std::string>& parts,
                   const std::function<std::optional<Report>(const Options&)>& run_on) {
  for_all_ways([&](const Options& options) { expect_report(run_on(options), check, parts); });
}

// --- clusters that wait for each other ---

// The first block waits for the last, without end; in between are some that do neither.
void flag_kernel(uint32_t* flag, float4* message, float* received) {
  if (blockIdx.x == gridDim.x - 1) {
    ptx::st_global_v4_f32(&message[threadIdx.x], make_float4(1, 2, 3, threadIdx.x));
    __syncthreads();
    if (threadIdx.x == 0) ptx::st_release_gpu(flag, 1);
  } else if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      while (ptx::ld_acquire_gpu(flag) == 0) ptx::nanosleep(32);
    }
    __syncthreads();
    const float4 value = ptx::ld_global_v4_f32(&message[threadIdx.x]);
    received[threadIdx.x] = value.x + value.y + value.z + value.w;
  }
}

TEST(SideBySide, AFlagOfALaterBlock) {
  for_all_ways([](const Options& options) {
    uint32_t flag = 0;
    std::vector<float4> message(64);
    std::vector<float> received(64);
    expect_silent(run(options, {20, 64}, flag_kernel, &flag, message.data(), received.data()));
    for (int i = 0; i < 64; ++i) ASSERT_EQ(received[i], 6 + i);
  });
}

// Two clusters of two blocks, one step each in turn.
void ping_pong_kernel(uint32_t* ball, int steps) {
  const uint32_t player = blockIdx.x / 2;
  for (int step = 0; step < steps; ++step) {
    if (ptx::cluster_ctarank() == 0 && threadIdx.x == 0) {
      while (ptx::ld_acquire_gpu(ball) % 2 != player) {
      }
    }
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    if (ptx::cluster_ctarank() == 1 && threadIdx.x == 5) {
      ptx::st_release_gpu(ball, ptx::ld_relaxed_gpu(ball) + 1);
    }
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
  }
}

TEST(SideBySide, PingPongOfTwoClusters) {
  for_all_ways([](const Options& options) {
    uint32_t ball = 0;
    expect_silent(run(options, {4, 64, 0, 2}, ping_pong_kernel, &ball, 10));
    ASSERT_EQ(ball, 20u);
    expect_silent(run(options, {4, 64, 0, 2}, ping_pong_kernel, &ball, 3));
    expect_silent(run(options, {4, 64, 0, 2}, ping_pong_kernel, &ball, 5));
    ASSERT_EQ(ball, 36u);
  });
}

// All blocks of the machine meet, as by a grid barrier.
void grid_barrier_kernel(uint32_t* arrived, uint32_t* seen) {
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::atom_add_acq_rel_gpu(arrived, 1);
    while (ptx::ld_acquire_gpu(arrived) < gridDim.x) ptx::nanosleep(100);
    seen[blockIdx.x] = ptx::ld_relaxed_gpu(arrived);
  }
  __syncthreads();
}

TEST(SideBySide, AsManyAsThereIsRoomFor) {
  for (const unsigned threads : {32u, 384u}) {
    // 1024 bytes are kept back: two blocks of so much, or one.
    for (const auto& [shared_bytes, blocks] :
         {std::pair<size_t, unsigned>{113 * 1024, 264}, {113 * 1024 + 16, 132}}) {
      uint32_t arrived = 0;
      std::vector<uint32_t> seen(blocks + 1);
      expect_silent(run(quiet(), {blocks, threads, shared_bytes}, grid_barrier_kernel, &arrived,
                        seen.data()));
      for (unsigned i = 0; i < blocks; ++i) ASSERT_EQ(seen[i], blocks);
      arrived = 0;
      expect_report(
          run(quiet(), {blocks + 1, threads, shared_bytes}, grid_barrier_kernel, &arrived,
              seen.data()),
          Check::kDeadlock,
          {"cluster " + std::to_string(blocks) + " has not been launched: there is room for " +
               std::to_string(blocks) + " at a time, and all of those wait",
           "ld.acquire of arrived", "always " + std::to_string(blocks)});
    }
  }
}

// Each block waits for the one `step` after it; modulo the grid there is no end.
void chain_kernel(uint32_t* flags, int step) {
  if (threadIdx.x == 0) {
    const int other = static_cast<int>(blockIdx.x) + step;
    if (other >= 0 && other < static_cast<int>(gridDim.x)) {
      while (ptx::ld_acquire_gpu(&flags[other]) == 0) ptx::nanosleep(32);
    }
    ptx::st_release_gpu(&flags[blockIdx.x], 1);
  }
}

TEST(SideBySide, BlocksBeginInOrderWhenThereIsRoom) {
  for_all_ways([](Options options) {
    options.multiprocessors = 1;  // room for 32 blocks
    std::vector<uint32_t> flags(100);
    expect_silent(run(options, {100, 32}, chain_kernel, flags.data(), -1));
    EXPECT_EQ(std::count(flags.begin(), flags.end(), 1), 100);
    std::fill(flags.begin(), flags.end(), 0);
    expect_silent(run(options, {32, 32}, chain_kernel, flags.data(), 1));
    std::fill(flags.begin(), flags.end(), 0);
    expect_report(run(options, {33, 32}, chain_kernel, flags.data(), 1), Check::kDeadlock,
                  {"cluster 32 has not been launched: there is room for 32 at a time",
                   "let clusters wait only for those with lower numbers"});
  });
}

// --- waits without end, and waits with one ---

enum class Wait {
  kSleeps,
  kSpins,
  kBacksOff,
  kByWarp,
  kByBlock,
  kByAtomics,
  kByClock,  // that is read, but ends nothing
};

template <Wait kWait>
void lonely_kernel(uint32_t* flag) {
  const bool raises = blockIdx.x == 1;
  if (raises) {
    if (threadIdx.x == 3) ptx::st_release_gpu(flag, 7);
    return;
  }
  if (kWait == Wait::kByWarp && threadIdx.x < 32) {  // --- waiting warp ---
    while (ptx::shfl_sync_idx(static_cast<int>(ptx::ld_acquire_gpu(flag)), 0) < 8) {
    }
  } else if (kWait == Wait::kByBlock) {
    uint32_t& seen = shared_storage<uint32_t>();
    do {
      __syncthreads();
      if (threadIdx.x == 0) seen = ptx::ld_acquire_gpu(flag);
      __syncthreads();
    } while (seen < 8);
  } else if (kWait == Wait::kByAtomics && threadIdx.x == 0) {
    while (ptx::atom_cas_acquire_gpu(flag, 8, 9) != 8) ptx::nanosleep(20);
  } else if (kWait == Wait::kByClock && threadIdx.x == 0) {
    while (ptx::ld_acquire_gpu(flag) < 8) ptx::globaltimer_lo();
  } else if (threadIdx.x == 0) {  // --- waiting thread ---
    uint32_t pause = 1;
    while (ptx::ld_acquire_gpu(flag) < 8) {
      if (kWait == Wait::kSpins) continue;
      ptx::nanosleep(pause);
      if (kWait == Wait::kBacksOff) pause = std::min(2 * pause, 1024u);
    }
  }
  __syncthreads();
}

template <Wait kWait>
void expect_lonely(const std::vector<std::string>& parts) {
  expect_always(Check::kDeadlock, parts, [](const Options& options) {
    uint32_t flag = 0;
    return run(options, {2, 64, 16}, lonely_kernel<kWait>, &flag);
  });
}

TEST(Deadlock, AFlagThatDoesNotComeTrue) {
  const std::vector<std::string> parts = {
      "for a value that does not come",
      "block (0, 0, 0)",
      "ld.acquire of flag (address 0x",
      "always 7",
      "last written by block (1, 0, 0), warp 0, lane 3: st.release to 7 at",
      "ptx::st_release_gpu(flag, 7);",
      "all clusters have been launched"};
  expect_lonely<Wait::kSleeps>(parts);
  expect_lonely<Wait::kSpins>(parts);
  expect_lonely<Wait::kBacksOff>(parts);
  expect_lonely<Wait::kByWarp>(parts);
  expect_lonely<Wait::kByBlock>(parts);
  expect_lonely<Wait::kByClock>(parts);
  expect_lonely<Wait::kByAtomics>({"atom.acquire.cas of flag", "always 7"});
}

TEST(Deadlock, SaysWhoAndWhere) {
  uint32_t* flags = nullptr;
  ASSERT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&flags), 64, nullptr), cudaSuccess);
  const auto report = run(quiet(), {2, 64}, lonely_kernel<Wait::kSleeps>, flags + 3);
  expect_report(report, Check::kDeadlock,
                {"warp 0 (waiting thread), lane 0", "(byte 12 of the 64 from cudaMallocAsync)"});
  EXPECT_EQ(cudaFreeAsync(flags, nullptr), cudaSuccess);
}

void never_written_kernel(const uint32_t* flag) {
  while (ptx::ld_relaxed_gpu(flag) == 0) {
  }
}

TEST(Deadlock, AFlagThatNobodyEverWrites) {
  const uint32_t flag = 0;
  expect_report(run(quiet(), {3, 64}, never_written_kernel, &flag), Check::kDeadlock,
                {"nobody has written there in this launch"});
}

// A wait that counts its rounds, or that looks at the clock, ends by itself.
void bounded_kernel(const uint32_t* flag, int rounds, uint32_t nanoseconds, uint32_t* ended) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < rounds && ptx::ld_acquire_gpu(flag) == 0; ++i) ptx::nanosleep(32);
  const uint32_t begin = ptx::globaltimer_lo();
  while (ptx::ld_acquire_gpu(flag) == 0 && ptx::globaltimer_lo() - begin < nanoseconds) {
  }
  ended[blockIdx.x] = 1;
}

TEST(Deadlock, NoneIfTheWaitIsBounded) {
  for (const auto& [rounds, nanoseconds] :
       {std::pair{10, 20000u}, {100000, 1000u}, {100, 2000000000u}}) {
    const uint32_t flag = 0;
    std::vector<uint32_t> ended(3);
    expect_silent(run(quiet(), {3, 64}, bounded_kernel, &flag, rounds, nanoseconds, ended.data()));
    EXPECT_EQ(std::count(ended.begin(), ended.end(), 1), 3);
  }
}

// What others wait for within a cluster does not hide that nothing comes from outside.
struct OneBarrier {
  MBarrier ready;
};

void barrier_after_flag_kernel(uint32_t* flag) {
  auto& smem = shared_storage<OneBarrier>();
  if (threadIdx.x == 0) ptx::mbarrier_init(&smem.ready, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    while (ptx::ld_acquire_gpu(flag) != blockIdx.x + 1) ptx::nanosleep(32);
    ptx::mbarrier_arrive(&smem.ready);
  }
  while (!ptx::mbarrier_try_wait_parity(&smem.ready, 0)) {
  }
  if (threadIdx.x == 32) ptx::st_release_gpu(flag, blockIdx.x);
}

TEST(Deadlock, BehindABarrier) {
  // Block 1 goes first, then block 0; block 2 waits for 3, which nobody sets.
  for_all_ways([](const Options& options) {
    uint32_t flag = 2;
    expect_silent(run(options, {2, 64, sizeof(OneBarrier)}, barrier_after_flag_kernel, &flag));
    flag = 2;
    expect_report(run(options, {3, 64, sizeof(OneBarrier)}, barrier_after_flag_kernel, &flag),
                  Check::kDeadlock, {"block (2, 0, 0)"});
  });
}

// --- chance, and what does not depend on it ---

TEST(SideBySide, TheSameFromTheSameSeed) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::vector<std::vector<uint32_t>> orders;
    for (const int threads : {1, 1, 2, 5}) {
      Options options = quiet(seed);
      options.threads = threads;
      uint32_t taken = 0;
      std::vector<uint32_t> tickets(40);
      expect_silent(run(
          options, {40, 32},
          +[](uint32_t* taken, uint32_t* tickets) {
            // Some blocks never share anything.
            if (blockIdx.x % 5 == 0 || threadIdx.x != 0) return;
            ptx::nanosleep(10);
            tickets[blockIdx.x] = ptx::atom_add_acq_rel_gpu(taken, 1);
          },
          &taken, tickets.data()));
      EXPECT_EQ(taken, 32u);
      orders.push_back(tickets);
      EXPECT_EQ(orders.back(), orders.front());
    }
  }
}

// Of two relaxed writes others may see the second first.
void two_flags_kernel(uint32_t* flags, uint32_t* seen) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    ptx::red_add_relaxed_gpu(&flags[0], 1);
    ptx::red_add_relaxed_gpu(&flags[1], 1);
  } else {
    while (ptx::ld_relaxed_gpu(&flags[1]) == 0) {
    }
    *seen = ptx::ld_relaxed_gpu(&flags[0]);
  }
}

TEST(SideBySide, RelaxedWritesComeInAnyOrder) {
  int late = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    uint32_t flags[2] = {}, seen = 2;
    expect_silent(run(quiet(seed), {2, 32}, two_flags_kernel, &flags[0], &seen));
    EXPECT_EQ(flags[0], 1u);
    late += seen == 0;
  }
  EXPECT_GT(late, 0);
  EXPECT_LT(late, 40);
}

}  // namespace
