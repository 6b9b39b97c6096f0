// Fragments, ldmatrix, operands of WGMMA and swizzles of TMA lie in the emulator as on the GPU that
// has filed them, and as the formulas of the PTX ISA say.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../golden/layouts.cuh"

namespace {

const std::vector<golden::Layout>& layouts() {
  static const std::vector<golden::Layout> all = golden::Layouts().run();
  return all;
}

class EmulatorLayout : public testing::TestWithParam<std::string> {};

const golden::Layout& layout_of(const std::string& name) {
  return *std::find_if(layouts().begin(), layouts().end(),
                       [&](const golden::Layout& layout) { return layout.name == name; });
}

TEST_P(EmulatorLayout, IsWhatAGpuHasFiled) {
  const golden::Layout& layout = layout_of(GetParam());
  const std::string path = std::string(GOLDEN_FOLDER) + "/" + golden::layout_file(layout);
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "golden data not dumped yet: " << golden::layout_file(layout);
  const auto filed = nlohmann::json::parse(file);
  EXPECT_EQ(filed["what"], layout.what);
  EXPECT_EQ(filed["shape"], layout.shape);
  const auto values = filed["values"].get<std::vector<int>>();
  ASSERT_EQ(values.size(), layout.values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(layout.values[i], values[i]) << layout.what << ": number " << i;
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all = {"mma_m16n8k16", "ldmatrix_x4", "ldmatrix_x4_trans",
                                  "wgmma_fragment_a"};
  for (const char* mode : {"none", "32B", "64B", "128B"}) {
    for (const char* kind : {"wgmma_b_k_major_", "wgmma_b_mn_major_", "wgmma_a_k_major_",
                             "wgmma_a_mn_major_", "tma_swizzle_"}) {
      all.push_back(std::string(kind) + mode);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Filed, EmulatorLayout, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

TEST(EmulatorLayouts, EachIsTested) {
  std::vector<std::string> found;
  for (const golden::Layout& layout : layouts()) found.push_back(layout.name);
  EXPECT_EQ(found, names());
}

// --- formulas ---

TEST(EmulatorLayouts, FragmentOfA) {
  const golden::Layout& layout = layout_of("wgmma_fragment_a");
  for (int row = 0; row < 64; ++row) {
    for (int k = 0; k < 16; ++k) {
      const int thread = row / 16 * 32 + row % 8 * 4 + k % 8 / 2;
      const int slot = (thread * 4 + k / 8 * 2 + row / 8 % 2) * 2 + k % 2;
      ASSERT_EQ(layout.values[row * 16 + k], slot) << row << " " << k;
    }
  }
}

// The byte of a tile for K-major operands (`slow` is the row) and MN-major ones (`slow` is k).
int cell(int slow, int fast, int row_bytes, int slab_bytes) {
  const int in_slab = slow * row_bytes + fast % (row_bytes / 2) * 2;
  const int chunks = row_bytes / 16;
  const int turned = in_slab / 16 % chunks ^ in_slab / 128 % chunks;
  const int byte = fast / (row_bytes / 2) * slab_bytes + slow * row_bytes + turned * 16;
  return byte / 2 + fast % 8;
}

TEST(EmulatorLayouts, OperandsInSharedMemory) {
  const std::map<std::string, int> kRowBytes = {
      {"none", 16}, {"32B", 32}, {"64B", 64}, {"128B", 128}};
  for (const auto& [mode, row_bytes] : kRowBytes) {
    const int slab = row_bytes == 16 ? 1024 : 0;  // K-major: 16 elements are one row of a pattern
    for (int row = 0; row < 64; ++row) {
      for (int k = 0; k < 16; ++k) {
        const int k_major = cell(row, k, row_bytes, slab);
        const int mn_major = cell(k, row, row_bytes, 16 * row_bytes);
        ASSERT_EQ(layout_of("wgmma_a_k_major_" + mode).values[row * 16 + k], k_major) << mode;
        ASSERT_EQ(layout_of("wgmma_b_k_major_" + mode).values[k * 64 + row], k_major) << mode;
        ASSERT_EQ(layout_of("wgmma_a_mn_major_" + mode).values[row * 16 + k], mn_major) << mode;
        ASSERT_EQ(layout_of("wgmma_b_mn_major_" + mode).values[k * 64 + row], mn_major) << mode;
      }
    }
  }
}

}  // namespace
