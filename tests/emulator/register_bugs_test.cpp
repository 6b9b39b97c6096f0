// Accumulator registers: who may touch them when. A kernel of two WGMMA groups, one after the
// other, in which a thread does something with its registers at one of four times.
#include <matrix_descriptor.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <ptx/wgmma_shapes.cuh>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernel_test.h"
#include "product_kernel.h"

namespace {

using emulator::Check;
using emulator::Options;
using emulator::Report;
using kernel_test::expect_bug;
using kernel_test::expect_silent;
using kernel_test::Matrix;
using kernel_test::Operands;
using kernel_test::quiet;
using kernel_test::run;

constexpr int kRegisters = 64;

enum class Time { kNever, kBeforeFence, kAfterFence, kInFlight, kAfterWait };

// What a thread does with its accumulator; `other` is stored as fp16 in the end.
using Action = void (*)(float* acc, float* other);

struct Plan {
  Time time = Time::kNever;
  int group = 0;  // the first or the second
  Action action = nullptr;
  bool cleared = false;  // acc, before all
  bool adds = false;  // the first WGMMA, to what acc holds
  Action between = nullptr;  // the groups, if there is one
  bool leaves = false;  // with the first group in flight
};

void two_groups(const CUtensorMap map_a, const CUtensorMap map_b, Plan plan, half* out) {
  auto& smem = shared_storage<Operands<128>>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, sizeof(smem.a) + sizeof(smem.b));
    ptx::cp_async_bulk_tensor_2d(smem.a, &map_a, 0, 0, &smem.full);
    ptx::cp_async_bulk_tensor_2d(smem.b, &map_b, 0, 0, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  float acc[kRegisters];
  float other = 0;
  if (plan.cleared) std::fill(acc, acc + kRegisters, 0.0f);
  for (int group = 0; group < 2; ++group) {
    const auto act = [&](Time time) {
      if (plan.time == time && plan.group == group) plan.action(acc, &other);
    };
    if (group == 1 && plan.between != nullptr) plan.between(acc, &other);
    act(Time::kBeforeFence);
    ptx::wgmma_fence();
    act(Time::kAfterFence);
    for (int kk = 0; kk < 64; kk += 16) {
      ptx::wgmma_m64n128k16(acc, matrix_descriptor(smem.a, kk), matrix_descriptor(smem.b, kk),
                            plan.adds || group > 0 || kk > 0);
    }
    ptx::wgmma_commit_group();
    act(Time::kInFlight);
    if (plan.leaves) return;
    ptx::wgmma_wait_group<0>(acc);
    act(Time::kAfterWait);
  }
  for (int i = 0; i < kRegisters; ++i) out[threadIdx.x * kRegisters + i] = __float2half(acc[i]);
  out[128 * kRegisters + threadIdx.x] = __float2half(other);
}

std::optional<Report> run_plan(const Options& options, const Plan& plan) {
  Matrix a(64, 64), b(128, 64);
  a.set([](int row, int column) { return (row + column) % 5 - 2; });
  b.set([](int row, int column) { return (row * 3 + column) % 7 - 3; });
  std::vector<half> out(128 * (kRegisters + 1));
  return run(options, {1, 128, sizeof(Operands<128>)}, two_groups, a.map(64), b.map(128), plan,
             out.data());
}

void expect_plan_reports(Check check, const std::vector<std::string>& parts, const Plan& plan) {
  expect_bug({check}, parts, [&](const Options& options) { return run_plan(options, plan); });
}

void expect_plan_silent(const Plan& plan) {
  for (uint64_t seed = 1; seed <= 20; ++seed) expect_silent(run_plan(quiet(seed), plan));
}

// The compiler must not see through these.
volatile float one = 1;
volatile float zero = 0;

// Every one changes a value somewhere, or would on a GPU.
const std::vector<std::pair<const char*, Action>> kWrites = {
    {"set", [](float* acc, float*) { acc[7] = 0; }},
    {"add", [](float* acc, float*) { acc[3] += 1; }},
    {"add little",
     [](float* acc, float*) {
       for (int i = 0; i < kRegisters; ++i) acc[i] += 1e-6f;
     }},
    {"add nothing",
     [](float* acc, float*) {
       for (int i = 0; i < kRegisters; ++i) acc[i] += zero;
     }},
    {"scale", [](float* acc, float*) { acc[63] *= 2; }},
    {"scale by one",
     [](float* acc, float*) {
       for (int i = 0; i < kRegisters; ++i) acc[i] *= one;
     }},
    {"scale and add",
     [](float* acc, float*) {
       for (int i = 0; i < kRegisters; ++i) acc[i] = acc[i] * 2.0f + 1.0f;
     }},
    {"negate", [](float* acc, float*) { acc[0] = -acc[0]; }},
    {"magnitude",
     [](float* acc, float*) {
       for (int i = 0; i < kRegisters; ++i) acc[i] = std::fabs(acc[i]);
     }},
    {"copy", [](float* acc, float*) { acc[4] = acc[3]; }},
    {"exchange", [](float* acc, float*) { std::swap(acc[0], acc[32]); }},
    {"ReLU", [](float* acc, float*) { acc[5] = acc[5] > 0 ? acc[5] : 0; }},
    {"ReLU that keeps NaN", [](float* acc, float*) { acc[5] = acc[5] < 0 ? 0 : acc[5]; }},
    {"ReLU by max", [](float* acc, float*) { acc[5] = std::max(acc[5], 0.0f); }},
    {"upper limit", [](float* acc, float*) { acc[6] = std::min(acc[6], 6.0f); }},
    {"max of itself", [](float* acc, float*) { acc[6] = std::fmax(acc[6], acc[6] * one); }},
};

const std::vector<std::pair<const char*, Action>> kReads = {
    {"copy", [](float* acc, float* other) { *other = acc[5]; }},
    {"scaled", [](float* acc, float* other) { *other = 0.5f * acc[5]; }},
    {"sum",
     [](float* acc, float* other) {
       for (int i = 0; i < kRegisters; ++i) *other += acc[i];
     }},
    {"rounded at once",
     [](float* acc, float* other) { *other = __half2float(__float2half_rn(acc[5])); }},
    {"rounded in pairs",
     [](float* acc, float* other) {
       *other = __half2float(__low2half(__floats2half2_rn(acc[5], acc[6])));
     }},
};

TEST(Accumulator, IsNotChangedInFlight) {
  for (const auto& [name, action] : kWrites) {
    SCOPED_TRACE(name);
    for (const int group : {0, 1}) {
      expect_plan_reports(Check::kAccumulatorTouched,
                          {"was written between the issue of WGMMA", "wgmma.wait_group"},
                          {Time::kInFlight, group, action});
    }
  }
}

TEST(Accumulator, IsNotReadInFlight) {
  for (const auto& [name, action] : kReads) {
    SCOPED_TRACE(name);
    expect_plan_reports(
        Check::kAccumulatorRead,
        {"the thread goes on with what accumulator register", "while WGMMA 8 of warp group 0 own",
         "register_bugs_test.cpp:", "before the accumulators are read"},
        {Time::kInFlight, 1, action});
  }
}

float held[128];  // by the threads

TEST(Accumulator, IsNotAddedToWhatWasReadInFlight) {
  expect_plan_reports(
      Check::kAccumulatorRead,
      {"what accumulator register 9 held while WGMMA 4 of warp group 0 owned it",
       "register_bugs_test.cpp:", "ptx::wgmma_m64n128k16(acc"},
      {Time::kInFlight, 0, [](float* acc, float*) { held[threadIdx.x] = acc[9] * one; },
       /*cleared=*/false, /*adds=*/false, [](float* acc, float*) { acc[2] += held[threadIdx.x]; }});
}

TEST(Accumulator, IsWaitedFor) {
  Plan plan;
  plan.leaves = true;
  expect_plan_reports(Check::kMissingFinalWait,
                      {"the thread leaves", "without having waited for WGMMA 4"}, plan);
}

TEST(Accumulator, IsTheThreadsBeforeTheFenceAndAfterTheWait) {
  expect_plan_silent({});
  for (const Time time : {Time::kBeforeFence, Time::kAfterWait}) {
    for (const auto* actions : {&kWrites, &kReads}) {
      for (const auto& [name, action] : *actions) {
        SCOPED_TRACE(name);
        expect_plan_silent({time, 1, action});
        expect_plan_silent({time, 0, action, /*cleared=*/true, /*adds=*/true});
      }
    }
  }
}

TEST(Accumulator, IsNotWrittenAfterTheFence) {
  for (const Action action : {Action([](float*acc, float*) { acc[7] = 1234.5f; }),
                              Action([](float*acc, float*) { acc[63] += 1; })}) {
    expect_plan_reports(Check::kMissingWgmmaFence,
                        {"was written between wgmma.fence and this WGMMA",
                         "first set the registers, then wgmma.fence"},
                        {Time::kAfterFence, 1, action});
  }
  // A fresh accumulator, which the first WGMMA adds to.
  const Action clear = [](float* acc, float*) { std::fill(acc, acc + kRegisters, 0.0f); };
  expect_plan_reports(Check::kMissingWgmmaFence,
                      {"accumulator register 0 was written between wgmma.fence and this WGMMA"},
                      {Time::kAfterFence, 0, clear, /*cleared=*/false, /*adds=*/true});
}

TEST(Accumulator, IsSetBeforeItIsAddedTo) {
  expect_plan_reports(
      Check::kNotSet,
      {"the WGMMA adds to accumulator register 0, which nobody has set", "scale-d = 0"},
      {Time::kNever, 0, nullptr, /*cleared=*/false, /*adds=*/true});
  expect_plan_reports(Check::kNotSet, {"accumulator register 3, which nobody has set"},
                      {Time::kBeforeFence, 0,
                       [](float* acc, float*) {
                         for (int i = 0; i < kRegisters; ++i) {
                           acc[i] = i == 3 ? acc[i] * one : 0;
                         }
                       },
                       /*cleared=*/false, /*adds=*/true});
  expect_plan_reports(
      Check::kNotSet, {"a value that is rounded to fp16 comes from a variable"},
      {Time::kBeforeFence, 0, [](float* acc, float* other) { *other = acc[3] + one; }});
}

TEST(Accumulator, IsReadAfterTheFence) {
  for (const auto& [name, action] : kReads) {
    SCOPED_TRACE(name);
    expect_plan_silent({Time::kAfterFence, 1, action});
  }
}

}  // namespace
