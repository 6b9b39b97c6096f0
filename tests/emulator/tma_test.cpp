// What the emulator says of TMA copies with and without maps that are used wrongly; that they are
// right is tested in tests/wrappers/tma_test.cu.
#include <ptx/ldmatrix.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>

#include <vector>

#include "kernel_test.h"

namespace {

using emulator::Check;
using kernel_test::expect_bug;
using kernel_test::expect_report;
using kernel_test::expect_silent;
using kernel_test::quiet;
using kernel_test::run;

struct Boxes {
  alignas(1024) uint8_t bytes[2048];
  MBarrier full;
};

enum class Wrong {
  kNothing,
  kRank,
  kAdd,
  kSize,
  kNoSize,
  kShared,
  kGlobal,
  kTooLong,
  kOverBarrier,
  kAlignment64B,
};

void rules_kernel(const CUtensorMap map, const uint8_t* global, Wrong wrong) {
  auto& smem = shared_storage<Boxes>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, 64);
    if (wrong == Wrong::kRank) ptx::cp_async_bulk_tensor_3d(smem.bytes, &map, 0, 0, 0, &smem.full);
    if (wrong == Wrong::kAdd) ptx::cp_reduce_async_bulk_tensor_2d_add(&map, 0, 0, smem.bytes);
    if (wrong == Wrong::kSize) ptx::cp_async_bulk(smem.bytes, global, 40, &smem.full);
    if (wrong == Wrong::kNoSize) ptx::cp_async_bulk(smem.bytes, global, 0, &smem.full);
    if (wrong == Wrong::kShared) ptx::cp_async_bulk(smem.bytes + 8, global, 64, &smem.full);
    if (wrong == Wrong::kGlobal) ptx::cp_async_bulk(smem.bytes, global + 4, 64, &smem.full);
    if (wrong == Wrong::kTooLong) ptx::cp_async_bulk(smem.bytes, global, 4096, &smem.full);
    if (wrong == Wrong::kOverBarrier) {
      ptx::cp_async_bulk(smem.bytes + 2032, global, 32, &smem.full);
    }
    if (wrong == Wrong::kAlignment64B) {
      ptx::cp_async_bulk_tensor_2d(smem.bytes + 128, &map, 0, 0, &smem.full);
    }
    if (wrong == Wrong::kNothing) ptx::cp_async_bulk(smem.bytes, global, 64, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
}

TEST(Tma, Rules) {
  alignas(16) static uint8_t global[4096];
  CUtensorMap map;
  const GlobalTensor tensor = {"X", global, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, {64, 8}, {64}};
  ASSERT_TRUE(make_tensor_map(&map, tensor, {64, 8, 1}, Swizzle::k64B).ok());
  const auto report_of = [&](Wrong wrong) {
    return run(quiet(), {1, 32, sizeof(Boxes)}, rules_kernel, map, global, wrong);
  };
  expect_silent(report_of(Wrong::kNothing));
  expect_report(report_of(Wrong::kRank), Check::kTensorMap,
                {"a tensor of 2 dimensions; the instruction has 3", "cp_async_bulk_tensor_2d"});
  expect_report(report_of(Wrong::kAdd), Check::kTensorMap, {"CUtensorMapDataType 0", "FLOAT16"});
  expect_report(report_of(Wrong::kSize), Check::kLimit, {"cp.async.bulk of 40 bytes"});
  expect_report(report_of(Wrong::kNoSize), Check::kLimit, {"of 0 bytes"});
  expect_report(report_of(Wrong::kShared), Check::kMisaligned, {"begins 8 bytes past"});
  expect_report(report_of(Wrong::kGlobal), Check::kMisaligned, {"global memory is 4 bytes past"});
  expect_report(report_of(Wrong::kTooLong), Check::kSharedMemorySize, {"4096 bytes"});
  expect_report(report_of(Wrong::kOverBarrier), Check::kBarrierOverwritten);
  expect_report(report_of(Wrong::kAlignment64B), Check::kMisaligned,
                {"128 bytes past a multiple of 512", "the 64-byte swizzle repeats every 512"});
}

// --- copies without a map are as asynchronous as those with one ---

enum class Bug { kNone, kNoWait, kNoBytes, kReloadedEarly, kNoFence, kNoWaitForStore };

template <Bug kBug>
void bulk_kernel(const uint8_t* source, uint8_t* destination) {
  auto& smem = shared_storage<Boxes>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  for (int lap = 0; lap < 2; ++lap) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(&smem.full, kBug == Bug::kNoBytes ? 256 : 512);
      ptx::cp_async_bulk(smem.bytes, source + lap * 512, 512, &smem.full);
    }
    if (kBug != Bug::kNoWait) ptx::mbarrier_wait_parity(&smem.full, lap);
    uint32_t matrices[4];
    ptx::ldmatrix_m8n8_x4(matrices, smem.bytes + threadIdx.x % 32 * 16);
    if (kBug != Bug::kReloadedEarly) __syncthreads();
  }
  half2 pair = __floats2half2_rn(1, 2);
  ptx::stmatrix_m8n8_x4(reinterpret_cast<half*>(smem.bytes + 512 + threadIdx.x * 16), pair, pair,
                        pair, pair);
  if (kBug != Bug::kNoFence) ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk(destination, smem.bytes + 512, 1024);
  ptx::cp_async_bulk_commit_group();
  if (kBug != Bug::kNoWaitForStore) ptx::cp_async_bulk_wait_group_read<0>();
}

template <Bug kBug>
std::optional<emulator::Report> bulk(const emulator::Options& options) {
  alignas(16) static uint8_t source[1024], destination[1024];
  return run(options, {1, 64, sizeof(Boxes)}, bulk_kernel<kBug>, source, destination);
}

TEST(Bulk, IsSilentOnEverySeed) {
  for (uint64_t seed = 1; seed <= 30; ++seed) expect_silent(bulk<Bug::kNone>(quiet(seed)));
}

TEST(Bulk, Bugs) {
  expect_bug({Check::kReadBeforeFull, Check::kReadUninitialised},
             {"an ldmatrix reads", "wait for parity 0 of full"}, bulk<Bug::kNoWait>);
  expect_bug({Check::kTooFewBytesExpected, Check::kReadBeforeFull}, {}, bulk<Bug::kNoBytes>);
  expect_bug({Check::kOverwrittenWhileRead, Check::kReadBeforeFull, Check::kDeadlock},
             {"which an ldmatrix reads"}, bulk<Bug::kReloadedEarly>);
  expect_bug({Check::kMissingProxyFence}, {}, bulk<Bug::kNoFence>);
  expect_bug({Check::kStoreNotWaitedFor}, {}, bulk<Bug::kNoWaitForStore>);
}

}  // namespace
