// The run of a problem on a device with a clock, without a GPU: what becomes of times, of
// contenders that refuse, of versions that are wrong, and of the result file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <harness/output_file.h>
#include <harness/program.h>
#include <harness/run.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

// The CPU's device, all but what has to do with time: that is below.
#define measures_time measures_time_on_the_cpu
#define time_interleaved time_interleaved_on_the_cpu
#define baselines baselines_on_the_cpu
#include "../../harness/cpu/device.cpp"
#undef measures_time
#undef time_interleaved
#undef baselines

namespace harness {

namespace {

// What the device is to do in a test.
struct Fake {
  std::string refusal_gemm_ex, refusal_lt;
  int late = 0;  // of the first contender
};
Fake g_fake;
int g_calls = 0;  // of versions

}  // namespace

bool measures_time() { return true; }
Status open_device(const DeviceOptions&, DeviceInfo* info) {
  info->name = "a fake";
  info->uuid = "GPU-1";
  return {};
}
Status finish_device() { return {}; }
Observation observe() { return {}; }

Status baselines(const MatmulArguments&, const TimingOptions&, std::vector<Contender>* found) {
  const auto nothing = [] { return Status(); };
  *found = {{kGemmEx, nothing, g_fake.refusal_gemm_ex}, {kLt, nothing, g_fake.refusal_lt}};
  return {};
}

// The contender with number i takes i + 1 ms.
Status time_interleaved(const std::vector<Contender>& contenders, const TimingOptions& options,
                        const std::function<void(int, int)>&, Timing* timing) {
  timing->rounds_ms.clear();
  timing->late.assign(contenders.size(), 0);
  if (!contenders.empty()) timing->late[0] = g_fake.late;
  for (size_t i = 0; i < contenders.size(); ++i) {
    const Status status = contenders[i].launch();
    if (!status.ok()) return status;
    timing->rounds_ms.emplace_back(options.rounds, static_cast<double>(i + 1));
  }
  return {};
}

namespace {

constexpr TileShape kShape{128, 128, 1};
const ProblemSize kSize{40, 24, 64};

Status multiply(const MatmulArguments& args, cudaStream_t) {
  ++g_calls;
  latest_grid() = {3, 2};
  for (int64_t row = 0; row < args.m; ++row) {
    for (int64_t column = 0; column < args.n; ++column) {
      double sum = 0;
      for (int64_t i = 0; i < args.k; ++i) {
        sum += static_cast<double>(__half2float(args.a[row * args.lda + i])) *
               __half2float(args.b[column * args.ldb + i]);
      }
      args.c[row * args.ldc + column] = __float2half_rn(static_cast<float>(sum));
    }
  }
  return {};
}

Status write_zeros(const MatmulArguments& args, cudaStream_t) {
  for (int64_t row = 0; row < args.m; ++row) {
    for (int64_t column = 0; column < args.n; ++column) {
      args.c[row * args.ldc + column] = __float2half_rn(0);
    }
  }
  return {};
}

Status refuse(const MatmulArguments&, cudaStream_t) { return {ExitCode::kUsage, "n is too large"}; }

const Version kRight{"v1_right", multiply, kShape};
const Version kZeros{"v2_zeros", write_zeros, kShape};
const Version kRefusing{"v3_refusing", refuse, kShape};

class RunTest : public testing::Test {
 protected:
  void SetUp() override {
    g_fake = {};
    g_calls = 0;
    options.problems = {kSize};
    options.timing.rounds = 3;
  }
  void TearDown() override { std::filesystem::remove(json); }

  // Runs `body`, which returns an exit code, and keeps what it printed.
  template <class Body>
  int captured(const Body& body) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = body();
    out = testing::internal::GetCapturedStdout();
    err = testing::internal::GetCapturedStderr();
    return code;
  }

  int driver(const Version& version, std::vector<const char*> words) {
    words.insert(words.begin(), version.name);
    return captured(
        [&] { return run_driver(version, static_cast<int>(words.size()), words.data()); });
  }

  int compare(const std::vector<Version>& versions) {
    return captured([&] {
      return run_program("compare", [&] {
        return run_problems("compare", versions, options,
                            [](const ProblemResult& problem) { return format_table(problem); });
      });
    });
  }

  nlohmann::json read_json() const { return nlohmann::json::parse(std::ifstream(json)); }

  RunOptions options;
  const std::string json =  // tests run side by side
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
  std::string out, err;
};

void expect_holds(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" lacks \"" << part << "\"";
}

TEST_F(RunTest, ADriverOfAWrongVersionSaysSoAndExitsWith1) {
  EXPECT_EQ(driver(kZeros, {"--m", "40", "--n", "24", "--k", "64", "--seed", "7"}), 1);
  expect_holds(err, "v2_zeros is wrong at 40x24x64, ints data, seed 7:\n");
  expect_holds(err, "elements are wrong; the first is C[0][");
  expect_holds(out, "v2_zeros 40x24x64 uniform: WRONG\n");
}

TEST_F(RunTest, AWrongVersionGetsNoTimeAndTheOthersDo) {
  EXPECT_EQ(compare({kRight, kZeros}), 1);
  expect_holds(out, "At least one version computed something wrong; see above.");
  ProblemResult result;
  captured([&] { return run_problem({kRight, kZeros}, kSize, options, &result).ok() ? 0 : 2; });
  EXPECT_FALSE(all_right(result));
  EXPECT_EQ(result.contenders[0].rounds_ms.size(), 3u);
  EXPECT_EQ(result.contenders[1].checked, false);
  EXPECT_TRUE(result.contenders[1].rounds_ms.empty());
}

TEST_F(RunTest, AVersionThatWasRightBeforeItWasTimedMayBeWrongAfter) {
  const Version spoilt{"v4_spoilt",
                       [](const MatmulArguments& args, cudaStream_t stream) {
                         // Three kinds of data, one timed launch, then the last check.
                         if (g_calls < 4) return multiply(args, stream);
                         return write_zeros(args, stream);
                       },
                       kShape};
  EXPECT_EQ(driver(spoilt, {"--m", "40", "--n", "24", "--k", "64"}), 1);
  expect_holds(err, "v4_spoilt was right before it was timed and wrong after:\n");
  EXPECT_EQ(out.find("TFLOP/s"), std::string::npos) << out;
}

TEST_F(RunTest, ARefusedBaselineIsARowAndCostsNoTimes) {
  g_fake.refusal_gemm_ex = "it takes leading dimensions up to 2147483647";
  EXPECT_EQ(compare({kRight}), 0);
  expect_holds(out, "cublas_gemm_ex does not run this problem: it takes leading dimensions up to");
  ProblemResult result;
  EXPECT_TRUE(run_problem({kRight}, kSize, options, &result).ok());
  EXPECT_EQ(result.contenders[0].rounds_ms.size(), 3u);
  ASSERT_NE(find(result, kGemmEx), nullptr);
  EXPECT_TRUE(find(result, kGemmEx)->rounds_ms.empty());
  ASSERT_NE(find(result, kCublas), nullptr) << "the other way of asking is the measure";
  EXPECT_EQ(*ratio(result.contenders[0], *find(result, kCublas)), 2);
}

TEST_F(RunTest, WhereNoCublasRunsTheRatioIsNullAndNotZero) {
  g_fake.refusal_gemm_ex = g_fake.refusal_lt = "no";
  options.json = json;
  EXPECT_EQ(compare({kRight}), 0);
  const auto row = read_json()["problems"][0]["contenders"][0];
  EXPECT_EQ(row["ms"], 1);
  EXPECT_TRUE(row.at("ratio_to_cublas").is_null());
  EXPECT_EQ(driver(kRight, {"--m", "40", "--n", "24", "--k", "64"}), 0);
  expect_holds(out, " TFLOP/s, checked\n");
}

TEST_F(RunTest, AVersionThatRefusesIsARowAndTheOthersGoOn) {
  options.json = json;
  EXPECT_EQ(compare({kRefusing, kRight}), 0);
  expect_holds(out, "v3_refusing does not run this problem: n is too large");
  const auto rows = read_json()["problems"][0]["contenders"];
  EXPECT_TRUE(rows[0]["checked"].is_null());
  EXPECT_EQ(rows[0]["refusal"], "n is too large");
  EXPECT_EQ(rows[1]["checked"], true);
  EXPECT_EQ(driver(kRefusing, {"--m", "40", "--n", "24", "--k", "64"}), 2);
  EXPECT_EQ(err, "v3_refusing: n is too large\n");
}

TEST_F(RunTest, LateSamplesAreCountedInTableAndFile) {
  g_fake.late = 2;
  options.json = json;
  EXPECT_EQ(compare({kRight}), 0);
  expect_holds(out, "v1_right: 2 of 3 launches came late");
  const auto rows = read_json()["problems"][0]["contenders"];
  EXPECT_EQ(rows[0]["late"], 2);
  EXPECT_EQ(rows[1]["late"], 0);
}

TEST_F(RunTest, TheFileIdentifiesTheRun) {
  EXPECT_EQ(driver(kRight, {"--m", "40", "--n", "24", "--k", "64", "--lda", "72", "--ldc", "25",
                            "--seed", "77", "--max-blocks", "6", "--json", json.c_str()}),
            0);
  const auto root = read_json();
  EXPECT_EQ(root["schema"], 2);
  EXPECT_EQ(root["seed"], 77);
  EXPECT_EQ(root["max_blocks"], 6);
  EXPECT_EQ(root["device"]["uuid"], "GPU-1");
  EXPECT_EQ(root["command"][0], "v1_right");
  EXPECT_EQ(root["command"][1], "--m");
  const auto problem = root["problems"][0];
  EXPECT_EQ(problem["lda"], 72);
  EXPECT_EQ(problem["ldb"], 64);
  EXPECT_EQ(problem["ldc"], 25);
  EXPECT_EQ(problem["c_offset"], 0);
  EXPECT_EQ(problem["contenders"][0]["blocks"], 6) << "3 x 2";
  EXPECT_TRUE(problem["contenders"][0]["clusters"].is_null());
  EXPECT_TRUE(problem["contenders"][1]["blocks"].is_null()) << "cuBLAS does not say";
}

TEST_F(RunTest, ALaterFailureLosesNothing) {
  const Version failing{"v5_failing",
                        [](const MatmulArguments& args, cudaStream_t stream) {
                          if (args.m == 40) return multiply(args, stream);
                          return Status(ExitCode::kCudaError, "it broke");
                        },
                        kShape};
  options.problems = {kSize, {41, 24, 64}, {42, 24, 64}};
  options.json = json;
  EXPECT_EQ(compare({failing}), 4);
  expect_holds(err, "compare: it broke\n");
  EXPECT_EQ(read_json()["problems"].size(), 1u);
}

TEST_F(RunTest, EveryExceptionEndsInOneSentence) {
  const Version throwing{"v6_throwing",
                         [](const MatmulArguments&, cudaStream_t) -> Status {
                           throw std::runtime_error("something unheard of");
                         },
                         kShape};
  EXPECT_EQ(driver(throwing, {"--m", "40", "--n", "24", "--k", "64"}), 4);
  EXPECT_EQ(err, "v6_throwing: an exception ended the program: something unheard of\n");
  const Version greedy{
      "v7_greedy", [](const MatmulArguments&, cudaStream_t) -> Status { throw std::bad_alloc(); },
      kShape};
  EXPECT_EQ(driver(greedy, {"--m", "40", "--n", "24", "--k", "64"}), 4);
  EXPECT_EQ(err,
            "v7_greedy: 40x24x64 does not fit into the host's memory; choose a smaller problem\n");
}

TEST_F(RunTest, WhatCanBeRefusedIsRefusedBeforeAnythingRuns) {
  options.json = "/nonexistent/folder/file.json";
  EXPECT_EQ(compare({kRight}), 2);
  EXPECT_EQ(err,
            "compare: --json: cannot write /nonexistent/folder/file.json (No such file or "
            "directory); choose another file\n");
  options.json.clear();
  options.problems = {kSize, {40, 24, 65}};
  EXPECT_EQ(compare({kRight}), 2);
  expect_holds(err, "pad lda to 72");
  EXPECT_EQ(g_calls, 0);
  EXPECT_EQ(out, "");
}

TEST_F(RunTest, ALimitWithoutEffectIsSaid) {
  EXPECT_EQ(driver(kRight, {"--m", "40", "--n", "24", "--k", "64", "--max-blocks", "2"}), 0);
  EXPECT_EQ(err, "--max-blocks 2 has no effect on v1_right: each tile has a block of its own\n");
  expect_holds(out, " 6 blocks of 1 tile,");
  EXPECT_EQ(driver(kRight, {"--m", "40", "--n", "24", "--k", "64", "--max-blocks", "6"}), 0);
  EXPECT_EQ(err, "");
}

// --- files ---

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class OutputFile : public testing::Test {
 protected:
  OutputFile()
      : folder(testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    std::ofstream(file) << "old";
  }
  ~OutputFile() override { std::filesystem::remove_all(folder); }

  const std::string folder;
  const std::string file = folder + "/file";
};

TEST_F(OutputFile, IsReplacedWhole) {
  EXPECT_TRUE(check_writable(file, "--json").ok());
  EXPECT_EQ(text_of(file), "old") << "asking changes nothing";
  EXPECT_TRUE(write_file(file, "new", "--json").ok());
  EXPECT_EQ(text_of(file), "new");
  EXPECT_TRUE(write_file(folder + "/other", "new", "--json").ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2) << "nothing is left";
}

TEST_F(OutputFile, StaysAsItWasWhereWritingFails) {
  std::filesystem::create_directory(file + ".part");
  std::ofstream(file + ".part/in_the_way") << "";
  const Status status = write_file(file, "new", "--json");
  EXPECT_EQ(status.code(), ExitCode::kUsage);
  expect_holds(status.message(), "--json: cannot write " + file + " (Is a directory); choose");
  EXPECT_EQ(text_of(file), "old");
}

TEST_F(OutputFile, ALinkStaysALink) {
  const std::string link = folder + "/link";
  std::filesystem::create_symlink(file, link);
  EXPECT_TRUE(write_file(link, "new", "--json").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(text_of(file), "new");
}

TEST_F(OutputFile, WhatIsNoRegularFileIsWrittenAndNotReplaced) {
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_TRUE(check_writable(pipe, "--json").ok());
  EXPECT_TRUE(write_file(pipe, "new", "--json").ok());
  char text[8] = {};
  EXPECT_EQ(read(reader, text, sizeof(text)), 3);
  EXPECT_STREQ(text, "new");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  close(reader);
}

TEST_F(OutputFile, AFolderIsNone) {
  expect_holds(check_writable(folder, "--trace").message(), "--trace: cannot write");
}

}  // namespace
}  // namespace harness
