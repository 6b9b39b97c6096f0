// What is said of global memory that clusters share.
#include <algorithm>
#include <string>
#include <vector>

#include "device_memory.h"
#include "grid.h"
#include "machine.h"
#include "report.h"
#include "report_draft.h"
#include "source_text.h"

namespace emulator::report {
namespace {

constexpr int kMostLines = 6;  // of a kind: the rest is counted

std::string name_of(const Actor& who) {
  return "block (" + number(who.block.x) + ", " + number(who.block.y) + ", " + number(who.block.z) +
         "), warp " + number(who.warp) + (who.role == nullptr ? "" : " (" + *who.role + ")") +
         ", lane " + number(who.lane);
}

// "flag, which is 4 bytes at byte 16 of 80 that cudaMallocAsync has handed out".
std::string place_of(const void* address, SourceLine where, const char* function) {
  const std::string expression = first_argument(where, function);
  std::string place = expression.empty() ? "global memory" : expression;
  const DeviceMemory memory = device_memory_at(address);
  if (memory.data == nullptr) {
    return place + " (address " + hexadecimal(reinterpret_cast<uintptr_t>(address)) + ")";
  }
  return place + " (byte " + number(static_cast<const unsigned char*>(address) - memory.data) +
         " of the " + number(memory.bytes) + " from cudaMallocAsync)";
}

// The wrapper of an instruction that looks at global memory.
const char* function_of(const Look& look) {
  const std::string instruction = look.instruction;
  if (instruction == "ld.acquire") return "ld_acquire_gpu";
  if (instruction == "ld.relaxed") return "ld_relaxed_gpu";
  if (instruction == "atom.acquire.cas") return "atom_cas_acquire_gpu";
  if (instruction == "atom.add") return "atom_add_relaxed_gpu";
  return "atom_add_acq_rel_gpu";
}

// Those that go round in circles and look; if there are none, all that have looked.
std::vector<const Thread*> threads_that_look(const Grid& grid) {
  std::vector<const Thread*> found, all;
  for (const auto& cluster : grid.residents()) {
    for (const auto& block : cluster->blocks) {
      for (const Thread& thread : block->threads) {
        if (thread.state == Thread::State::kDone || thread.look.address == nullptr) continue;
        all.push_back(&thread);
        if (thread.circle.is_closed(grid.activity())) found.push_back(&thread);
      }
    }
  }
  return found.empty() ? all : found;
}

std::string clusters_from(int64_t first, int64_t end) {
  if (end - first == 1) return "cluster " + number(first) + " has";
  return "clusters " + number(first) + " to " + number(end - 1) + " have";
}

}  // namespace

void grid_deadlock(const Grid& grid) {
  const std::vector<const Thread*> looking = threads_that_look(grid);
  const Thread& first = looking.empty() ? grid.residents()[0]->blocks[0]->threads[0] : *looking[0];
  Draft draft(Check::kDeadlock, first.block->cluster);
  draft.what("no thread gets any further: " + number(looking.size()) +
             (looking.size() == 1 ? " looks" : " look") +
             " at global memory, again and again, for a value that does not come; nothing is under "
             "way");
  int lines = 0;
  const Thread* latest = nullptr;
  for (const Thread* thread : looking) {
    // Lanes and warps that do the same are told of once.
    const bool same = latest != nullptr && latest->block == thread->block &&
                      latest->look.address == thread->look.address &&
                      latest->look.where.line == thread->look.where.line;
    latest = thread;
    if (same || ++lines > kMostLines) continue;
    const Look& look = thread->look;
    draft.who(*thread);
    draft.at(look.where, *thread);
    draft.line("        " + std::string(look.instruction) + " of " +
               place_of(look.address, look.where, function_of(look)) + ": always " +
               number(look.value));
    if (const GlobalMemory::Write* write = grid.memory.latest_write(look.address)) {
      draft.line("        last written by " + name_of(write->who) + ": " + write->who.instruction +
                 " to " + number(write->value) + " at " + quote(write->who.where));
    } else {
      draft.line("        nobody has written there in this launch");
    }
  }
  if (lines > kMostLines) draft.line("        and so on, in " + number(lines) + " places in all");
  if (grid.next() < grid.clusters()) {
    draft.line("        " + clusters_from(grid.next(), grid.clusters()) +
               " not been launched: there is room for " + number(grid.room()) +
               " at a time, and all of those wait");
    draft.why(
        "a cluster begins, in the order of their numbers, when there is room for it: a value "
        "that only a later one writes comes to nobody who keeps it from beginning");
    draft.fix(
        "let clusters wait only for those with lower numbers, or launch no more than run at "
        "a time (cudaOccupancyMaxActiveClusters)");
  } else {
    draft.why(
        "all clusters have been launched, and whoever could write the value waits, too, or "
        "has left");
    draft.fix(
        "look for the write that is missing, goes to another place, or has been undone "
        "before it was seen");
  }
  draft.stop();
}

}  // namespace emulator::report
