// Decides, from the seed, who runs next: a warp or an asynchronous operation.
#pragma once

#include <emulator.h>
#include <source_line.h>

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

  // `quiet`: that it takes place tells nobody anything, as when a sleeper wakes up.
  void add(uint64_t due, Action action, bool quiet);
  bool empty() const { return events_.empty(); }
  // Runs what is due, in the order of issue. True if there was any that is not quiet.
  bool run_due(uint64_t now);
  // Runs any one of them, due or not; the same.
  bool run_any(Random& random);
  // Runs any one that is not quiet; false if there is none.
  bool run_any_heard(Random& random);

 private:
  struct Event {
    uint64_t due;
    Action action;
    bool quiet;
  };
  bool run(size_t index);

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
  // The same, now and then: for a thread that has done something others can see.
  void maybe_yield(Thread& thread);
  // The calling thread is about to share global memory with other clusters. The first in a cluster
  // to do so ends the time in which its cluster runs alone.
  void meet_others(Thread& thread);
  // Lets others go first, and other clusters too: for a thread that looks whether they have done
  // something.
  void look(Thread& thread);
  // The calling thread has changed what others can see.
  void changed() { ++*activity_; }
  // Suspends the calling thread for a while.
  void sleep(Thread& thread, SourceLine where);
  // Called by a thread as its last act.
  void finish(Thread& thread);
  // A check has failed: nobody runs any more.
  void stop();

  // --- for the asynchronous units ---

  uint64_t now() const { return now_; }
  Random& random() { return random_; }
  // Lets `action` take place after a delay that the policy draws.
  void after_delay(EventQueue::Action action);

  // --- for the launch ---

  void add(Warp& warp);
  // Runs for so many turns, or until a thread looks what other clusters do, all threads have ended,
  // or a check has stopped the kernel.
  void run(Cluster& cluster, uint64_t turns);
  // The same, until a thread is about to share global memory for the first time.
  void run_alone(Cluster& cluster) { run(cluster, UINT64_MAX); }
  bool stopped() const { return stopped_; }
  // Operations are under way, which may outlive the threads that have asked for them.
  bool has_events() const { return !events_.empty(); }
  // So many threads have been sent back from waits with a way out that it is no use any more.
  bool tries_are_over() const;
  // From now on `activity` counts what brings anybody anywhere.
  void count_activity(uint64_t* activity) { activity_ = activity; }
  // While nobody gets anywhere, it is watched whether threads go round in circles.
  void watch(bool on) { watches_ = on; }
  // Nobody gets anywhere: lets an operation take place that would wait until nobody can run, and
  // sends a thread back from a wait that has a way out.
  void nudge(Cluster& cluster);

 private:
  void make_ready(Warp& warp);
  void wake_quietly(Thread& thread);
  Warp& take_ready_warp();
  void run_warp(Warp& warp);
  void resume(Thread& thread);
  uint64_t draw_delay();
  void run_turn(Cluster& cluster);
  void hear();  // of an operation that has taken place
  // Sends a thread back from a wait that has a way out. False if there is none, or if that has been
  // done too often since anything else happened.
  bool give_up_a_try(Cluster& cluster);

  const Schedule schedule_;
  const Delay delay_;
  Random random_;
  EventQueue events_;
  std::vector<Warp*> ready_;
  uint64_t now_ = 0;
  bool stopped_ = false;
  bool alone_ = true;  // no thread has shared global memory yet
  bool pauses_ = false;  // for the first that does: nobody else goes on in this turn
  bool looked_ = false;
  bool watches_ = false;
  uint64_t own_activity_ = 0;
  uint64_t* activity_ = &own_activity_;
  int tries_given_up_ = 0;  // since anything else happened
};

// The CUDA thread that runs now; null while an asynchronous unit does.
Thread* current_thread();

}  // namespace emulator
