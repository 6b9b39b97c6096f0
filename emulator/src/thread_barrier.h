// Barriers of threads alone: bar.sync of a block, barrier.cluster of a cluster.
#pragma once

#include <source_line.h>

#include <vector>

#include "vector_clock.h"

namespace emulator {

struct Thread;
struct Wait;

class ThreadBarrier {
 public:
  // Counts the calling thread; `expected` arrivals complete the barrier. Returns the parity of the
  // barrier's use, to wait for: no more, since a number would keep a thread that goes round in
  // circles from coming back to the same state.
  bool arrive(Thread& thread, int expected);
  // Returns when the use is complete.
  void wait(Thread& thread, bool use, const Wait& wait);
  // Fewer threads are left to come: completes the barrier if those that wait are all.
  void expect_only(int expected);

  bool has_been_used() const { return has_been_used_; }  // all have met at least once
  int arrived() const { return arrived_; }
  int expected() const { return expected_; }

 private:
  void complete();

  bool use_ = false;  // its parity
  bool has_been_used_ = false;
  int arrived_ = 0;
  int expected_ = 0;
  VectorClock arriving_;
  VectorClock released_;
  std::vector<Thread*> waiting_;
  std::vector<Thread*> woken_;  // empty; its memory serves again
};

}  // namespace emulator
