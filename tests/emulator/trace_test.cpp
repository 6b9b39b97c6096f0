// The trace is valid JSON with a row for each warp, TMA unit and tensor core, and named events.
#include <emulator.h>
#include <gtest/gtest.h>
#include <harness/problem.h>
#include <harness/versions.h>
#include <ptx/warpgroup.cuh>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

namespace {

TEST(Trace, ShowsRolesStagesAndUnits) {
  harness::Problem problem({128, 256, 320});
  problem.generate(harness::DataKind::kInts, 1);
  emulator::Options options;
  options.trace = true;
  emulator::set_options(options);
  ASSERT_TRUE(v3_warp_specialized::matmul(problem.arguments(), nullptr).ok());
  std::stringstream text;
  emulator::write_trace(text);
  const auto trace = nlohmann::json::parse(text.str());
  std::set<std::string> rows, events;
  std::set<int> blocks;
  for (const auto& event : trace["traceEvents"]) {
    const std::string name = event["name"];
    if (event["ph"] == "M") {
      rows.insert(event["args"]["name"].get<std::string>());
    } else {
      events.insert(name);
      blocks.insert(event["pid"].get<int>());
      EXPECT_GE(event["ts"].get<int>(), 0);
    }
  }
  EXPECT_EQ(rows.count("warp 0 (consumer)"), 1u);
  EXPECT_EQ(rows.count("warp 4 (producer)"), 1u);
  EXPECT_EQ(rows.count("TMA unit"), 1u);
  EXPECT_EQ(rows.count("tensor core, warp group 0"), 1u);
  EXPECT_EQ(events.count("smem.a[0]"), 1u) << text.str();
  EXPECT_EQ(events.count("smem.b[1]"), 1u);
  EXPECT_EQ(events.count("WGMMA 1"), 1u);
  EXPECT_EQ(events.count("wait full[0]"), 1u);
  EXPECT_EQ(events.count("full[1] phase 1 complete"), 1u);
  EXPECT_EQ(blocks, (std::set<int>{0, 1}));

  // Taken over by the write: the next trace begins empty.
  std::stringstream again;
  emulator::write_trace(again);
  EXPECT_TRUE(nlohmann::json::parse(again.str())["traceEvents"].empty());
}

void elect_kernel(const char* file) { ptx::elect_sync({file, 2}); }

// Roles and barriers are called what the source calls them, whatever that is.
TEST(Trace, NamesMayHoldAnyCharacter) {
  const std::string path = testing::TempDir() + "/trace_test.cu";
  std::ofstream(path) << "  // --- \"\\\x01\xff ---\n\n";
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 32;
  emulator::Options options;
  options.trace = true;
  emulator::set_options(options);
  ASSERT_EQ(cudaLaunchKernelEx(&config, elect_kernel, path.c_str()), cudaSuccess);
  std::stringstream text;
  emulator::write_trace(text);
  const auto trace = nlohmann::json::parse(text.str());
  EXPECT_EQ(trace["traceEvents"][0]["args"]["name"], "warp 0 (\"\\\x01\xef\xbf\xbd)");
}

}  // namespace
