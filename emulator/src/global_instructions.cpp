// The instructions of ptx/global.cuh.
#include <global_store.cuh>

#include <algorithm>
#include <cstring>
#include <ptx/global.cuh>

#include "grid.h"
#include "machine.h"

namespace emulator {
namespace {

// The calling thread's cluster shares global memory from here on.
GlobalMemory& shared_memory_of_grid(Thread& thread) {
  thread.scheduler().meet_others(thread);
  return thread.cluster().grid->memory;
}

// A load, or an atomic operation, which others may be let go before: who waits for them comes this
// way.
uint32_t load(const char* instruction, const uint32_t* address, Order order, SourceLine where) {
  Thread* const thread = enter(instruction, where);
  if (thread == nullptr) return 0;
  GlobalMemory& memory = shared_memory_of_grid(*thread);
  thread->scheduler().look(*thread);
  thread->cluster().global_writes.flush(address);
  return static_cast<uint32_t>(
      memory.read(*thread, address, sizeof(*address), order, instruction, where));
}

template <class Operation>
uint32_t atom(const char* instruction, uint32_t* address, Order order, SourceLine where,
              Operation operation) {
  Thread* const thread = enter(instruction, where);
  if (thread == nullptr) return 0;
  GlobalMemory& memory = shared_memory_of_grid(*thread);
  thread->scheduler().look(*thread);
  thread->cluster().global_writes.flush();
  const auto before = static_cast<uint32_t>(
      memory.read(*thread, address, sizeof(*address), order, instruction, where));
  const uint32_t after = operation(before);
  if (after != before) {
    note_access(*thread, GlobalAccessKind::kAtomicWrite, address, sizeof(*address), instruction,
                where);
    memory.write(actor(*thread, instruction, where), address, after, sizeof(after),
                 released(*thread, order), true);
    thread->scheduler().changed();
  }
  return before;
}

// A write that returns nothing: it may take its time. An update adds to what is there.
template <class Operation>
void write(const char* instruction, uint32_t* address, Order order, bool is_update,
           SourceLine where, Operation operation) {
  Thread* const thread = enter(instruction, where);
  if (thread == nullptr) return;
  GlobalMemory& memory = shared_memory_of_grid(*thread);
  Cluster& cluster = thread->cluster();
  if (order == Order::kRelease) cluster.global_writes.flush();
  note_access(*thread, GlobalAccessKind::kAtomicWrite, address, sizeof(*address), instruction,
              where);
  cluster.global_writes.add(cluster, address,
                            [&memory, who = actor(*thread, instruction, where), address, operation,
                             is_update, releases = released(*thread, order)] {
                              memory.write(who, address, operation(*address), sizeof(*address),
                                           releases, is_update);
                            });
  thread->scheduler().maybe_yield(*thread);
}

auto add(uint32_t value) {
  return [value](uint32_t before) { return before + value; };
}

auto add(float value) {
  return [value](uint32_t before) {
    float sum;
    std::memcpy(&sum, &before, sizeof(sum));
    sum += value;
    uint32_t after;
    std::memcpy(&after, &sum, sizeof(after));
    return after;
  };
}

auto set(uint32_t value) {
  return [value](uint32_t) { return value; };
}

// --- weak accesses ---

template <class Value>
Value load_weakly(const char* instruction, const Value* address, SourceLine where) {
  if (Thread* thread = enter(instruction, where)) {
    thread->cluster().global_writes.flush(address);
    note_access(*thread, GlobalAccessKind::kRead, address, sizeof(*address), instruction, where);
  }
  return *address;
}

template <class Value>
void store_weakly(const char* instruction, Value* address, Value value, SourceLine where) {
  Thread* const thread = enter(instruction, where);
  if (thread == nullptr) return;
  thread->cluster().global_writes.flush(address);
  note_access(*thread, GlobalAccessKind::kWrite, address, sizeof(*address), instruction, where);
  *address = value;
}

// A block's own shared memory is its cluster's alone.
bool is_shared(const Thread& thread, const void* address) {
  const auto& blocks = thread.cluster().blocks;
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const auto& block) { return block->memory.contains(address); });
}

// %globaltimer, in nanoseconds. To look at it takes a turn: whoever waits for a time to come gets
// there.
uint64_t look_at_clock(Thread& thread) {
  constexpr uint64_t kNanosecondsPerTurn = 1000;
  thread.scheduler().look(thread);
  Grid* const grid = thread.cluster().grid;
  if (grid != nullptr) return grid->look_at_clock(thread);
  return (thread.scheduler().now() + 1) * kNanosecondsPerTurn;
}

}  // namespace

bool begin_atomic(const char* function, const void* address, size_t bytes, const char* file,
                  int line) {
  const SourceLine where = {file, line};
  Thread* const thread = enter(function, where);
  if (thread == nullptr) return false;
  if (is_shared(*thread, address)) {
    thread->scheduler().look(*thread);
    return true;
  }
  GlobalMemory& memory = shared_memory_of_grid(*thread);
  thread->scheduler().look(*thread);
  thread->cluster().global_writes.flush(address);
  memory.read(*thread, address, bytes, Order::kRelaxed, function, where);
  return true;
}

void end_atomic(const char* function, void* address, const void* after, size_t bytes,
                const char* file, int line) {
  Thread& thread = *current_thread();
  const bool shared = is_shared(thread, address);
  if (std::memcmp(address, after, bytes) == 0) {
    // Who asks in vain, and for ever, is found among clusters that run side by side.
    if (shared) thread.scheduler().meet_others(thread);
    return;
  }
  thread.scheduler().changed();
  if (shared) {
    std::memcpy(address, after, bytes);
    return;
  }
  const SourceLine where = {file, line};
  note_access(thread, GlobalAccessKind::kAtomicWrite, address, bytes, function, where);
  uint64_t value = 0;
  std::memcpy(&value, after, bytes);
  thread.cluster().grid->memory.write(actor(thread, function, where), address, value, bytes,
                                      released(thread, Order::kRelaxed), true);
}

void note_global_store(const void* address, size_t bytes, SourceLine where) {
  Thread* const thread = current_thread();
  if (thread == nullptr) return;  // a test without an emulated machine
  note_access(*thread, GlobalAccessKind::kWrite, address, bytes, "a store", where);
}

}  // namespace emulator

namespace ptx {

using emulator::enter;
using emulator::Order;
using emulator::Thread;

void red_add_relaxed_gpu(uint32_t* counter, uint32_t value, SourceLine where) {
  emulator::write("red.add", counter, Order::kRelaxed, true, where, emulator::add(value));
}

void red_add_relaxed_gpu(float* sum, float value, SourceLine where) {
  emulator::write("red.add", reinterpret_cast<uint32_t*>(sum), Order::kRelaxed, true, where,
                  emulator::add(value));
}

void red_add_release_gpu(uint32_t* counter, uint32_t value, SourceLine where) {
  emulator::write("red.release.add", counter, Order::kRelease, true, where, emulator::add(value));
}

uint32_t atom_add_relaxed_gpu(uint32_t* counter, uint32_t value, SourceLine where) {
  return emulator::atom("atom.add", counter, Order::kRelaxed, where, emulator::add(value));
}

uint32_t atom_add_acq_rel_gpu(uint32_t* counter, uint32_t value, SourceLine where) {
  return emulator::atom("atom.acq_rel.add", counter, Order::kAcquireRelease, where,
                        emulator::add(value));
}

uint32_t atom_cas_acquire_gpu(uint32_t* lock, uint32_t expected, uint32_t value, SourceLine where) {
  return emulator::atom("atom.acquire.cas", lock, Order::kAcquire, where,
                        [=](uint32_t before) { return before == expected ? value : before; });
}

uint32_t ld_relaxed_gpu(const uint32_t* counter, SourceLine where) {
  return emulator::load("ld.relaxed", counter, Order::kRelaxed, where);
}

uint32_t ld_acquire_gpu(const uint32_t* flag, SourceLine where) {
  return emulator::load("ld.acquire", flag, Order::kAcquire, where);
}

void st_relaxed_gpu(uint32_t* flag, uint32_t value, SourceLine where) {
  emulator::write("st.relaxed", flag, Order::kRelaxed, false, where, emulator::set(value));
}

void st_release_gpu(uint32_t* flag, uint32_t value, SourceLine where) {
  emulator::write("st.release", flag, Order::kRelease, false, where, emulator::set(value));
}

void fence_acq_rel_gpu(SourceLine where) {
  Thread* const thread = enter("fence.acq_rel", where);
  if (thread == nullptr) return;
  thread->cluster().global_writes.flush();
  emulator::Warp& warp = *thread->warp;
  warp.clock.join(warp.global.acquirable);
  warp.global.acquirable.clear();
  emulator::VectorClock known;
  publish(*thread, &known);
  warp.clock.grid.fenced.join(known.grid.seen);
}

void fence_proxy_async_global(SourceLine where) {
  Thread* const thread = enter("fence.proxy.async.global", where);
  if (thread == nullptr) return;
  emulator::VectorClock known;
  publish(*thread, &known);
  thread->warp->clock.grid.proxied.join(known.grid.seen);
}

float ld_global_f32(const float* address, SourceLine where) {
  return emulator::load_weakly("ld.global", address, where);
}

float4 ld_global_v4_f32(const float4* address, SourceLine where) {
  return emulator::load_weakly("ld.global.v4", address, where);
}

void st_global_f32(float* address, float value, SourceLine where) {
  emulator::store_weakly("st.global", address, value, where);
}

void st_global_v4_f32(float4* address, const float4& value, SourceLine where) {
  emulator::store_weakly("st.global.v4", address, value, where);
}

// An event wakes the thread, so that others, asynchronous operations included, can come before.
void nanosleep(uint32_t, SourceLine where) {
  if (Thread* thread = enter("nanosleep", where)) thread->scheduler().sleep(*thread, where);
}

uint32_t globaltimer_lo(SourceLine where) {
  Thread* const thread = enter("globaltimer", where);
  return thread == nullptr ? 0 : static_cast<uint32_t>(emulator::look_at_clock(*thread));
}

}  // namespace ptx

long long clock64(const char* file, int line) {
  emulator::Thread* const thread = emulator::enter("clock64", {file, line});
  return thread == nullptr ? 0 : static_cast<long long>(emulator::look_at_clock(*thread));
}

void __nanosleep(unsigned nanoseconds, const char* file, int line) {
  ptx::nanosleep(nanoseconds, {file, line});
}

void __threadfence(const char* file, int line) { ptx::fence_acq_rel_gpu({file, line}); }
