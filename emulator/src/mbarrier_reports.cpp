// What is said of mbarriers.
#include "machine.h"
#include "report.h"
#include "report_draft.h"
#include "wait_causes.h"

namespace emulator::report {
namespace {

constexpr char kHandsOff[] =
    "an mbarrier is 8 bytes of shared memory; only mbarrier instructions may touch them";
constexpr char kAnnounceAllBoxes[] =
    "announce (mbarrier.arrive.expect_tx) the bytes of all boxes of the stage; boxes count whole, "
    "also where they reach beyond the tensor";

}  // namespace

void arrival_count_out_of_range(const Thread& thread, uint32_t arrivals, SourceLine where) {
  by(Check::kLimit, thread, "an mbarrier is initialised with " + number(arrivals) + " arrivals",
     where)
      .why("the hardware counts 1 to 1048575")
      .fix("initialise it with the number of arrivals that complete a phase")
      .stop();
}

void byte_count_out_of_range(const Thread& thread, uint32_t bytes, SourceLine where) {
  by(Check::kLimit, thread, number(bytes) + " bytes are announced at once", where)
      .why("an mbarrier counts less than 1048576 bytes per phase")
      .fix("spread the loads over several barriers")
      .stop();
}

void initialised_twice(const Thread& thread, const Barrier& barrier, SourceLine where) {
  by(Check::kBarrierReinitialised, thread, barrier.name() + " is initialised a second time", where)
      .other(barrier.initialised)
      .why("an mbarrier in use may not be initialised again without mbarrier.inval")
      .fix("initialise each barrier once, by one thread; barriers carry on from phase to phase")
      .stop();
}

void not_initialised(const Thread& thread, const void* address, SourceLine where) {
  by(Check::kBarrierNotInitialised, thread,
     "there is no mbarrier at shared byte " + hexadecimal(thread.block->memory.offset(address)),
     where)
      .why("memory that mbarrier.init has not touched has no phases")
      .fix(
          "let one thread initialise every barrier before the block's first barrier; check the "
          "index")
      .stop();
}

void not_initialised_remotely(const Thread& thread, const Block& block, uint32_t offset,
                              SourceLine where) {
  by(Check::kBarrierNotInitialised, thread,
     block_name(block) + " has no mbarrier at shared byte " + hexadecimal(offset) + " (yet)", where)
      .why("a signal to a peer's barrier takes effect at once, whether the peer is ready or not")
      .fix(
          "initialise in every block, then fence.mbarrier_init and a cluster barrier before the "
          "first signal")
      .stop();
}

void init_not_visible(const Thread& thread, const Barrier& barrier, SourceLine where) {
  by(Check::kInitNotVisible, thread,
     barrier.name() + " is used by a warp that need not have seen its init", where)
      .other(barrier.initialised)
      .why("without a barrier between the init and the use, the use may come first")
      .fix(barrier.block->cluster.has_peers()
               ? "a cluster barrier (barrier.cluster arrive and wait) after the inits"
               : "__syncthreads() after the inits and their fence")
      .stop();
}

void init_not_fenced(const Thread& thread, const Barrier& barrier, SourceLine where) {
  by(Check::kInitNotFenced, thread,
     "TMA is to signal " + barrier.name() + ", whose init it need not have seen", where)
      .other(barrier.initialised)
      .why(
          "mbarrier.init is an ordinary write; the TMA unit is another proxy and may still see "
          "what was there before")
      .fix("fence.mbarrier_init in the thread that initialises, after the last init")
      .stop();
}

void barrier_overwritten(const Thread& thread, const Barrier& barrier, SourceLine where) {
  by(Check::kBarrierOverwritten, thread,
     "the bytes of " + barrier.name() + " were overwritten with data", where)
      .other(barrier.initialised)
      .why(kHandsOff)
      .fix("check that tiles and barriers do not overlap: sizes, indices, alignments")
      .stop();
}

void box_covers_barrier(const Thread& thread, const Barrier& barrier, SourceLine where) {
  by(Check::kBarrierOverwritten, thread, "the copy's box covers " + barrier.name(), where)
      .other(barrier.initialised)
      .why(kHandsOff)
      .fix("check the box of the tensor map against the tile's size in shared memory")
      .stop();
}

void parity_out_of_range(const Thread& thread, const Barrier& barrier, uint32_t parity,
                         SourceLine where) {
  by(Check::kLimit, thread, "the wait names parity " + number(parity) + " of " + barrier.name(),
     where)
      .why("a phase has parity 0 or 1; other bits have no meaning that is defined")
      .fix("pass phase % 2; of a word with one bit per stage, (phases >> stage) & 1")
      .stop();
}

namespace {

// A thread announces the next load before the one before is over, or known to it to be. Nothing, if
// it has not loaded there before.
void stop_if_not_released(Thread& thread, const Barrier& barrier, uint32_t bytes, uint64_t needed,
                          const std::string& state, SourceLine where) {
  const auto own = barrier.arrivals.find(&thread);
  if (own == barrier.arrivals.end() || own->second.announced == 0 || bytes == 0) return;
  if (barrier.senders.count(&thread) == 0) return;
  const std::string what =
      "the thread announces " + number(bytes) + " bytes more at " + barrier.name() + state;
  if (!release_is_known(barrier)) thread.scheduler().let_others_go_on(thread);
  Draft draft = by(Check::kNotReleased, thread, what, where);
  if (explain_early_announcement(thread, barrier, needed, &draft)) draft.stop();
}

}  // namespace

void too_many_arrivals(Thread& thread, const Barrier& barrier, uint32_t bytes, SourceLine where) {
  const std::string in = "all " + number(barrier.expected) + " arrivals of " +
                         phase_of(barrier, barrier.phase) + " are in; it waits for " +
                         number(barrier.transaction) + " more bytes";
  stop_if_not_released(thread, barrier, bytes, barrier.phase,
                       ", where " + number(barrier.transaction) + " bytes of its load for phase " +
                           number(barrier.phase) + " are still to come",
                       where);
  by(Check::kTooManyArrivals, thread, in, where)
      .other(barrier.initialised)
      .why(
          "the count of pending arrivals would become negative, which the hardware does not define")
      .fix(kOneArrivalAPhase)
      .stop();
}

void arrival_out_of_order(Thread& thread, const Barrier& barrier, uint32_t bytes,
                          SourceLine where) {
  stop_if_not_released(thread, barrier, bytes, barrier.phase - 1,
                       ", and has not been told that its load for phase " +
                           number(barrier.phase - 1) + " is complete and was read",
                       where);
  Draft draft = by(Check::kArrivalOutOfOrder, thread,
                   "an arrival counts in " + phase_of(barrier, barrier.phase) +
                       ", but the thread has not been told that the phase before is complete",
                   where);
  if (bytes == 0 && explain_early_arrival(thread, barrier, &draft)) draft.stop();
  thread.scheduler().let_others_go_on(thread);
  if (bytes == 0 && explain_early_arrival(thread, barrier, &draft)) draft.stop();
  draft.other(barrier.initialised)
      .why(
          "which phase it counts in depends on the timing: it might complete the one before, and "
          "let someone go on too early")
      .fix(
          "arrive once per phase, after a wait that implies that the phase has begun: a consumer "
          "releases a stage only after it has waited for the stage to be full; is an arrival one "
          "too many, or for the wrong stage?")
      .stop();
}

void too_few_bytes_expected(const Thread& thread, const Barrier& barrier, int64_t issued,
                            int64_t announced, SourceLine where) {
  by(Check::kTooFewBytesExpected, thread,
     "loads of " + number(issued) + " bytes signal " + phase_of(barrier, barrier.phase) +
         ", for which " + number(announced) + " bytes are announced",
     where)
      .why(
          "the phase completes when the announced bytes have arrived, with the rest still under "
          "way")
      .fix(kAnnounceAllBoxes)
      .stop();
}

void no_bytes_expected(const Barrier& barrier) {
  Draft draft(Check::kTooFewBytesExpected, barrier.block->cluster);
  draft.what("loads of " + number(barrier.issued) + " bytes signal " +
             phase_of(barrier, barrier.phase) + ", for which no bytes are announced");
  draft.who(*barrier.latest_sender).past("  where:  ", barrier.latest_load);
  draft
      .why(
          "they count in this phase, since the one before has completed without them; whoever "
          "waited "
          "for that one reads too early")
      .fix(kAnnounceAllBoxes);
  draft.stop();
}

void phase_ends_with_bytes_in_flight(const Barrier& barrier) {
  Draft draft(Check::kTooFewBytesExpected, barrier.block->cluster);
  draft.what(phase_of(barrier, barrier.phase) + " completes on " + number(barrier.announced) +
             " announced bytes while " + number(barrier.in_flight) + " more are under way");
  draft.who(*barrier.latest_sender).past("  where:  ", barrier.latest_load);
  draft.why("whoever waits for the phase goes on before its data is complete");
  draft.fix(kAnnounceAllBoxes);
  draft.stop();
}

}  // namespace emulator::report
