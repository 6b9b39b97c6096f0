// What the emulator says of cp.async, ldmatrix and mma.sync that are used wrongly; that they are
// right is tested in tests/wrappers/warp_matrix_test.cu.
#include "../wrappers/ampere_kernel.cuh"

#include <matrix_descriptor.cuh>
#include <ptx/tma.cuh>
#include <ptx/wgmma.cuh>
#include <ptx/wgmma_shapes.cuh>

#include <vector>

#include "kernel_test.h"

namespace {

using ampere::Bug;
using emulator::Check;
using emulator::Options;
using kernel_test::expect_bug;
using kernel_test::expect_report;
using kernel_test::expect_silent;
using kernel_test::quiet;
using kernel_test::run;

template <Bug kBug>
std::optional<emulator::Report> multiply(const Options& options) {
  constexpr int kDepth = 200;  // twice around the ring, and a tail
  alignas(16) static half a[64 * kDepth], b[64 * kDepth];
  std::vector<float> c(64 * 64);
  return run(options, {1, ampere::kThreads, sizeof(ampere::Stages)}, ampere::kernel<kBug>, a, b,
             c.data(), kDepth);
}

TEST(CpAsync, RingIsSilentOnEverySeed) {
  for (uint64_t seed = 1; seed <= 50; ++seed) expect_silent(multiply<Bug::kNone>(quiet(seed)));
}

TEST(CpAsync, MissingCommit) {
  expect_bug({Check::kReadBeforeFull},
             {"has started a copy that it has not committed", "cp.async.commit_group"},
             multiply<Bug::kNoCommit>);
}

TEST(CpAsync, MissingWait) {
  expect_bug({Check::kReadBeforeFull}, {"that it has not waited for", "cp.async.wait_group"},
             multiply<Bug::kNoWait>);
}

TEST(CpAsync, OneGroupTooManyUnderWay) {
  expect_bug({Check::kReadBeforeFull}, {"that it has not waited for"},
             multiply<Bug::kOneGroupTooMany>);
}

TEST(CpAsync, MissingBarrierAfterTheWait) {
  expect_bug({Check::kReadBeforeFull, Check::kOverwrittenWhileRead, Check::kReadUninitialised},
             {"__syncthreads"}, multiply<Bug::kNoBarrierAfterWait>);
}

TEST(CpAsync, RefilledBeforeTheOthersHaveRead) {
  expect_bug({Check::kOverwrittenWhileRead, Check::kReadBeforeFull},
             {"which an ldmatrix reads", "__syncthreads"}, multiply<Bug::kNoBarrierBeforeRefill>);
}

// --- single rules ---

struct Rows {
  alignas(16) half rows[64][8];
  MBarrier barrier;
};

void copies_kernel(const half* source, int what) {
  auto& smem = shared_storage<Rows>();
  if (what == 0) ptx::cp_async_cg(&smem.rows[threadIdx.x][4], source);
  if (what == 1) ptx::cp_async_cg(&smem.rows[threadIdx.x], source + 4);
  if (what == 2) ptx::cp_async_ca<8>(&smem.rows[threadIdx.x], source, 9);
  if (what == 3) ptx::cp_async_cg(&smem.rows[0], source);  // by every thread
  if (what == 4) ptx::cp_async_cg(&smem.rows[threadIdx.x], source);
  if (what == 4) ptx::cp_async_wait_group<0>();
  if (what == 5) ptx::cp_async_cg(&smem.rows[threadIdx.x], source);  // and leaves
  if (what == 6) {
    ptx::cp_async_ca<4>(&smem.rows[threadIdx.x][0], source);
    ptx::cp_async_ca<4>(&smem.rows[threadIdx.x][2], source);
    ptx::cp_async_ca<8>(&smem.rows[threadIdx.x][4], source);
  }
  if (what == 8 && threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.barrier, 1);
    ptx::cp_async_ca<8>(&smem.barrier, source);
  }
  if (what >= 9) ptx::cp_async_cg(&smem.rows[threadIdx.x], source);
  ptx::cp_async_commit_group();
  if (what != 5) ptx::cp_async_wait_group<0>();
  if (what == 10) __syncwarp();
  uint32_t matrices[4];
  if (what >= 9) ptx::ldmatrix_m8n8_x4(matrices, &smem.rows[(threadIdx.x + 1) % 32]);
}

TEST(CpAsync, Rules) {
  alignas(16) static half source[16];
  const auto report_of = [&](int what) {
    return run(quiet(), {1, 32, sizeof(Rows)}, copies_kernel, source, what);
  };
  expect_report(report_of(0), Check::kMisaligned, {"the destination begins 8 bytes past"});
  expect_report(report_of(1), Check::kMisaligned,
                {"the source begins 8 bytes past", "cp_async_ca"});
  expect_report(report_of(2), Check::kLimit, {"is to read 9 bytes of 8"});
  expect_report(report_of(3), Check::kOverwrittenInFlight, {"bytes of its own"});
  expect_report(report_of(4), Check::kMissingCopyCommit, {"1 copies belong to no group"});
  expect_report(report_of(5), Check::kLeftInFlight, {"cp_async_cg"});
  expect_silent(report_of(6));
  expect_report(report_of(8), Check::kBarrierOverwritten);
  expect_report(report_of(9), Check::kReadBeforeFull,
                {"it has waited for the copy, and nobody has told this warp", "__syncthreads"});
  expect_silent(report_of(10));
}

// What was copied is not for WGMMA and TMA without a fence.

struct Tiles {
  alignas(1024) half a[64 * 64];
  alignas(1024) half b[8 * 64];
};

void copy_for_wgmma_kernel(const half* source, bool fence) {
  auto& smem = shared_storage<Tiles>();
  for (unsigned i = threadIdx.x; i < 64 * 64 / 8; i += 128)
    ptx::cp_async_cg(&smem.a[i * 8], source);
  if (threadIdx.x < 64) ptx::cp_async_cg(&smem.b[threadIdx.x * 8], source);
  ptx::cp_async_wait_all();
  if (fence) ptx::fence_proxy_async();
  __syncthreads();
  float acc[4];
  ptx::wgmma_fence();
  ptx::wgmma_m64nNk16<8>(acc, matrix_descriptor(smem.a, 0), matrix_descriptor(smem.b, 0), false);
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(acc);
}

TEST(CpAsync, WgmmaReadsWhatWasCopiedAfterAProxyFence) {
  alignas(16) static half source[8];
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    expect_silent(run(quiet(seed), {1, 128, sizeof(Tiles)}, copy_for_wgmma_kernel, source, true));
    expect_report(run(quiet(seed), {1, 128, sizeof(Tiles)}, copy_for_wgmma_kernel, source, false),
                  Check::kMissingProxyFence);
  }
}

void poison_kernel(const half* source, float* out) {
  auto& smem = shared_storage<Rows>();
  ptx::cp_async_cg(&smem.rows[threadIdx.x], source);
  ptx::cp_async_commit_group();
  out[threadIdx.x] = __half2float(smem.rows[threadIdx.x][0]);  // a plain load
  ptx::cp_async_wait_group<0>();
}

TEST(CpAsync, PlainLoadsSeePoisonBeforeTheWait) {
  alignas(16) static half source[16];
  Options options = quiet();
  options.delay = emulator::Delay::kOnlyWhenIdle;
  std::vector<float> out(32);
  expect_silent(run(options, {1, 32, sizeof(Rows)}, poison_kernel, source, out.data()));
  for (const float value : out) EXPECT_NE(value, value);  // NaN
}

// Two groups, and a wait for the older one: what the newer one brings is not there yet, even if it
// is.
void two_groups_kernel(const half* source, int group) {
  auto& smem = shared_storage<Rows>();
  for (int i = 0; i < 2; ++i) {
    ptx::cp_async_cg(&smem.rows[i * 32 + threadIdx.x], source);
    ptx::cp_async_commit_group();
  }
  ptx::cp_async_wait_group<1>();
  uint32_t matrices[4];
  ptx::ldmatrix_m8n8_x4(matrices, &smem.rows[group * 32 + threadIdx.x]);
  ptx::cp_async_wait_all();
}

TEST(CpAsync, AWaitTellsOfTheGroupsThatItIsForAlone) {
  alignas(16) static half source[16];
  for (const auto delay : {emulator::Delay::kAtOnce, emulator::Delay::kShort}) {
    Options options = quiet();
    options.delay = delay;
    const kernel_test::Shape shape = {1, 32, sizeof(Rows)};
    expect_silent(run(options, shape, two_groups_kernel, source, 0));
    expect_report(run(options, shape, two_groups_kernel, source, 1), Check::kReadBeforeFull,
                  {"that it has not waited for yet"});
  }
}

void rows_kernel(int what) {
  auto& smem = shared_storage<Rows>();
  const int lane = threadIdx.x;
  uint32_t matrices[4], two[2], one;
  if (what == 0) ptx::ldmatrix_m8n8_x4(matrices, &smem.rows[lane]);
  for (half& element : smem.rows[lane]) element = __float2half_rn(1);
  if (what == 1) ptx::ldmatrix_m8n8_x4(matrices, &smem.rows[lane][4]);
  if (what == 2) ptx::ldmatrix_m8n8_x4(matrices, matrices);
  if (what == 3 && lane < 16) ptx::ldmatrix_m8n8_x1(one, &smem.rows[lane]);
  if (what == 4) ptx::ldmatrix_m8n8_x2(two, lane < 16 ? &smem.rows[lane] : nullptr);
}

TEST(Ldmatrix, Rules) {
  const auto report_of = [](int what) {
    return run(quiet(), {1, 32, sizeof(Rows)}, rows_kernel, what);
  };
  expect_report(report_of(0), Check::kReadUninitialised, {"an ldmatrix reads shared byte 0x0"});
  expect_report(report_of(1), Check::kMisaligned, {"the row begins 8 bytes past"});
  expect_report(report_of(2), Check::kNotShared);
  expect_report(report_of(3), Check::kLaneDivergence, {"ldmatrix"});
  expect_silent(report_of(4));
}

}  // namespace
