// Medians, ratios, tables and the result file.
#include <gtest/gtest.h>
#include <harness/results.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace harness {
namespace {

TEST(Results, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Results, RatioIsTheMedianOfTheRoundsNotOfTheTimes) {
  const ContenderResult version{"v1_simple", true, {1, 10, 2}, "", {}};
  const ContenderResult baseline{"cublas", std::nullopt, {2, 10, 1}, "", {}};
  EXPECT_EQ(*ratio(version, baseline), 1);  // of 2, 1 and 0.5
  EXPECT_FALSE(ratio({"v2_pipelined", false, {}, "", {}}, baseline).has_value());
}

TEST(Results, OperationsAreCountedIn64Bits) {
  EXPECT_DOUBLE_EQ(tflops({16384, 16384, 16384}, 10), 2.0 * 16384 * 16384 * 16384 / 1e10);
}

Results example() {
  Results results;
  results.device.name = "NVIDIA H200";
  results.device.sms = 132;
  results.problems.resize(1);
  results.problems[0].size = {8192, 8192, 8192};
  results.problems[0].contenders = {{"v1_simple", true, {2.0, 2.2, 1.8}, "", {}},
                                    {"v2_pipelined", false, {}, "", {}},
                                    {"v3_warp_specialized", true, {1.0, 1.1, 0.9}, "", {}},
                                    {"cublas", std::nullopt, {1.0, 1.1, 0.9}, "cublas_lt", {}}};
  return results;
}

TEST(Results, AVersionThatIsWrongGetsNoTime) {
  const std::string table = format_table(example().problems[0]);
  EXPECT_NE(table.find("WRONG"), std::string::npos) << table;
  const size_t row = table.find("v2_pipelined");
  const std::string line = table.substr(row, table.find('\n', row) - row);
  EXPECT_EQ(line.find_first_of("0123456789", 2), std::string::npos) << line;
}

TEST(Results, TheSpeedUpIsOverTheLastVersionThatWasTimed) {
  const std::string table = format_table(example().problems[0]);
  const size_t row = table.find("v3_warp_specialized");
  const std::string line = table.substr(row, table.find('\n', row) - row);
  EXPECT_NE(line.find("2.000"), std::string::npos) << line;
}

TEST(Results, TheBetterWayToAskCublasIsTheHundredPercent) {
  ProblemResult problem;
  problem.contenders = {{kGemmEx, std::nullopt, {3, 2, 2}, "", {}},
                        {kLt, std::nullopt, {1, 9, 1}, "", {}}};
  choose_cublas(&problem);
  EXPECT_EQ(problem.contenders[0].name, kGemmEx);
  EXPECT_EQ(problem.contenders[1].name, kCublas);
  EXPECT_EQ(problem.contenders[1].api, kLt);
}

TEST(Results, JsonHasTheSchema) {
  const std::string path = testing::TempDir() + "results_test.json";
  ASSERT_TRUE(write_json(example(), path).ok());
  std::ifstream file(path);
  const auto root = nlohmann::json::parse(file);
  EXPECT_EQ(root["schema"], 1);
  EXPECT_EQ(root["device"]["sms"], 132);
  const auto& contenders = root["problems"][0]["contenders"];
  EXPECT_EQ(contenders[0]["name"], "v1_simple");
  EXPECT_EQ(contenders[0]["ratio_to_cublas"], 0.5);
  EXPECT_EQ(contenders[0]["rounds_ms"].size(), 3u);
  EXPECT_EQ(contenders[1]["checked"], false);
  EXPECT_FALSE(contenders[1].contains("ms"));
  EXPECT_TRUE(contenders[3]["checked"].is_null());
  std::remove(path.c_str());
}

TEST(Results, AFileThatCannotBeWrittenIsAUsageError) {
  EXPECT_EQ(write_json(example(), "/nonexistent/folder/file.json").code(), ExitCode::kUsage);
}

}  // namespace
}  // namespace harness
