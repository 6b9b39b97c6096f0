// What a version may refuse, written from the documented limits (docs/reference/promises.md) and
// from nothing that the product has: no function or constant of common/ is used here.
#pragma once

#include <harness/version.h>

#include <string>
#include <vector>

namespace shapes {

// A limit that a call is beyond: what the sentence that refuses the call must say. Its tensor or
// size, the value, the rule, and the way out.
using BrokenRule = std::vector<std::string>;

// The number in a version's name: 4 of v4_two_consumers.
int number_of(const harness::Version& version);

// All the rules that a call breaks; empty: the version must compute the right result.
std::vector<BrokenRule> broken_rules(const MatmulArguments& args, const harness::Version& version);

}  // namespace shapes
