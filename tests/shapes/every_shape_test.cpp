// Every version on every pair of values of all that a problem consists of.
#include <gtest/gtest.h>
#include <harness/versions.h>

#include <algorithm>
#include <string>
#include <vector>

#include "call.h"
#include "limits.h"
#include "options.h"
#include "pairwise.h"

namespace shapes {
namespace {

using harness::DataKind;
using harness::Version;

enum Parameter { kM, kN, kK, kLayoutA, kLayoutB, kLayoutC, kData, kSprinkle, kMaxBlocks };

// How a matrix lies in memory, in elements: what its rows have beyond the least, and where it
// begins.
struct InputLayout {
  int64_t padding;
  int64_t offset;
};

// Rows of C: packed, of an odd number of elements, or of whole units of TMA.
enum class Pitch { kPacked, kOdd, kWholeUnits };
struct OutputLayout {
  Pitch pitch;
  int64_t offset;
};

// The values of each parameter, for one version.
struct Values {
  explicit Values(const Version& version) {
    m = n = {1, 7, 8, 63, 64, 65, 127, 128, 129, 255, 256, 257};
    // 9, 10, 11 and 13 tiles; whole ones, short by one, short by one unit of TMA, and just begun.
    const auto add_grids = [](int64_t tile, std::vector<int64_t>* sizes) {
      sizes->insert(sizes->end(), {9 * tile, 10 * tile - 1, 11 * tile - 8, 12 * tile + 1});
    };
    // Where the host chooses the tile, the largest that it may choose.
    const harness::TileShape tile =
        is_chosen_by_host(version.shape) ? harness::TileShape{256, 200, 2} : version.shape;
    add_grids(tile.block_m, &m);
    add_grids(tile.block_n, &n);
    m.push_back(19 * tile.block_m - 1);  // several panels in v6 and v7
    k = {1, 8, 16, 40, 65, 72};
    const int64_t stages = version.stages;
    for (const int64_t tiles :
         {int64_t{1}, int64_t{2}, stages - 1, stages, stages + 1, 2 * stages + 1}) {
      if (tiles > 0) k.push_back(64 * tiles);
    }
    std::sort(k.begin(), k.end());
    k.erase(std::unique(k.begin(), k.end()), k.end());
    if (number_of(version) >= 6) max_blocks = {0, 1, 2, 7};  // of the persistent versions
    for (const Pitch pitch : {Pitch::kPacked, Pitch::kOdd, Pitch::kWholeUnits}) {
      for (const int64_t offset : {0, 1, 2, 3, 8}) layout_c.push_back({pitch, offset});
    }
  }

  // How many there are of each.
  std::vector<int> counts() const {
    const auto size = [](const auto& values) { return static_cast<int>(values.size()); };
    return {size(m),        size(n),    size(k),        size(layout),    size(layout),
            size(layout_c), size(data), size(sprinkle), size(max_blocks)};
  }

  std::vector<int64_t> m, n, k;
  std::vector<InputLayout> layout = {{0, 0}, {8, 0}, {120, 0}, {0, 8}, {8, 24}};  // of A and B
  std::vector<OutputLayout> layout_c;
  std::vector<DataKind> data = {DataKind::kInts,  DataKind::kIota,   DataKind::kIdentity,
                                DataKind::kZeros, DataKind::kNormal, DataKind::kUniform};
  // Nothing more often than the others: a NaN hides much.
  std::vector<Sprinkle> sprinkle = {
      Sprinkle::kNothing,  Sprinkle::kNothing,       Sprinkle::kNothing, Sprinkle::kNaN,
      Sprinkle::kInfinity, Sprinkle::kMinusInfinity, Sprinkle::kLarge};
  std::vector<int> max_blocks = {0};
};

int64_t pitch_of_c(int64_t n, Pitch pitch) {
  switch (pitch) {
    case Pitch::kPacked:
      return n;
    case Pitch::kOdd:
      return (n + 1) | 1;
    case Pitch::kWholeUnits:
      return (n + 7) / 8 * 8 + 8;
  }
  return n;
}

Call call_of(const Values& values, const Choice& choice, int index) {
  const InputLayout& a = values.layout[choice[kLayoutA]];
  const InputLayout& b = values.layout[choice[kLayoutB]];
  const OutputLayout& c = values.layout_c[choice[kLayoutC]];
  Call call;
  harness::ProblemSize& size = call.size;
  size.m = values.m[choice[kM]];
  size.n = values.n[choice[kN]];
  size.k = values.k[choice[kK]];
  const int64_t least = (size.k + 7) / 8 * 8;  // that TMA takes
  size.lda = least + a.padding;
  size.ldb = least + b.padding;
  size.ldc = pitch_of_c(size.n, c.pitch);
  size.a_offset = a.offset;
  size.b_offset = b.offset;
  size.c_offset = c.offset;
  call.data = values.data[choice[kData]];
  call.sprinkle = values.sprinkle[choice[kSprinkle]];
  call.max_blocks = values.max_blocks[choice[kMaxBlocks]];
  call.seed = options().seed + static_cast<uint64_t>(index);
  return call;
}

// Any two of M, N and K may be large; all three take too long. Large grids are for data that no two
// tiles have in common.
std::vector<Choice> choices_of(const Values& values) {
  const auto is_useful = [&](const Choice& choice) {
    const auto size = [&](const std::vector<int64_t>& sizes, Parameter parameter) {
      return choice[parameter] == kOpen ? sizes[0] : sizes[choice[parameter]];
    };
    constexpr int64_t kLarge = 400'000;  // elements of C
    constexpr int64_t kShort = 16;  // sums
    if (size(values.m, kM) * size(values.n, kN) <= kLarge) return true;
    return size(values.k, kK) <= kShort &&
           (choice[kData] == kOpen || values.data[choice[kData]] == DataKind::kInts);
  };
  return cover_pairs(values.counts(), is_useful);
}

class EveryShape : public testing::TestWithParam<Version> {};

TEST_P(EveryShape, EveryPairOfValuesIsTried) {
  const Values values(GetParam());
  const std::vector<Choice> choices = choices_of(values);
  EXPECT_EQ(missing_pairs(values.counts(), choices), 0);
  EXPECT_LE(choices.size(), 1000u);
  EXPECT_GT(choices.size(), 250u);
}

TEST_P(EveryShape, IsRight) {
  const Version& version = GetParam();
  const Values values(version);
  const std::vector<Choice> choices = choices_of(values);
  const int count = static_cast<int>(choices.size());
  int failures = 0;
  for (int i = 0; i < count; ++i) {
    if (options().index >= 0 && options().index != i) continue;
    const Call call = call_of(values, choices[i], i);
    ASSERT_TRUE(is_affordable(call) && broken_rules(call, version).empty()) << describe(call);
    const Outcome outcome = make(call, version);
    if (outcome.fault.empty()) continue;
    const std::string driver = driver_command(call, version);
    ADD_FAILURE() << version.name << ", problem " << i << " of " << count << ": " << describe(call)
                  << "\n"
                  << outcome.fault << "  again: " << options().program
                  << " --gtest_filter='*EveryShape.IsRight/v" << number_of(version) << "*' --seed "
                  << options().seed << " --index " << i
                  << (driver.empty() ? "" : "\n  or:    " + driver);
    constexpr int kEnough = 5;
    if (!outcome.can_go_on || ++failures == kEnough) break;
  }
}

// No pair of its own: where K is 0 no tile is computed, and nothing else could show.
TEST_P(EveryShape, KZeroClearsCAndNothingElse) {
  const Values values(GetParam());
  for (const int64_t m : {1, 65}) {
    for (const int64_t n : values.n) {
      for (const OutputLayout& c : values.layout_c) {
        Call call;
        call.size.m = m;
        call.size.n = n;
        call.size.ldc = pitch_of_c(n, c.pitch);
        call.size.c_offset = c.offset;
        call.null_a = call.null_b = true;
        ASSERT_TRUE(broken_rules(call, GetParam()).empty()) << describe(call);
        EXPECT_EQ(make(call, GetParam()).fault, "") << describe(call);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, EveryShape, testing::ValuesIn(harness::versions()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace shapes
