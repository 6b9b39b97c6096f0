// Grades answers to exercises: versions with a part that the reader has written.
#pragma once

#include <emulator.h>
#include <harness/version.h>

#include <set>  // for the checks of exercises/*.txt
#include <string>
#include <utility>
#include <vector>

namespace exercises {

struct Answer {
  std::string name;  // "mine", or "06_refill.try_2" in the test of the grading
  std::string version;  // the one that it was made from, "v2_pipelined"
  Status (*matmul)(const MatmulArguments& args, cudaStream_t stream);
  // What a right result does not show: stages that must have been under way at the same time, and
  // whether C must have been stored by TMA.
  int stages;
  bool stores_by_tma;
  // What else is wrong, found without running it; empty if nothing. Null: nothing else is asked.
  std::string (*fault)();
};

struct Verdict {
  std::string word;  // "right", "hazard" or "wrong"
  std::string text;  // what was found and where, in whole lines
};

// Runs the answer in the emulator, on shapes with and without tails, with several schedules, until
// something is found. The same answer always gets the same verdict.
Verdict grade(const Answer& answer);

// All answers in this program.
std::vector<Answer>& answers();

// Puts an answer among them, before main().
struct Registered {
  explicit Registered(Answer answer) { answers().push_back(std::move(answer)); }
};

}  // namespace exercises
