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
// Once in so many turns, a try_wait that would have to wait gives up at once, in all lanes.
constexpr uint32_t kTriesExpireOnceIn = 4;
constexpr uint64_t kNever = UINT64_MAX;

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

Delay Scheduler::any_delay() {
  constexpr Delay kChoices[] = {Delay::kAtOnce, Delay::kShort, Delay::kLong, Delay::kOnlyWhenIdle};
  return kChoices[random_.below(static_cast<uint32_t>(std::size(kChoices)))];
}

// Units are in a mood each, for a while, and one warp may be in haste: where loads are slow and
// WGMMAs quick, say, it shows who does not wait for loads. (Drawn for each operation anew, delays
// even out before anything goes wrong: docs/emulator.md.)
void Scheduler::renew_moods() {
  constexpr uint32_t kLongestMood = 100;  // turns
  moods_end_ = now_ + 1 + random_.below(kLongestMood);
  for (Delay& mood : moods_) mood = any_delay();
  hasty_ = nullptr;
  if (!ready_.empty() && random_.below(2) == 0) {
    hasty_ = ready_[random_.below(static_cast<uint32_t>(ready_.size()))];
  }
}

// Some operations are out of their unit's mood, for what a mood hides.
Delay Scheduler::mixed_delay(Unit unit) {
  constexpr uint32_t kOutOfMoodOnceIn = 5;
  return random_.below(kOutOfMoodOnceIn) == 0 ? any_delay() : moods_[static_cast<size_t>(unit)];
}

uint64_t Scheduler::draw_delay(Unit unit, double work) {
  switch (delay_ == Delay::kMixed ? mixed_delay(unit) : delay_) {
    case Delay::kShort:
      return random_.below(8);
    case Delay::kLong:
      return random_.below(64);
    case Delay::kOnlyWhenIdle:
      return kNever / 2;
    case Delay::kTextbook:
      return static_cast<uint64_t>(work *
                                   static_cast<double>(kTextbook[static_cast<size_t>(unit)]));
    case Delay::kMixed:
    case Delay::kAtOnce:
      break;
  }
  return 0;
}

void Scheduler::after_delay(Unit unit, EventQueue::Action action, double work) {
  events_.add(now_ + draw_delay(unit, work), std::move(action));
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

size_t Scheduler::choose_ready_warp() {
  constexpr uint32_t kOvertakenOnceIn = 8;
  if (schedule_ != Schedule::kRandom) return 0;
  if (hasty_ != nullptr && hasty_->queued && random_.below(kOvertakenOnceIn) != 0) {
    return static_cast<size_t>(std::find(ready_.begin(), ready_.end(), hasty_) - ready_.begin());
  }
  return random_.below(static_cast<uint32_t>(ready_.size()));
}

Warp& Scheduler::take_ready_warp() {
  const size_t chosen = choose_ready_warp();
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
  tries_expire_ = schedule_ == Schedule::kRandom && random_.below(kTriesExpireOnceIn) == 0;
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
  Trace& trace = thread.cluster().trace;
  if (trace.enabled) trace.wait_begins(thread);
  thread.fiber.suspend();
  if (trace.enabled) trace.wait_ends(thread);
  thread.wait.kind = WaitKind::kNone;
}

void Scheduler::wake(Thread& thread) {
  tries_given_up_ = 0;
  if (thread.state != Thread::State::kBlocked) return;
  thread.state = Thread::State::kReady;
  thread.warp->ready |= 1u << thread.lane;
  make_ready(*thread.warp);
}

void Scheduler::yield(Thread& thread) { thread.fiber.suspend(); }

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

// Nobody can run: time goes on to what comes next, or anything comes.
void Scheduler::run_next_event() {
  if (!by_the_book()) return events_.run_any(random_);
  now_ = std::max(now_, events_.earliest());
  events_.run_due(now_);
}

void Scheduler::run(Cluster& cluster) {
  try {
    while (cluster.live_threads() > 0 && !stopped_) {
      if (now_ >= moods_end_) renew_moods();
      if (events_.run_due(now_)) tries_given_up_ = 0;
      if (!ready_.empty()) {
        run_warp(take_ready_warp());
      } else if (!events_.empty()) {
        run_next_event();
      } else if (!give_up_a_try(cluster)) {
        report::deadlock(cluster);
      }
      ++now_;
    }
    // Stores to global memory outlive the threads that have issued them.
    while (!events_.empty() && !stopped_) run_next_event();
  } catch (const KernelStopped&) {
    stopped_ = true;
  }
}

void Scheduler::stop() { stopped_ = true; }

}  // namespace emulator
