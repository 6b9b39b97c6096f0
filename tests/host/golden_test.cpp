// The layouts that the project's comments and code state, against what an H200 did.
#include <gtest/gtest.h>

#include <algorithm>

#include "../golden/golden.h"

namespace golden {
namespace {

std::string path(const std::string& file) { return std::string(GOLDEN_FOLDER) + "/" + file; }

TEST(Golden, TmaSwizzlesBy16ByteUnitsAndFillsWithZeros) {
  for (const Box& box : kBoxes) {
    const auto tile = read(path(tma_file(box)));
    ASSERT_EQ(tile.size(), box.rows * 64u) << tma_file(box);
    for (int row = 0; row < box.rows; ++row) {
      for (int column = 0; column < 64; ++column) {
        const int offset = row * 64 + ((column / 8) ^ (row % 8)) * 8 + column % 8;
        ASSERT_EQ(tile[offset], tma_element(box.row + row, box.column + column))
            << tma_file(box) << ", row " << row << ", column " << column;
      }
    }
  }
}

class GoldenWidth : public testing::TestWithParam<int> {};

TEST_P(GoldenWidth, AccumulatorsLieAsStoreAccumulatorSays) {
  const int n = GetParam();
  const auto position = read(path(wgmma_file(n, Product::kPosition)));
  const auto step = read(path(wgmma_file(n, Product::kStep)));
  ASSERT_EQ(position.size(), 64u * n);
  ASSERT_EQ(step.size(), 64u * n);
  for (int thread = 0; thread < 128; ++thread) {
    for (int r = 0; r < n / 2; ++r) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + r / 2 % 2 * 8;
      const int column = r / 4 * 8 + thread % 4 * 2 + r % 2;
      const int i = thread * (n / 2) + r;
      ASSERT_EQ(position[i], 256 * row + column) << "thread " << thread << ", register " << r;
      ASSERT_EQ(step[i], b_element(Product::kStep, column, row % 16));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, GoldenWidth, testing::ValuesIn(recorded_widths(GOLDEN_FOLDER)),
                         testing::PrintToStringParamName());

TEST(Golden, WidthsThatEarlierVersionsUseAreRecorded) {
  const auto widths = recorded_widths(GOLDEN_FOLDER);
  for (const int n : {128, 256}) EXPECT_EQ(std::count(widths.begin(), widths.end(), n), 1) << n;
}

}  // namespace
}  // namespace golden
