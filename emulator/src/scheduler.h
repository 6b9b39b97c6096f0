// Decides, from the seed, who runs next: a warp or an asynchronous operation.
#pragma once

#include <emulator.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "call_stack.h"
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

 private:
  struct Event {
    uint64_t due;
    Action action;
  };
  std::vector<Event> events_;
  uint64_t earliest_ = UINT64_MAX;
};

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
  // Called by a thread as its last act.
  void finish(Thread& thread);
  // A check has failed: nobody runs any more.
  void stop();
  // Suspends the calling thread, which has found an error, until the others have got as far as they
  // can: what they do shows what it ought to have waited for.
  void let_others_go_on(Thread& thread);

  // --- for reports ---

  // Of a thread that has begun and not ended; else empty.
  CallStack call_stack(const Thread& thread);

  // --- for the asynchronous units ---

  uint64_t now() const { return now_; }
  Random& random() { return random_; }
  // Lets `action` take place after a delay that the policy draws.
  void after_delay(EventQueue::Action action);

  // --- for the launch ---

  void add(Warp& warp);
  // Runs until all threads have ended or a check has stopped the kernel.
  void run(Cluster& cluster);

 private:
  void make_ready(Warp& warp);
  Warp& take_ready_warp();
  void run_warp(Warp& warp);
  void resume(Thread& thread);
  uint64_t draw_delay();
  bool give_up_a_try(Cluster& cluster);
  void suspend(Thread& thread);
  bool wake_held();

  const Schedule schedule_;
  const Delay delay_;
  Random random_;
  EventQueue events_;
  std::vector<Warp*> ready_;
  uint64_t now_ = 0;
  bool stopped_ = false;
  int tries_given_up_ = 0;  // since anything else happened
  Thread* held_ = nullptr;  // by let_others_go_on
  uint64_t held_until_ = 0;
  CallStack* asked_stack_ = nullptr;  // for the fiber that is resumed next to fill
};

// The CUDA thread that runs now; null while an asynchronous unit does.
Thread* current_thread();

}  // namespace emulator
