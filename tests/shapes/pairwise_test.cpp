// Every pair is covered, by few cases, the same ones every time.
#include "pairwise.h"

#include <gtest/gtest.h>

#include <set>

namespace shapes {
namespace {

const auto kAnything = [](const Choice&) { return true; };

TEST(Pairwise, EveryPairIsCovered) {
  for (const std::vector<int>& values : std::vector<std::vector<int>>{
           {2, 2}, {1, 3}, {2, 2, 2, 2}, {5, 1, 4}, {16, 16, 12, 3, 2, 6}, {3, 9, 2, 8, 4, 4, 7}}) {
    const std::vector<Choice> cases = cover_pairs(values, kAnything);
    EXPECT_EQ(missing_pairs(values, cases), 0);
    for (const Choice& choice : cases) {
      ASSERT_EQ(choice.size(), values.size());
      for (size_t p = 0; p < values.size(); ++p) {
        EXPECT_GE(choice[p], 0);
        EXPECT_LT(choice[p], values[p]);
      }
    }
  }
}

TEST(Pairwise, CasesAreFew) {
  EXPECT_EQ(cover_pairs({16, 16}, kAnything).size(), 256u) << "as many as there are pairs";
  EXPECT_LE(cover_pairs({3, 3, 3, 3}, kAnything).size(), 13u) << "of 81; no way with less than 9";
  EXPECT_LE(cover_pairs({16, 16, 12, 3, 3, 6, 5, 4}, kAnything).size(), 290u);
  EXPECT_EQ(cover_pairs({4, 5, 6}, kAnything), cover_pairs({4, 5, 6}, kAnything));
}

TEST(Pairwise, WhatIsForbiddenIsNotMade) {
  // Three large values at once are too much; any two are not.
  const auto affordable = [](const Choice& choice) {
    return (choice[0] == 3) + (choice[1] == 3) + (choice[2] == 3) < 3;
  };
  const std::vector<int> values = {4, 4, 4, 2};
  const std::vector<Choice> cases = cover_pairs(values, affordable);
  EXPECT_EQ(missing_pairs(values, cases), 0);
  for (const Choice& choice : cases) EXPECT_TRUE(affordable(choice));
}

TEST(Pairwise, AMissingPairIsCounted) {
  const std::vector<int> values = {3, 4};
  std::vector<Choice> cases = cover_pairs(values, kAnything);
  cases.pop_back();
  EXPECT_EQ(missing_pairs(values, cases), 1);
  EXPECT_EQ(missing_pairs(values, {}), 12);
  const auto no_last = [](const Choice& choice) { return choice[0] != 2 || choice[1] != 3; };
  EXPECT_EQ(missing_pairs(values, cover_pairs(values, no_last)), 1);
}

}  // namespace
}  // namespace shapes
