// The command lines of drivers and tools.
#pragma once

#include <harness/problem.h>
#include <harness/random.h>
#include <status.h>

#include <string>
#include <vector>

namespace harness {

// What drivers and compare run unless told otherwise: on a GPU sizes that fill it, in the emulator
// some that take it well under a second.
ProblemSize default_problem();
std::vector<ProblemSize> default_problems();

// What a version's driver is asked to do.
struct DriverOptions {
  ProblemSize size = default_problem();
  DataKind data = DataKind::kUniform;
  uint64_t seed = 1;
  DeviceOptions device;
  int max_blocks = 0;
  TimingOptions timing;
  bool check_only = false;
  std::string json;  // a file's path; empty: none
};

// What compare is asked to do.
struct CompareOptions {
  std::vector<ProblemSize> problems;
  bool problems_are_default = true;
  std::vector<std::string> versions;  // as "v2" or "v2_pipelined"; empty: all
  DataKind data = DataKind::kUniform;
  uint64_t seed = 1;
  DeviceOptions device;
  TimingOptions timing;
  bool check_only = false;
  std::string json;
};

// Parse a command line. On --help the text goes to standard output and `*done` is set; a mistake
// comes back as kUsage with one sentence.
Status parse_driver(const std::string& version, int argc, const char* const* argv,
                    DriverOptions* options, bool* done);
Status parse_compare(int argc, const char* const* argv, CompareOptions* options, bool* done);

// "8192x8192x8192" as a size; kUsage if it is none.
Status parse_problem(const std::string& text, ProblemSize* size);

const char* name_of(DataKind kind);

}  // namespace harness
