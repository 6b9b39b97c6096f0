// Every version on every kind of shape: right, within its bounds, and the same every time.
#include <gtest/gtest.h>
#include <harness/device.h>
#include <harness/gpu/cuda_check.h>
#include <harness/problem.h>
#include <harness/versions.h>
#include <stream_memory.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace harness {
namespace {

class VersionTest : public testing::TestWithParam<Version> {
 protected:
  Problem::Verdict check(Problem* problem) {
    return problem->check(
        [](const MatmulArguments& args) { return GetParam().matmul(args, nullptr); },
        GetParam().shape);
  }

  void expect_right(const ProblemSize& size, const std::vector<DataKind>& kinds) {
    Problem problem(size);
    for (const DataKind kind : kinds) {
      problem.generate(kind, 11);
      const Problem::Verdict verdict = check(&problem);
      EXPECT_TRUE(verdict.right())
          << size.m << " x " << size.n << " x " << size.k << ", lda " << size.lda << ", ldb "
          << size.ldb << ", ldc " << size.ldc << ": " << verdict.status.message() << verdict.fault;
    }
  }
};

const std::vector<DataKind> kAllKinds = {DataKind::kInts,  DataKind::kIota,   DataKind::kIdentity,
                                         DataKind::kZeros, DataKind::kNormal, DataKind::kUniform};

TEST_P(VersionTest, KTilesAroundTheNumberOfStages) {
  for (int64_t k_tiles = 1; k_tiles <= 9; ++k_tiles) {
    expect_right({256, 512, 64 * k_tiles}, {DataKind::kInts});
  }
  expect_right({128, 256, 64 * 40}, {DataKind::kInts, DataKind::kNormal});
}

TEST_P(VersionTest, TailsInEveryDirection) {
  for (const int64_t m : {1, 63, 64, 65, 127, 128, 129, 200}) {
    for (const int64_t n : {1, 2, 127, 128, 129, 255, 256, 257}) {
      for (const int64_t k : {8, 56, 64, 72, 136}) expect_right({m, n, k}, {DataKind::kInts});
    }
  }
}

TEST_P(VersionTest, OddNumbersOfTiles) {
  for (const int64_t rows : {9, 10, 11, 13}) {
    for (const int64_t columns : {3, 5, 9, 11, 13}) {
      expect_right({rows * 128 - 8, columns * 256 - 24, 200}, {DataKind::kInts});
    }
  }
}

TEST_P(VersionTest, EveryKindOfData) {
  expect_right({1000, 1304, 712}, kAllKinds);
  expect_right({1288, 904, 328}, kAllKinds);
  expect_right({256, 256, 8192}, kAllKinds);
}

TEST_P(VersionTest, StridedOperands) {
  expect_right({300, 520, 200, 208, 264, 521}, {DataKind::kInts, DataKind::kNormal});
  expect_right({300, 521, 200, 1024, 200, 522}, {DataKind::kInts});
  expect_right({129, 255, 65, 72, 128, 255}, {DataKind::kInts});  // k is no multiple of 8
}

TEST_P(VersionTest, CNeedsOnly2ByteAlignment) {
  for (const int64_t ldc : {256, 257, 300}) {
    for (const int64_t offset : {0, 1, 2, 3}) {
      expect_right({130, 256, 128, 0, 0, ldc, offset}, {DataKind::kInts});
    }
  }
}

TEST_P(VersionTest, CallsWithChangingShapesAndPointers) {
  Problem first({384, 640, 320}), second({200, 100, 64}), third({384, 640, 320});
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (Problem* problem : {&first, &second, &third}) {
      problem->generate(repeat % 2 == 0 ? DataKind::kInts : DataKind::kIota, repeat);
      const Problem::Verdict verdict = check(problem);
      ASSERT_TRUE(verdict.right()) << repeat << ": " << verdict.status.message() << verdict.fault;
    }
  }
}

TEST_P(VersionTest, SameInputsSameBits) {
  const ProblemSize size{1000, 1000, 1000};
  Problem problem(size);
  problem.generate(DataKind::kNormal, 1);
  const MatmulArguments& args = problem.arguments();
  std::vector<uint16_t> first, again(size.m * size.n);
  for (int repeat = 0; repeat < 50; ++repeat) {
    fill(args.c, size.m * size.n, 0x7fff);
    ASSERT_TRUE(GetParam().matmul(args, nullptr).ok());
    ASSERT_TRUE(synchronize().ok());
    copy(again.data(), args.c, again.size() * sizeof(half));
    if (repeat == 0) first = again;
    ASSERT_EQ(first, again) << "repeat " << repeat;
  }
}

TEST_P(VersionTest, LaunchesInARowDoNotDisturbEachOther) {
  Problem left({1024, 768, 512}), right({768, 1024, 256});
  left.generate(DataKind::kInts, 1);
  right.generate(DataKind::kInts, 2);
  const auto check_after_many = [](Problem* judged, const MatmulArguments& other) {
    const Problem::Verdict verdict = judged->check(
        [&](const MatmulArguments& args) {
          Status status;
          for (int i = 0; i < 500 && status.ok(); ++i) {
            status = GetParam().matmul(other, nullptr);
            if (status.ok()) status = GetParam().matmul(args, nullptr);
          }
          return status;
        },
        GetParam().shape);
    EXPECT_TRUE(verdict.right()) << verdict.status.message() << verdict.fault;
  };
  check_after_many(&left, right.arguments());
  check_after_many(&right, left.arguments());
}

class Stream {
 public:
  Stream() { CUDA_CHECK(cudaStreamCreate(&stream_)); }
  ~Stream() { CUDA_CHECK(cudaStreamDestroy(stream_)); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

std::vector<char> memory_of(cudaStream_t stream) {
  const StreamAllocation memory = StreamMemory::kept_zeroed(stream);
  std::vector<char> bytes(memory.bytes);
  copy(bytes.data(), memory.data, memory.bytes);
  return bytes;
}

// Many launches under way in two streams at a time; afterwards the memory that each stream's
// launches share is as it was.
TEST_P(VersionTest, LaunchesInTwoStreams) {
  const Stream one, two;
  Problem left({2048, 1536, 1024}), right({1536, 2048, 512});
  left.generate(DataKind::kInts, 1);
  right.generate(DataKind::kInts, 2);
  const auto check_while_other_runs = [&](Problem* judged, const MatmulArguments& other) {
    const Problem::Verdict verdict = judged->check(
        [&](const MatmulArguments& args) {
          Status status;
          for (int i = 0; i < 200 && status.ok(); ++i) {
            status = GetParam().matmul(other, two);
            if (status.ok()) status = GetParam().matmul(args, one);
          }
          return status;
        },
        GetParam().shape);
    EXPECT_TRUE(verdict.right()) << verdict.status.message() << verdict.fault;
  };
  check_while_other_runs(&left, right.arguments());
  check_while_other_runs(&right, left.arguments());
  for (const cudaStream_t stream : {cudaStream_t{one}, cudaStream_t{two}}) {
    const std::vector<char> memory = memory_of(stream);
    EXPECT_EQ(memory, std::vector<char>(memory.size(), 0));
  }
}

bool allocates_memory(cudaGraph_t graph) {
  size_t count = 0;
  CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  CUDA_CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
  return std::any_of(nodes.begin(), nodes.end(), [](cudaGraphNode_t node) {
    cudaGraphNodeType type;
    CUDA_CHECK(cudaGraphNodeGetType(node, &type));
    return type == cudaGraphNodeTypeMemAlloc;
  });
}

// A launch that was captured into a graph, replayed: again and again, and in two streams at a time
// (unless the graph has memory of its own, common/stream_memory.h).
TEST_P(VersionTest, ReplayedFromAGraph) {
  const Stream one, two;
  for (const ProblemSize& size :
       {ProblemSize{5100, 5300, 456}, {1100, 1300, 456}, {16, 520, 4104}}) {
    Problem problem(size);
    problem.generate(DataKind::kInts, 3);
    ASSERT_TRUE(check(&problem).right());  // loads the kernel, which must not happen in a capture
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
    const Status status = GetParam().matmul(problem.arguments(), one);
    CUDA_CHECK(cudaStreamEndCapture(one, &graph));
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<cudaGraphExec_t> replays(allocates_memory(graph) ? 1 : 2);
    for (cudaGraphExec_t& replay : replays) CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
    const Problem::Verdict verdict = problem.check(
        [&](const MatmulArguments&) {
          for (int i = 0; i < 50; ++i) {
            CUDA_CHECK(cudaGraphLaunch(replays.front(), one));
            CUDA_CHECK(cudaGraphLaunch(replays.back(), two));
          }
          return Status{};
        },
        GetParam().shape);
    EXPECT_TRUE(verdict.right()) << verdict.status.message() << verdict.fault;
    EXPECT_TRUE(memory_of(one).empty()) << "a graph shares no memory with its stream";
    for (const cudaGraphExec_t replay : replays) CUDA_CHECK(cudaGraphExecDestroy(replay));
    CUDA_CHECK(cudaGraphDestroy(graph));
  }
}

TEST_P(VersionTest, FewBlocksForManyTiles) {
  // Three and more tiles a block; numbers of K tiles that are no multiple of the stages. Rows of
  // 1300 elements end inside a unit of 16 bytes: TMA cannot store them, those of 1304 it can.
  for (const int max_blocks : {1, 2, 7, 8, 19, 78, 114}) {
    for (const int64_t n : {1300, 1304}) {
      for (const int64_t k : {8, 64, 328, 456}) {
        Problem problem({1160, n, k, 0, 0, k == 64 ? 1305 : 1304});
        problem.generate(DataKind::kInts, 5);
        const Problem::Verdict verdict = problem.check(
            [=](MatmulArguments args) {
              args.max_blocks = max_blocks;
              return GetParam().matmul(args, nullptr);
            },
            GetParam().shape);
        EXPECT_TRUE(verdict.right()) << max_blocks << " blocks, n = " << n << ", k = " << k << ": "
                                     << verdict.status.message() << verdict.fault;
      }
    }
  }
}

TEST_P(VersionTest, OddGridsUnderLoad) {
  // Clusters whose second block lies beyond C, again and again, with others running meanwhile.
  Problem problem({128 * 33, 256 * 5, 136});
  problem.generate(DataKind::kInts, 6);
  const Problem::Verdict verdict = problem.check(
      [](const MatmulArguments& args) {
        Status status;
        for (int i = 0; i < 1000 && status.ok(); ++i) status = GetParam().matmul(args, nullptr);
        return status;
      },
      GetParam().shape);
  EXPECT_TRUE(verdict.right()) << verdict.status.message() << verdict.fault;
}

TEST_P(VersionTest, EmptyProblems) {
  expect_right({0, 100, 64}, {DataKind::kInts});
  expect_right({100, 0, 64}, {DataKind::kInts});
  expect_right({100, 130, 0, 0, 0, 140}, {DataKind::kInts});  // all zeros, padding untouched
  EXPECT_TRUE(GetParam().matmul({}, nullptr).ok()) << "null pointers are fine where nothing is";
}

TEST_P(VersionTest, NaNAndInfinityPropagate) {
  const ProblemSize size{200, 300, 128};
  Problem problem(size);
  problem.generate(DataKind::kInts, 4);
  const MatmulArguments& args = problem.arguments();
  const auto put = [](const half* where, uint16_t bits) {
    copy(const_cast<half*>(where), &bits, sizeof(bits));
  };
  put(args.a + 5 * args.lda + 17, 0x7e00);  // NaN: row 5 of C
  put(args.b + 299 * args.ldb + 3, 0x7c00);  // +infinity: column 299, where A is not 0
  put(args.a + 130 * args.lda + 127, 0xfc00);  // -infinity: row 130
  const Problem::Verdict verdict = check(&problem);
  EXPECT_TRUE(verdict.right()) << verdict.fault;
  std::vector<half> c(size.m * size.n);
  copy(c.data(), args.c, c.size() * sizeof(half));
  for (int64_t column = 0; column < size.n; ++column) {
    EXPECT_TRUE(std::isnan(__half2float(c[5 * size.n + column])));
    const float value = __half2float(c[130 * size.n + column]);
    EXPECT_TRUE(std::isinf(value) || std::isnan(value)) << column;
  }
}

TEST_P(VersionTest, LargeResultsBecomeInfinite) {
  const ProblemSize size{128, 256, 8192};
  Problem problem(size);
  problem.generate(DataKind::kInts, 1);
  const MatmulArguments& args = problem.arguments();
  fill(const_cast<half*>(args.a), size.m * size.k, 0x4200);  // 3
  fill(const_cast<half*>(args.b), size.n * size.k, 0x4200);
  const Problem::Verdict verdict = check(&problem);
  EXPECT_TRUE(verdict.right()) << verdict.fault;
  half corner;
  copy(&corner, args.c, sizeof(corner));
  EXPECT_EQ(__half_as_ushort(corner), 0x7c00) << "9 · 8192 = 73728 is beyond fp16";
}

TEST_P(VersionTest, BadInputIsRefusedBeforeCIsTouched) {
  const ProblemSize size{64, 64, 64};
  Problem problem(size);
  problem.generate(DataKind::kInts, 1);
  const MatmulArguments good = problem.arguments();
  std::vector<MatmulArguments> bad(6, good);
  bad[0].lda = 65;
  bad[1].a = good.a + 1;
  bad[2].b = nullptr;
  bad[3].m = -1;
  bad[4].ldc = 63;
  bad[5].k = int64_t{1} << 31;
  for (const MatmulArguments& args : bad) {
    fill(good.c, size.m * size.n, 0x1234);
    const Status status = GetParam().matmul(args, nullptr);
    EXPECT_EQ(status.code(), ExitCode::kUsage);
    EXPECT_FALSE(status.message().empty());
    ASSERT_TRUE(synchronize().ok());
    std::vector<uint16_t> c(size.m * size.n);
    copy(c.data(), good.c, c.size() * sizeof(half));
    EXPECT_EQ(c, std::vector<uint16_t>(c.size(), 0x1234)) << status.message();
  }
}

TEST_P(VersionTest, MoreThan2To31Elements) {
  expect_right({65536 + 8, 33000, 64}, {DataKind::kInts});
}

TEST_P(VersionTest, TileColumnsBeyondTheGridLimit) {
  const std::set<std::string> in_2d_grids = {"v1_simple", "v2_pipelined", "v3_warp_specialized"};
  const bool refuses = in_2d_grids.count(GetParam().name) > 0;
  for (const int64_t columns : {65535, 65536}) {
    Problem problem({8, columns * areas(GetParam().shape).block_n, 8});
    problem.generate(DataKind::kInts, 1);
    const Problem::Verdict verdict = check(&problem);
    if (refuses && columns > 65535) {
      EXPECT_EQ(verdict.status.code(), ExitCode::kUsage);
      EXPECT_NE(verdict.status.message().find("65535"), std::string::npos);
    } else {
      EXPECT_TRUE(verdict.right())
          << columns << " tile columns: " << verdict.status.message() << verdict.fault;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, VersionTest, testing::ValuesIn(versions()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace harness
