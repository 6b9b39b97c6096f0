// Every version, from its unchanged kernel.cu, on shapes that hide nothing: silent, and right bit
// by bit.
#include <emulator.h>
#include <gtest/gtest.h>
#include <harness/problem.h>
#include <harness/versions.h>
#include <stream_memory.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

using emulator::Delay;
using emulator::Options;
using emulator::Schedule;
using harness::Problem;
using harness::ProblemSize;
using harness::Version;

// Runs a version on whole numbers and expects a right result without a report.
void expect_right(const Version& version, Problem* problem, const Options& options) {
  emulator::set_options(options);
  const Problem::Verdict verdict = problem->check(
      [&](const MatmulArguments& args) { return version.matmul(args, nullptr); }, version.shape);
  const auto& args = problem->arguments();
  const auto& report = emulator::last_report();
  EXPECT_TRUE(verdict.right()) << version.name << " at " << args.m << "x" << args.n << "x" << args.k
                               << ", seed " << options.seed << ": " << verdict.status.message()
                               << verdict.fault << (report ? "\n" + report->text : "");
}

Options with_seed(uint64_t seed) {
  Options options;
  options.seed = seed;
  options.print_reports = false;
  return options;
}

class Versions : public testing::TestWithParam<Version> {};

TEST_P(Versions, ShapesThatHideNothing) {
  const std::vector<ProblemSize> sizes = {
      {128, 128, 64},  // one tile
      {1, 1, 8},  // next to nothing
      {8, 264, 16},  // less than a K tile
      {130, 257, 72},  // tails in M, N and K
      {127, 129, 8},  //
      {200, 136, 128},  // two K tiles
      {64, 512, 192},  // three
      {256, 128, 256},  // four
      {129, 300, 320},  // five
      {300, 100, 1000},  // sixteen, with a tail
      {70, 90, 200, 208, 264, 101},  // padded rows, odd ldc
      {140, 260, 136, 144, 136, 260, 1},  // C at an odd element
      {33, 7, 64, 0, 0, 9, 3},  //
  };
  for (const ProblemSize& size : sizes) {
    Problem problem(size);
    problem.generate(harness::DataKind::kInts, 7);
    for (uint64_t seed = 1; seed <= 5; ++seed) expect_right(GetParam(), &problem, with_seed(seed));
  }
}

TEST_P(Versions, KTilesAroundTheNumberOfStages) {
  for (int64_t k_tiles = 1; k_tiles <= 10; ++k_tiles) {
    Problem problem({136, 130, 64 * k_tiles});
    problem.generate(harness::DataKind::kInts, 13);
    for (uint64_t seed = 1; seed <= 5; ++seed) expect_right(GetParam(), &problem, with_seed(seed));
  }
}

TEST_P(Versions, MoreTilesThanOneGroupOfColumns) {
  Problem problem({260, 1100, 72});
  problem.generate(harness::DataKind::kInts, 17);
  for (uint64_t seed = 1; seed <= 5; ++seed) expect_right(GetParam(), &problem, with_seed(seed));
}

TEST_P(Versions, FewBlocksForManyTiles) {
  for (const int max_blocks : {1, 2, 4}) {
    // Not all can be stored by TMA: 601 is an odd pitch, a row of 596 ends inside 16 bytes.
    harness::Problem problem(
        {400, max_blocks == 4 ? 596 : 600, 200, 0, 0, max_blocks == 2 ? 601 : 600});
    problem.generate(harness::DataKind::kInts, 5);
    const auto verdict = problem.check(
        [=](MatmulArguments args) {
          args.max_blocks = max_blocks;
          return GetParam().matmul(args, nullptr);
        },
        GetParam().shape);
    EXPECT_TRUE(verdict.right()) << verdict.status.message() << verdict.fault;
  }
}

// Memory that the blocks of a launch share is zero between launches.
void expect_zero_stream_memory() {
  const StreamAllocation memory = StreamMemory::kept_zeroed(nullptr);
  const auto* const bytes = static_cast<const char*>(memory.data);
  EXPECT_EQ(std::count(bytes, bytes + memory.bytes, 0), static_cast<std::ptrdiff_t>(memory.bytes));
}

TEST_P(Versions, SeveralClustersWithSeveralTiles) {
  for (const ProblemSize& size :
       {ProblemSize{1030, 420, 328}, {520, 1090, 72}, {300, 700, 1000, 0, 0, 701}}) {
    Problem problem(size);
    problem.generate(harness::DataKind::kInts, 23);
    for (const int max_blocks : {2, 4, 6}) {
      for (uint64_t seed = 1; seed <= 5; ++seed) {
        Options options = with_seed(seed);
        options.delay = static_cast<Delay>(seed % 5);
        options.schedule = seed % 3 == 0 ? Schedule::kRoundRobin : Schedule::kRandom;
        options.threads = seed % 4 == 0 ? 3 : 1;
        emulator::set_options(options);
        const auto verdict = problem.check(
            [=](MatmulArguments args) {
              args.max_blocks = max_blocks;
              return GetParam().matmul(args, nullptr);
            },
            GetParam().shape);
        EXPECT_TRUE(verdict.right()) << max_blocks << " blocks, seed " << seed << ": "
                                     << verdict.status.message() << verdict.fault;
        expect_zero_stream_memory();
      }
    }
  }
}

TEST_P(Versions, RightAfterALaunchThatWasStopped) {
  Problem problem({300, 536, 568});
  problem.generate(harness::DataKind::kInts, 29);
  const auto run = [&](const Options& options) {
    emulator::set_options(options);
    return problem.check(
        [](MatmulArguments args) {
          args.max_blocks = 4;
          return GetParam().matmul(args, nullptr);
        },
        GetParam().shape);
  };
  Options options = with_seed(1);
  options.record_calls = true;
  emulator::clear_executed_calls();
  EXPECT_TRUE(run(options).right());
  // Nobody commits: that stops the first cluster after it has begun to count.
  for (const emulator::Call& call : emulator::executed_calls()) {
    if (call.instruction == "wgmma.commit_group") options.removed.push_back(call.site);
  }
  ASSERT_FALSE(options.removed.empty());
  options.record_calls = false;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    options.seed = seed;
    EXPECT_FALSE(run(options).status.ok());
    expect_zero_stream_memory();
    EXPECT_TRUE(run(with_seed(seed)).right());
    expect_zero_stream_memory();
  }
}

TEST_P(Versions, NormalDataWithinItsBounds) {
  Problem problem({130, 260, 520});
  problem.generate(harness::DataKind::kNormal, 19);
  for (uint64_t seed = 1; seed <= 5; ++seed) expect_right(GetParam(), &problem, with_seed(seed));
}

TEST_P(Versions, TwoHundredSeeds) {
  for (const int64_t k : {40, 320}) {
    Problem problem({130, 136, k});
    problem.generate(harness::DataKind::kInts, 3);
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      expect_right(GetParam(), &problem, with_seed(seed));
    }
  }
}

TEST_P(Versions, EveryPolicy) {
  Problem problem({140, 264, 456});
  problem.generate(harness::DataKind::kInts, 5);
  for (const Schedule schedule : {Schedule::kRandom, Schedule::kRoundRobin}) {
    for (const Delay delay : {Delay::kAtOnce, Delay::kShort, Delay::kLong, Delay::kOnlyWhenIdle}) {
      for (uint64_t seed = 1; seed <= 5; ++seed) {
        Options options = with_seed(seed);
        options.schedule = schedule;
        options.delay = delay;
        options.threads = static_cast<int>(seed % 3) + 1;
        expect_right(GetParam(), &problem, options);
      }
    }
  }
}

// Data may be any bits: the pattern that the emulator uses as poison, too.
TEST_P(Versions, NanIsNoPoison) {
  Problem problem({130, 140, 200});
  problem.generate(harness::DataKind::kInts, 9);
  const MatmulArguments& args = problem.arguments();
  harness::fill(const_cast<half*>(args.a) + 3 * args.lda, 2 * args.lda, 0xffff);
  harness::fill(const_cast<half*>(args.b) + 70 * args.ldb, args.ldb, 0xffff);
  harness::fill(const_cast<half*>(args.b) + 71 * args.ldb, args.ldb, 0x7c00);
  for (uint64_t seed = 1; seed <= 10; ++seed) expect_right(GetParam(), &problem, with_seed(seed));
}

std::string name_of(const testing::TestParamInfo<Version>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(All, Versions, testing::ValuesIn(harness::versions()), name_of);

}  // namespace
