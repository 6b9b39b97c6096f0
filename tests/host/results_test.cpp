// Medians, ratios, tables and the result file.
#include <gtest/gtest.h>
#include <harness/median.h>
#include <harness/results.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace harness {
namespace {

TEST(Results, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

ContenderResult contender(const char* name, std::optional<bool> checked,
                          std::vector<double> rounds_ms, const char* api = "") {
  ContenderResult result;
  result.name = name;
  result.checked = checked;
  result.rounds_ms = std::move(rounds_ms);
  result.api = api;
  return result;
}

TEST(Results, RatioIsTheMedianOfTheRoundsNotOfTheTimes) {
  const ContenderResult version = contender("v1_simple", true, {1, 10, 2});
  const ContenderResult baseline = contender("cublas", std::nullopt, {2, 10, 1});
  EXPECT_EQ(*ratio(version, baseline), 1);  // of 2, 1 and 0.5
  EXPECT_FALSE(ratio(contender("v2_pipelined", false, {}), baseline).has_value());
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
  results.problems[0].contenders = {
      contender("v1_simple", true, {2.0, 2.2, 1.8}), contender("v2_pipelined", false, {}),
      contender("v3_warp_specialized", true, {1.0, 1.1, 0.9}),
      contender("cublas", std::nullopt, {1.0, 1.1, 0.9}, "cublas_lt")};
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
  problem.contenders = {contender(kGemmEx, std::nullopt, {3, 2, 2}),
                        contender(kLt, std::nullopt, {1, 9, 1})};
  choose_cublas(&problem);
  EXPECT_EQ(problem.contenders[0].name, kGemmEx);
  EXPECT_EQ(problem.contenders[1].name, kCublas);
  EXPECT_EQ(problem.contenders[1].api, kLt);
}

TEST(Results, NoTextIsTooLongForATable) {
  ProblemResult problem = example().problems[0];
  problem.contenders[0].name = std::string(300, 'v');
  for (const std::string& table : {format_table(problem), format_observations(problem)}) {
    const size_t row = table.find("vvv");
    const std::string line = table.substr(row, table.find('\n', row) - row);
    EXPECT_GT(line.size(), 320u) << "what stands behind a long name is still there: " << line;
    EXPECT_NE(line.find("yes"), std::string::npos) << line;
  }
}

TEST(Results, AListHasARowForEachProblemAndTheGeometricMean) {
  ListTable table("large: many tiles", {"v1_simple", "v2_pipelined", "v3_warp_specialized"});
  EXPECT_NE(table.head().find("large: many tiles\n"), std::string::npos);
  EXPECT_NE(table.head().find("     v1     v2     v3\n"), std::string::npos) << table.head();
  ProblemResult problem = example().problems[0];
  EXPECT_EQ(table.row(problem), "  8192x8192x8192       1099.5  0.500  WRONG  1.000\n");
  EXPECT_EQ(table.means(), "  geometric mean               0.500      -  1.000\n");
  problem.contenders[0].rounds_ms = {0.5, 0.55, 0.45};
  problem.contenders[1] = contender("v2_pipelined", std::nullopt, {});
  problem.contenders[1].refusal = "it is too long";
  problem.size = {16, 4096, 8192};
  const std::string row = table.row(problem);
  EXPECT_NE(row.find("  16x4096x8192            1.1  2.000      -  1.000\n"), std::string::npos)
      << row;
  EXPECT_NE(row.find("v2_pipelined does not run this problem: it is too long"), std::string::npos);
  EXPECT_EQ(table.means(), "  geometric mean               1.000      -  1.000\n");
}

TEST(Results, VersionsWhoseBlocksAreNotLimitedAreNamed) {
  ProblemResult problem = example().problems[0];
  problem.contenders[0].grid = {6, 1};
  problem.contenders[1].grid = {3, 2};
  problem.contenders[2].grid = {2, 1, 2};
  EXPECT_EQ(names_of_unlimited(problem, 1), "v1_simple, v2_pipelined") << "a cluster is the least";
  EXPECT_EQ(names_of_unlimited(problem, 6), "");
  EXPECT_EQ(names_of_unlimited(problem, 0), "") << "no limit";
}

TEST(Results, TheEmulatorsTableHasTheTilesOfABlock) {
  ProblemResult problem = example().problems[0];
  problem.contenders[0].grid = {2, 1, 1, 17};
  const std::string table = format_observations(problem);
  EXPECT_NE(table.find("tiles/block"), std::string::npos) << table;
  EXPECT_NE(table.find("          17 "), std::string::npos) << table;
}

TEST(Results, JsonHasTheSchema) {
  Results results = example();
  results.problems[0].contenders[2].grid = {132, 1, 2, 16};
  const auto root = nlohmann::json::parse(json_of(results));
  EXPECT_EQ(root["schema"], 2);
  EXPECT_EQ(root["device"]["sms"], 132);
  EXPECT_EQ(root["problems"][0]["lda"], 8192) << "packed";
  const auto& contenders = root["problems"][0]["contenders"];
  EXPECT_EQ(contenders[0]["name"], "v1_simple");
  EXPECT_EQ(contenders[0]["ratio_to_cublas"], 0.5);
  EXPECT_EQ(contenders[0]["rounds_ms"].size(), 3u);
  EXPECT_TRUE(contenders[0]["blocks"].is_null());
  EXPECT_TRUE(contenders[0]["tiles_per_block"].is_null());
  EXPECT_EQ(contenders[1]["checked"], false);
  EXPECT_FALSE(contenders[1].contains("ms"));
  EXPECT_EQ(contenders[2]["blocks"], 132);
  EXPECT_EQ(contenders[2]["clusters"], 66);
  EXPECT_EQ(contenders[2]["tiles_per_block"], 16);
  EXPECT_TRUE(contenders[3]["checked"].is_null());
}

}  // namespace
}  // namespace harness
