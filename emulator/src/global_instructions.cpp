// The instructions of ptx/global.cuh.
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
  return memory.read(*thread, address, order, instruction, where);
}

template <class Operation>
uint32_t atom(const char* instruction, uint32_t* address, Order order, SourceLine where,
              Operation operation) {
  Thread* const thread = enter(instruction, where);
  if (thread == nullptr) return 0;
  GlobalMemory& memory = shared_memory_of_grid(*thread);
  thread->scheduler().look(*thread);
  thread->cluster().global_writes.flush();
  const uint32_t before = memory.read(*thread, address, order, instruction, where);
  const uint32_t after = operation(before);
  if (after != before) {
    memory.write(actor(*thread, instruction, where), address, before, after);
    thread->scheduler().changed();
  }
  return before;
}

// A write that returns nothing: it may take its time.
template <class Operation>
void write(const char* instruction, uint32_t* address, Order order, SourceLine where,
           Operation operation) {
  Thread* const thread = enter(instruction, where);
  if (thread == nullptr) return;
  GlobalMemory& memory = shared_memory_of_grid(*thread);
  Cluster& cluster = thread->cluster();
  if (order == Order::kRelease) cluster.global_writes.flush();
  cluster.global_writes.add(
      cluster, address, [&memory, who = actor(*thread, instruction, where), address, operation] {
        memory.write(who, address, *address, operation(*address));
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
  }
  return *address;
}

template <class Value>
void store_weakly(const char* instruction, Value* address, Value value, SourceLine where) {
  Thread* const thread = enter(instruction, where);
  if (thread == nullptr) return;
  thread->cluster().global_writes.flush(address);
  *address = value;
}

}  // namespace
}  // namespace emulator

namespace ptx {

using emulator::enter;
using emulator::Order;
using emulator::Thread;

void red_add_relaxed_gpu(uint32_t* counter, uint32_t value, SourceLine where) {
  emulator::write("red.add", counter, Order::kRelaxed, where, emulator::add(value));
}

void red_add_relaxed_gpu(float* sum, float value, SourceLine where) {
  emulator::write("red.add", reinterpret_cast<uint32_t*>(sum), Order::kRelaxed, where,
                  emulator::add(value));
}

void red_add_release_gpu(uint32_t* counter, uint32_t value, SourceLine where) {
  emulator::write("red.release.add", counter, Order::kRelease, where, emulator::add(value));
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
  emulator::write("st.relaxed", flag, Order::kRelaxed, where, emulator::set(value));
}

void st_release_gpu(uint32_t* flag, uint32_t value, SourceLine where) {
  emulator::write("st.release", flag, Order::kRelease, where, emulator::set(value));
}

void fence_acq_rel_gpu(SourceLine where) {
  if (Thread* thread = enter("fence.acq_rel", where)) thread->cluster().global_writes.flush();
}

void fence_proxy_async_global(SourceLine where) { enter("fence.proxy.async.global", where); }

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

// To look at the clock takes a turn: whoever waits for a time to come gets there.
uint32_t globaltimer_lo(SourceLine where) {
  constexpr uint64_t kNanosecondsPerTurn = 1000;
  Thread* const thread = enter("globaltimer", where);
  if (thread == nullptr) return 0;
  thread->scheduler().look(*thread);
  emulator::Grid* const grid = thread->cluster().grid;
  if (grid != nullptr) return static_cast<uint32_t>(grid->look_at_clock(*thread));
  return static_cast<uint32_t>((thread->scheduler().now() + 1) * kNanosecondsPerTurn);
}

}  // namespace ptx
