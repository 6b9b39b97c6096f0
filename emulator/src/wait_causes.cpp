#include "wait_causes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "machine.h"
#include "report_draft.h"

namespace emulator::report {
namespace {

constexpr char kAfterWaitGroup[] = "after wgmma.wait_group has covered the WGMMAs that read it";
constexpr char kWrongGuard[] = "the loader waits for ";
constexpr char kRightGuard[] =
    "let the loader wait for the stage's own barrier, at which its readers arrive";
constexpr char kFlip[] =
    "; a thread flips the parity each time it has waited for the barrier (around a ring: once a "
    "lap)";

std::string parity_of(uint64_t phase) { return "parity " + number(phase & 1); }

// What is wrong with a wait that has returned for a phase that came too early.
std::string returned(const PastWait& wait, const Barrier& barrier) {
  const std::string call = "this wait for parity " + number(wait.parity) + " of " + barrier.name();
  if (wait.phase < 0) {
    return call +
           " returned at once: a fresh barrier lets parity 1 pass, before its phase 0 is "
           "complete";
  }
  return call + " returned for phase " + number(wait.phase) + ", which was complete already";
}

uint64_t phase_after(const PastWait& wait) { return static_cast<uint64_t>(wait.phase + 1); }

// The latest waits of the thread on a barrier; of its warp's, if it has itself never waited for it:
// what one lane is told, its warp knows.
const PastWaits* waits_on(const Barrier& barrier, const Thread& thread) {
  const PastWaits* found = past_waits(thread, barrier);
  if (found != nullptr) return found;
  for (const Thread* lane : thread.warp->lanes) {
    const PastWaits* const past = past_waits(*lane, barrier);
    if (past == nullptr) continue;
    if (found == nullptr || past->latest.step > found->latest.step) found = past;
  }
  return found;
}

const PastWait* latest_wait_on(const Barrier& barrier, const Thread& thread) {
  const PastWaits* const past = waits_on(barrier, thread);
  return past == nullptr ? nullptr : &past->latest;
}

// Threads and their arrivals, in the order of blocks and threads.
struct Arrived {
  const Thread* thread;
  const PastArrival* arrival;
};

std::vector<Arrived> arrivals_at(const Barrier& barrier) {
  std::vector<Arrived> all;
  for (const auto& [thread, arrival] : barrier.arrivals) all.push_back({thread, &arrival});
  std::sort(all.begin(), all.end(), [](const Arrived& a, const Arrived& b) {
    return std::pair(a.thread->block->rank, a.thread->index) <
           std::pair(b.thread->block->rank, b.thread->index);
  });
  return all;
}

// The barrier at which those who read what `full` brought have arrived when they had read it, and
// who did: the earliest arrival after a wgmma.wait_group that covers the reads.
struct Release {
  const Barrier* barrier = nullptr;  // null: not known
  const Thread* thread = nullptr;
  const PastArrival* arrival = nullptr;
};

Release release_of(const Barrier& full) {
  Block& block = *full.block;
  Release release;
  for (const Region& region : block.memory.regions(0, block.memory.size())) {
    if (region.write.kind != AccessKind::kTmaLoad || region.write.barrier != &full) continue;
    for (const Access& read : region.reads) {
      if (read.kind != AccessKind::kWgmma) continue;
      for (const auto& barrier : block.barriers.all()) {
        if (barrier->carries_bytes) continue;
        for (const Arrived& arrived : arrivals_at(*barrier)) {
          const PastArrival& arrival = *arrived.arrival;
          const bool covers = arrived.thread->block == &block &&
                              arrived.thread->warp_group() == read.warp_group &&
                              arrival.retired >= read.number;
          const bool earlier = release.arrival == nullptr || arrival.step < release.arrival->step;
          if (covers && earlier) release = {barrier.get(), arrived.thread, &arrival};
        }
      }
    }
  }
  return release;
}

// What a loader has waited for since it loaded into a stage last.
struct Guard {
  enum class State { kNone, kMissing, kTooEarly, kInTime };
  State state = State::kNone;
  const Barrier* barrier = nullptr;  // null: which one is not known
  const PastWait* wait = nullptr;
  Release release;
};

Guard guard_of(const Thread& loader, const Barrier& full, uint64_t since) {
  Guard guard;
  if (since == 0) return guard;  // it has not loaded there before
  guard.release = release_of(full);
  guard.barrier = full.guard != nullptr ? full.guard : guard.release.barrier;
  if (guard.barrier == nullptr) guard.barrier = latest_wait(loader, false).barrier;
  guard.state = Guard::State::kMissing;
  if (guard.barrier == nullptr) return guard;
  const PastWait* const wait = latest_wait_on(*guard.barrier, loader);
  if (wait == nullptr || wait->step < since) return guard;
  guard.wait = wait;
  guard.state = wait->completed <= since ? Guard::State::kTooEarly : Guard::State::kInTime;
  return guard;
}

// The step of the loader's latest announcement for an earlier round than the one that it is in.
uint64_t step_of_round_before(const Thread& loader, const Barrier& full) {
  const auto found = full.arrivals.find(&loader);
  if (found == full.arrivals.end()) return 0;
  const PastArrival& arrival = found->second;
  return arrival.phase == full.phase ? arrival.before : arrival.step;
}

// The loader's wait is missing or came too early. False if it is in order.
bool explain_guard(const Thread& loader, const Guard& guard, Draft* draft) {
  if (guard.state == Guard::State::kTooEarly) {
    const uint64_t needed = phase_after(*guard.wait);
    draft->past("  wait:   ", guard.wait->site)
        .why(returned(*guard.wait, *guard.barrier) +
             ", so it does not say that the stage was released since the thread loaded there last")
        .fix("let the wait before the load name " + parity_of(needed) + " of " +
             guard.barrier->name() + ", which waits for its phase " + number(needed) + kFlip);
    return true;
  }
  if (guard.state != Guard::State::kMissing) return false;
  if (guard.barrier == nullptr) {
    draft
        ->why(
            "since it loaded into the stage last, the thread has waited for nothing at which the "
            "readers of the stage arrive")
        .fix(std::string("before the thread loads there again, let it wait until the readers have "
                         "released the stage: an mbarrier at which they arrive ") +
             kAfterWaitGroup + ", with its parity flipped every lap");
    return true;
  }
  std::string readers;
  const Release& release = guard.release;
  uint64_t needed = guard.barrier->phase;
  if (release.barrier == guard.barrier) {
    draft->past("  and:    ", release.arrival->site);
    readers = ", at which " + warp_name(*release.thread) + " releases the stage,";
    needed = release.arrival->phase;
  } else if (const PastWait* const wait = latest_wait_on(*guard.barrier, loader)) {
    needed = phase_after(*wait);
  }
  draft
      ->why("the thread has not waited for " + guard.barrier->name() + readers +
            " since it loaded into the stage last")
      .fix("wait for " + parity_of(needed) + " of " + guard.barrier->name() +
           " before the stage is loaded again" + kFlip);
  return true;
}

// The warp has not been told of phase `needed` of `full`: by which wait it ought to have been.
// `so`: what it did then. `old`: what it has read after `wait` it has released since.
bool explain_missing_full_wait(const Thread& reader, const Barrier& full, uint64_t needed,
                               const std::string& so, const PastWait* wait, bool old,
                               Draft* draft) {
  const std::string fix = "wait for " + parity_of(needed) + " of " + full.name() + " (its phase " +
                          number(needed) + ") in every warp before ";
  if (wait != nullptr && !old && wait->phase < static_cast<int64_t>(needed) &&
      wait->parity != (needed & 1)) {
    draft->past("  wait:   ", wait->site)
        .why(warp_name(reader) + " " + so + ": " + returned(*wait, full))
        .fix("let the wait before the read name " + parity_of(needed) + " of " + full.name() +
             ", which waits for its phase " + number(needed) + kFlip);
    return true;
  }
  std::string why = warp_name(reader) + " " + so + ": it has ";
  why += wait == nullptr ? "never waited for " + full.name()
                         : "not waited for " + full.name() + " again since its phase " +
                               number(std::max<int64_t>(wait->phase, 0));
  // (Where the right barrier was never waited for, the wrong one was, perhaps.)
  const LatestWait other = latest_wait(reader, true);
  if (other.barrier != nullptr && other.barrier != &full) {
    draft->past("  wait:   ", other.wait->site);
    why += "; its latest wait was this one, for " + other.barrier->name();
  }
  draft->why(why).fix(fix + "what it brings is read");
  return true;
}

// A wait of the thread, since a step, for a barrier that carries bytes, which told it nothing new.
LatestWait early_data_wait(const Thread& thread, uint64_t since) {
  for (const auto& full : thread.block->barriers.all()) {
    const PastWaits* const past = full->carries_bytes ? past_waits(thread, *full) : nullptr;
    if (past == nullptr || past->latest.step <= since) continue;
    const bool before = past->before.step != 0 && past->before.step <= since;
    const bool again = before && past->before.phase == past->latest.phase;
    if (again || past->latest.phase < 0) return {full.get(), &past->latest};
  }
  return {};
}

// Who arrived twice in a phase: after a wait for the data that came too early, or just so.
bool explain_twice(const Barrier& barrier, uint64_t phase, Draft* draft) {
  if (barrier.twice == nullptr || barrier.twice_in < phase) return false;
  const Thread& thread = *barrier.twice;
  const PastArrival& arrival = barrier.arrivals.at(&thread);
  const std::string so =
      "has arrived at " + barrier.name() + " twice in its phase " + number(barrier.twice_in);
  draft->past("  and:    ", arrival.site);
  if (const LatestWait early = early_data_wait(thread, arrival.before); early.wait != nullptr) {
    return explain_missing_full_wait(thread, *early.barrier, phase_after(*early.wait), so,
                                     early.wait, false, draft);
  }
  draft->why(warp_name(thread) + " lane " + number(thread.lane) + " " + so)
      .fix("let each arrive once per phase, and count as many in mbarrier.init");
  return true;
}

// A barrier's phase completed without arrivals that it ought to have waited for.
void explain_count(const Barrier& barrier, uint64_t phase, const std::string& missing,
                   Draft* draft) {
  if (explain_twice(barrier, phase, draft)) return;
  std::string who;
  int named = 0;
  for (const Arrived& arrived : arrivals_at(barrier)) {
    if (arrived.arrival->phase < phase || ++named > 2) continue;
    who += (named > 1 ? ", " : "") + warp_name(*arrived.thread) + " lane " +
           number(arrived.thread->lane);
  }
  if (named > 2) who += " and more";
  draft->other(barrier.initialised)
      .why("phase " + number(phase) + " of " + barrier.name() + " was complete after " +
           number(barrier.expected) + (barrier.expected == 1 ? " arrival" : " arrivals") +
           (who.empty() ? "" : " (" + who + ")") + ", and " + missing)
      .fix("initialise " + barrier.name() +
           " with the number of all arrivals of a phase, one for each who arrives; or let fewer "
           "arrive");
}

// The reader's warps have read a phase anew that they had read before, or nothing at all yet.
bool explain_stale_read(const Block& block, const Barrier& signalled, const Region& region,
                        const Access& read, Draft* draft) {
  const bool loaded = region.write.kind == AccessKind::kTmaLoad;
  const Barrier& full = loaded ? *region.write.barrier : signalled;
  for (int i = 0; i < kWarpsPerGroup; ++i) {
    const auto index = static_cast<size_t>(read.warp_group * kWarpsPerGroup + i);
    const Thread& reader = *block.warps[index].lanes[0];
    if (reader.wgmma.issued < read.number) continue;  // others of the group did
    const PastWait* wait = nullptr;
    const PastWait* before = nullptr;
    if (const PastWaits* const past = waits_on(full, reader)) {
      const bool latest = past->latest.wgmmas < read.number;
      wait = latest ? &past->latest : &past->before;
      if (latest && past->before.step != 0) before = &past->before;
      if (wait->step == 0) wait = nullptr;
    }
    if (region.write.kind == AccessKind::kNone) {
      return explain_missing_full_wait(reader, full, 0, "reads before anything was loaded there",
                                       wait, false, draft);
    }
    const bool again = wait != nullptr && before != nullptr && wait->phase == before->phase &&
                       before->wgmmas < wait->wgmmas;
    if (loaded && again) {
      return explain_missing_full_wait(reader, full, phase_after(*wait),
                                       "reads the stage a second time, not what comes next", wait,
                                       false, draft);
    }
  }
  return false;
}

// The stage was released, as its loader has been told: too early, or before it was read again.
bool explain_release(const Guard& guard, const Barrier& full, const Block& block,
                     const Access& read, Draft* draft) {
  const Barrier& barrier = *guard.barrier;
  const auto told = static_cast<uint64_t>(guard.wait->phase);
  const Arrived* latest = nullptr;
  const std::vector<Arrived> all = arrivals_at(barrier);
  for (const Arrived& arrived : all) {
    const bool of_readers = arrived.thread->block == &block &&
                            arrived.thread->warp_group() == read.warp_group &&
                            arrived.arrival->phase >= told;
    if (!of_readers) continue;
    if (latest == nullptr || arrived.arrival->step > latest->arrival->step) latest = &arrived;
  }
  const std::string reads = reader(read);
  if (latest == nullptr) {
    if (guard.release.barrier != nullptr && guard.release.barrier != &barrier) {
      const Barrier& other = *guard.release.barrier;
      draft->past("  wait:   ", guard.wait->site)
          .past("  and:    ", guard.release.arrival->site)
          .why(kWrongGuard + barrier.name() +
               " before this load; those who read the stage arrive at " + other.name())
          .fix(kRightGuard);
      return true;
    }
    explain_count(barrier, told, "none by the warp group of " + reads, draft);
    return true;
  }
  if (latest->arrival->wgmmas < read.number) {
    const PastWait* const wait = latest_wait_on(full, *latest->thread);
    const bool since = wait != nullptr && wait->step > latest->arrival->step;
    draft->past("  and:    ", latest->arrival->site);
    return explain_missing_full_wait(*latest->thread, full, full.phase,
                                     "reads the stage again after it has released it", wait, !since,
                                     draft);
  }
  if (latest->arrival->retired >= read.number) {  // in a later phase than the loader waited for
    explain_count(barrier, told, "the release by " + warp_name(*latest->thread) + " comes later",
                  draft);
    return true;
  }
  draft->past("  and:    ", latest->arrival->site)
      .why(warp_name(*latest->thread) + " has arrived at " + barrier.name() +
           " before its wgmma.wait_group covered " + reads +
           ": the loader was told that the stage is free while it may still be read")
      .fix(std::string("release the stage only after wgmma.wait_group has covered the WGMMA, as "
                       "the loader waits for that release"));
  return true;
}

// The loader was told that the stage is free, though what `full`, of the stage's block, brings in
// phase `needed` was still to come: who said so?
bool explain_empty_release(const Guard& guard, const Barrier& full, uint64_t needed, Draft* draft) {
  if (guard.state != Guard::State::kInTime || guard.wait->phase < 0) return false;
  const auto told = static_cast<uint64_t>(guard.wait->phase);
  bool by_readers = false;
  for (const Arrived& arrived : arrivals_at(*guard.barrier)) {
    if (arrived.thread->block != full.block || arrived.arrival->phase < told) continue;
    by_readers = true;
    const PastWait* const wait = latest_wait_on(full, *arrived.thread);
    if (wait != nullptr && wait->phase >= static_cast<int64_t>(needed)) continue;
    draft->past("  and:    ", arrived.arrival->site);
    return explain_missing_full_wait(*arrived.thread, full, needed,
                                     "has released the stage without having been told that what "
                                     "it reads is there",
                                     wait, wait != nullptr && wait->step < arrived.arrival->before,
                                     draft);
  }
  if (by_readers) return false;
  explain_count(*guard.barrier, told, "none by the readers of " + block_name(*full.block), draft);
  return true;
}

// A loader waits for a barrier other than that at which the stage's readers arrive.
bool explain_wrong_guard(const Block& block, Draft* draft) {
  for (const auto& full : block.barriers.all()) {
    if (full->guard == nullptr || full->latest_sender == nullptr) continue;
    const Release release = release_of(*full);
    if (release.barrier == nullptr || release.barrier == full->guard) continue;
    const PastWait* const wait = latest_wait_on(*full->guard, *full->latest_sender);
    if (wait == nullptr) continue;
    draft->past("  wait:   ", wait->site)
        .past("  and:    ", release.arrival->site)
        .why(kWrongGuard + full->guard->name() + " before it loads what " + full->name() +
             " tells of; those who read that arrive at " + release.barrier->name())
        .fix(kRightGuard);
    return true;
  }
  return false;
}

}  // namespace

bool release_is_known(const Barrier& full) {
  return full.guard != nullptr || release_of(full).barrier != nullptr;
}

bool explain_early_announcement(const Thread& loader, const Barrier& full, uint64_t needed,
                                Draft* draft) {
  const auto own = full.arrivals.find(&loader);
  if (own == full.arrivals.end()) return false;
  const Guard guard = guard_of(loader, full, own->second.step);
  if (explain_guard(loader, guard, draft)) return true;
  return explain_empty_release(guard, full, needed, draft);
}

bool explain_overwrite(const Thread& loader, const Barrier& full, const Block& block,
                       const Barrier& signalled, const Region& region, const Access& read,
                       Draft* draft) {
  if (read.kind != AccessKind::kWgmma) return false;
  if (explain_stale_read(block, signalled, region, read, draft)) return true;
  if (loader.block == &block && loader.warp_group() == read.warp_group) {
    draft
        ->why(
            "the thread that loads is one of those that read, and no wgmma.wait_group of its has "
            "covered " +
            reader(read))
        .fix(
            "wgmma.wait_group before the load, with as many groups left pending as may still run "
            "while the stage is loaded; is it the stage that was waited for?");
    return true;
  }
  const Guard guard = guard_of(loader, full, step_of_round_before(loader, full));
  if (explain_guard(loader, guard, draft)) return true;
  if (guard.state != Guard::State::kInTime || guard.wait->phase < 0) return false;
  return explain_release(guard, signalled, block, read, draft);
}

bool explain_overlapping_loads(const Thread& loader, const Barrier& full, const Region& region,
                               Draft* draft) {
  const Guard guard = guard_of(loader, full, step_of_round_before(loader, full));
  if (explain_guard(loader, guard, draft)) return true;
  if (region.write.kind != AccessKind::kTmaLoad) return false;
  return explain_empty_release(guard, *region.write.barrier, region.write.number, draft);
}

bool explain_early_read(const Thread& reader, const Barrier& full, uint64_t needed, Draft* draft) {
  const PastWait* const wait = latest_wait_on(full, reader);
  const bool old = wait != nullptr && reader.wgmma.retired > wait->wgmmas;
  return explain_missing_full_wait(reader, full, needed, "has not been told that the data is there",
                                   wait, old, draft);
}

bool explain_poison(const Block& block, int warp_group, Draft* draft) {
  for (int i = 0; i < kWarpsPerGroup; ++i) {
    const auto index = static_cast<size_t>(warp_group * kWarpsPerGroup + i);
    const Thread& reader = *block.warps[index].lanes[0];
    LatestWait latest = latest_wait(reader, true);
    const LatestWait other = latest_wait(reader, false);
    if (latest.wait == nullptr || (other.wait != nullptr && other.wait->step > latest.wait->step)) {
      latest = other;
    }
    if (latest.wait == nullptr) {
      draft
          ->why(warp_name(reader) +
                " has waited for no mbarrier yet: it reads whatever was there before")
          .fix("wait for the barrier that the load completes before the WGMMA, in every warp");
      return true;
    }
    if (latest.wait->phase < 0) {
      return explain_missing_full_wait(reader, *latest.barrier, 0,
                                       "reads before anything was loaded there", latest.wait, false,
                                       draft);
    }
  }
  return false;
}

bool explain_early_arrival(const Thread& thread, const Barrier& barrier, Draft* draft) {
  const auto found = barrier.arrivals.find(&thread);
  const PastArrival own = found == barrier.arrivals.end() ? PastArrival{} : found->second;
  if (explain_twice(barrier, barrier.phase - 1, draft)) return true;
  if (own.count < barrier.phase) {
    explain_count(barrier, barrier.phase - 1, "this thread arrives later", draft);
    return true;
  }
  if (own.count == 0) return false;
  // Its own wait for the data, since it arrived here last.
  if (const LatestWait early = early_data_wait(thread, own.step); early.wait != nullptr) {
    return explain_missing_full_wait(thread, *early.barrier, phase_after(*early.wait),
                                     "releases what it has not been told to be there", early.wait,
                                     false, draft);
  }
  const LatestWait data = latest_wait(thread, true);
  if (data.wait != nullptr && data.wait->step < own.step) {
    if (thread.wgmma.issued == own.wgmmas) {
      draft->past("  and:    ", own.site)
          .why("the thread has arrived at " + barrier.name() +
               " in the phase before, and has neither waited nor read since: it arrives twice in a "
               "row")
          .fix("let each arrive once per phase, and count as many in mbarrier.init");
      return true;
    }
    draft->past("  wait:   ", data.wait->site)
        .why("since it arrived at " + barrier.name() + " last, " + warp_name(thread) +
             " has waited for nothing that is loaded: it releases the stage again without having "
             "been told that it was filled again")
        .fix(
            "wait for the barrier that the load completes, with its parity flipped every lap, "
            "before the stage is read and released");
    return true;
  }
  // The loader's wait: its arrivals hand on what it was told here.
  for (const auto& full : thread.block->barriers.all()) {
    if (!full->carries_bytes) continue;
    for (const Arrived& arrived : arrivals_at(*full)) {
      if (arrived.arrival->announced == 0 || arrived.arrival->count < 2) continue;
      if (full->guard != nullptr && full->guard != &barrier) continue;
      const PastWait* const wait = latest_wait_on(barrier, *arrived.thread);
      const auto needed = static_cast<int64_t>(arrived.arrival->count) - 2;
      if (wait != nullptr && wait->phase >= needed) continue;
      draft->past("  and:    ", arrived.arrival->site);
      const std::string loads = warp_name(*arrived.thread) + ", which loads the stage again, ";
      if (wait == nullptr) {
        draft
            ->why(loads + "has not waited for " + barrier.name() +
                  ": nobody hands on that the phase before is complete")
            .fix("let " + warp_name(*arrived.thread) + " wait for " +
                 parity_of(static_cast<uint64_t>(needed)) + " of " + barrier.name() +
                 " before it loads into the stage again" + kFlip);
        return true;
      }
      draft->past("  wait:   ", wait->site)
          .why(loads + "has not been told that it was released: " + returned(*wait, barrier))
          .fix("let the wait before the load name " + parity_of(static_cast<uint64_t>(needed)) +
               " of " + barrier.name() + kFlip);
      return true;
    }
  }
  return explain_wrong_guard(*thread.block, draft);
}

}  // namespace emulator::report
