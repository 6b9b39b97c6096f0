#include "thread_barrier.h"

#include "machine.h"

namespace emulator {

bool ThreadBarrier::arrive(Thread& thread, int expected) {
  const bool use = use_;
  expected_ = expected;
  publish(thread, &arriving_);
  if (++arrived_ >= expected) complete();
  return use;
}

void ThreadBarrier::wait(Thread& thread, bool use, const Wait& wait) {
  if (use_ != use) {  // complete: the next use cannot be, before this thread takes part in it
    thread.warp->clock.join(released_);
    return;
  }
  waiting_.push_back(&thread);
  thread.scheduler().block(thread, wait);
}

void ThreadBarrier::expect_only(int expected) {
  if (arrived_ > 0 && arrived_ >= expected) complete();
}

void ThreadBarrier::complete() {
  use_ = !use_;
  has_been_used_ = true;
  arrived_ = 0;
  released_ = arriving_;
  arriving_.clear();
  woken_.swap(waiting_);
  for (Thread* thread : woken_) {
    thread->warp->clock.join(released_);
    thread->scheduler().wake(*thread);
  }
  woken_.clear();
}

}  // namespace emulator
