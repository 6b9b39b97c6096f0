// Launching small kernels in tests, and what became of them.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <emulator.h>
#include <gtest/gtest.h>
#include <tensor_map.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace kernel_test {

inline emulator::Options quiet(uint64_t seed = 1) {
  emulator::Options options;
  options.seed = seed;
  options.print_reports = false;
  return options;
}

struct Shape {
  dim3 grid = 1;
  unsigned threads = 128;
  size_t shared_bytes = 0;
  unsigned cluster = 1;  // blocks along x
};

// Runs a kernel; the report, if there was one.
template <class... Parameters, class... Arguments>
std::optional<emulator::Report> run(const emulator::Options& options, const Shape& shape,
                                    void (*kernel)(Parameters...), Arguments... arguments) {
  emulator::set_options(options);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {shape.cluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t error =
      cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
  EXPECT_EQ(error == cudaSuccess, !emulator::last_report().has_value());
  return emulator::last_report();
}

// A packed row-major matrix, 256-byte aligned as device memory is.
class Matrix {
 public:
  Matrix(int rows, int columns) : rows_(rows), columns_(columns), storage_(rows * columns + 128) {}

  half* data() {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data());
    return storage_.data() + (256 - address % 256) % 256 / sizeof(half);
  }
  half& at(int row, int column) { return data()[row * columns_ + column]; }
  float value(int row, int column) { return __half2float(at(row, column)); }
  template <class Value>
  void set(Value value) {
    for (int row = 0; row < rows_; ++row) {
      for (int column = 0; column < columns_; ++column) {
        at(row, column) = __float2half_rn(static_cast<float>(value(row, column)));
      }
    }
  }
  // A map with the 128-byte swizzle and boxes of box_rows × 64.
  CUtensorMap map(int box_rows) {
    CUtensorMap result;
    const Status status =
        make_tensor_map(&result, {"X", data(), rows_, columns_, columns_}, box_rows, 64);
    EXPECT_TRUE(status.ok()) << status.message();
    return result;
  }

 private:
  int rows_, columns_;
  std::vector<half> storage_;
};

inline void expect_silent(const std::optional<emulator::Report>& report) {
  EXPECT_FALSE(report.has_value()) << report->text;
}

// Expects a report of this check whose text contains each of `parts`.
inline void expect_report(const std::optional<emulator::Report>& report, emulator::Check check,
                          const std::vector<std::string>& parts = {}) {
  ASSERT_TRUE(report.has_value()) << "silent; expected: " << emulator::check_name(check);
  EXPECT_STREQ(emulator::check_name(report->check), emulator::check_name(check)) << report->text;
  for (const std::string& part : parts) {
    EXPECT_NE(report->text.find(part), std::string::npos) << "lacks \"" << part << "\":\n"
                                                          << report->text;
  }
}

// Expects one of `checks` on each of many seeds and for every delay policy, and the first of them,
// with each of `parts`, at least once. `run_on` runs the kernel.
template <class RunOn>
void expect_bug(const std::vector<emulator::Check>& checks, const std::vector<std::string>& parts,
                RunOn run_on) {
  int hits = 0;
  for (const auto delay :
       {emulator::Delay::kMixed, emulator::Delay::kAtOnce, emulator::Delay::kOnlyWhenIdle}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      emulator::Options options = quiet(seed);
      options.delay = delay;
      const std::optional<emulator::Report> report = run_on(options);
      ASSERT_TRUE(report.has_value()) << "silent on seed " << seed;
      const bool expected = std::find(checks.begin(), checks.end(), report->check) != checks.end();
      ASSERT_TRUE(expected) << report->text;
      if (report->check != checks[0]) continue;
      ++hits;
      expect_report(report, checks[0], parts);
      if (testing::Test::HasFailure()) return;  // one report is enough to read
    }
  }
  EXPECT_GT(hits, 0) << "never: " << emulator::check_name(checks[0]);
}

}  // namespace kernel_test
