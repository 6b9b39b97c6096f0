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
// those that passed, and the baselines, on `options.data`. Faults go to standard error as they are
// found. A version or baseline that refuses the problem is a row that says why; the others go on.
// In the emulator nothing is timed; each row holds what was seen in one run.
Status run_problem(const std::vector<Version>& versions, const ProblemSize& size,
                   const RunOptions& options, ProblemResult* result);

// The body of compare and ablate: runs every problem of `options`, prints each as `table` says, and
// files the results after each, if a file was asked for. Returns the exit code.
int run_problems(const std::string& program, const std::vector<Version>& versions,
                 const RunOptions& options,
                 const std::function<std::string(const ProblemResult&)>& table);

// main() of a version's driver: one problem, one result line.
int run_driver(const Version& version, int argc, const char* const* argv);

}  // namespace harness
