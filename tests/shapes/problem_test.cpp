// What these tests ask of harness::Problem: values strewn among the data, offsets, and that a
// refusal leaves C alone.
#include <gtest/gtest.h>
#include <harness/device.h>
#include <harness/problem.h>

#include <cmath>
#include <vector>

namespace harness {
namespace {

constexpr TileShape kShape{128, 128, 1};

std::vector<half> row_of(const half* matrix, int64_t count) {
  std::vector<half> row(count);
  copy(row.data(), matrix, count * sizeof(half));
  return row;
}

TEST(ProblemSprinkle, ValuesAreInBothMatricesAndInTheReference) {
  const ProblemSize size{20, 30, 24, 32, 40};
  Problem problem(size);
  problem.generate(DataKind::kInts, 1);
  const auto clear = [](const MatmulArguments& args) {
    std::vector<half> zeros(args.n, __float2half_rn(0));
    for (int64_t row = 0; row < args.m; ++row) {
      copy(args.c + row * args.ldc, zeros.data(), zeros.size() * sizeof(half));
    }
    return Status();
  };
  const std::string before = problem.check(clear, kShape).fault;
  problem.sprinkle(0x7e00, 2, 5);
  int found[2] = {0, 0};
  const MatmulArguments& args = problem.arguments();
  for (int64_t row = 0; row < size.m; ++row) {
    for (const half value : row_of(args.a + row * args.lda, size.k)) {
      found[0] += std::isnan(__half2float(value));
    }
  }
  for (int64_t row = 0; row < size.n; ++row) {
    for (const half value : row_of(args.b + row * args.ldb, size.k)) {
      found[1] += std::isnan(__half2float(value));
    }
  }
  EXPECT_EQ(found[0], 2);
  EXPECT_EQ(found[1], 2);
  EXPECT_NE(problem.check(clear, kShape).fault, before) << "the reference has to be new";
}

TEST(ProblemOffsets, MatricesBeginThatFarPastAMultipleOf256Bytes) {
  const Problem problem({20, 30, 24, 0, 0, 0, 3, 1, 2});
  const MatmulArguments& args = problem.arguments();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(args.a) % 256, 2u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(args.b) % 256, 4u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(args.c) % 256, 6u);
}

TEST(ProblemCheck, ARefusalThatTouchesCIsAFault) {
  Problem problem({20, 30, 24, 0, 0, 40});
  problem.generate(DataKind::kInts, 1);
  const auto refuse = [](int64_t where) {
    return [where](const MatmulArguments& args) {
      const half zero = __float2half_rn(0);
      if (where >= 0) copy(args.c + where, &zero, sizeof(zero));
      return Status(ExitCode::kUsage, "no");
    };
  };
  EXPECT_EQ(problem.check(refuse(-1), kShape).fault, "");
  for (const int64_t where : {0, 19 * 40 + 29, 35, 20 * 40}) {  // inside, padding, behind
    const Problem::Verdict verdict = problem.check(refuse(where), kShape);
    EXPECT_FALSE(verdict.right());
    EXPECT_NE(verdict.fault.find("refused, yet 1 elements"), std::string::npos) << verdict.fault;
  }
}

}  // namespace
}  // namespace harness
