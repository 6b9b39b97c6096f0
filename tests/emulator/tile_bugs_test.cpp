// Tensor maps that do not fit what is done with the tile: a box larger than its place, a swizzle
// other than the descriptor's.
#include <matrix_descriptor.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>

#include "kernel_test.h"
#include "product_kernel.h"

namespace {

using emulator::Check;
using emulator::Options;
using kernel_test::expect_bug;
using kernel_test::expect_silent;
using kernel_test::Matrix;
using kernel_test::Operands;
using kernel_test::product_kernel;
using kernel_test::quiet;
using kernel_test::run;

constexpr size_t kSharedBytes = sizeof(Operands<128>);

CUtensorMap plain_map(Matrix* matrix, int rows, CUtensorMapSwizzle swizzle) {
  CUtensorMap map;
  const cuuint64_t size[] = {64, static_cast<cuuint64_t>(rows)}, pitch[] = {128};
  const cuuint32_t box[] = {64, static_cast<cuuint32_t>(rows)}, strides[] = {1, 1};
  EXPECT_EQ(
      cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, matrix->data(), size, pitch,
                             box, strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      CUDA_SUCCESS);
  return map;
}

// --- the swizzle ---

TEST(Swizzle, IsTheSameInMapAndDescriptor) {
  Matrix a(64, 64), b(128, 64);
  std::vector<float> out(128 * 64);
  const auto product = [&](const Options& options, CUtensorMapSwizzle of_a,
                           CUtensorMapSwizzle of_b) {
    return run(options, {1, 128, kSharedBytes}, product_kernel<128>, plain_map(&a, 64, of_a),
               plain_map(&b, 128, of_b), 1, out.data());
  };
  constexpr auto kNone = CU_TENSOR_MAP_SWIZZLE_NONE, kWide = CU_TENSOR_MAP_SWIZZLE_128B;
  const std::vector<std::string> lines = {"product_kernel.h:", "ptx::cp_async_bulk_tensor_2d(smem.",
                                          "ptx::wgmma_m64n128k16(acc",
                                          "CU_TENSOR_MAP_SWIZZLE_128B"};
  auto parts = lines;
  parts.push_back(
      "the descriptor of operand A says the 128-byte swizzle, and smem.a (shared bytes "
      "0x0 to 0x2000) was loaded through a tensor map with no swizzle");
  expect_bug({Check::kSwizzle}, parts,
             [&](const Options& options) { return product(options, kNone, kWide); });
  parts = lines;
  parts.push_back("the descriptor of operand B says the 128-byte swizzle, and smem.b");
  expect_bug({Check::kSwizzle}, parts,
             [&](const Options& options) { return product(options, kWide, kNone); });
  for (uint64_t seed = 1; seed <= 20; ++seed) expect_silent(product(quiet(seed), kWide, kWide));
}

// --- the box ---

enum class Loads {
  kLowerFirst,
  kUpperFirst,
  kOneAfterTheOther,
  kLowerWhileUpperIsMultiplied,
};

// Loads smem.a and smem.b, with boxes of their maps.
void load_two(const CUtensorMap map_a, const CUtensorMap map_b, int bytes_a, Loads how) {
  auto& smem = shared_storage<Operands<128>>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  const auto load_a = [&] { ptx::cp_async_bulk_tensor_2d(smem.a, &map_a, 0, 0, &smem.full); };
  const auto load_b = [&] { ptx::cp_async_bulk_tensor_2d(smem.b, &map_b, 0, 0, &smem.full); };
  const auto expect = [&](int bytes) { ptx::mbarrier_arrive_expect_tx(&smem.full, bytes); };
  if (how == Loads::kLowerFirst || how == Loads::kUpperFirst) {
    if (threadIdx.x == 0) {
      expect(bytes_a + static_cast<int>(sizeof(smem.b)));
      if (how == Loads::kLowerFirst) load_a();
      load_b();
      if (how == Loads::kUpperFirst) load_a();
    }
    ptx::mbarrier_wait_parity(&smem.full, 0);
    return;
  }
  const bool multiplies = how == Loads::kLowerWhileUpperIsMultiplied;
  if (threadIdx.x == 0) {
    expect(multiplies ? static_cast<int>(sizeof(smem.b)) : bytes_a);
    multiplies ? load_b() : load_a();
  }
  ptx::mbarrier_wait_parity(&smem.full, 0);
  float acc[64];
  if (multiplies) {
    ptx::wgmma_fence();
    ptx::wgmma_m64n128k16(acc, matrix_descriptor(smem.b, 0), matrix_descriptor(smem.b, 0), false);
    ptx::wgmma_commit_group();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(multiplies ? bytes_a : static_cast<int>(sizeof(smem.b)));
    multiplies ? load_a() : load_b();
  }
  ptx::mbarrier_wait_parity(&smem.full, 1);
  if (multiplies) ptx::wgmma_wait_group<0>(acc);
}

TEST(Box, FitsItsPlace) {
  Matrix a(128, 64), b(128, 64);
  const auto load = [&](const Options& options, int rows, Loads how) {
    return run(options, {1, 128, kSharedBytes}, load_two, a.map(rows), b.map(128), rows * 128, how);
  };
  const auto expect = [&](Check check, Loads how, const char* which) {
    expect_bug({check},
               {std::string("the two loads overlap: the box of the ") + which,
                ") is 96 rows x 64 columns = 12288 bytes, and begins only 8192 bytes before the",
                "make the box of the tensor map as large as the tile"},
               [&](const Options& options) { return load(options, 96, how); });
  };
  expect(Check::kOverwrittenInFlight, Loads::kLowerFirst, "earlier");
  expect(Check::kOverwrittenInFlight, Loads::kUpperFirst, "later");
  expect(Check::kOverwrittenWhileRead, Loads::kLowerWhileUpperIsMultiplied, "later");
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    expect_silent(load(quiet(seed), 64, Loads::kLowerFirst));
    expect_silent(load(quiet(seed), 64, Loads::kUpperFirst));
    expect_silent(load(quiet(seed), 64, Loads::kLowerWhileUpperIsMultiplied));
    expect_silent(load(quiet(seed), 96, Loads::kOneAfterTheOther));  // meant to overlap
  }
}

TEST(Box, IsNamedWhereBytesAreMissing) {
  Matrix a(128, 64), b(128, 64);
  expect_bug({Check::kTooFewBytesExpected},
             {"loads of 12288 bytes signal", "for which 8192 bytes are announced",
              "the box of this load is 96 rows x 64 columns = 12288 bytes"},
             [&](const Options& options) {
               return run(options, {1, 128, kSharedBytes}, load_two, a.map(96), b.map(128),
                          64 * 128, Loads::kOneAfterTheOther);
             });
}

}  // namespace
