// The command lines of drivers and tools.
#pragma once

#include <harness/device.h>
#include <harness/problem.h>
#include <harness/random.h>
#include <status.h>

#include <string>
#include <vector>

namespace harness {

// What drivers and compare run unless told otherwise: on a GPU sizes that fill it, in the emulator
// some that take it well under a second, with more K tiles than any ring has stages, twice around.
ProblemSize default_problem();
std::vector<ProblemSize> default_problems();

// At most so many blocks of persistent versions: on a GPU no limit (0); in the emulator so few that
// they compute several tiles of the default problems, one after the other.
int default_max_blocks();

// What a driver, compare or ablate is asked to do.
struct RunOptions {
  std::vector<std::string> command;  // the program and its arguments, for the result file
  std::vector<ProblemSize> problems;
  bool problems_are_default = true;
  std::vector<std::string> versions;  // as "v2" or "v2_pipelined"; empty: all
  DataKind data = DataKind::kUniform;
  uint64_t seed = 1;
  DeviceOptions device;
  int max_blocks = default_max_blocks();
  bool max_blocks_is_default = true;
  TimingOptions timing;
  bool check_only = false;
  std::string json;  // a file's path; empty: none
};

// Parse a command line. On --help the text goes to standard output and `*done` is set; a mistake
// comes back as kUsage with one sentence.
Status parse_driver(const std::string& version, int argc, const char* const* argv,
                    RunOptions* options, bool* done);
Status parse_compare(int argc, const char* const* argv, RunOptions* options, bool* done);

// "8192x8192x8192" as a size; kUsage if it is none.
Status parse_problem(const std::string& text, ProblemSize* size);

}  // namespace harness
