// Random calls of every version, sensible and not: within the limits the result is right, beyond
// them the call is refused with the right sentence. What the limits are, limits.h knows.
#include <gtest/gtest.h>
#include <harness/random.h>
#include <harness/versions.h>

#include <cstdio>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "call.h"
#include "limits.h"
#include "options.h"

namespace shapes {
namespace {

using harness::DataKind;
using harness::ProblemSize;
using harness::Version;

class Random {
 public:
  Random(uint64_t seed, int64_t stream, int64_t index)
      : seed_(harness::random_bits(seed, stream, index)) {}

  // A whole number from `first` to `last`.
  int64_t between(int64_t first, int64_t last) {
    const auto choices = static_cast<uint64_t>(last - first) + 1;
    return first + static_cast<int64_t>(harness::random_bits(seed_, 0, ++count_) % choices);
  }
  bool one_in(int64_t n) { return between(1, n) == 1; }
  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[between(0, static_cast<int64_t>(values.size()) - 1)];
  }

 private:
  uint64_t seed_;
  int64_t count_ = 0;
};

constexpr int64_t kSizeLimit = int64_t{1} << 31;
constexpr int64_t kPitchLimit = int64_t{1} << 39;  // elements
constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

// Few, around a multiple of 64, or any; sometimes 0.
int64_t random_size(Random& random) {
  if (random.one_in(20)) return 0;
  if (random.one_in(4)) return random.between(1, 20);
  if (random.one_in(2)) return 64 * random.between(1, 8) + random.between(-2, 2);
  return random.between(1, 700);
}

Call ordinary_call(Random& random) {
  Call call;
  ProblemSize& size = call.size;
  size.m = random_size(random);
  size.n = random_size(random);
  size.k = random_size(random);
  const auto padding = [&](int64_t unit) {
    return random.one_in(2) ? 0 : unit * random.between(1, 20);
  };
  size.lda = (size.k + 7) / 8 * 8 + padding(8);
  size.ldb = (size.k + 7) / 8 * 8 + padding(8);
  size.ldc = size.n + padding(1);
  size.a_offset = 8 * random.between(0, 3);
  size.b_offset = 8 * random.between(0, 3);
  size.c_offset = random.one_in(2) ? 0 : random.between(1, 9);
  if (random.one_in(2)) call.max_blocks = static_cast<int>(random.between(1, 9));
  call.data =
      random.one_of<DataKind>({DataKind::kInts, DataKind::kInts, DataKind::kInts, DataKind::kIota,
                               DataKind::kIdentity, DataKind::kNormal, DataKind::kUniform});
  if (random.one_in(2)) {
    call.sprinkle = random.one_of<Sprinkle>(
        {Sprinkle::kNaN, Sprinkle::kInfinity, Sprinkle::kMinusInfinity, Sprinkle::kLarge});
  }
  call.seed = static_cast<uint64_t>(random.between(1, 1'000'000));
  return call;
}

// Something out of the ordinary. Most of it is beyond the limits, but not all, and not always.
constexpr int kDistortions = 14;
void distort(int64_t kind, Call* call, Random& random) {
  ProblemSize& size = call->size;
  int64_t* const extent = random.one_of<int64_t*>({&size.m, &size.n, &size.k});
  const bool of_a = random.one_in(2);
  int64_t* const leading = of_a ? &size.lda : &size.ldb;
  int64_t* const offset = of_a ? &size.a_offset : &size.b_offset;
  switch (kind) {
    case 0:  // sizes that are none
      *extent = random.one_of<int64_t>(
          {-1, -random.between(2, kHuge), kSizeLimit, kHuge, kSizeLimit + random.between(1, 1000)});
      return;
    case 1:  // rows that overlap
      *leading = random.one_of<int64_t>(
          {0, -8, size.k - 1, size.k - 8, random.between(0, 8) * 8, -kHuge - 1});
      return;
    case 2:
      size.ldc = random.one_of<int64_t>({0, -1, size.n - 1, size.n / 2, -kHuge - 1});
      return;
    case 3:  // a pitch of no whole units
      *leading += random.between(1, 7);
      return;
    case 4:  // pitches around their limit; of a single row all others are fine
      if (random.one_in(2)) (of_a ? size.m : size.n) = 1;
      *leading = random.one_of<int64_t>({kPitchLimit - 8, kPitchLimit, kPitchLimit + 8, kHuge});
      return;
    case 5:
      if (random.one_in(2)) size.m = 1;
      size.ldc = random.one_of<int64_t>({kPitchLimit - 1, kPitchLimit, kHuge});
      return;
    case 6:  // addresses
      *offset += random.between(1, 7);
      return;
    case 7:
      (of_a ? call->odd_a : call->odd_b) = true;
      return;
    case 8:
      call->odd_c = true;
      return;
    case 9:
      (of_a ? call->null_a : call->null_b) = true;
      return;
    case 10:
      call->null_c = true;
      return;
    case 11:
      call->max_blocks = static_cast<int>(random.one_of<int64_t>(
          {-1, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}));
      return;
    case 12:  // nothing to do: then no pointer is needed
      *extent = 0;
      call->null_a = random.one_in(2);
      call->null_b = random.one_in(2);
      call->null_c = size.m * size.n == 0 && random.one_in(2);
      return;
    case 13:  // more tiles than a grid has room for
      size.m = kSizeLimit - random.between(1, 1000);
      size.n = kSizeLimit - random.between(1, 1000);
      size.ldc = size.n + random.between(0, 9);
      return;
  }
}

// Empty results are never touched, whatever their size.
bool can_be_made(const Call& call, const Version& version) {
  return !broken_rules(call, version).empty() || call.size.m == 0 || call.size.n == 0 ||
         is_affordable(call);
}

Call random_call(const Version& version, uint64_t seed, int index) {
  Random random(seed, number_of(version), index);
  for (;;) {
    Call call = ordinary_call(random);
    if (index % 2 == 1) distort(index / 2 % kDistortions, &call, random);  // each in turn
    if (random.one_in(8)) distort(random.between(0, kDistortions - 1), &call, random);
    if (can_be_made(call, version)) return call;
  }
}

// The simplest call found that still fails, one property made simple at a time.
Call shrink(Call call, const Version& version) {
  static const std::vector<std::function<void(Call*)>> steps = {
      [](Call* c) { c->sprinkle = Sprinkle::kNothing; },
      [](Call* c) { c->data = DataKind::kInts; },
      [](Call* c) { c->max_blocks = 0; },
      [](Call* c) { c->size.a_offset = 0; },
      [](Call* c) { c->size.b_offset = 0; },
      [](Call* c) { c->size.c_offset = 0; },
      [](Call* c) { c->odd_a = c->odd_b = c->odd_c = false; },
      [](Call* c) { c->null_a = c->null_b = c->null_c = false; },
      [](Call* c) { c->size.lda = (c->size.k + 7) / 8 * 8; },
      [](Call* c) { c->size.ldb = (c->size.k + 7) / 8 * 8; },
      [](Call* c) { c->size.ldc = c->size.n; },
      [](Call* c) { c->size.m /= 2; },
      [](Call* c) { c->size.n /= 2; },
      [](Call* c) { c->size.k /= 2; },
      [](Call* c) { c->size.m -= c->size.m > 0; },
      [](Call* c) { c->size.n -= c->size.n > 0; },
      [](Call* c) { c->size.k -= c->size.k > 0; },
  };
  int attempts = 300;
  for (bool simpler = true; simpler;) {
    simpler = false;
    for (const auto& step : steps) {
      for (;;) {  // as often as it goes on failing
        Call candidate = call;
        step(&candidate);
        if (describe(candidate) == describe(call) || !can_be_made(candidate, version)) break;
        if (--attempts < 0) return call;
        const Outcome outcome = make(candidate, version);
        if (!outcome.can_go_on) return call;
        if (outcome.fault.empty()) break;
        call = candidate;
        simpler = true;
      }
    }
  }
  return call;
}

constexpr int kCalls =
    (300 - 1) / harness::kVersions + 1;  // of each version, unless told otherwise

class RandomCalls : public testing::TestWithParam<Version> {};

TEST_P(RandomCalls, AreRightOrRefused) {
  const Version& version = GetParam();
  std::printf("seed %llu\n", static_cast<unsigned long long>(options().seed));
  int right = 0, refused = 0, failures = 0;
  const int count = options().count > 0 ? options().count : kCalls;
  for (int i = 0; i < count; ++i) {
    if (options().index >= 0 && options().index != i) continue;
    const Call call = random_call(version, options().seed, i);
    std::printf("%d: %s\n", i, describe(call).c_str());
    std::fflush(stdout);  // if this one crashes, it is the last that is named
    const Outcome outcome = make(call, version);
    ++(broken_rules(call, version).empty() ? right : refused);
    if (outcome.fault.empty()) continue;
    const Call simple = outcome.can_go_on ? shrink(call, version) : call;
    const std::string driver = driver_command(simple, version);
    ADD_FAILURE() << version.name << ", call " << i << ": " << describe(call) << "\n"
                  << outcome.fault << "  again: " << options().program
                  << " --gtest_filter='*RandomCalls.AreRightOrRefused/v" << number_of(version)
                  << "*' --seed " << options().seed << " --index " << i
                  << "\n  simplest call like it: " << describe(simple)
                  << (driver.empty() ? "" : "\n  which is: " + driver);
    constexpr int kEnough = 5;
    if (!outcome.can_go_on || ++failures == kEnough) break;
  }
  std::printf("%d within the limits, %d beyond\n", right, refused);
}

INSTANTIATE_TEST_SUITE_P(, RandomCalls, testing::ValuesIn(harness::versions()),
                         [](const auto& info) { return info.param.name; });

// A rule without its values: 20 kinds in all. Sizes 3, lengths of rows 3, A and B 4 each (null
// pointer, address, unit and limit of the pitch), C 3 (null, odd, limit), max_blocks, and two kinds
// of grids.
constexpr size_t kKindsOfRules = 20;
std::string kind_of(const BrokenRule& rule) {
  std::string kind;
  for (const std::string& part : rule) {
    for (const char letter : part) {
      if (letter != '-' && (letter < '0' || letter > '9')) kind += letter;
    }
  }
  return kind;
}

TEST(RandomCallsOfAllVersions, BreakEachRuleAlone) {
  int legal = 0;
  std::set<std::string> kinds;
  for (const Version& version : harness::versions()) {
    for (int i = 0; i < kCalls; ++i) {
      const std::vector<BrokenRule> broken =
          broken_rules(random_call(version, Options().seed, i), version);
      if (broken.empty()) ++legal;
      if (broken.size() == 1) kinds.insert(kind_of(broken[0]));
    }
  }
  constexpr int kAll = kCalls * harness::kVersions;
  EXPECT_GT(legal, kAll / 3);
  EXPECT_LT(legal, kAll * 3 / 4);
  EXPECT_EQ(kinds.size(), kKindsOfRules) << testing::PrintToString(kinds);
}

}  // namespace
}  // namespace shapes
