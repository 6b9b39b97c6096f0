// Decides, from the seed, who runs next: a warp or an asynchronous operation.
#pragma once

#include <emulator.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "random.h"

namespace emulator {

class Cluster;
struct Thread;
struct Wait;
struct Warp;

// Operations that have been issued and not yet taken place.
class EventQueue {
 public:
  using Action = std::function<void()>;

  void add(uint64_t due, Action action);
  bool empty() const { return events_.empty(); }
  // Runs what is due, in the order of issue. True if there was any.
  bool run_due(uint64_t now);
  // Runs any one of them, due or not.
  void run_any(Random& random);
  // When the next is due.
  uint64_t earliest() const { return earliest_; }

 private:
  struct Event {
    uint64_t due;
    Action action;
  };
  std::vector<Event> events_;
  uint64_t earliest_ = UINT64_MAX;
};

// Who has issued an operation: each has delays of its own.
enum class Unit { kLoads, kStores, kCopies, kTensorCores, kThreads };
constexpr int kUnits = static_cast<int>(Unit::kThreads) + 1;

// How long operations take in the textbook's schedule, in turns: a K tile's loads about as long as
// its WGMMAs, and both much longer than it takes to ask for them.
constexpr uint64_t kTextbook[kUnits] = {40, 24, 40, 6, 20};  // a WGMMA for every 128 columns

class Scheduler {
 public:
  Scheduler(const Options& options, int64_t cluster_index);

  // --- for the threads of the cluster ---

  // Suspends the calling thread until someone wakes it.
  void block(Thread& thread, const Wait& wait);
  void wake(Thread& thread);
  // Lets others go first.
  void yield(Thread& thread);
  // The same, now and then.
  void maybe_yield(Thread& thread);
  // Whether a try_wait comes back before the phase is complete, as PTX lets it.
  bool tries_expire() const { return tries_expire_; }
  // Called by a thread as its last act.
  void finish(Thread& thread);
  // A check has failed: nobody runs any more.
  void stop();

  // --- for the asynchronous units ---

  uint64_t now() const { return now_; }
  Random& random() { return random_; }
  // Lets `action` of this unit take place after a delay that the policy draws; in the textbook's,
  // one that is always the same for so much `work`.
  void after_delay(Unit unit, EventQueue::Action action, double work = 1);
  bool by_the_book() const { return delay_ == Delay::kTextbook; }

  // --- for the launch ---

  void add(Warp& warp);
  // Runs until all threads have ended or a check has stopped the kernel.
  void run(Cluster& cluster);

 private:
  void make_ready(Warp& warp);
  size_t choose_ready_warp();
  Warp& take_ready_warp();
  void run_warp(Warp& warp);
  void resume(Thread& thread);
  void renew_moods();
  Delay any_delay();
  Delay mixed_delay(Unit unit);
  uint64_t draw_delay(Unit unit, double work);
  void run_next_event();
  bool give_up_a_try(Cluster& cluster);

  const Schedule schedule_;
  const Delay delay_;
  Random random_;
  Delay moods_[kUnits] = {};  // of each unit, for kMixed
  const Warp* hasty_ = nullptr;  // goes first where it can; null: nobody does
  uint64_t moods_end_ = 0;
  EventQueue events_;
  std::vector<Warp*> ready_;
  uint64_t now_ = 0;
  bool stopped_ = false;
  bool tries_expire_ = false;  // in this turn
  int tries_given_up_ = 0;  // since anything else happened
};

// The CUDA thread that runs now; null while an asynchronous unit does.
Thread* current_thread();

}  // namespace emulator
