// When nobody can run and nothing is under way: who waits for what, and what that suggests.
#include <algorithm>
#include <vector>

#include "machine.h"
#include "report.h"
#include "report_draft.h"
#include "source_text.h"

namespace emulator::report {

namespace {

std::string waits_for(const Thread& thread) {
  const Wait& wait = thread.wait;
  switch (wait.kind) {
    case WaitKind::kPhase:
    case WaitKind::kTry:
      return "waits for parity " + number(wait.parity) + " of " + wait.barrier->name();
    case WaitKind::kWgmma:
      return "waits for its wgmma-groups";
    case WaitKind::kBlockBarrier: {
      const ThreadBarrier& barrier = thread.block->named_barriers[static_cast<size_t>(wait.id)];
      return "waits at bar.sync " + number(wait.id) + " (" + number(barrier.arrived()) + " of " +
             number(barrier.expected()) + " threads have arrived)";
    }
    case WaitKind::kClusterBarrier:
      return "waits at the cluster's barrier (" + number(thread.block->cluster.barrier.arrived()) +
             " of " + number(thread.block->cluster.live_threads()) + " threads have arrived)";
    case WaitKind::kWarp:
      return "waits for the other lanes of its warp";
    case WaitKind::kBulkGroup:
      return "waits for its bulk-groups";
    case WaitKind::kRegisters:
      return "waits for " + number(wait.id) + " registers per thread";
    case WaitKind::kSleep:
    case WaitKind::kNone:
      break;
  }
  return "waits";
}

// Threads of one block that wait for the same thing in the same place.
struct Waiters {
  std::string description;
  SourceLine where;
  int threads;
  int first_warp;
  int last_warp;
};

std::vector<Waiters> waiters_of(const Block& block) {
  std::vector<Waiters> all;
  for (const Thread& thread : block.threads) {
    if (thread.state != Thread::State::kBlocked) continue;
    const std::string description =
        (thread.role == nullptr ? "" : *thread.role + " ") + waits_for(thread);
    const auto same = std::find_if(all.begin(), all.end(), [&](const Waiters& waiters) {
      return waiters.description == description && waiters.where.line == thread.wait.where.line;
    });
    if (same == all.end()) {
      all.push_back({description, thread.wait.where, 1, thread.warp->index, thread.warp->index});
    } else {
      ++same->threads;
      same->last_warp = thread.warp->index;
    }
  }
  return all;
}

bool somebody_waits_for(const Block& block, const Barrier& barrier) {
  return std::any_of(block.threads.begin(), block.threads.end(), [&](const Thread& thread) {
    return thread.state == Thread::State::kBlocked && thread.wait.barrier == &barrier &&
           (thread.wait.kind == WaitKind::kPhase || thread.wait.kind == WaitKind::kTry);
  });
}

// The state of a barrier that somebody waits for, and what that suggests.
std::string state_of(const Barrier& barrier) {
  const uint32_t arrived = barrier.expected - barrier.pending;
  std::string state = phase_of(barrier, barrier.phase) + ": " + number(arrived) + " of " +
                      number(barrier.expected) + " arrivals, " + number(barrier.transaction) +
                      " bytes missing, none under way";
  if (barrier.transaction > 0) {
    state += "; more bytes are announced than loads deliver";
  } else if (barrier.transaction < 0) {
    state += "; bytes have arrived that nobody has announced";
  } else if (barrier.phase == 0 && barrier.arrivals == 0) {
    state +=
        "; nobody has ever arrived: is an arrival missing? (If this wait ought to pass at first, "
        "as for a stage that begins empty, it must name parity 1, not 0.)";
  } else if (arrived > 0) {
    state += "; " + number(barrier.pending) +
             (barrier.pending == 1 ? " arrival never comes" : " arrivals never come") +
             ": compare the init's count with who arrives";
  } else {
    state += "; nobody arrives any more: is an arrival missing, or is the parity one phase ahead?";
  }
  return state;
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

}  // namespace

void deadlock(Cluster& cluster) {
  const Check cause = cause_of_deadlock(cluster);
  Draft draft(cause, cluster);
  draft.what("no thread can run, and nothing is under way");
  for (const auto& block : cluster.blocks) {
    if (block->live_threads == 0) continue;
    draft.who(block_name(*block));
    for (const Waiters& waiters : waiters_of(*block)) {
      std::string warps = "warp " + number(waiters.first_warp);
      if (waiters.last_warp != waiters.first_warp) {
        warps = "warps " + number(waiters.first_warp) + " to " + number(waiters.last_warp);
      }
      draft.line("        " + warps + ", " + number(waiters.threads) +
                 " threads: " + waiters.description + " at " + quote(waiters.where));
    }
    for (const auto& barrier : block->barriers.all()) {
      if (somebody_waits_for(*block, *barrier)) draft.line("        " + state_of(*barrier));
    }
    add_incomplete_collectives(*block, &draft);
  }
  if (cause == Check::kTooManyBytesExpected) {
    draft.why("a phase completes when all announced bytes have arrived; these never do");
    draft.fix("announce the bytes of the boxes that are loaded into the stage, no more");
  } else if (cause == Check::kRegisterBudget) {
    draft.why("setmaxnreg.inc waits until other warp groups have given up enough registers");
    draft.fix("let the sum over the warp groups be at most what the launch gave them");
  } else {
    draft.why("each waits for something that only one who waits, or has left, could do");
    draft.fix("look for the missing arrival, the wrong parity or the wrong count above");
  }
  draft.stop();
}

}  // namespace emulator::report
