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
// So many turns others get to show what they do, if they never come to rest.
constexpr uint64_t kTurnsHeld = 100000;

thread_local Thread* running = nullptr;

}  // namespace

Thread* current_thread() { return running; }

// --- EventQueue ---

void EventQueue::add(uint64_t due, Action action) {
  events_.push_back({due, std::move(action)});
  earliest_ = std::min(earliest_, due);
}

bool EventQueue::run_due(uint64_t now) {
  if (now < earliest_) return false;
  // Actions may add events.
  for (size_t i = 0; i < events_.size();) {
    if (events_[i].due > now) {
      ++i;
      continue;
    }
    const Action action = std::move(events_[i].action);
    events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(i));
    action();
  }
  earliest_ = kNever;
  for (const Event& event : events_) earliest_ = std::min(earliest_, event.due);
  return true;
}

void EventQueue::run_any(Random& random) {
  const uint32_t chosen = random.below(static_cast<uint32_t>(events_.size()));
  const Action action = std::move(events_[chosen].action);
  events_.erase(events_.begin() + chosen);
  action();
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
  events_.add(now_ + draw_delay(), std::move(action));
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
}

// Lets each lane that can run have its turn, beginning with any of them.
void Scheduler::run_warp(Warp& warp) {
  const uint32_t lanes = warp.ready;
  const uint32_t first = schedule_ == Schedule::kRandom ? random_.below(kWarpThreads) : 0;
  for (uint32_t i = 0; i < kWarpThreads && !stopped_; ++i) {
    const uint32_t lane = (first + i) % kWarpThreads;
    if (lanes >> lane & 1) resume(*warp.lanes[lane]);
  }
  if (warp.ready != 0) make_ready(warp);
}

void Scheduler::block(Thread& thread, const Wait& wait) {
  thread.wait = wait;
  thread.state = Thread::State::kBlocked;
  thread.warp->ready &= ~(1u << thread.lane);
  suspend(thread);
  thread.wait.kind = WaitKind::kNone;
}

// A fiber is also resumed to say where it is.
void Scheduler::suspend(Thread& thread) {
  thread.fiber.suspend();
  while (asked_stack_ != nullptr) {
    *std::exchange(asked_stack_, nullptr) = capture_call_stack();
    thread.fiber.suspend();
  }
}

CallStack Scheduler::call_stack(const Thread& thread) {
  if (&thread == running) return capture_call_stack();
  CallStack stack;
  if (thread.state == Thread::State::kDone || thread.where.line == 0) return stack;
  asked_stack_ = &stack;
  thread.warp->lanes[static_cast<size_t>(thread.lane)]->fiber.resume();
  return stack;
}

void Scheduler::let_others_go_on(Thread& thread) {
  if (held_ == nullptr) {
    held_ = &thread;
    held_until_ = now_ + kTurnsHeld;
  }
  block(thread, {});
}

bool Scheduler::wake_held() {
  if (held_ == nullptr) return false;
  wake(*std::exchange(held_, nullptr));
  return true;
}

void Scheduler::wake(Thread& thread) {
  tries_given_up_ = 0;
  if (thread.state != Thread::State::kBlocked) return;
  thread.state = Thread::State::kReady;
  thread.warp->ready |= 1u << thread.lane;
  make_ready(*thread.warp);
}

void Scheduler::yield(Thread& thread) { suspend(thread); }

void Scheduler::maybe_yield(Thread& thread) {
  if (schedule_ == Schedule::kRandom && random_.below(kYieldOnceIn) == 0) yield(thread);
}

void Scheduler::finish(Thread& thread) {
  thread.state = Thread::State::kDone;
  thread.warp->ready &= ~(1u << thread.lane);
  thread.fiber.suspend();
}

// Nothing else can happen: a thread that has a way out of its wait gets it.
bool Scheduler::give_up_a_try(Cluster& cluster) {
  if (++tries_given_up_ > kTriesBeforeDeadlock) return false;
  for (const auto& block : cluster.blocks) {
    for (Thread& thread : block->threads) {
      if (thread.state != Thread::State::kBlocked || thread.wait.kind != WaitKind::kTry) continue;
      for (const auto& barrier : block->barriers.all()) {
        auto& waiting = barrier->waiting;
        waiting.erase(std::remove(waiting.begin(), waiting.end(), &thread), waiting.end());
      }
      thread.try_failed = true;
      const int tries = tries_given_up_;
      wake(thread);
      tries_given_up_ = tries;
      return true;
    }
  }
  return false;
}

void Scheduler::run(Cluster& cluster) {
  try {
    while (cluster.live_threads() > 0 && !stopped_) {
      if (events_.run_due(now_)) tries_given_up_ = 0;
      if (held_ != nullptr && now_ > held_until_) wake_held();
      if (!ready_.empty()) {
        run_warp(take_ready_warp());
      } else if (!events_.empty()) {
        events_.run_any(random_);
      } else if (!wake_held() && !give_up_a_try(cluster)) {
        report::deadlock(cluster);
      }
      ++now_;
    }
    // Stores to global memory outlive the threads that have issued them.
    while (!events_.empty() && !stopped_) events_.run_any(random_);
  } catch (const KernelStopped&) {
    stopped_ = true;
  }
}

void Scheduler::stop() { stopped_ = true; }

}  // namespace emulator
