// mbarrier objects: phases, arrivals, transaction bytes, and what passes through them from those
// who arrive to those who wait.
#pragma once

#include <ptx/mbarrier.cuh>
#include <source_line.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vector_clock.h"

namespace emulator {

class Block;
struct Thread;

// A barrier's component in clocks: 0, its init is not known; 1, the init is; p + 2, phase p is
// known to be complete.
constexpr uint32_t kInitKnown = 1;
constexpr uint32_t phase_known(uint64_t phase) { return static_cast<uint32_t>(phase) + 2; }

struct Barrier {
  Block* block = nullptr;
  MBarrier* address = nullptr;
  Component component = kNoComponent;
  SourceLine initialised = {"", 0};
  int index = 0;  // among the block's barriers that the same line has initialised
  bool fenced = false;  // the init is visible to the TMA unit

  uint64_t phase = 0;  // the current one, incomplete
  uint32_t expected = 0;  // arrivals that complete a phase
  uint32_t pending = 0;  // of these, still to come
  int64_t transaction = 0;  // bytes announced less bytes arrived; may be negative for a while
  int64_t announced = 0;  // bytes, in this phase
  int64_t issued = 0;  // bytes of copies issued in this phase
  int64_t in_flight = 0;  // bytes of copies under way
  uint64_t arrivals = 0;  // ever
  VectorClock arriving;  // what those who have arrived in this phase knew
  VectorClock released;  // the same of the latest complete phase
  std::vector<Thread*> waiting;

  // "full[1]"; in a cluster of several blocks "full[1] of block rank 0".
  std::string name() const;
  // A wait for `parity` passes.
  bool passes(uint32_t parity) const { return (phase & 1) != (parity & 1); }

  void arrive(const VectorClock& knowledge, uint32_t announced_bytes);
  void bytes_issued(int64_t bytes);
  void bytes_arrived(int64_t bytes);

 private:
  void complete_if_done();
};

class MBarrierTable {
 public:
  void init(Thread& thread, MBarrier* address, uint32_t arrivals, SourceLine where);
  void fence(Thread& thread);
  void arrive(Thread& thread, MBarrier* address, uint32_t announced_bytes, SourceLine where);
  // An arrival at the barrier at the same offset in another block of the cluster.
  void arrive_remote(Thread& thread, MBarrier* address, uint32_t rank, SourceLine where);
  // The barrier at `address`, at which the thread arrives once its copies have landed.
  Barrier& find_for_arrival(Thread& thread, MBarrier* address, SourceLine where);
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
