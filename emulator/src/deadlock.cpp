// When nobody can run and nothing is under way: who waits for what, who would have to do it and
// where he is instead, and what that suggests.
#include <algorithm>
#include <utility>
#include <vector>

#include "machine.h"
#include "report.h"
#include "report_draft.h"
#include "source_text.h"

namespace emulator::report {

namespace {

bool waits_for_phase(const Thread& thread) {
  return thread.state == Thread::State::kBlocked &&
         (thread.wait.kind == WaitKind::kPhase || thread.wait.kind == WaitKind::kTry);
}

std::string of_threads(int arrived, int expected) {
  return " (" + number(arrived) + " of " + number(expected) + " threads have arrived)";
}

std::string waits_for(const Thread& thread) {
  const Wait& wait = thread.wait;
  switch (wait.kind) {
    case WaitKind::kPhase:
    case WaitKind::kTry:
      return "waits for parity " + number(wait.parity) + " of " + wait.barrier->name();
    case WaitKind::kWgmma: {
      const TensorCore& core = *thread.block->tensor_cores[thread.warp_group()];
      return "waits for its wgmma-groups, that is for WGMMA " + number(core.oldest()) + ", which " +
             number(core.oldest_lanes()) + " of 128 threads have executed";
    }
    case WaitKind::kBlockBarrier: {
      const ThreadBarrier& barrier = thread.block->named_barriers[static_cast<size_t>(wait.id)];
      return "waits at bar.sync " + number(wait.id) +
             of_threads(barrier.arrived(), barrier.expected());
    }
    case WaitKind::kClusterBarrier: {
      const Cluster& cluster = thread.block->cluster;
      return "waits at the cluster's barrier" +
             of_threads(cluster.barrier.arrived(), cluster.live_threads());
    }
    case WaitKind::kWarp:
      return "waits for the other lanes of its warp";
    case WaitKind::kBulkGroup:
      return "waits for its bulk-groups";
    case WaitKind::kRegisters:
      return "waits for " + number(wait.id) + " registers per thread";
    case WaitKind::kNone:
      break;
  }
  return "waits";
}

std::string is_doing(const Thread& thread) {
  if (thread.state == Thread::State::kDone) return "has left the kernel";
  return waits_for(thread);
}

// --- who is where ---

bool is_same(SourceLine a, SourceLine b) {
  return a.line == b.line && std::string(a.file) == b.file;
}

// Threads of one block that do the same in the same place.
struct Group {
  std::string role;
  std::string doing;
  Position position;
  int threads;
  int first_warp;
  int last_warp;
};

std::vector<Group> groups_of(const Block& block) {
  std::vector<Group> all;
  for (const Thread& thread : block.threads) {
    const Position position = position_of(thread);
    const std::string role = position.role == nullptr ? "" : " (" + *position.role + ")";
    const std::string doing = is_doing(thread);
    const auto same = std::find_if(all.begin(), all.end(), [&](const Group& group) {
      return group.role == role && group.doing == doing &&
             is_same(group.position.where, position.where) &&
             std::equal(group.position.callers.begin(), group.position.callers.end(),
                        position.callers.begin(), position.callers.end(), is_same);
    });
    if (same == all.end()) {
      all.push_back({role, doing, position, 1, thread.warp->index, thread.warp->index});
    } else {
      ++same->threads;
      same->last_warp = thread.warp->index;
    }
  }
  return all;
}

void add_group(const Group& group, Draft* draft) {
  std::string text = group.first_warp == group.last_warp
                         ? "warp " + number(group.first_warp)
                         : "warps " + number(group.first_warp) + " to " + number(group.last_warp);
  text += group.role + ", " + number(group.threads) +
          (group.threads == 1 ? " thread: " : " threads: ") + group.doing;
  const Position& position = group.position;
  if (position.where.line != 0) {
    const bool left = group.doing == "has left the kernel";
    text += (left ? ", after " : " at ") + quote(position.where);
  }
  draft->line("        " + text);
  for (const SourceLine caller : position.callers) {
    draft->line("          called at " + quote(caller));
  }
  if (position.after.line != 0) draft->line("          after " + quote(position.after));
}

// --- what is missing ---

bool somebody_waits_for(const Cluster& cluster, const Barrier& barrier) {
  for (const auto& block : cluster.blocks) {
    for (const Thread& thread : block->threads) {
      if (waits_for_phase(thread) && thread.wait.barrier == &barrier) return true;
    }
  }
  return false;
}

std::vector<const Barrier*> barriers_waited_for(const Cluster& cluster) {
  std::vector<const Barrier*> all;
  for (const auto& block : cluster.blocks) {
    for (const auto& barrier : block->barriers.all()) {
      if (somebody_waits_for(cluster, *barrier)) all.push_back(barrier.get());
    }
  }
  return all;
}

// Those who have arrived at the barrier before and not in this phase: they are expected again.
void add_missing_arrivals(const Barrier& barrier, Draft* draft) {
  struct Missing {
    std::string text;
    int threads;
  };
  std::vector<Missing> all;
  for (const auto& block : barrier.block->cluster.blocks) {
    for (const Thread& thread : block->threads) {
      const auto found = barrier.arrivals.find(&thread);
      if (found == barrier.arrivals.end() || found->second.phase == barrier.phase) continue;
      const std::string text = " of " + warp_name(thread) + " arrived in phase " +
                               number(found->second.phase) + " (" +
                               place(found->second.site.where) + ") and now " + is_doing(thread);
      const auto same = std::find_if(all.begin(), all.end(),
                                     [&](const Missing& each) { return each.text == text; });
      if (same == all.end()) {
        all.push_back({text, 1});
      } else {
        ++same->threads;
      }
    }
  }
  for (const Missing& each : all) {
    draft->line("          " + number(each.threads) + (each.threads == 1 ? " thread" : " threads") +
                each.text);
  }
}

// Which blocks of a cluster have loaded for the phase.
void add_senders(const Barrier& barrier, Draft* draft) {
  if (!barrier.carries_bytes || !barrier.block->cluster.has_peers()) return;
  for (const auto& block : barrier.block->cluster.blocks) {
    int64_t bytes = 0;
    bool ever = false;
    for (const auto& [thread, loads] : barrier.senders) {
      if (thread->block != block.get()) continue;
      ever = true;
      if (loads.phase == barrier.phase) bytes += loads.bytes;
    }
    std::string text = "block rank " + number(block->rank) + " has ";
    text += ever ? "loaded " + number(bytes) + " bytes for this phase"
                 : "never loaded for this barrier";
    if (block->live_threads == 0) text += ", and has left";
    draft->line("          " + text);
  }
}

// The state of a barrier that somebody waits for.
void add_state(const Barrier& barrier, Draft* draft) {
  const uint32_t arrived = barrier.expected - barrier.pending;
  std::string state = phase_of(barrier, barrier.phase) + ": " + number(arrived) + " of " +
                      number(barrier.expected) + " arrivals, " + number(barrier.transaction) +
                      " bytes missing, none under way";
  if (barrier.transaction > 0) {
    state += "; more bytes are announced than loads deliver";
  } else if (barrier.transaction < 0) {
    state += "; bytes have arrived that nobody has announced";
  } else if (barrier.arrivals.empty()) {
    state += "; nobody has ever arrived";
  } else if (arrived > 0) {
    state += "; " + number(barrier.pending) +
             (barrier.pending == 1 ? " arrival never comes" : " arrivals never come");
  } else {
    state += "; nobody arrives any more";
  }
  draft->line("        " + state);
  if (barrier.transaction == 0) add_missing_arrivals(barrier, draft);
  if (barrier.transaction != 0) add_senders(barrier, draft);
}

// Instructions of whole warps that some lanes have not reached.
void add_incomplete_collectives(const Block& block, Draft* draft) {
  for (const Warp& warp : block.warps) {
    if (warp.collectives.empty()) continue;
    const CollectiveCall& call = warp.collectives.front();
    draft->line("        warp " + number(warp.index) + ": " + number(call.lanes) +
                " of 32 lanes have executed " + call.instruction + " at " + place(call.where));
  }
}

void add_registers(const Block& block, Draft* draft) {
  std::string text = "registers per thread: ";
  for (size_t i = 0; i < block.tensor_cores.size(); ++i) {
    text += (i > 0 ? ", " : "") + number(block.registers.registers(static_cast<int>(i))) +
            " in warp group " + number(i);
  }
  draft->line("        " + text + "; " + number(block.registers.free()) + " more are free");
}

// --- what that suggests ---

// A thread waits for a phase, and has never been told of the one before, which is complete: with
// the other parity it would have passed.
const Thread* who_skips_a_phase(const Cluster& cluster) {
  for (const auto& block : cluster.blocks) {
    for (const Thread& thread : block->threads) {
      if (!waits_for_phase(thread)) continue;
      const Barrier& barrier = *thread.wait.barrier;
      const PastWaits* const past = past_waits(thread, barrier);
      const int64_t told = past == nullptr ? -1 : past->latest.phase;
      if (static_cast<int64_t>(barrier.phase) > told + 1) return &thread;
    }
  }
  return nullptr;
}

bool is_loader(const Thread& thread) { return thread.announced > 0; }

// Somebody waits for a barrier at which nobody has ever arrived; preferably a loader.
const Thread* who_waits_for_nobody(const Cluster& cluster) {
  const Thread* found = nullptr;
  for (const auto& block : cluster.blocks) {
    for (const Thread& thread : block->threads) {
      if (!waits_for_phase(thread) || !thread.wait.barrier->arrivals.empty()) continue;
      if (found == nullptr || (is_loader(thread) && !is_loader(*found))) found = &thread;
    }
  }
  return found;
}

// A loader waits for arrivals that do not come.
const Thread* who_waits_for_release(const Cluster& cluster) {
  for (const auto& block : cluster.blocks) {
    for (const Thread& thread : block->threads) {
      if (waits_for_phase(thread) && is_loader(thread) && !thread.wait.barrier->carries_bytes) {
        return &thread;
      }
    }
  }
  return nullptr;
}

Check cause_of_deadlock(const Cluster& cluster) {
  Check cause = Check::kDeadlock;
  for (const auto& block : cluster.blocks) {
    for (const Thread& thread : block->threads) {
      if (thread.state == Thread::State::kBlocked && thread.wait.kind == WaitKind::kRegisters) {
        return Check::kRegisterBudget;
      }
    }
    for (const auto& barrier : block->barriers.all()) {
      if (barrier->transaction > 0 && barrier->pending == 0) cause = Check::kTooManyBytesExpected;
    }
  }
  return cause;
}

// A thread has skipped a phase. False if none has.
bool explain_skipped_phase(const Cluster& cluster, Draft* draft) {
  const Thread* const thread = who_skips_a_phase(cluster);
  if (thread == nullptr) return false;
  const Barrier& barrier = *thread->wait.barrier;
  const uint64_t complete = barrier.phase - 1;
  draft
      ->why(warp_name(*thread) + " waits for phase " + number(barrier.phase) + " of " +
            barrier.name() + " and was never told of phase " + number(complete) +
            ", which is complete")
      .fix("is the parity one phase ahead? Parity " + number(complete & 1) + " of " +
           barrier.name() +
           " would have passed; a thread flips the parity once for each time "
           "it has waited for that barrier");
  return true;
}

// How the waits for mbarriers hang together.
void explain_phases(const Cluster& cluster, Draft* draft) {
  const std::vector<const Barrier*> barriers = barriers_waited_for(cluster);
  const bool all_fresh = std::all_of(barriers.begin(), barriers.end(), [](const Barrier* barrier) {
    return barrier->phase == 0 && barrier->arrivals.empty() && barrier->senders.empty();
  });
  if (barriers.size() > 1 && all_fresh) {
    draft->why("each waits for the other, and nobody has arrived anywhere yet")
        .fix(
            "let the first wait of the one who fills the stages pass, as they begin empty: a fresh "
            "barrier lets parity 1 pass; the others wait for parity 0");
    return;
  }
  if (const Thread* thread = who_waits_for_nobody(cluster)) {
    const Barrier& barrier = *thread->wait.barrier;
    draft->other(barrier.initialised)
        .why(warp_name(*thread) + " waits for " + barrier.name() +
             ", and nobody has ever arrived there")
        .fix(is_loader(*thread)
                 ? "let those who read the stage arrive at " + barrier.name() +
                       " when they have read it; check which stage's barrier they take"
                 : "let those whom the thread waits for arrive at " + barrier.name() +
                       "; or, if this first wait ought to pass, let it name parity 1");
    return;
  }
  if (const Thread* thread = who_waits_for_release(cluster)) {
    const Barrier& barrier = *thread->wait.barrier;
    draft->other(barrier.initialised)
        .why(warp_name(*thread) + ", which loads, waits for " + phase_of(barrier, barrier.phase) +
             ", and " + number(barrier.pending) + " of " + number(barrier.expected) +
             " arrivals do not come")
        .fix("let those who read the stage arrive at " + barrier.name() +
             " each time that they have read it: those above who have arrived before; or is the "
             "init's count too large?");
    return;
  }
  draft->why("each waits for something that only one who waits, or has left, could do")
      .fix(
          "look above for the arrival that is missing: compare the init's count with who arrives, "
          "and which stage's barrier they take");
}

bool any_waits(const Cluster& cluster, WaitKind kind) {
  for (const auto& block : cluster.blocks) {
    for (const Thread& thread : block->threads) {
      if (thread.state == Thread::State::kBlocked && thread.wait.kind == kind) return true;
    }
  }
  return false;
}

void explain(const Cluster& cluster, Check cause, Draft* draft) {
  if (cause == Check::kTooManyBytesExpected) {
    draft->why("a phase completes when all announced bytes have arrived; these never do")
        .fix(
            std::string("announce the bytes of the boxes that are loaded into the stage, no more") +
            (cluster.has_peers() ? "; what one block of a cluster announces for a multicast, "
                                   "another must load, as often"
                                 : ""));
  } else if (cause == Check::kRegisterBudget) {
    draft->why("setmaxnreg.inc waits until other warp groups have given up enough registers")
        .fix(
            "let the sum over the warp groups be at most what the launch gave them, and each of "
            "them reach its setmaxnreg");
  } else if (explain_skipped_phase(cluster, draft)) {
    return;
  } else if (any_waits(cluster, WaitKind::kWarp) || any_waits(cluster, WaitKind::kWgmma)) {
    draft->why("an instruction of a whole warp, or warp group, waits for lanes that are elsewhere")
        .fix("let all lanes execute it, or none: keep it out of branches that part them");
  } else if (any_waits(cluster, WaitKind::kBlockBarrier) ||
             any_waits(cluster, WaitKind::kClusterBarrier)) {
    draft->why("a barrier of threads waits for threads that are elsewhere, or have left")
        .fix(
            "let all threads that it counts come to it, equally often; of bar.sync check the "
            "count");
  } else {
    explain_phases(cluster, draft);
  }
}

}  // namespace

void deadlock(Cluster& cluster) {
  const Check cause = cause_of_deadlock(cluster);
  Draft draft(cause, cluster);
  draft.what("no thread can run, and nothing is under way");
  for (const auto& block : cluster.blocks) {
    draft.who(block_name(*block) + (block->live_threads == 0 ? ", has left" : ""));
    for (const Group& group : groups_of(*block)) add_group(group, &draft);
    for (const auto& barrier : block->barriers.all()) {
      if (somebody_waits_for(cluster, *barrier)) add_state(*barrier, &draft);
    }
    add_incomplete_collectives(*block, &draft);
    if (cause == Check::kRegisterBudget) add_registers(*block, &draft);
  }
  explain(cluster, cause, &draft);
  draft.stop();
}

}  // namespace emulator::report
