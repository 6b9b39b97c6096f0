// The emulator lays out data as an H200 did: tests/golden holds what one left in shared memory and
// in accumulator registers.
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>

#include <cstring>

#include "../golden/golden.h"
#include "kernel_test.h"
#include "product_kernel.h"

namespace {

using kernel_test::expect_silent;
using kernel_test::Matrix;
using kernel_test::Operands;
using kernel_test::product_kernel;
using kernel_test::quiet;
using kernel_test::run;

std::vector<uint16_t> recorded(const std::string& file) {
  return golden::read(std::string(GOLDEN_FOLDER) + "/" + file);
}

template <int kRows>
struct Tile {
  alignas(1024) half elements[kRows * 64];
  MBarrier full;
};

template <int kRows>
void load_kernel(const CUtensorMap map, int column, int row, uint16_t* out) {
  auto& smem = shared_storage<Tile<kRows>>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, sizeof(smem.elements));
    ptx::cp_async_bulk_tensor_2d(smem.elements, &map, column, row, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  if (threadIdx.x == 0) std::memcpy(out, smem.elements, sizeof(smem.elements));
}

template <int kRows>
void expect_box(const golden::Box& box) {
  alignas(256) static uint16_t matrix[golden::kRows * golden::kPitch];
  for (int row = 0; row < golden::kRows; ++row) {
    for (int column = 0; column < golden::kColumns; ++column) {
      matrix[row * golden::kPitch + column] = golden::tma_element(row, column);
    }
  }
  CUtensorMap map;
  const Status status = make_tensor_map(
      &map,
      {"A", reinterpret_cast<const half*>(matrix), golden::kRows, golden::kColumns, golden::kPitch},
      kRows, 64);
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<uint16_t> tile(kRows * 64);
  expect_silent(run(quiet(), {1, 32, sizeof(Tile<kRows>)}, load_kernel<kRows>, map, box.column,
                    box.row, tile.data()));
  EXPECT_EQ(tile, recorded(golden::tma_file(box))) << golden::tma_file(box);
}

TEST(EmulatorGolden, TilesLieAsTmaWroteThem) {
  for (const golden::Box& box : golden::kBoxes) {
    if (box.rows == 64) expect_box<64>(box);
    if (box.rows == 128) expect_box<128>(box);
    if (box.rows == 256) expect_box<256>(box);
  }
}

template <int kColumns>
void expect_registers(golden::Product product) {
  const auto expected = recorded(golden::wgmma_file(kColumns, product));
  Matrix a(64, 64), b(kColumns, 64);
  a.set([&](int row, int k) { return k < 16 ? golden::a_element(product, row, k) : 0; });
  b.set([&](int column, int k) { return k < 16 ? golden::b_element(product, column, k) : 0; });
  std::vector<float> registers(128 * (kColumns / 2));
  expect_silent(run(quiet(), {1, 128, sizeof(Operands<kColumns>)}, product_kernel<kColumns>,
                    a.map(64), b.map(kColumns), 1, registers.data()));
  EXPECT_EQ(std::vector<uint16_t>(registers.begin(), registers.end()), expected);
}

class EmulatorGoldenWidth : public testing::TestWithParam<int> {};

TEST_P(EmulatorGoldenWidth, RegistersHoldWhatTheyHeld) {
  for (const auto product : {golden::Product::kPosition, golden::Product::kStep}) {
    if (GetParam() == 128) expect_registers<128>(product);
    if (GetParam() == 176) expect_registers<176>(product);
    if (GetParam() == 200) expect_registers<200>(product);
    if (GetParam() == 256) expect_registers<256>(product);
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, EmulatorGoldenWidth,
                         testing::ValuesIn(golden::recorded_widths(GOLDEN_FOLDER)),
                         testing::PrintToStringParamName());

}  // namespace
