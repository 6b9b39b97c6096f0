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
  if (instruction == "atom.acq_rel.add") return "atom_add_acq_rel_gpu";
  return look.instruction;  // atomicCAS…
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
    const bool same =
        latest != nullptr && latest->block == thread->block &&
        latest->look.where.line == thread->look.where.line &&
        (latest->warp == thread->warp || latest->look.address == thread->look.address);
    latest = thread;
    if (same || ++lines > kMostLines) continue;
    const Look& look = thread->look;
    draft.who(*thread);
    draft.at(look.where, *thread);
    draft.line("        " + std::string(look.instruction) + " of " +
               place_of(look.address, look.where, function_of(look)) + ": always " +
               number(look.value));
    const GlobalMemory::Location* location = grid.memory.location(look.address);
    if (location != nullptr && location->writer) {
      const Actor& writer = *location->writer;
      draft.line("        last written by " + name_of(writer) + ": " + writer.instruction + " to " +
                 number(location->value) + " at " + quote(writer.where));
    } else {
      draft.line("        nobody has written there in this launch");
    }
  }
  if (lines > kMostLines) draft.line("        and so on, in " + number(lines) + " places in all");
  int others = -static_cast<int>(looking.size());
  for (const auto& cluster : grid.residents()) others += cluster->live_threads();
  if (others > 0) draft.line("        " + number(others) + " other threads wait for these");
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

namespace {

std::string verb_of(const GlobalAccess& access) {
  switch (access.kind) {
    case GlobalAccessKind::kRead:
    case GlobalAccessKind::kAtomicRead:
      return "reads";
    case GlobalAccessKind::kAtomicWrite:
      return "updates";
    case GlobalAccessKind::kTmaUpdate:
      return "adds to";
    case GlobalAccessKind::kTmaWrite:
    case GlobalAccessKind::kWrite:
      break;
  }
  return "writes";
}

std::string place_of(const void* address) {
  const DeviceMemory memory = device_memory_at(address);
  const std::string place =
      "address " + hexadecimal(reinterpret_cast<uintptr_t>(address)) + " of global memory";
  if (memory.data == nullptr) return place;
  return place + " (byte " + number(static_cast<const unsigned char*>(address) - memory.data) +
         " of the " + number(memory.bytes) + " from cudaMallocAsync)";
}

void draft_race(const AccessHistory::Race& race, Draft* draft) {
  const GlobalAccess& earlier = race.earlier;
  const GlobalAccess& later = race.later;
  draft->what(std::string(later.who.instruction) + " " + verb_of(later) + " " +
              place_of(race.address) + ", which " + earlier.who.instruction + " of " +
              name_of(earlier.who) + " " + verb_of(earlier) +
              "; nothing orders the two, and one of them is not atomic");
}

constexpr char kUnordered[] =
    "what another block does is only seen in order after a release by it (or by a thread that it "
    "has met at a barrier since) that an acquire has read from";

constexpr char kOneBlockEach[] =
    "give each element to one block (where do the two lines get their coordinates from?), or let "
    "one block wait for the other: st.release.gpu of a flag, and ld.acquire.gpu that reads it";

}  // namespace

void data_race(const Thread& thread, const AccessHistory::Race& race, SourceLine where) {
  Cluster& cluster = thread.block->cluster;
  const GlobalAccess& earlier = race.earlier;
  const Component component = earlier.component;
  Draft draft(Check::kDataRace, cluster);
  draft_race(race, &draft);
  draft.who(thread).at(where, thread).other(earlier.who.where);
  const std::string block = "block (" + number(earlier.who.block.x) + ", " +
                            number(earlier.who.block.y) + ", " + number(earlier.who.block.z) + ")";
  draft.why(kUnordered);
  const auto knows = [&](const Warp& warp) {
    return warp.clock.grid.seen[component] >= earlier.value;
  };
  const Block& own = *thread.block;
  const bool known_in_block = std::any_of(own.warps.begin(), own.warps.end(), knows);
  const bool read_relaxed = std::any_of(own.warps.begin(), own.warps.end(), [&](const Warp& warp) {
    return warp.global.acquirable.grid.seen[component] >= earlier.value;
  });
  const bool released =
      cluster.grid != nullptr && cluster.grid->memory.published[component] >= earlier.value;
  const bool both_write = earlier.is_write() && race.later.is_write();
  if (both_write && !earlier.is_atomic() && !race.later.is_atomic() && !released) {
    draft.fix(kOneBlockEach);
  } else if (earlier.kind == GlobalAccessKind::kTmaWrite ||
             earlier.kind == GlobalAccessKind::kTmaUpdate) {
    draft.fix(
        "store by threads what other blocks of the launch are to read: no wrapper here waits "
        "for the end of a TMA store (cp.async.bulk.wait_group without .read)");
  } else if (known_in_block) {
    draft.fix(
        "another warp of this block has acquired it: let the two meet at a barrier "
        "(__syncthreads) between that and this line");
  } else if (read_relaxed) {
    draft.fix(
        "the flag was read by a relaxed load: take ld.acquire.gpu, or fence.acq_rel.gpu after "
        "the load");
  } else if (released) {
    draft.fix(block +
              " has released it: acquire that here (ld.acquire.gpu, or atom with acquire, "
              "that reads what the release wrote) before this line");
  } else {
    draft.fix(block +
              " has not released it: let it meet at a barrier (__syncthreads) whoever then "
              "sets the flag by st.release.gpu (or red.release, atom.acq_rel; relaxed ones only "
              "after fence.acq_rel.gpu)");
  }
  draft.stop();
}

void missing_proxy_fence(const Thread& thread, const GlobalAccess& write, SourceLine where) {
  by(Check::kMissingProxyFence, thread,
     "a TMA load reads global memory that " + std::string(write.who.instruction) + " of " +
         name_of(write.who) + " " + verb_of(write),
     where)
      .other(write.who.where)
      .why(
          "copies by TMA go through the asynchronous proxy: they see ordinary writes, ordered or "
          "not, after a fence between the two proxies only")
      .fix(
          "fence.proxy.async.global (ptx::fence_proxy_async_global) in every thread that writes, "
          "before it releases; or after the acquire, in the thread that loads")
      .stop();
}

void data_race(Cluster& cluster, const AccessHistory::Race& race) {
  Draft draft(Check::kDataRace, cluster);
  draft_race(race, &draft);
  draft.who(name_of(race.later.who)).at(race.later.who.where).other(race.earlier.who.where);
  draft.why(kUnordered);
  draft.fix(kOneBlockEach);
  draft.stop();
}

// --- shared memory of other blocks ---

void shared_data_race(const Thread& thread, const AccessHistory::Race& race, const Block& block,
                      uint32_t offset, SourceLine where) {
  const GlobalAccess& earlier = race.earlier;
  by(Check::kDataRace, thread,
     std::string(race.later.who.instruction) + " " + verb_of(race.later) + " shared byte " +
         hexadecimal(offset) + " of " + block_name(block) + ", which " + earlier.who.instruction +
         " of " + name_of(earlier.who) + " " + verb_of(earlier) + "; nothing orders the two",
     where)
      .other(earlier.who.where)
      .why(
          "what another block of the cluster does is only seen in order after a cluster barrier, "
          "or an mbarrier at which it arrives afterwards")
      .fix("barrier.cluster.arrive and .wait by all threads between the two")
      .stop();
}

void touched_in_flight(const Thread& thread, const Block& block, const Region& region,
                       SourceLine where) {
  by(Check::kReadBeforeFull, thread,
     "the access goes to " + tile_of(region) + " of " + block_name(block) +
         ", and the thread has not been told that what was to be written there has arrived",
     where)
      .other(region.write.where)
      .why("the copy may still be under way: whichever comes first decides what is read")
      .fix(
          "wait for its mbarrier first, or let the block that has waited tell this one at a "
          "cluster "
          "barrier")
      .stop();
}

void stored_while_read(const Thread& thread, const Block& block, const Region& region,
                       const Access& read, SourceLine where) {
  by(Check::kOverwrittenWhileRead, thread,
     "the store goes to " + tile_of(region) + " of " + block_name(block) + ", which " +
         reader(read) + " reads",
     where)
      .other(read.where)
      .why(
          "the thread has not been told that the read is complete: whichever comes first decides "
          "what is read")
      .fix(
          "let the block that has waited for the reader tell this one, at a cluster barrier or an "
          "mbarrier, before the store")
      .stop();
}

void block_has_not_begun(const Thread& thread, const Block& block, SourceLine where) {
  by(Check::kDataRace, thread,
     "the access goes to shared memory of " + block_name(block) + ", which need not have begun yet",
     where)
      .why(
          "the blocks of a cluster are there together, but nobody knows of the others' beginning "
          "before all have met")
      .fix("a cluster barrier (barrier.cluster.arrive and .wait) before the first such access")
      .stop();
}

void memory_has_ended(const Thread& thread, const Block& block, SourceLine where) {
  by(Check::kBlockLeft, thread,
     "the access goes to shared memory of " + block_name(block) + ", and that block has left",
     where)
      .why(std::string(kMemoryEndsWithBlock) + "the access hits what comes after it")
      .fix("a cluster barrier before a block leaves")
      .stop();
}

void block_leaves_in_use(const Thread& last, int from, SourceLine where) {
  by(Check::kBlockLeft, last,
     "the block leaves without having been told that the block of rank " + number(from) +
         " is done with this access to its shared memory",
     where)
      .why(std::string(kMemoryEndsWithBlock) + "a late access hits what comes after it")
      .fix("a cluster barrier before the block leaves")
      .stop();
}

}  // namespace emulator::report
