// Pairwise testing: few cases in which every two values of any two parameters still meet. Most
// mistakes need no more than two things at a time.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

namespace shapes {

// A value for each parameter, by its index. kOpen: not chosen yet.
using Choice = std::vector<int>;
constexpr int kOpen = -1;

// Makes cases from the first pair that no case has yet, parameter by parameter, each with the value
// that adds the most new pairs. `values` says how many each parameter has. `allowed` may forbid
// cases; it is asked of unfinished ones, and must be true if one way to finish them is allowed. No
// randomness: the same cases every time.
inline std::vector<Choice> cover_pairs(const std::vector<int>& values,
                                       const std::function<bool(const Choice&)>& allowed) {
  const int parameters = static_cast<int>(values.size());
  std::vector<int> first(parameters + 1, 0);  // number of a parameter's first value
  for (int p = 0; p < parameters; ++p) first[p + 1] = first[p] + values[p];
  const int all = first[parameters];
  std::vector<char> met(static_cast<size_t>(all) * all, 0);
  const auto is_new = [&](int p, int x, int q, int y) {
    const int low = first[std::min(p, q)] + (p < q ? x : y);
    const int high = first[std::max(p, q)] + (p < q ? y : x);
    return met[static_cast<size_t>(low) * all + high] == 0;
  };

  std::vector<Choice> cases;
  const auto add_case = [&](int p, int x, int q, int y) {
    Choice choice(parameters, kOpen);
    choice[p] = x;
    choice[q] = y;
    if (!allowed(choice)) return;
    for (int open = 0; open < parameters; ++open) {
      if (choice[open] != kOpen) continue;
      int best = kOpen, most = -1;
      for (int i = 0; i < values[open]; ++i) {
        // Where several are equally good, another one each time.
        const int value = (i + static_cast<int>(cases.size())) % values[open];
        choice[open] = value;
        if (!allowed(choice)) continue;
        int gain = 0;
        for (int other = 0; other < parameters; ++other) {
          if (other == open || choice[other] == kOpen) continue;
          gain += is_new(open, value, other, choice[other]);
        }
        if (gain > most) {
          most = gain;
          best = value;
        }
      }
      choice[open] = best;
    }
    for (int i = 0; i < parameters; ++i) {
      for (int j = i + 1; j < parameters; ++j) {
        met[static_cast<size_t>(first[i] + choice[i]) * all + first[j] + choice[j]] = 1;
      }
    }
    cases.push_back(choice);
  };
  for (int p = 0; p < parameters; ++p) {
    for (int q = p + 1; q < parameters; ++q) {
      for (int x = 0; x < values[p]; ++x) {
        for (int y = 0; y < values[q]; ++y) {
          if (is_new(p, x, q, y)) add_case(p, x, q, y);
        }
      }
    }
  }
  return cases;
}

// How many pairs no case has, counted the plain way.
inline int missing_pairs(const std::vector<int>& values, const std::vector<Choice>& cases) {
  int missing = 0;
  for (size_t p = 0; p < values.size(); ++p) {
    for (size_t q = p + 1; q < values.size(); ++q) {
      for (int x = 0; x < values[p]; ++x) {
        for (int y = 0; y < values[q]; ++y) {
          missing += std::none_of(cases.begin(), cases.end(), [&](const Choice& choice) {
            return choice[p] == x && choice[q] == y;
          });
        }
      }
    }
  }
  return missing;
}

}  // namespace shapes
