// One call of a version: what is passed, what is in memory, and whether the right thing came of it.
#pragma once

#include <harness/problem.h>
#include <harness/version.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "limits.h"

namespace harness {

inline void PrintTo(const Version& version, std::ostream* out) { *out << version.name; }

}  // namespace harness

namespace shapes {

// Values that are strewn among the data, some to each of A and B.
enum class Sprinkle { kNothing, kNaN, kInfinity, kMinusInfinity, kLarge };

// Leading dimensions are as they are passed; none is filled in.
struct Call {
  harness::ProblemSize size;
  bool null_a = false, null_b = false, null_c = false;
  bool odd_a = false, odd_b = false, odd_c = false;  // one byte further
  int max_blocks = 0;
  harness::DataKind data = harness::DataKind::kInts;
  Sprinkle sprinkle = Sprinkle::kNothing;
  uint64_t seed = 1;  // of the data, and of the emulator's schedule
};

struct Outcome {
  std::string fault;  // in words; empty: all is as promised
  bool can_go_on = true;  // false after a CUDA error, or if the emulator has stopped the kernel
};

// limits.h for a call.
std::vector<BrokenRule> broken_rules(const Call& call, const harness::Version& version);

// Makes the call. Within the limits the result must be right (is_affordable, or empty); beyond them
// the call must be refused, by a sentence that says what is due, with C untouched.
Outcome make(const Call& call, const harness::Version& version);

// Whether the matrices are small enough for a test.
bool is_affordable(const Call& call);

// All of a call in one line.
std::string describe(const Call& call);

// A driver's command line that does the same; empty if there is none.
std::string driver_command(const Call& call, const harness::Version& version);

}  // namespace shapes
