#include "register_pool.h"

#include <algorithm>

#include "machine.h"
#include "report.h"

namespace emulator {
namespace {

// The most registers that a kernel of so many threads can have per thread. Warps are spread over
// the four quarters of a multiprocessor, each with registers of its own, handed out in steps of 8.
int registers_per_thread(int threads) {
  constexpr int kQuarters = 4;
  constexpr int kRegistersOfAQuarter = 16384;
  constexpr int kMost = 255;
  const int warps = threads / kWarpThreads;
  const int warps_of_a_quarter = (warps + kQuarters - 1) / kQuarters;
  return std::min(kMost, kRegistersOfAQuarter / warps_of_a_quarter / kWarpThreads / 8 * 8);
}

}  // namespace

RegisterPool::RegisterPool(int threads)
    : groups_(static_cast<size_t>(threads / kWarpGroupThreads)) {
  for (Group& group : groups_) group.registers = registers_per_thread(threads);
}

void RegisterPool::decrease(Thread& thread, int registers, SourceLine where) {
  change(thread, registers, where, false);
}

void RegisterPool::increase(Thread& thread, int registers, SourceLine where) {
  change(thread, registers, where, true);
}

void RegisterPool::change(Thread& thread, int registers, SourceLine where, bool increase) {
  thread.warp->join(thread, increase ? "setmaxnreg.inc" : "setmaxnreg.dec", where);
  const auto index = static_cast<size_t>(thread.warp_group());
  const bool valid = registers >= 24 && registers <= 256 && registers % 8 == 0;
  if (!valid || index >= groups_.size()) report::register_count(thread, registers, where);
  Group& group = groups_[index];
  if (increase ? registers < group.registers : registers > group.registers) {
    report::register_direction(thread, group.registers, registers, where);
  }
  if (++group.lanes < kWarpGroupThreads) {
    if (!increase) return;
    group.waiting.push_back(&thread);
  } else {
    group.lanes = 0;
    if (!increase) {
      free_ += group.registers - registers;
      group.registers = registers;
      grant();
      return;
    }
    group.waiting.push_back(&thread);
    wanted_.emplace_back(static_cast<int>(index), registers);
    grant();
    if (group.registers == registers) return;
  }
  Wait wait;
  wait.kind = WaitKind::kRegisters;
  wait.where = where;
  wait.id = registers;
  thread.scheduler().block(thread, wait);
}

// Hands free registers to those who wait for them, in the order of their requests.
void RegisterPool::grant() {
  while (!wanted_.empty()) {
    const auto [index, registers] = wanted_.front();
    Group& group = groups_[static_cast<size_t>(index)];
    const int more = registers - group.registers;
    if (more > free_) return;
    free_ -= more;
    group.registers = registers;
    for (Thread* thread : group.waiting) thread->scheduler().wake(*thread);
    group.waiting.clear();
    wanted_.erase(wanted_.begin());
  }
}

}  // namespace emulator
