// The GPU's reference against cuBLAS, at a size where every tile of it is used, and the timer.
#include <gtest/gtest.h>
#include <harness/device.h>
#include <harness/gpu/cublas.h>
#include <harness/problem.h>

namespace harness {
namespace {

TEST(Reference, AgreesWithCublas) {
  for (const ProblemSize& size :
       {ProblemSize{1000, 1304, 712}, ProblemSize{520, 264, 2056, 2064, 2056, 272}}) {
    Problem problem(size);
    for (const DataKind kind : {DataKind::kInts, DataKind::kNormal, DataKind::kUniform}) {
      problem.generate(kind, 1);
      const Problem::Verdict verdict = problem.check(cublas_matmul, {128, 128, 1});
      EXPECT_TRUE(verdict.right()) << verdict.status.message() << verdict.fault;
    }
  }
}

TEST(Cublas, EveryAlgorithmOfTheHeuristicIsRight) {
  Problem problem({520, 264, 2056, 2064, 2056, 272});
  problem.generate(DataKind::kInts, 1);
  std::vector<CublasLtMatmul> algorithms;
  ASSERT_TRUE(CublasLtMatmul::find(problem.arguments(), 4, &algorithms).ok());
  ASSERT_FALSE(algorithms.empty());
  for (const CublasLtMatmul& algorithm : algorithms) {
    const Problem::Verdict verdict =
        problem.check([&](const MatmulArguments&) { return algorithm(); }, {128, 128, 1});
    EXPECT_TRUE(verdict.right()) << verdict.status.message() << verdict.fault;
  }
}

TEST(Timing, RoundsRotateAndAreAllTimed) {
  Problem problem({512, 512, 512});
  problem.generate(DataKind::kInts, 1);
  const MatmulArguments args = problem.arguments();
  std::string order;
  std::vector<Contender> contenders;
  for (const char* name : {"a", "b", "c"}) {
    contenders.push_back({name, [name, args, &order] {
                            // A sample that came late is taken again at once.
                            if (order.empty() || order.substr(order.size() - 1) != name) {
                              order += name;
                            }
                            return cublas_matmul(args);
                          }});
  }
  Timing timing;
  int last_done = 0;
  ASSERT_TRUE(time_interleaved(
                  contenders, {4, 1}, [&](int done, int) { last_done = done; }, &timing)
                  .ok());
  EXPECT_EQ(order, "abcabcacbcabcba")
      << "one round to warm up; each begins one further on, odd ones backwards";
  EXPECT_EQ(last_done, 12);
  ASSERT_EQ(timing.rounds_ms.size(), 3u);
  ASSERT_EQ(timing.late.size(), 3u);
  for (const int late : timing.late) EXPECT_TRUE(late >= 0 && late <= 4) << late;
  for (const auto& rounds : timing.rounds_ms) {
    ASSERT_EQ(rounds.size(), 4u);
    for (const double ms : rounds) EXPECT_GT(ms, 0);
  }
}

TEST(Baselines, OneThatRefusesSaysWhyAndTheOthersRun) {
  for (const int64_t k : {64, 4}) {
    Problem problem({64, 64, k, 64, 64});
    problem.generate(DataKind::kInts, 1);
    std::vector<Contender> found;
    ASSERT_TRUE(baselines(problem.arguments(), {2, 0}, &found).ok());
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].refusal, "") << found[0].name;
    EXPECT_TRUE(k < 8 || found[1].refusal.empty()) << found[1].refusal;
    EXPECT_EQ(found[2].name, kCeiling);
    EXPECT_EQ(found[2].refusal, k < 8 ? "the ceiling needs rows of at least 8 elements" : "");
  }
}

TEST(Cublas, RefusesWhatIsNoIntInOneSentence) {
  MatmulArguments args;
  args.lda = int64_t{1} << 31;
  const Status status = cublas_matmul(args);
  EXPECT_EQ(status.code(), ExitCode::kUsage);
  EXPECT_NE(status.message().find("2147483647"), std::string::npos) << status.message();
}

TEST(Timing, AFailedLaunchEndsIt) {
  Timing timing;
  const Status status = time_interleaved(
      {{"broken", [] { return Status(ExitCode::kUsage, "will not"); }}}, {2, 0}, nullptr, &timing);
  EXPECT_EQ(status.message(), "broken: will not");
}

TEST(Device, KnowsWhatItIs) {
  DeviceInfo info;
  ASSERT_TRUE(open_device({}, &info).ok());
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.sms, 0);
  EXPECT_FALSE(info.cuda.empty());
  EXPECT_FALSE(info.cublas.empty());
  EXPECT_EQ(open_device({1000, 1, ""}, &info).code(), ExitCode::kUsage);
}

}  // namespace
}  // namespace harness
