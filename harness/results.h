// Results as they are printed and as they are filed.
#pragma once

#include <harness/device.h>
#include <harness/problem.h>
#include <harness/random.h>
#include <launch.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace harness {

struct ContenderResult {
  std::string name;
  std::optional<bool> checked;  // empty: not a version, or one that refused this problem
  std::vector<double> rounds_ms;  // empty: not timed
  std::string api;  // kGemmEx or kLt, of the contender kCublas
  std::string refusal;  // why it does not run this problem; empty: it does
  int late = 0;  // of rounds_ms, how many began late (device.h)
  Grid grid{0, 0};  // of a version's last launch; 0 × 0: none, or not known
  Observation seen;  // in one run; of the emulator alone

  int64_t blocks() const { return grid.x * grid.y; }
};

struct ProblemResult {
  ProblemSize size;
  bool throttled = false;
  std::vector<ContenderResult> contenders;
};

// False if a version computed something wrong, or if the emulator stopped it.
bool all_right(const ProblemResult& problem);

struct Results {
  std::vector<std::string> command;  // the program and its arguments
  DeviceInfo device;
  DataKind data = DataKind::kUniform;
  uint64_t seed = 1;
  int max_blocks = 0;  // 0: no limit
  TimingOptions timing;
  std::vector<ProblemResult> problems;
};

// 2 · m · n · k operations in `ms`, in TFLOP/s.
double tflops(const ProblemSize& size, double ms);

// How many times as fast as `baseline` the contender was: the median over rounds of the quotient of
// the two times of one round. Empty if either was not timed.
std::optional<double> ratio(const ContenderResult& contender, const ContenderResult& baseline);

// The name of the 100 %: the better of the two ways to ask cuBLAS.
inline constexpr const char* kCublas = "cublas";

// Renames the cuBLAS contender with the better median to kCublas.
void choose_cublas(ProblemResult* problem);

// The contender of this name, or null.
const ContenderResult* find(const ProblemResult& problem, const std::string& name);

// Device, clocks, software and data: what belongs above every table.
std::string describe_setup(const Results& results);

// One problem as a table: version, time and its spread, TFLOP/s, ratios, checked. The last ratio is
// to the contender `against`; if that is empty, to the version in the row above.
std::string format_table(const ProblemResult& problem, const std::string& against = "");

// A list of problems as one table.
class ListTable {
 public:
  // The versions have a column each.
  ListTable(std::string title, std::vector<std::string> versions)
      : title_(std::move(title)), versions_(std::move(versions)) {}

  std::string head() const;
  // A problem: cuBLAS' TFLOP/s, and how many times as fast each version was.
  std::string row(const ProblemResult& problem);
  // The geometric means of all rows so far; "-" for a version that lacks one.
  std::string means() const;

 private:
  std::string title_;
  std::vector<std::string> versions_;
  std::vector<std::vector<double>> ratios_{versions_.size()};
  size_t rows_ = 0;
};

// The same as format_table for the emulator, which measures no time: what was checked, what was
// found, what happened.
std::string format_observations(const ProblemResult& problem);

// A line for each contender that refused the problem, and for times that are worth less than the
// others; empty if there is nothing to say. format_table has them below the table.
std::string format_notes(const ProblemResult& problem);

// The names of the versions that ran more blocks than `max_blocks` (0: no limit) allows: their
// blocks compute one tile each, whatever the limit. With commas between them.
std::string names_of_unlimited(const ProblemResult& problem, int max_blocks);

// The results as JSON; docs/results/README.md has the schema.
std::string json_of(const Results& results);

}  // namespace harness
