// What the emulator says of built-in functions that are called wrongly. (What they do otherwise:
// tests/wrappers/builtins_test.cu.)
#include <instructions.h>
#include <ptx/warpgroup.cuh>

#include "kernel_test.h"

namespace {

using emulator::Check;
using emulator::Options;
using kernel_test::expect_report;
using kernel_test::expect_silent;
using kernel_test::quiet;
using kernel_test::run;

void other_half(int* received) {
  if (threadIdx.x < 16) received[threadIdx.x] = __shfl_xor_sync(0xffff0000, 1, 1);
}

void odd_width(int* received) { received[threadIdx.x] = __shfl_down_sync(~0u, 1, 1, 12); }

TEST(Builtins, MaskAndWidth) {
  int received[32];
  expect_report(run(quiet(), {1, 32}, other_half, received), Check::kLaneDivergence,
                {"calls __shfl_xor_sync with the mask 0xffff0000, in which it is not",
                 "builtins_test.cpp:", "the bits of the lanes that come here"});
  expect_report(run(quiet(), {1, 32}, odd_width, received), Check::kLimit,
                {"__shfl_down_sync with width 12", "1, 2, 4, 8, 16 or 32 lanes"});
}

void half_a_warp_waits() {
  if (threadIdx.x < 16) __syncwarp();
}
void half_a_warp_waits_too_long() {
  if (threadIdx.x < 16) {
    __syncwarp();
  } else {
    ptx::bar_sync(3, 64);
  }
}
void two_functions(int* received) {
  if (threadIdx.x < 16) {
    received[threadIdx.x] = __shfl_sync(~0u, 1, 0);
  } else {
    received[threadIdx.x] = __any_sync(~0u, 1);
  }
}

TEST(Builtins, LanesThatDoNotCome) {
  int received[32];
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    expect_silent(run(quiet(seed), {1, 32}, half_a_warp_waits));  // the others have left
    expect_report(run(quiet(seed), {1, 32}, half_a_warp_waits_too_long), Check::kDeadlock,
                  {"16 threads: waits for the other lanes of its warp at", "__syncwarp();"});
    expect_report(run(quiet(seed), {1, 32}, two_functions, received), Check::kDeadlock,
                  {"16 threads: waits for the other lanes of its warp at"});
  }
}

// The lanes from `first` on take no part; the others ask for their values.
void ask_the_absent(int first, half* out) {
  const int lane = static_cast<int>(threadIdx.x);
  const float value = static_cast<float>(lane);
  if (lane >= first) return;
  const float received = __shfl_down_sync((1u << first) - 1, value, 4);
  out[lane] = __float2half(lane + 4 < first ? received : value);
  if (first == 15) out[lane] = __float2half(received);
}

TEST(Builtins, ValueOfALaneThatTakesNoPart) {
  half out[32];
  expect_silent(run(quiet(), {1, 32}, ask_the_absent, 16, out));
  for (int lane = 0; lane < 16; ++lane) {
    EXPECT_EQ(__half2float(out[lane]), lane < 12 ? lane + 4 : lane);
  }
  expect_report(run(quiet(), {1, 32}, ask_the_absent, 15, out), Check::kNotSet,
                {"a value that is rounded to fp16 comes from a variable nobody has set"});
}

void barrier_zero(int threads) { ptx::bar_sync(0, threads); }

TEST(Builtins, BarrierZeroIsABarrier) {
  expect_silent(run(quiet(), {1, 128}, barrier_zero, 128));
  expect_report(run(quiet(), {1, 128}, barrier_zero, 160), Check::kDeadlock,
                {"bar.sync 0 (128 of 160"});
  expect_report(run(quiet(), {1, 128}, barrier_zero, 100), Check::kLimit,
                {"bar.sync 0 for 100 threads", "from 0 to 15 (__syncthreads takes 0)"});
}

// Every lane takes the lock in turn, asking until it gets it.
void lock(int* word, int* count) {
  while (atomicExch(word, 1) != 0) {
  }
  ++*count;
  atomicExch(word, 0);
}

TEST(Builtins, WhoAsksAgainLetsOthersGoFirst) {
  for (const auto schedule : {emulator::Schedule::kRandom, emulator::Schedule::kRoundRobin}) {
    int word = 0, count = 0;
    Options options = quiet();
    options.schedule = schedule;
    expect_silent(run(options, {1, 64}, lock, &word, &count));
    EXPECT_EQ(count, 64);
  }
}

}  // namespace
