// The examples' kernels in the emulator: right on many seeds; and each synchronisation that is
// taken away is noticed.
#include <emulator.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "../../examples/attention/attention.h"
#include "../../examples/transpose/transpose.h"
#include "../wrappers/both.h"

namespace {

using both::Shared;

emulator::Options quiet(uint64_t seed) {
  emulator::Options options;
  options.seed = seed;
  options.print_reports = false;
  return options;
}

// What a run ends with: a check's name, "wrong result", or nothing.
using Run = std::function<std::string(const emulator::Options&)>;

std::string finding(const Status& status, const std::function<bool()>& is_right) {
  if (emulator::last_report()) return emulator::check_name(emulator::last_report()->check);
  if (!status.ok()) return status.message();
  return is_right() ? "" : "wrong result";
}

std::string attend(int heads, int length, int head_dim, const emulator::Options& options) {
  const auto count = static_cast<size_t>(heads) * length * head_dim;
  const Shared<half> q(count), k(count), v(count), out(count + 1);
  for (size_t i = 0; i < count; ++i) {
    q[i] = __float2half_rn(static_cast<float>(i * 37 % 101) / 50 - 1);
    k[i] = __float2half_rn(static_cast<float>(i * 53 % 103) / 51 - 1);
    v[i] = __float2half_rn(static_cast<float>(i * 71 % 107) / 53 - 1);
  }
  out[count] = __float2half_rn(77);
  emulator::set_options(options);
  const Status status =
      attention({q.get(), k.get(), v.get(), out.get(), heads, length, head_dim}, nullptr);
  return finding(status, [&] {
    bool right = __half2float(out[count]) == 77;
    const auto at = [&](const Shared<half>& matrix, int row, int d) {
      return static_cast<double>(__half2float(matrix[static_cast<size_t>(row) * head_dim + d]));
    };
    std::vector<double> weights(length);
    for (int row = 0; row < heads * length; ++row) {
      const int first = row / length * length;
      double sum = 0;
      for (int key = 0; key < length; ++key) {
        double score = 0;
        for (int d = 0; d < head_dim; ++d) score += at(q, row, d) * at(k, first + key, d);
        sum += weights[key] = std::exp(score / std::sqrt(head_dim));
      }
      for (int d = 0; d < head_dim; ++d) {
        double expected = 0;
        for (int key = 0; key < length; ++key) expected += weights[key] * at(v, first + key, d);
        right = right && std::fabs(at(out, row, d) - expected / sum) < 2e-3;
      }
    }
    return right;
  });
}

std::string turn(int rows, int columns, const emulator::Options& options) {
  const auto count = static_cast<size_t>(rows) * columns;
  const Shared<half> from(count), to(count + 1);
  for (size_t i = 0; i < count; ++i) from[i] = __float2half_rn(static_cast<float>(i % 2039));
  to[count] = __float2half_rn(77);
  emulator::set_options(options);
  const Status status = transpose(from.get(), to.get(), rows, columns, nullptr);
  return finding(status, [&] {
    bool right = __half2float(to[count]) == 77;
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        right = right && __half2float(to[static_cast<size_t>(column) * rows + row]) ==
                             __half2float(from[static_cast<size_t>(row) * columns + column]);
      }
    }
    return right;
  });
}

TEST(Attention, EveryLength) {
  for (const int head_dim : {64, 128}) {
    for (const int length : {1, 63, 64, 65, 128, 200, 321}) {
      EXPECT_EQ(attend(length == 65 ? 2 : 1, length, head_dim, quiet(1)), "")
          << length << " × " << head_dim;
    }
  }
}

TEST(Attention, RefusesOtherHeads) {
  EXPECT_NE(attend(1, 64, 32, quiet(1)).find("it must be 64 or 128"), std::string::npos);
  EXPECT_NE(attend(1, 0, 64, quiet(1)).find("dimension 1 has 0 elements"), std::string::npos);
}

TEST(Transpose, EveryShape) {
  for (const int rows : {8, 64, 200}) {
    for (const int columns : {8, 64, 72, 136}) EXPECT_EQ(turn(rows, columns, quiet(1)), "");
  }
  EXPECT_NE(turn(12, 8, quiet(1)).find("pad both"), std::string::npos);
}

// Seeds and policies.
void expect_silent(const Run& run) {
  for (const auto delay : {emulator::Delay::kMixed, emulator::Delay::kAtOnce,
                           emulator::Delay::kShort, emulator::Delay::kOnlyWhenIdle}) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      emulator::Options options = quiet(seed);
      options.delay = delay;
      ASSERT_EQ(run(options), "") << "seed " << seed;
    }
  }
}

// The lines of a kernel that hold this text.
std::vector<int> lines_with(const std::string& path, const std::string& text) {
  std::ifstream file(path);
  std::vector<int> lines;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.find(text) != std::string::npos) lines.push_back(number);
  }
  return lines;
}

// Each line that holds one of these texts, switched off, is noticed on each seed.
void expect_needed(const std::string& kernel, const std::vector<std::string>& texts,
                   const Run& run) {
  for (const std::string& text : texts) {
    const std::vector<int> lines = lines_with(kernel, text);
    ASSERT_FALSE(lines.empty()) << text;
    for (const int line : lines) {
      for (uint64_t seed = 1; seed <= 10; ++seed) {
        emulator::Options options = quiet(seed);
        options.removed = {{kernel, line}};
        EXPECT_NE(run(options), "")
            << text << " in line " << line << " is not missed on seed " << seed;
      }
    }
  }
}

std::string attend_over_many_tiles(const emulator::Options& options) {
  return attend(1, 300, 64, options);
}
std::string turn_four_tiles(const emulator::Options& options) { return turn(128, 96, options); }

TEST(Attention, IsSilentOnEverySeedAndPolicy) { expect_silent(attend_over_many_tiles); }
TEST(Transpose, IsSilentOnEverySeedAndPolicy) { expect_silent(turn_four_tiles); }

TEST(Attention, NeedsEachSynchronisation) {
  expect_needed(EXAMPLES "/attention/kernel.cu",
                {"ptx::fence_mbarrier_init()", "__syncthreads()", "ptx::mbarrier_arrive_expect_tx(",
                 "ptx::mbarrier_wait_parity(", "ptx::wgmma_fence()", "ptx::wgmma_commit_group()",
                 "ptx::wgmma_wait_group<0>(", "ptx::mbarrier_arrive(&smem.empty"},
                attend_over_many_tiles);
}

TEST(Transpose, NeedsEachSynchronisation) {
  expect_needed(EXAMPLES "/transpose/kernel.cu",
                {"ptx::fence_mbarrier_init()", "__syncthreads()", "ptx::mbarrier_arrive_expect_tx(",
                 "ptx::mbarrier_wait_parity(", "ptx::fence_proxy_async()",
                 "ptx::cp_async_bulk_commit_group()", "ptx::cp_async_bulk_wait_group_read<0>()"},
                turn_four_tiles);
}

}  // namespace
