// What is said of shared memory, warps, registers and blocks that leave.
//
// This folder is the machine behind emulator.h, instructions.h, ptx and cuda; nobody else includes
// from it but tests of its parts, so all of it may be changed.
#include "machine.h"
#include "report.h"
#include "report_draft.h"

namespace emulator::report {
namespace {

constexpr char kWholeWarp[] =
    "the instruction is executed by all lanes of a warp together (.sync.aligned)";
constexpr char kNoPartingBranches[] = "keep it out of branches that part the lanes of a warp";

}  // namespace

void shared_memory_too_small(const Thread& thread, size_t wanted, SourceLine where) {
  by(Check::kSharedMemorySize, thread,
     "the kernel uses " + number(wanted) +
         " bytes of dynamic shared memory; the launch asked for " +
         number(thread.block->memory.size()),
     where)
      .why(kBelongsToOthers)
      .fix("launch with sizeof the storage struct, at most " + number(kSharedLimit) + " bytes")
      .stop();
}

void not_shared(const Thread& thread, SourceLine where) {
  by(Check::kNotShared, thread,
     "the address lies outside of the block's " + number(thread.block->memory.size()) +
         " bytes of dynamic shared memory",
     where)
      .why("the instruction takes an address in the block's shared memory, nothing else")
      .fix("pass a member of the shared storage; check indices (stage, row) against its size")
      .stop();
}

void misaligned(const Thread& thread, const char* what, uint32_t offset, uint32_t alignment,
                SourceLine where) {
  by(Check::kMisaligned, thread,
     std::string(what) + " begins " + number(offset % alignment) + " bytes past a multiple of " +
         number(alignment) + " (shared byte " + hexadecimal(offset) + ")",
     where)
      .why(alignment == 1024 ? "the 128-byte swizzle repeats every 1024 bytes of address: TMA and "
                               "WGMMA would disagree on where elements lie"
                             : "the hardware faults on such an address")
      .fix("declare it alignas(" + number(alignment) +
           "), and keep the steps between tiles multiples of " + number(alignment))
      .stop();
}

void lanes_diverge(const Thread& thread, const char* others, SourceLine others_where,
                   const char* instruction, SourceLine where) {
  by(Check::kLaneDivergence, thread,
     "the lane executes " + std::string(instruction) + " where other lanes of its warp execute " +
         others,
     where)
      .other(others_where)
      .why(kWholeWarp)
      .fix(kNoPartingBranches)
      .stop();
}

void lane_has_left(const Thread& thread, const Thread& gone, const char* instruction,
                   SourceLine where) {
  by(Check::kLaneDivergence, thread,
     "the lane executes " + std::string(instruction) + ", but lane " + number(gone.lane) +
         " of its warp has left the kernel",
     where)
      .why(kWholeWarp)
      .fix("let whole warps leave, or none of their lanes")
      .stop();
}

void lane_leaves(const Thread& thread, const char* others, SourceLine others_where) {
  by(Check::kLaneDivergence, thread,
     "the lane leaves the kernel without " + std::string(others) +
         ", which other lanes of its warp execute",
     thread.where)
      .other(others_where)
      .why(kWholeWarp)
      .fix(kNoPartingBranches)
      .stop();
}

void register_count(const Thread& thread, int registers, SourceLine where) {
  by(Check::kRegisterBudget, thread,
     "setmaxnreg with " + number(registers) + " registers, by " +
         number(thread.block->threads.size()) + " threads a block",
     where)
      .why("it takes multiples of 8 from 24 to 256, and acts on whole warp groups")
      .fix("pass such a number, in every warp of a warp group")
      .stop();
}

void register_direction(const Thread& thread, int current, int registers, SourceLine where) {
  by(Check::kRegisterBudget, thread,
     "setmaxnreg from " + number(current) + " to " + number(registers) +
         " registers is the wrong way",
     where)
      .why("inc takes at least what the thread has, dec at most")
      .fix("use the other one; the launch bounds decide how many a thread begins with")
      .stop();
}

void named_barrier(const Thread& thread, int id, int threads, SourceLine where) {
  by(Check::kLimit, thread, "bar.sync " + number(id) + " for " + number(threads) + " threads",
     where)
      .why("there are 16 barriers, 0 to 15, and they count whole warps")
      .fix("pass a number from 1 to 15 (0 is __syncthreads) and a multiple of 32")
      .stop();
}

void no_such_rank(const Thread& thread, uint32_t rank, SourceLine where) {
  by(Check::kLimit, thread,
     "there is no block of rank " + number(rank) + " in a cluster of " +
         number(thread.block->cluster.blocks.size()),
     where)
      .why("the address would lie in nobody's shared memory")
      .fix("take ranks from 0 to the cluster's size - 1")
      .stop();
}

void signal_after_exit(const Thread& thread, const Barrier& barrier, SourceLine where) {
  Draft draft = by(Check::kBlockLeft, thread,
                   "the signal goes to " + barrier.name() + ", and that block has left", where);
  const Thread& last = *barrier.block->last_to_leave;
  draft.past("  and:    ", call_site(last))
      .why(std::string(kMemoryEndsWithBlock) + "the signal hits what comes after it (" +
           warp_name(last) + " was its last, there)")
      .fix(
          "let the blocks of a cluster agree on how often they signal each other; a cluster "
          "barrier "
          "before a block leaves")
      .stop();
}

void block_leaves(const Thread& last, const Barrier& barrier, int from, SourceLine where) {
  by(Check::kBlockLeft, last,
     "the block leaves without having been told that the block of rank " + number(from) +
         " is done with signalling " + barrier.name(),
     last.where)
      .other(where)
      .why(std::string(kMemoryEndsWithBlock) + "a late signal hits what comes after it")
      .fix("wait for every phase that a peer signals, or a cluster barrier before the block leaves")
      .stop();
}

namespace {

// Who in another block has loaded for the barrier, and where he is now: the blocks disagree.
bool explain_peer(const Thread& last, const Barrier& barrier, Draft* draft) {
  const Thread* const sender = barrier.latest_sender;
  if (sender == nullptr || sender->block == last.block) return false;
  draft->past("  and:    ", barrier.latest_load);
  const bool left = sender->block->live_threads == 0;
  draft
      ->why(warp_name(*sender) + " has loaded for this block, too, and " +
            (left ? "its block has left since" : "goes on") +
            "; this block neither announces that nor waits for it: " + kMemoryEndsWithBlock +
            "such copies land in what comes after it")
      .fix(
          "let the blocks of a cluster agree on what is loaded: as many K tiles and tiles in each, "
          "each announcing what all of them load for it");
  return true;
}

}  // namespace

void loads_in_flight(const Thread& last, const Barrier* barrier, SourceLine where) {
  Draft draft = by(Check::kLeftInFlight, last,
                   "the last thread leaves, and nobody has waited for a load", last.where);
  if (barrier != nullptr && explain_peer(last, *barrier, &draft)) draft.stop();
  draft.other(where)
      .why(std::string(kMemoryEndsWithBlock) + "the copies land in what comes after it")
      .fix("load no more stages than are waited for")
      .stop();
}

void bytes_left(const Thread& last, const Barrier& barrier) {
  const std::string phase = phase_of(barrier, barrier.phase);
  Draft draft = by(Check::kLeftInFlight, last,
                   barrier.transaction > 0
                       ? "the last thread leaves while " + phase + " waits for " +
                             number(barrier.transaction) + " bytes"
                       : "the last thread leaves after " + number(-barrier.transaction) +
                             " bytes have arrived for " + phase + " that nobody has announced",
                   last.where);
  if (barrier.transaction < 0 && explain_peer(last, barrier, &draft)) draft.stop();
  draft.other(barrier.initialised)
      .why("bytes announced and bytes loaded do not agree")
      .fix("announce the bytes of the boxes that are loaded, no more and no less")
      .stop();
}

void arrivals_left(const Thread& last, const Barrier& barrier) {
  by(Check::kTooManyArrivals, last,
     "the last thread leaves with " + number(barrier.expected - barrier.pending) + " of " +
         number(barrier.expected) + " arrivals in " + phase_of(barrier, barrier.phase),
     last.where)
      .other(barrier.initialised)
      .why(
          "the init's count and the arrivals per phase do not agree: earlier phases completed too "
          "early, or this one was never going to")
      .fix(kOneArrivalAPhase)
      .stop();
}

}  // namespace emulator::report
