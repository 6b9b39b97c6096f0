// Check and time versions on problems: what a driver, compare and ablate have in common.
#pragma once

#include <harness/options.h>
#include <harness/results.h>
#include <harness/version.h>

#include <functional>
#include <string>
#include <vector>

namespace harness {

// Checks each version on whole numbers (bit by bit), on normal and on the timing data; then times
// those that passed, and the baselines, on `data`. Faults go to standard error as they are found.
// `*all_right` is cleared if a version computed something wrong, or if the emulator stopped it. In
// the emulator nothing is timed; each row holds what was seen in one run.
Status run_problem(const std::vector<Version>& versions, const ProblemSize& size, DataKind data,
                   uint64_t seed, bool check_only, const TimingOptions& timing,
                   ProblemResult* result, bool* all_right, int max_blocks = 0);

// The body of compare and ablate: runs every problem of `options`, prints each as `table` says, and
// writes the result file, if one was asked for. Returns the exit code.
int run_problems(const std::string& program, const std::vector<Version>& versions,
                 const CompareOptions& options,
                 const std::function<std::string(const ProblemResult&)>& table);

// main() of a version's driver: one problem, one result line.
int run_driver(const Version& version, int argc, const char* const* argv);

// Prints "program: sentence" to standard error; returns the exit code.
int fail(const std::string& program, const Status& status);

// As "8192x8192x8192".
std::string problem_name(const ProblemSize& size);

}  // namespace harness
