#include "thread_barrier.h"

#include <algorithm>

#include "machine.h"

namespace emulator {

uint64_t ThreadBarrier::arrive(Thread& thread, int expected) {
  const uint64_t use = use_;
  expected_ = expected;
  publish(thread, &arriving_);
  arrived_.push_back(&thread);
  if (arrived() >= expected) complete();
  return use;
}

void ThreadBarrier::wait(Thread& thread, uint64_t use, const Wait& wait) {
  if (use_ > use) {  // complete: the next use cannot be, before this thread takes part in it
    thread.warp->clock.join(released_);
    return;
  }
  waiting_.push_back(&thread);
  thread.scheduler().block(thread, wait);
}

void ThreadBarrier::expect_only(int expected) {
  if (!arrived_.empty() && arrived() >= expected) complete();
}

bool ThreadBarrier::has_arrived(const Thread& thread) const {
  return std::find(arrived_.begin(), arrived_.end(), &thread) != arrived_.end();
}

void ThreadBarrier::complete() {
  ++use_;
  arrived_.clear();
  released_ = arriving_;
  arriving_.clear();
  std::vector<Thread*> waiting;
  waiting.swap(waiting_);
  for (Thread* thread : waiting) {
    thread->warp->clock.join(released_);
    thread->scheduler().wake(*thread);
  }
}

}  // namespace emulator
