#include "thread_barrier.h"

#include "machine.h"

namespace emulator {

uint64_t ThreadBarrier::arrive(Thread& thread, int expected) {
  const uint64_t use = use_;
  expected_ = expected;
  publish(thread, &arriving_);
  if (++arrived_ >= expected) complete();
  return use;
}

void ThreadBarrier::wait(Thread& thread, uint64_t use, const Wait& wait) {
  if (use_ > use) {  // complete: the next use cannot be, before this thread takes part in it
    thread.warp->clock.join(released_);
    // The textbook's lanes go on together, the first first.
    if (thread.scheduler().by_the_book()) thread.scheduler().yield(thread);
    return;
  }
  waiting_.push_back(&thread);
  thread.scheduler().block(thread, wait);
}

void ThreadBarrier::expect_only(int expected) {
  if (arrived_ > 0 && arrived_ >= expected) complete();
}

void ThreadBarrier::complete() {
  ++use_;
  arrived_ = 0;
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
