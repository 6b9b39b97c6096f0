// mbarrier objects: phases, arrivals, transaction bytes, and what passes through them from those
// who arrive to those who wait.
#pragma once

#include <ptx/mbarrier.cuh>
#include <source_line.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "call_stack.h"
#include "vector_clock.h"

namespace emulator {

class Block;
struct Thread;

// A barrier's component in clocks: 0, its init is not known; 1, the init is; p + 2, phase p is
// known to be complete.
constexpr uint32_t kInitKnown = 1;
constexpr uint32_t phase_known(uint64_t phase) { return static_cast<uint32_t>(phase) + 2; }

// What reports need to know of the past. Steps count waits, arrivals and completed phases of a
// cluster, from 1.

// A wait that has returned.
struct PastWait {
  uint64_t step = 0;  // 0: there was none
  int64_t phase = -1;  // that it returned for; -1: for the one before a fresh barrier's first
  uint64_t completed = 0;  // the step at which that phase completed
  uint32_t parity = 0;
  uint64_t wgmmas = 0;  // that its thread had issued before
  CallSite site;
};

// The latest two of a thread on one barrier.
struct PastWaits {
  PastWait latest, before;
};

// The latest arrival of a thread at one barrier.
struct PastArrival {
  uint64_t count = 0;  // of its arrivals so far
  uint64_t step = 0;
  uint64_t before = 0;  // the step of the one before
  uint64_t phase = 0;
  int64_t announced = 0;  // bytes
  uint64_t wgmmas = 0;  // that the thread had issued before
  uint64_t retired = 0;  // and that it had waited for
  CallSite site;
};

// The copies that a thread has issued to signal one barrier.
struct PastLoads {
  uint64_t phase = 0;  // of the latest
  int64_t bytes = 0;  // in that phase
};

struct Barrier {
  Block* block = nullptr;
  MBarrier* address = nullptr;
  Component component = kNoComponent;
  SourceLine initialised = {"", 0};
  int index = 0;  // among the block's barriers that the same line has initialised
  const Thread* initialiser = nullptr;
  Component fence = kNoComponent;  // 1: fence.mbarrier_init after the init is known

  uint64_t phase = 0;  // the current one, incomplete
  uint32_t expected = 0;  // arrivals that complete a phase
  uint32_t pending = 0;  // of these, still to come
  int64_t transaction = 0;  // bytes announced less bytes arrived; may be negative for a while
  int64_t announced = 0;  // bytes, in this phase
  int64_t issued = 0;  // bytes of copies issued in this phase
  int64_t in_flight = 0;  // bytes of copies under way
  VectorClock arriving;  // what those who have arrived in this phase knew
  VectorClock released;  // the same of the latest complete phase
  std::vector<Thread*> waiting;

  std::vector<PastWaits> waits;  // by the threads of the block
  std::unordered_map<const Thread*, PastArrival> arrivals;
  std::unordered_map<const Thread*, PastLoads> senders;
  const Thread* latest_sender = nullptr;
  CallSite latest_load;
  const Thread* twice = nullptr;  // who has arrived twice in one phase, the latest
  uint64_t twice_in = 0;  // that phase
  bool carries_bytes = false;  // of copies
  // Of a barrier that carries bytes: for what barrier's phase its loader waits before it loads.
  const Barrier* guard = nullptr;
  uint64_t completed = 0;  // the step at which the latest phase did

  // "full[1]"; in a cluster of several blocks "full[1] of block rank 0".
  std::string name() const;
  // A wait for `parity` passes.
  bool passes(uint32_t parity) const { return (phase & 1) != (parity & 1); }

  void arrive(Thread& thread, uint32_t announced_bytes);
  void bytes_issued(const Thread& thread, int64_t bytes);
  void bytes_arrived(int64_t bytes);
  // What the latest complete phase knew goes to a thread whose wait for `parity` returns.
  void tell(const Thread& thread, uint32_t parity);

 private:
  void complete_if_done();
  void remember_arrival(Thread& thread, int64_t announced_bytes);
  void remember_guard(Thread& thread);
};

// The latest waits of a thread on the barrier; null if it has never waited for it.
const PastWaits* past_waits(const Thread& thread, const Barrier& barrier);

// The latest wait of a thread, on one of its block's barriers that carry bytes, or on one of the
// others.
struct LatestWait {
  const Barrier* barrier = nullptr;  // null: there was none
  const PastWait* wait = nullptr;
};
LatestWait latest_wait(const Thread& thread, bool carries_bytes);

class MBarrierTable {
 public:
  void init(Thread& thread, MBarrier* address, uint32_t arrivals, SourceLine where);
  void fence(Thread& thread);
  void arrive(Thread& thread, MBarrier* address, uint32_t announced_bytes, SourceLine where);
  // An arrival at the barrier at the same offset in another block of the cluster.
  void arrive_remote(Thread& thread, MBarrier* address, uint32_t rank, SourceLine where);
  void wait(Thread& thread, MBarrier* address, uint32_t parity, SourceLine where);
  bool try_wait(Thread& thread, MBarrier* address, uint32_t parity, SourceLine where);

  // The barrier at `address`, checked: it exists, is intact, and the thread knows of its init.
  Barrier& find(Thread& thread, MBarrier* address, SourceLine where);
  // The barrier at `offset` in the shared memory of `block`, for a signal from a thread of another.
  static Barrier& find_remote(Thread& thread, Block& block, uint32_t offset, SourceLine where);
  // A barrier that lies in [begin, end) of the block's shared memory; null if there is none.
  const Barrier* overlapping(const uint8_t* begin, const uint8_t* end) const;

  const std::vector<std::unique_ptr<Barrier>>& all() const { return barriers_; }
  int stages_in_flight() const;

 private:
  Barrier* at(const MBarrier* address) const;

  std::vector<std::unique_ptr<Barrier>> barriers_;
};

}  // namespace emulator
