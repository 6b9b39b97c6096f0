#include "scheduler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "machine.h"
#include "report.h"

namespace emulator {
namespace {

// How often a lone thread's try_wait is sent back before its loop is taken for a deadlock.
constexpr int kTriesBeforeDeadlock = 64;
// A thread that has done something others can see lets them go first once in so many times.
constexpr uint32_t kYieldOnceIn = 8;
constexpr uint64_t kNever = UINT64_MAX;

thread_local Thread* running = nullptr;

}  // namespace

Thread* current_thread() { return running; }

// --- EventQueue ---

void EventQueue::add(uint64_t due, Action action, bool quiet) {
  events_.push_back({due, std::move(action), quiet});
  earliest_ = std::min(earliest_, due);
}

bool EventQueue::run(size_t index) {
  const Action action = std::move(events_[index].action);
  const bool quiet = events_[index].quiet;
  events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(index));
  action();
  return !quiet;
}

bool EventQueue::run_due(uint64_t now) {
  if (now < earliest_) return false;
  bool heard = false;
  // Actions may add events.
  for (size_t i = 0; i < events_.size();) {
    if (events_[i].due > now) {
      ++i;
      continue;
    }
    heard |= run(i);
  }
  earliest_ = kNever;
  for (const Event& event : events_) earliest_ = std::min(earliest_, event.due);
  return heard;
}

bool EventQueue::run_any(Random& random) {
  return run(random.below(static_cast<uint32_t>(events_.size())));
}

bool EventQueue::run_any_heard(Random& random) {
  std::vector<size_t> heard;
  for (size_t i = 0; i < events_.size(); ++i) {
    if (!events_[i].quiet) heard.push_back(i);
  }
  return !heard.empty() && run(heard[random.below(static_cast<uint32_t>(heard.size()))]);
}

// --- Scheduler ---

Scheduler::Scheduler(const Options& options, int64_t cluster_index)
    : schedule_(options.schedule),
      delay_(options.delay),
      random_(options.seed, static_cast<uint64_t>(cluster_index)) {}

uint64_t Scheduler::draw_delay() {
  Delay delay = delay_;
  if (delay == Delay::kMixed) {
    constexpr Delay kChoices[] = {Delay::kAtOnce, Delay::kShort, Delay::kLong,
                                  Delay::kOnlyWhenIdle};
    delay = kChoices[random_.below(static_cast<uint32_t>(std::size(kChoices)))];
  }
  switch (delay) {
    case Delay::kShort:
      return random_.below(8);
    case Delay::kLong:
      return random_.below(64);
    case Delay::kOnlyWhenIdle:
      return kNever / 2;
    case Delay::kMixed:
    case Delay::kAtOnce:
      break;
  }
  return 0;
}

void Scheduler::after_delay(EventQueue::Action action) {
  events_.add(now_ + draw_delay(), std::move(action), false);
}

void Scheduler::make_ready(Warp& warp) {
  if (warp.queued) return;
  warp.queued = true;
  ready_.push_back(&warp);
}

void Scheduler::add(Warp& warp) {
  warp.ready = ~0u;
  make_ready(warp);
}

Warp& Scheduler::take_ready_warp() {
  size_t chosen = 0;
  if (schedule_ == Schedule::kRandom) chosen = random_.below(static_cast<uint32_t>(ready_.size()));
  Warp& warp = *ready_[chosen];
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(chosen));
  warp.queued = false;
  return warp;
}

void Scheduler::resume(Thread& thread) {
  running = &thread;
  threadIdx = {static_cast<unsigned>(thread.index), 0, 0};
  blockIdx = thread.block->index;
  thread.fiber.resume();
  running = nullptr;
  if (thread.state == Thread::State::kBlocked && thread.wait.kind == WaitKind::kSleep) {
    events_.add(
        now_ + draw_delay(), [this, &thread] { wake_quietly(thread); }, true);
  }
  if (watches_) thread.circle.note(thread.fiber.state(), *activity_);
}

// Lets each lane that can run have its turn, beginning with any of them.
void Scheduler::run_warp(Warp& warp) {
  const uint32_t lanes = warp.ready;
  const uint32_t first = schedule_ == Schedule::kRandom ? random_.below(kWarpThreads) : 0;
  for (uint32_t i = 0; i < kWarpThreads && !stopped_ && !pauses_; ++i) {
    const uint32_t lane = (first + i) % kWarpThreads;
    if (lanes >> lane & 1) resume(*warp.lanes[lane]);
  }
  if (warp.ready != 0) make_ready(warp);
}

void Scheduler::block(Thread& thread, const Wait& wait) {
  thread.wait = wait;
  thread.state = Thread::State::kBlocked;
  thread.warp->ready &= ~(1u << thread.lane);
  thread.fiber.suspend();
  thread.wait.kind = WaitKind::kNone;
}

void Scheduler::wake(Thread& thread) {
  tries_given_up_ = 0;
  wake_quietly(thread);
}

void Scheduler::wake_quietly(Thread& thread) {
  if (thread.state != Thread::State::kBlocked) return;
  thread.state = Thread::State::kReady;
  thread.warp->ready |= 1u << thread.lane;
  make_ready(*thread.warp);
}

void Scheduler::yield(Thread& thread) { thread.fiber.suspend(); }

void Scheduler::maybe_yield(Thread& thread) {
  changed();
  if (schedule_ == Schedule::kRandom && random_.below(kYieldOnceIn) == 0) yield(thread);
}

void Scheduler::meet_others(Thread& thread) {
  if (!alone_) return;
  alone_ = false;
  pauses_ = true;
  yield(thread);
}

// (What chance decides of a thread that may go round in circles, it decides when the thread is
// suspended, and not on the thread's stack: Circle compares that.)
void Scheduler::look(Thread& thread) {
  looked_ = !alone_;
  yield(thread);
}

void Scheduler::sleep(Thread& thread, SourceLine where) {
  Wait wait;
  wait.kind = WaitKind::kSleep;
  wait.where = where;
  block(thread, wait);
}

void Scheduler::finish(Thread& thread) {
  changed();
  thread.state = Thread::State::kDone;
  thread.warp->ready &= ~(1u << thread.lane);
  thread.fiber.suspend();
}

bool Scheduler::tries_are_over() const { return tries_given_up_ > kTriesBeforeDeadlock; }

bool Scheduler::give_up_a_try(Cluster& cluster) {
  ++tries_given_up_;
  if (tries_are_over()) return false;
  for (const auto& block : cluster.blocks) {
    for (Thread& thread : block->threads) {
      if (thread.state != Thread::State::kBlocked || thread.wait.kind != WaitKind::kTry) continue;
      for (const auto& barrier : block->barriers.all()) {
        auto& waiting = barrier->waiting;
        waiting.erase(std::remove(waiting.begin(), waiting.end(), &thread), waiting.end());
      }
      thread.try_failed = true;
      wake_quietly(thread);
      return true;
    }
  }
  return false;
}

// A warp's turn, or that of an asynchronous operation.
void Scheduler::run_turn(Cluster& cluster) {
  bool heard = events_.run_due(now_);
  if (!ready_.empty()) {
    run_warp(take_ready_warp());
  } else if (!events_.empty()) {
    heard |= events_.run_any(random_);
  } else if (!give_up_a_try(cluster)) {
    report::deadlock(cluster);
  }
  if (heard) hear();
  ++now_;
}

void Scheduler::hear() {
  tries_given_up_ = 0;
  changed();
}

void Scheduler::nudge(Cluster& cluster) {
  try {
    if (events_.run_any_heard(random_)) return hear();
    events_.run_due(kNever);  // all sleepers
    give_up_a_try(cluster);
  } catch (const KernelStopped&) {
    stopped_ = true;
  }
}

void Scheduler::run(Cluster& cluster, uint64_t turns) {
  pauses_ = false;
  try {
    for (; cluster.live_threads() > 0 && !stopped_ && turns > 0; --turns) {
      looked_ = false;
      run_turn(cluster);
      if (pauses_) return;
      if (looked_ && (schedule_ == Schedule::kRoundRobin || random_.below(2) == 0)) return;
    }
    // Writes to global memory outlive the threads that have asked for them.
    const bool threads_have_ended = cluster.live_threads() == 0;
    for (; threads_have_ended && !events_.empty() && !stopped_ && turns > 0; --turns) {
      if (alone_ ? events_.run_any(random_) : events_.run_due(now_)) hear();
      ++now_;
    }
  } catch (const KernelStopped&) {
    stopped_ = true;
  }
}

void Scheduler::stop() { stopped_ = true; }

}  // namespace emulator
