// The verifier must fail everything that is wrong, and pass what is right. The same tests run on
// the CPU and on the GPU: "device memory" is whatever the linked device says.
#include <gtest/gtest.h>
#include <harness/device.h>
#include <harness/judge.h>
#include <harness/problem.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace harness {
namespace {

constexpr TileShape kShape{128, 128, 1};
const ProblemSize kSize{300, 200, 72, 80, 72, 210};

float number(half value) { return __half2float(value); }

// A problem's matrices on the host, for results that are made by hand.
struct Host {
  explicit Host(const MatmulArguments& args)
      : args(args), a(args.m * args.lda), b(args.n * args.ldb), c(args.m * args.ldc) {
    copy(a.data(), args.a, ((args.m - 1) * args.lda + args.k) * sizeof(half));
    copy(b.data(), args.b, ((args.n - 1) * args.ldb + args.k) * sizeof(half));
    copy(c.data(), args.c, ((args.m - 1) * args.ldc + args.n) * sizeof(half));
  }

  // The plain double loop; sums in double precision.
  void multiply() {
    for (int64_t row = 0; row < args.m; ++row) {
      for (int64_t column = 0; column < args.n; ++column) {
        double sum = 0;
        for (int64_t i = 0; i < args.k; ++i) {
          sum +=
              static_cast<double>(number(a[row * args.lda + i])) * number(b[column * args.ldb + i]);
        }
        at(row, column) = __float2half_rn(static_cast<float>(sum));
      }
    }
  }

  half& at(int64_t row, int64_t column) { return c[row * args.ldc + column]; }

  void write_back() {
    for (int64_t row = 0; row < args.m; ++row) {
      copy(args.c + row * args.ldc, &c[row * args.ldc], args.n * sizeof(half));
    }
  }

  MatmulArguments args;
  std::vector<half> a, b, c;
};

// Checks a correct result to which `spoil` has been done.
Problem::Verdict check_spoilt(Problem* problem, const std::function<void(Host*)>& spoil) {
  return problem->check(
      [&](const MatmulArguments& args) {
        Host host(args);
        host.multiply();
        spoil(&host);
        host.write_back();
        return Status();
      },
      kShape);
}

class VerifierTest : public testing::TestWithParam<DataKind> {
 protected:
  VerifierTest() : problem(kSize) { problem.generate(GetParam(), 3); }

  std::string fault(const std::function<void(Host*)>& spoil) {
    const Problem::Verdict verdict = check_spoilt(&problem, spoil);
    EXPECT_TRUE(verdict.status.ok()) << verdict.status.message();
    return verdict.fault;
  }

  Problem problem;
};

TEST_P(VerifierTest, PassesTheRightResult) {
  EXPECT_EQ(fault([](Host*) {}), "");
}

TEST_P(VerifierTest, FailsNaN) {
  const std::string text = fault([](Host* host) { host->at(130, 70) = __ushort_as_half(0x7e00); });
  EXPECT_NE(text.find("1 of 60000"), std::string::npos) << text;
  EXPECT_NE(text.find("C[130][70] = nan"), std::string::npos) << text;
}

TEST_P(VerifierTest, FailsAllNaN) {
  EXPECT_NE(fault([](Host* host) {
              for (half& value : host->c) value = __ushort_as_half(0x7e00);
            }),
            "");
}

TEST_P(VerifierTest, FailsOneWrongElement) {
  EXPECT_NE(fault([](Host* host) {
              half& value = host->at(299, 199);
              value = __float2half_rn(number(value) + 1);
            }),
            "");
}

TEST_P(VerifierTest, FailsATileThatWasNotWritten) {
  const Problem::Verdict verdict = problem.check(
      [](const MatmulArguments& args) {
        Host host(args);
        std::vector<half> before = host.c;
        host.multiply();
        for (int64_t row = 128; row < 256; ++row) {
          for (int64_t column = 0; column < 128; ++column) {
            host.at(row, column) = before[row * args.ldc + column];
          }
        }
        host.write_back();
        return Status();
      },
      kShape);
  EXPECT_NE(verdict.fault.find("16384 of 60000"), std::string::npos) << verdict.fault;
  EXPECT_NE(verdict.fault.find("    ..\n    #.\n    ..\n"), std::string::npos) << verdict.fault;
}

TEST_P(VerifierTest, FailsAllZeros) {
  EXPECT_NE(fault([](Host* host) {
              for (half& value : host->c) value = __float2half_rn(0);
            }),
            "");
}

TEST_P(VerifierTest, FailsSwappedRows) {
  EXPECT_NE(fault([](Host* host) {
              for (int64_t column = 0; column < host->args.n; ++column) {
                std::swap(host->at(5, column), host->at(6, column));
              }
            }),
            "");
}

TEST_P(VerifierTest, FailsAWrongLeadingDimensionOfA) {
  EXPECT_NE(fault([](Host* host) {
              host->args.lda = host->args.k;
              host->multiply();
            }),
            "");
}

TEST_P(VerifierTest, FailsWritesIntoThePadding) {
  const Problem::Verdict verdict = problem.check(
      [](const MatmulArguments& args) {
        Host host(args);
        host.multiply();
        host.write_back();
        const half zero = __float2half_rn(0);
        copy(args.c + args.n, &zero, sizeof(zero));  // between the rows
        copy(args.c - 1, &zero, sizeof(zero));  // before C
        copy(args.c + args.m * args.ldc, &zero, sizeof(zero));  // after C
        return Status();
      },
      kShape);
  EXPECT_NE(verdict.fault.find("3 elements outside C"), std::string::npos) << verdict.fault;
}

TEST_P(VerifierTest, FailsAResultThatIsNotWrittenAtAll) {
  const auto nothing = [](const MatmulArguments&) { return Status(); };
  EXPECT_FALSE(problem.check(nothing, kShape).right());
}

TEST_P(VerifierTest, AStaleResultDoesNotPass) {
  EXPECT_EQ(fault([](Host*) {}), "");
  const auto nothing = [](const MatmulArguments&) { return Status(); };
  EXPECT_FALSE(problem.check(nothing, kShape).right());
}

TEST_P(VerifierTest, HandsOnTheStatusOfTheRun) {
  const Problem::Verdict verdict =
      problem.check([](const MatmulArguments&) { return Status(ExitCode::kUsage, "no"); }, kShape);
  EXPECT_FALSE(verdict.right());
  EXPECT_EQ(verdict.status.message(), "no");
}

INSTANTIATE_TEST_SUITE_P(Data, VerifierTest,
                         testing::Values(DataKind::kInts, DataKind::kNormal, DataKind::kUniform),
                         [](const auto& info) {
                           return info.param == DataKind::kInts     ? "ints"
                                  : info.param == DataKind::kNormal ? "normal"
                                                                    : "uniform";
                         });

TEST(Verifier, WholeNumbersAreComparedBitByBit) {
  Problem problem(kSize);
  problem.generate(DataKind::kInts, 3);
  const Problem::Verdict verdict = check_spoilt(&problem, [](Host* host) {
    half& value = host->at(0, 0);
    value = __ushort_as_half(__half_as_ushort(value) ^ 1);
  });
  EXPECT_FALSE(verdict.right());
}

TEST(Verifier, SumsAreExactAsFarAsFp32HoldsThem) {
  EXPECT_TRUE(sums_are_exact(DataKind::kInts, 1864135));
  EXPECT_EQ(9 * 1864135, (1 << 24) - 1);
  EXPECT_FALSE(sums_are_exact(DataKind::kInts, 1864136));
  EXPECT_FALSE(sums_are_exact(DataKind::kNormal, 8));
  // Further on the bound is what counts: one bit off is right.
  Problem problem({1, 1, 1864136});
  problem.generate(DataKind::kInts, 3);
  EXPECT_TRUE(check_spoilt(&problem, [](Host* host) {
                half& value = host->at(0, 0);
                value = __ushort_as_half(__half_as_ushort(value) ^ 1);
              }).right());
}

TEST(Verifier, NamesWarpGroupWarpLaneAndRegister) {
  Comparison comparison;
  comparison.wrong = 1;
  comparison.first_row = 128 + 64 + 16 * 2 + 8 + 3;  // warp 2 of the second 64 rows, row l/4 + 8
  comparison.first_column = 256 + 8 * 5 + 2 * 1 + 1;
  comparison.wrong_per_tile = {0, 0, 0, 1};
  MatmulArguments args;
  args.m = 256;
  args.n = 512;
  const std::string two = describe(comparison, args, {128, 256, 2});
  EXPECT_NE(two.find("tile (1, 1) of 128 × 256, warp group 1, warp 2 of the group, lane 13, "
                     "register acc[23]"),
            std::string::npos)
      << two;
  comparison.wrong_per_tile.assign(8, 0);
  const std::string one = describe(comparison, args, {128, 128, 1});
  EXPECT_NE(one.find("tile (1, 2) of 128 × 128, warp group 0, warp 2 of the group, lane 13, "
                     "register acc[1][23]"),
            std::string::npos)
      << one;
  // A tile that only the host of the version knows: no claim about it.
  const std::string chosen = describe(comparison, args, {0, 0, 2});
  EXPECT_EQ(chosen.find("warp group"), std::string::npos) << chosen;
  EXPECT_NE(chosen.find("areas of 128 × 128"), std::string::npos) << chosen;
}

TEST(Judge, NaNIsRightOnlyWhereItIsExpected) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const bool exact : {false, true}) {
    EXPECT_TRUE(is_right(__ushort_as_half(0x7fff), nan, nan, 64, exact));
    EXPECT_FALSE(is_right(__ushort_as_half(0x7fff), 1, 1, 64, exact));
    EXPECT_FALSE(is_right(__float2half_rn(1), nan, nan, 64, exact));
  }
}

TEST(Judge, InfinityIsRightWhereTheResultOverflows) {
  const float infinity = std::numeric_limits<float>::infinity();
  const half plus = __ushort_as_half(0x7c00);
  const half minus = __ushort_as_half(0xfc00);
  EXPECT_TRUE(is_right(plus, infinity, infinity, 64, false));
  EXPECT_FALSE(is_right(minus, infinity, infinity, 64, false));
  EXPECT_FALSE(is_right(__float2half_rn(65504), infinity, infinity, 64, false));
  EXPECT_TRUE(is_right(plus, 70000, 70000, 64, false));
  EXPECT_FALSE(is_right(minus, 70000, 70000, 64, false));
  EXPECT_FALSE(is_right(plus, 1000, 1000, 64, false));
  EXPECT_FALSE(is_right(__float2half_rn(65504), 70000, 70000, 64, false));
}

TEST(Judge, TheBoundIsTheBorder) {
  // Large enough for the chain of additions to be most of the bound.
  const float expected = 0.25f, magnitude = 100000;
  const float bound = error_bound(expected, magnitude, 4096);
  EXPECT_GT(bound, 200 * 0x1p-23f * magnitude);
  const half inside = __float2half_rn(expected + 0.98f * bound);
  const half outside = __float2half_rn(expected + 1.02f * bound);
  EXPECT_TRUE(is_right(inside, expected, magnitude, 4096, false));
  EXPECT_FALSE(is_right(outside, expected, magnitude, 4096, false));
  EXPECT_FALSE(is_right(inside, expected, magnitude, 4096, true)) << "exact is exact";
}

TEST(Problem, EmptyOnesAreJudgedToo) {
  for (const ProblemSize& size :
       {ProblemSize{0, 5, 8}, ProblemSize{5, 0, 8}, ProblemSize{5, 6, 0}}) {
    Problem problem(size);
    problem.generate(DataKind::kInts, 1);
    const auto clear = [](const MatmulArguments& args) { return clear_result(args, nullptr); };
    const Problem::Verdict verdict = problem.check(clear, kShape);
    EXPECT_TRUE(verdict.right()) << verdict.status.message() << verdict.fault;
  }
}

TEST(Problem, NewDataHaveANewReference) {
  Problem problem(kSize);
  for (const uint64_t seed : {1, 2}) {
    problem.generate(DataKind::kInts, seed);
    EXPECT_TRUE(check_spoilt(&problem, [](Host*) {}).right()) << seed;
  }
}

TEST(Problem, SurroundingsOfTheInputsAreNaN) {
  Problem problem(kSize);
  problem.generate(DataKind::kInts, 1);
  const MatmulArguments& args = problem.arguments();
  half padding, before;
  copy(&padding, args.a + args.k, sizeof(half));
  copy(&before, args.b - 1, sizeof(half));
  EXPECT_TRUE(std::isnan(number(padding)) && std::isnan(number(before)));
}

TEST(Problem, AAndBDiffer) {
  Problem problem(kSize);
  problem.generate(DataKind::kInts, 1);
  const Host host(problem.arguments());
  EXPECT_NE(std::vector<uint16_t>(reinterpret_cast<const uint16_t*>(host.a.data()),
                                  reinterpret_cast<const uint16_t*>(host.a.data()) + 64),
            std::vector<uint16_t>(reinterpret_cast<const uint16_t*>(host.b.data()),
                                  reinterpret_cast<const uint16_t*>(host.b.data()) + 64));
}

TEST(Judge, TheBoundIsMuchSmallerThanOneProduct) {
  // N(0, 1) data at K = 8192: Σ|a·b| is about 0.64 K. A result that lacks one product of ordinary
  // size must fail.
  EXPECT_LT(error_bound(50, 0.64f * 8192, 8192), 0.64f);
}

TEST(Reference, AgreesWithADoubleLoop) {
  const ProblemSize size{37, 150, 200, 208, 216, 151};  // all different
  Problem problem(size);
  problem.generate(DataKind::kNormal, 5);
  const MatmulArguments& args = problem.arguments();
  const Buffer values(size.m * size.n * sizeof(float));
  const Buffer magnitudes(size.m * size.n * sizeof(float));
  compute_reference(args, static_cast<float*>(values.data()),
                    static_cast<float*>(magnitudes.data()));
  std::vector<float> got(size.m * size.n), magnitude(size.m * size.n);
  copy(got.data(), values.data(), got.size() * sizeof(float));
  copy(magnitude.data(), magnitudes.data(), got.size() * sizeof(float));
  const Host host(args);
  for (int64_t row = 0; row < size.m; ++row) {
    for (int64_t column = 0; column < size.n; ++column) {
      double sum = 0, sum_of_magnitudes = 0;
      for (int64_t i = 0; i < size.k; ++i) {
        const double product = static_cast<double>(number(host.a[row * args.lda + i])) *
                               number(host.b[column * args.ldb + i]);
        sum += product;
        sum_of_magnitudes += std::fabs(product);
      }
      const int64_t i = row * size.n + column;
      ASSERT_NEAR(got[i], sum, 20 * 0x1p-23 * sum_of_magnitudes);
      ASSERT_NEAR(magnitude[i], sum_of_magnitudes, 1e-4 * sum_of_magnitudes);
    }
  }
}

TEST(Generate, ElementsDependOnTheirPlaceAlone) {
  constexpr int64_t kRows = 70, kColumns = 50;
  std::vector<half> packed(kRows * kColumns), strided(kRows * 64);
  const Buffer device(kRows * 64 * sizeof(half));
  auto* const data = static_cast<half*>(device.data());
  for (const DataKind kind : {DataKind::kUniform, DataKind::kNormal, DataKind::kInts,
                              DataKind::kIota, DataKind::kIdentity, DataKind::kZeros}) {
    generate(data, kRows, kColumns, kColumns, kind, 9, 0.5f);
    copy(packed.data(), data, packed.size() * sizeof(half));
    generate(data, kRows, kColumns, 64, kind, 9, 0.5f);
    copy(strided.data(), data, strided.size() * sizeof(half));
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t column = 0; column < kColumns; ++column) {
        const uint16_t bits = __half_as_ushort(packed[row * kColumns + column]);
        ASSERT_EQ(bits, __half_as_ushort(strided[row * 64 + column]));
        ASSERT_EQ(bits, __half_as_ushort(element(kind, 9, row, column, 0.5f)))
            << "device and host disagree";
      }
    }
  }
}

TEST(Generate, DistributionsAreWhatTheySay) {
  constexpr int kCount = 1 << 16;
  double sum = 0, squares = 0, uniform_sum = 0;
  int histogram[7] = {};
  for (int i = 0; i < kCount; ++i) {
    const double normal = number(element(DataKind::kNormal, 1, i / 256, i % 256, 1));
    sum += normal;
    squares += normal * normal;
    const float uniform = number(element(DataKind::kUniform, 1, i / 256, i % 256, 1));
    ASSERT_TRUE(uniform >= -0.5f && uniform <= 0.5f);
    uniform_sum += uniform;
    ++histogram[static_cast<int>(number(element(DataKind::kInts, 1, i / 256, i % 256, 1))) + 3];
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  EXPECT_NEAR(uniform_sum / kCount, 0, 0.01);
  for (const int count : histogram) EXPECT_NEAR(count, kCount / 7.0, 500);
}

}  // namespace
}  // namespace harness
