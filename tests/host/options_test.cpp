// Command lines: what is understood, and the sentence for what is not.
#include <gtest/gtest.h>
#include <harness/options.h>

#include <string>
#include <utility>
#include <vector>

namespace harness {
namespace {

Status driver(std::vector<const char*> words, RunOptions* options, bool* done = nullptr) {
  words.insert(words.begin(), "v1_simple");
  bool ignored;
  return parse_driver("v1_simple", static_cast<int>(words.size()), words.data(), options,
                      done == nullptr ? &ignored : done);
}

Status compare(std::vector<const char*> words, RunOptions* options) {
  words.insert(words.begin(), "compare");
  bool done;
  return parse_compare(static_cast<int>(words.size()), words.data(), options, &done);
}

TEST(DriverOptions, Defaults) {
  RunOptions options;
  EXPECT_TRUE(driver({}, &options).ok());
  EXPECT_EQ(options.problems[0].m, 300) << "small: these tests are linked with the CPU's device";
  EXPECT_EQ(options.problems[0].lda, 0);
  EXPECT_EQ(options.data, DataKind::kUniform);
  EXPECT_FALSE(options.check_only);
  EXPECT_EQ(options.max_blocks, 2) << "so that blocks of persistent versions compute several tiles";
  EXPECT_TRUE(options.max_blocks_is_default);
}

TEST(DriverOptions, Everything) {
  RunOptions options;
  EXPECT_TRUE(driver({"--m",
                      "1",
                      "--n",
                      "2",
                      "--k",
                      "3",
                      "--lda",
                      "8",
                      "--ldb",
                      "16",
                      "--ldc",
                      "5",
                      "--data",
                      "iota",
                      "--seed",
                      "7",
                      "--device",
                      "1",
                      "--rounds",
                      "3",
                      "--rest-ms",
                      "0.5",
                      "--check-only",
                      "--json",
                      "out.json",
                      "--trace",
                      "t.json",
                      "--max-blocks",
                      "6",
                      "--watch",
                      "w.html",
                      "--delays",
                      "textbook",
                      "--trace-blocks",
                      "2"},
                     &options)
                  .ok());
  EXPECT_EQ(options.problems[0].m, 1);
  EXPECT_EQ(options.problems[0].n, 2);
  EXPECT_EQ(options.problems[0].k, 3);
  EXPECT_EQ(options.problems[0].lda, 8);
  EXPECT_EQ(options.problems[0].ldb, 16);
  EXPECT_EQ(options.problems[0].ldc, 5);
  EXPECT_EQ(options.data, DataKind::kIota);
  EXPECT_EQ(options.seed, 7u);
  EXPECT_EQ(options.device.index, 1);
  EXPECT_EQ(options.device.seed, 7u);
  EXPECT_EQ(options.device.trace, "t.json");
  EXPECT_EQ(options.device.trace_blocks, 2);
  EXPECT_EQ(options.device.watch, "w.html");
  EXPECT_EQ(options.device.delays, "textbook");
  EXPECT_NE(options.device.title.find("1x2x3"), std::string::npos) << options.device.title;
  EXPECT_EQ(options.max_blocks, 6);
  EXPECT_FALSE(options.max_blocks_is_default);
  EXPECT_EQ(options.timing.rounds, 3);
  EXPECT_EQ(options.timing.rest_ms, 0.5);
  EXPECT_TRUE(options.check_only);
  EXPECT_EQ(options.json, "out.json");
}

TEST(DriverOptions, MistakesAreUsageErrorsInOneSentence) {
  const std::vector<std::vector<const char*>> mistakes = {
      {"--m", "many"},    {"--m"},  {"--data", "random"}, {"--rounds", "0"},      {"--size", "8"},
      {"--device", "-1"}, {"8192"}, {"--delays", "slow"}, {"--trace-blocks", "0"}};
  for (const auto& words : mistakes) {
    RunOptions options;
    const Status status = driver(words, &options);
    EXPECT_EQ(status.code(), ExitCode::kUsage) << words[0];
    EXPECT_FALSE(status.message().empty()) << words[0];
    EXPECT_EQ(status.message().find('\n'), std::string::npos) << status.message();
  }
}

TEST(DriverOptions, NumbersAreDigitsAlone) {
  for (const char* option :
       {"--m", "--lda", "--seed", "--device", "--rounds", "--rest-ms", "--max-blocks"}) {
    for (const char* text : {"", "+5", " 5", "5 ", "5x", "0x5", "five"}) {
      RunOptions options;
      const Status status = driver({option, text}, &options);
      EXPECT_EQ(status.code(), ExitCode::kUsage) << option << " '" << text << "'";
      EXPECT_NE(status.message().find(std::string(option) + ": '" + text + "' is no "),
                std::string::npos)
          << status.message();
    }
  }
}

TEST(DriverOptions, NumbersThatDoNotFitAreRefused) {
  const std::vector<std::pair<const char*, const char*>> mistakes = {
      {"--seed", "18446744073709551616"},
      {"--m", "9223372036854775808"},
      {"--rounds", "10001"},
      {"--rest-ms", "nan"},
      {"--rest-ms", "1e400"},
      {"--max-blocks", "-1"}};
  for (const auto& [option, text] : mistakes) {
    RunOptions options;
    const Status status = driver({option, text}, &options);
    EXPECT_EQ(status.code(), ExitCode::kUsage) << option << " " << text;
    EXPECT_NE(status.message().find("out of range"), std::string::npos) << status.message();
  }
  RunOptions options;
  EXPECT_EQ(driver({"--seed", "-1"}, &options).code(), ExitCode::kUsage);
  EXPECT_TRUE(driver({"--seed", "18446744073709551615"}, &options).ok());
  EXPECT_EQ(options.seed, 18446744073709551615u);
}

TEST(DriverOptions, AFileWithoutANameIsAMistake) {
  for (const char* option : {"--json", "--trace", "--watch"}) {
    RunOptions options;
    EXPECT_EQ(driver({option, ""}, &options).code(), ExitCode::kUsage) << option;
  }
}

TEST(DriverOptions, HelpNamesEveryOptionAndIsNoMistake) {
  RunOptions options;
  bool done = false;
  testing::internal::CaptureStdout();
  EXPECT_TRUE(driver({"--help"}, &options, &done).ok());
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(done);
  for (const char* option :
       {"--m", "--n", "--k", "--lda", "--ldb", "--ldc", "--data", "--seed", "--device", "--rounds",
        "--rest-ms", "--check-only", "--json", "--max-blocks"}) {
    EXPECT_NE(help.find(option), std::string::npos) << option;
  }
}

TEST(CompareOptions, ProblemsAndVersions) {
  RunOptions options;
  EXPECT_TRUE(
      compare({"--problem", "1x2x3", "--problem", "8192x28672x8192", "--versions", "v1", "v3"},
              &options)
          .ok());
  EXPECT_EQ(options.command[0], "compare");
  EXPECT_EQ(options.command[2], "1x2x3");
  ASSERT_EQ(options.problems.size(), 2u);
  EXPECT_EQ(options.problems[1].n, 28672);
  EXPECT_EQ(options.versions, (std::vector<std::string>{"v1", "v3"}));
}

TEST(CompareOptions, TheDefaultListHasTailsInEveryDirection) {
  RunOptions options;
  EXPECT_TRUE(compare({}, &options).ok());
  bool has_tails = false;
  for (const ProblemSize& size : options.problems) {
    has_tails = has_tails || (size.m > 128 && size.m % 128 != 0 && size.n > 128 &&
                              size.n % 128 != 0 && size.k > 64 && size.k % 64 != 0);
  }
  EXPECT_TRUE(has_tails);
}

TEST(CompareOptions, AMistypedProblemSaysHowToWriteOne) {
  for (const char* text : {"8192", "1x2", "1x2x3x4", "ax2x3", "", " 12x 13x14", "+5x6x7", "1x2x3 ",
                           "1x2x99999999999999999999", "1X2X3", "xx", "1xx3"}) {
    RunOptions options;
    const Status status = compare({"--problem", text}, &options);
    EXPECT_EQ(status.code(), ExitCode::kUsage) << text;
  }
  RunOptions options;
  EXPECT_NE(compare({"--problem", "1x2"}, &options).message().find("MxNxK"), std::string::npos);
}

}  // namespace
}  // namespace harness
