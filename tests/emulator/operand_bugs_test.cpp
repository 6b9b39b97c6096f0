// What the emulator says of operands of WGMMA that are named or held wrongly: descriptors of every
// kind, and an A in registers. That they are right is tested in tests/wrappers/wgmma_test.cu.
#include <matrix_descriptor.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <ptx/wgmma_shapes.cuh>

#include <cstring>
#include <vector>

#include "kernel_test.h"

namespace {

using emulator::Check;
using kernel_test::expect_bug;
using kernel_test::expect_report;
using kernel_test::expect_silent;
using kernel_test::quiet;
using kernel_test::run;
using ptx::Major;

struct Tiles {
  alignas(1024) uint8_t a[16384];
  alignas(1024) uint8_t b[16384];
};

// --- descriptors ---

// One product of 64 × 64 × 16 on zeros, with this descriptor of B.
template <Major kMajor>
void describe_kernel(uint32_t start, uint32_t leading, uint32_t stride, Swizzle swizzle,
                     uint64_t more) {
  auto& smem = shared_storage<Tiles>();
  for (unsigned i = threadIdx.x * 16; i < sizeof(smem.a); i += 128 * 16) {
    std::memset(&smem.a[i], 0, 16);
    std::memset(&smem.b[i], 0, 16);
  }
  ptx::fence_proxy_async();
  __syncthreads();
  float acc[32];
  ptx::wgmma_fence();
  ptx::wgmma_m64nNk16_f16<64, Major::kK, kMajor>(
      acc, matrix_descriptor(smem.a, 16, 1024, Swizzle::k128B),
      matrix_descriptor(smem.b + start, leading, stride, swizzle) | more, false);
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(acc);
}

template <Major kMajor>
std::optional<emulator::Report> describe(uint32_t start, uint32_t leading, uint32_t stride,
                                         Swizzle swizzle, uint64_t more = 0) {
  return run(quiet(), {1, 128, sizeof(Tiles)}, describe_kernel<kMajor>, start, leading, stride,
             swizzle, more);
}

TEST(Descriptor, KMajor) {
  const auto k = describe<Major::kK>;
  expect_silent(k(0, 16, 1024, Swizzle::k128B, 0));
  expect_silent(k(96, 0, 2048, Swizzle::k128B, 0));
  expect_silent(k(32, 16, 512, Swizzle::k64B, 0));
  expect_silent(k(256, 16, 256, Swizzle::k32B, 0));
  expect_silent(k(16, 1024, 128, Swizzle::kNone, 0));
  expect_silent(k(0, 128, 256, Swizzle::kNone, 0));
  expect_report(k(112, 16, 1024, Swizzle::k128B, 0), Check::kDescriptor,
                {"operand B begins at shared address", "112 bytes into the swizzle pattern"});
  expect_report(k(64, 16, 512, Swizzle::k64B, 0), Check::kDescriptor,
                {"64 bytes into the swizzle pattern", "a multiple of 512 bytes"});
  expect_report(k(0, 16, 512, Swizzle::k128B, 0), Check::kDescriptor,
                {"operand B (K-major, 128-byte swizzle)", "stride offset 512", "1024 bytes"});
  expect_report(k(0, 16, 0, Swizzle::k64B, 0), Check::kDescriptor, {"stride offset 0"});
  expect_report(k(0, 0, 128, Swizzle::kNone, 0), Check::kDescriptor,
                {"(K-major, no swizzle)", "leading offset 0", "8 × 8 elements are 128 bytes"});
  expect_report(k(0, 16, 1024, Swizzle::k128B, uint64_t{3} << 49), Check::kDescriptor,
                {"has base offset 3"});
  expect_report(k(0, 16, 4096, Swizzle::k128B, 0), Check::kDescriptor,
                {"does not fit into the 32768 bytes"});
}

TEST(Descriptor, MnMajor) {
  const auto mn = describe<Major::kMN>;
  expect_silent(mn(0, 0, 1024, Swizzle::k128B, 0));  // 64 rows are one pattern wide
  expect_silent(mn(2048, 4096, 1024, Swizzle::k128B, 0));
  expect_silent(mn(0, 1024, 512, Swizzle::k64B, 0));
  expect_silent(mn(0, 512, 256, Swizzle::k32B, 0));
  expect_silent(mn(0, 128, 256, Swizzle::kNone, 0));
  expect_report(mn(16, 4096, 1024, Swizzle::k128B, 0), Check::kDescriptor,
                {"16 bytes into the swizzle pattern", "an MN-major tile begins"});
  expect_report(mn(128, 4096, 1024, Swizzle::k128B, 0), Check::kDescriptor,
                {"128 bytes into the swizzle pattern", "advance along K by 8 rows"});
  expect_report(mn(0, 512, 512, Swizzle::k64B, 0), Check::kDescriptor,
                {"(MN-major, 64-byte swizzle)", "leading offset 512", "the next 32 rows"});
  expect_report(mn(0, 0, 256, Swizzle::k128B, 0), Check::kDescriptor, {"stride offset 256"});
  expect_report(mn(0, 128, 128, Swizzle::kNone, 0), Check::kDescriptor,
                {"(MN-major, no swizzle)", "the leading one to the next 8 along K"});
}

// --- the map says one swizzle, the descriptor another ---

struct Loaded {
  alignas(1024) uint8_t a[8192];
  alignas(1024) uint8_t b[8192];
  MBarrier full;
};

void load_and_multiply_kernel(const CUtensorMap map, Swizzle described) {
  auto& smem = shared_storage<Loaded>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, 2 * 64 * 64);
    ptx::cp_async_bulk_tensor_2d(smem.a, &map, 0, 0, &smem.full);
    ptx::cp_async_bulk_tensor_2d(smem.b, &map, 0, 0, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  float acc[32];
  ptx::wgmma_fence();
  const uint32_t stride = 8 * swizzle_row_bytes(described);
  ptx::wgmma_m64nNk16<64>(acc, matrix_descriptor(smem.a, 4096, stride, described),
                          matrix_descriptor(smem.b, 4096, stride, described), false);
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(acc);
}

TEST(Descriptor, AnotherSwizzleThanTheMaps) {
  alignas(128) static half values[64 * 32];
  CUtensorMap map;
  const GlobalTensor tensor = {"X", values, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, {32, 64}, {64}};
  ASSERT_TRUE(make_tensor_map(&map, tensor, {32, 64, 1}, Swizzle::k64B).ok());
  const auto report_of = [&](Swizzle described) {
    return run(quiet(), {1, 128, sizeof(Loaded)}, load_and_multiply_kernel, map, described);
  };
  expect_silent(report_of(Swizzle::k64B));
  expect_report(report_of(Swizzle::k32B), Check::kSwizzle,
                {"says the 32-byte swizzle", "with the 64-byte swizzle"});
  expect_report(report_of(Swizzle::kNone), Check::kSwizzle, {"says no swizzle"});
}

// --- A in registers ---

enum class Bug { kNone, kOneArray, kWrittenBeforeWait, kWrittenAfterFence, kNoFence, kNoWait };

template <Bug kBug>
void fragment_kernel(int laps) {
  auto& smem = shared_storage<Tiles>();
  for (unsigned i = threadIdx.x * 16; i < sizeof(smem.b); i += 128 * 16) {
    std::memset(&smem.b[i], 0, 16);
  }
  ptx::fence_proxy_async();
  __syncthreads();
  float acc[32];
  uint32_t a[4][4];
  for (int lap = 0; lap < laps; ++lap) {
    for (int step = 0; step < 4; ++step) {
      for (uint32_t& pair : a[step]) pair = threadIdx.x + lap + step;
    }
    if (kBug != Bug::kNoFence) ptx::wgmma_fence();
    if (kBug == Bug::kWrittenAfterFence && lap > 0) a[3][2] += 7;
    for (int step = 0; step < 4; ++step) {
      const int array = kBug == Bug::kOneArray ? 0 : step;
      if (kBug == Bug::kOneArray && step > 0) a[0][1] += 5;
      ptx::wgmma_m64nNk16_f16_rs<64, Major::kMN>(
          acc, a[array], matrix_descriptor(smem.b + step * 2048, 0, 1024, Swizzle::k128B),
          lap > 0 || step > 0);
    }
    ptx::wgmma_commit_group();
    if (kBug == Bug::kWrittenBeforeWait) a[1][3] = 1;
    if (kBug != Bug::kNoWait) ptx::wgmma_wait_group<0>(acc);
    a[2][2] = 3;  // may be
  }
  if (kBug == Bug::kNoWait) ptx::wgmma_wait_group<0>(acc);
}

template <Bug kBug>
std::optional<emulator::Report> multiply(const emulator::Options& options) {
  return run(options, {1, 128, sizeof(Tiles)}, fragment_kernel<kBug>, 3);
}

TEST(Fragment, IsSilentOnEverySeed) {
  for (uint64_t seed = 1; seed <= 20; ++seed) expect_silent(multiply<Bug::kNone>(quiet(seed)));
}

TEST(Fragment, Bugs) {
  expect_bug({Check::kAccumulatorTouched},
             {"register 1 of operand A of WGMMA", "declare one array for each"},
             multiply<Bug::kOneArray>);
  expect_bug({Check::kAccumulatorTouched}, {"register 3 of operand A of WGMMA 2"},
             multiply<Bug::kWrittenBeforeWait>);
  expect_bug({Check::kMissingWgmmaFence}, {"registers of operand A of WGMMA 8 were written after"},
             multiply<Bug::kWrittenAfterFence>);
  expect_bug({Check::kMissingWgmmaFence}, {}, multiply<Bug::kNoFence>);
  expect_bug({Check::kAccumulatorTouched}, {"operand A"}, multiply<Bug::kNoWait>);
}

}  // namespace
