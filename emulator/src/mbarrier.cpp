#include "mbarrier.h"

#include <utility>

#include "machine.h"
#include "report.h"
#include "source_text.h"

namespace emulator {
namespace {

// What an intact barrier holds: a mark and its number within the block.
constexpr uint64_t kMark = 0x4d62617200000000;

uint64_t content(size_t number) { return kMark | number; }

// A barrier can lie here: eight aligned bytes of the block's shared memory.
void check_address(const Thread& thread, const MBarrier* address, SourceLine where) {
  const SharedMemory& memory = thread.block->memory;
  if (!memory.contains(address, sizeof(MBarrier))) report::not_shared(thread, where);
  if (reinterpret_cast<uintptr_t>(address) % sizeof(MBarrier) != 0) {
    report::misaligned(thread, "the mbarrier", memory.offset(address), sizeof(MBarrier), where);
  }
}

}  // namespace

std::string Barrier::name() const {
  std::string result = barrier_family(initialised);
  if (barrier_is_indexed(initialised)) result += "[" + std::to_string(index) + "]";
  if (block->cluster.has_peers()) result += " of block rank " + std::to_string(block->rank);
  return result;
}

void Barrier::arrive(const VectorClock& knowledge, uint32_t announced_bytes) {
  transaction += announced_bytes;
  announced += announced_bytes;
  --pending;
  ++arrivals;
  arriving.join(knowledge);
  if (block->cluster.trace.enabled) block->cluster.trace.arrived(*this, announced_bytes);
  complete_if_done();
}

void Barrier::bytes_issued(int64_t bytes) {
  issued += bytes;
  in_flight += bytes;
}

void Barrier::bytes_arrived(int64_t bytes) {
  in_flight -= bytes;
  transaction -= bytes;
  complete_if_done();
}

void Barrier::complete_if_done() {
  if (pending != 0 || transaction != 0) return;
  if (in_flight != 0) report::phase_ends_with_bytes_in_flight(*this);
  if (block->cluster.trace.enabled) block->cluster.trace.completed(*this);
  ++phase;
  pending = expected;
  announced = 0;
  issued = 0;
  released = std::move(arriving);
  arriving.clear();
  released.learn(component, phase_known(phase - 1));
  // Those who wait learn now, not when they run again: by then more may have been released.
  std::vector<Thread*> threads;
  threads.swap(waiting);
  for (Thread* thread : threads) {
    thread->warp->clock.join(released);
    thread->scheduler().wake(*thread);
  }
}

namespace {

// An arrival counts in whichever phase the barrier is in. Unless the thread knows that the phase
// before has completed, it might as well have counted in that one. (Only asked of arrivals within a
// block: that another block's phase has begun, a thread may know from the bytes of a multicast,
// which carry no clock here.)
void check_phase_has_begun(const Thread& thread, const Barrier& barrier, SourceLine where) {
  if (!options().happens_before) return;
  const bool known = thread.warp->clock[barrier.component] >= kInitKnown + barrier.phase;
  if (!known) report::arrival_out_of_order(thread, barrier, where);
}

}  // namespace

Barrier* MBarrierTable::at(const MBarrier* address) const {
  for (const auto& barrier : barriers_) {
    if (barrier->address == address) return barrier.get();
  }
  return nullptr;
}

void MBarrierTable::init(Thread& thread, MBarrier* address, uint32_t arrivals, SourceLine where) {
  constexpr uint32_t kArrivalsLimit = (1 << 20) - 1;
  Block& block = *thread.block;
  check_address(thread, address, where);
  if (arrivals < 1 || arrivals > kArrivalsLimit) {
    report::arrival_count_out_of_range(thread, arrivals, where);
  }
  if (const Barrier* known = at(address)) report::initialised_twice(thread, *known, where);
  auto barrier = std::make_unique<Barrier>();
  barrier->block = &block;
  barrier->address = address;
  barrier->component = thread.cluster().new_component();
  barrier->initialised = where;
  for (const auto& other : barriers_) {
    barrier->index += other->initialised.line == where.line;
  }
  barrier->expected = arrivals;
  barrier->pending = arrivals;
  address->opaque = content(barriers_.size());
  thread.warp->clock.learn(barrier->component, kInitKnown);
  barriers_.push_back(std::move(barrier));
}

void MBarrierTable::fence(Thread& thread) {
  for (const auto& barrier : barriers_) {
    if (thread.warp->clock[barrier->component] >= kInitKnown) barrier->fenced = true;
  }
}

Barrier& MBarrierTable::find(Thread& thread, MBarrier* address, SourceLine where) {
  check_address(thread, address, where);
  const uint64_t number = address->opaque & ~kMark;
  Barrier* barrier = number < barriers_.size() ? barriers_[number].get() : nullptr;
  if (barrier == nullptr || barrier->address != address) {
    barrier = at(address);
    if (barrier == nullptr) report::not_initialised(thread, address, where);
  }
  if (barrier->address->opaque != content(number)) {
    report::barrier_overwritten(thread, *barrier, where);
  }
  if (thread.warp->clock[barrier->component] < kInitKnown) {
    report::init_not_visible(thread, *barrier, where);
  }
  return *barrier;
}

Barrier& MBarrierTable::find_remote(Thread& thread, Block& block, uint32_t offset,
                                    SourceLine where) {
  Barrier* barrier = block.barriers.at(reinterpret_cast<MBarrier*>(block.memory.data() + offset));
  if (barrier == nullptr) report::not_initialised_remotely(thread, block, offset, where);
  if (block.live_threads == 0) report::signal_after_exit(thread, *barrier, where);
  if (thread.warp->clock[barrier->component] < kInitKnown) {
    report::init_not_visible(thread, *barrier, where);
  }
  if (thread.warp->signalled == kNoComponent) {
    thread.warp->signalled = thread.cluster().new_component();
  }
  const uint32_t number = ++thread.warp->signals;
  block.remote_signals.push_back(
      {barrier, barrier->phase, thread.warp->signalled, number, thread.block->rank, where});
  return *barrier;
}

const Barrier* MBarrierTable::overlapping(const uint8_t* begin, const uint8_t* end) const {
  for (const auto& barrier : barriers_) {
    const auto* const address = reinterpret_cast<const uint8_t*>(barrier->address);
    if (address < end && address + sizeof(MBarrier) > begin) return barrier.get();
  }
  return nullptr;
}

int MBarrierTable::stages_in_flight() const {
  int stages = 0;
  for (const auto& barrier : barriers_) stages += barrier->in_flight > 0;
  return stages;
}

void MBarrierTable::arrive(Thread& thread, MBarrier* address, uint32_t announced_bytes,
                           SourceLine where) {
  constexpr uint32_t kBytesLimit = (1 << 20) - 1;
  Barrier& barrier = find(thread, address, where);
  if (announced_bytes > kBytesLimit)
    report::byte_count_out_of_range(thread, announced_bytes, where);
  if (barrier.pending == 0) report::too_many_arrivals(thread, barrier, where);
  check_phase_has_begun(thread, barrier, where);
  if (barrier.pending == 1 && barrier.issued > barrier.announced + announced_bytes) {
    report::too_few_bytes_expected(thread, barrier, barrier.issued,
                                   barrier.announced + announced_bytes, where);
  }
  VectorClock knowledge;
  publish(thread, &knowledge);
  barrier.arrive(knowledge, announced_bytes);
}

Barrier& MBarrierTable::find_for_arrival(Thread& thread, MBarrier* address, SourceLine where) {
  Barrier& barrier = find(thread, address, where);
  check_phase_has_begun(thread, barrier, where);
  return barrier;
}

void MBarrierTable::arrive_remote(Thread& thread, MBarrier* address, uint32_t rank,
                                  SourceLine where) {
  if (rank == static_cast<uint32_t>(thread.block->rank)) {
    arrive(thread, address, 0, where);
    return;
  }
  Cluster& cluster = thread.cluster();
  if (rank >= cluster.blocks.size()) report::no_such_rank(thread, rank, where);
  check_address(thread, address, where);
  Block& block = *cluster.blocks[rank];
  Barrier& barrier = find_remote(thread, block, thread.block->memory.offset(address), where);
  if (barrier.pending == 0) report::too_many_arrivals(thread, barrier, where);
  VectorClock knowledge;
  publish(thread, &knowledge);
  barrier.arrive(knowledge, 0);
}

namespace {

// Puts the thread to sleep on the barrier; who completes the phase (or gives up, for kTry) wakes
// it.
void block_until_told(Thread& thread, Barrier& barrier, WaitKind kind, uint32_t parity,
                      SourceLine where) {
  barrier.waiting.push_back(&thread);
  Wait wait;
  wait.kind = kind;
  wait.where = where;
  wait.barrier = &barrier;
  wait.parity = parity & 1;
  thread.scheduler().block(thread, wait);
}

}  // namespace

void MBarrierTable::wait(Thread& thread, MBarrier* address, uint32_t parity, SourceLine where) {
  Barrier& barrier = find(thread, address, where);
  Cluster& cluster = thread.cluster();
  cluster.counts.barrier_waits += thread.lane == 0;
  if (barrier.passes(parity)) {
    thread.warp->clock.join(barrier.released);
    if (cluster.trace.enabled) cluster.trace.passed(thread, barrier);
    return;
  }
  cluster.counts.barrier_waits_blocked += thread.lane == 0;
  block_until_told(thread, barrier, WaitKind::kPhase, parity, where);
}

bool MBarrierTable::try_wait(Thread& thread, MBarrier* address, uint32_t parity, SourceLine where) {
  Barrier& barrier = find(thread, address, where);
  if (barrier.passes(parity)) {
    thread.warp->clock.join(barrier.released);
    if (thread.cluster().trace.enabled) thread.cluster().trace.passed(thread, barrier);
    return true;
  }
  if (thread.scheduler().tries_expire()) {
    thread.scheduler().yield(thread);
    return false;
  }
  thread.try_failed = false;
  block_until_told(thread, barrier, WaitKind::kTry, parity, where);
  return !thread.try_failed;
}

}  // namespace emulator
