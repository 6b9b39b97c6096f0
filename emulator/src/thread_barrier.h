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
  // Counts the calling thread; `expected` arrivals complete the barrier. Returns the number of the
  // barrier's use, to wait for.
  uint64_t arrive(Thread& thread, int expected);
  // Returns when the use is complete.
  void wait(Thread& thread, uint64_t use, const Wait& wait);
  // Fewer threads are left to come: completes the barrier if those that wait are all.
  void expect_only(int expected);

  int arrived() const { return static_cast<int>(arrived_.size()); }
  bool has_arrived(const Thread& thread) const;
  int expected() const { return expected_; }

 private:
  void complete();

  uint64_t use_ = 0;
  std::vector<const Thread*> arrived_;  // since the use before
  int expected_ = 0;
  VectorClock arriving_;
  VectorClock released_;
  std::vector<Thread*> waiting_;
};

}  // namespace emulator
