#include "report.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <vector>

#include "machine.h"
#include "source_text.h"

namespace emulator {

const char* check_name(Check check) {
  switch (check) {
    case Check::kOverwrittenWhileRead:
      return "stage overwritten while it is read (WAR)";
    case Check::kReadBeforeFull:
      return "stage read before it is full (RAW)";
    case Check::kOverwrittenInFlight:
      return "stage overwritten while it is being filled (WAW)";
    case Check::kReadUninitialised:
      return "shared memory read before anything has arrived there";
    case Check::kTooFewBytesExpected:
      return "too few bytes expected";
    case Check::kTooManyBytesExpected:
      return "too many bytes expected";
    case Check::kArrivalOutOfOrder:
      return "arrival out of order";
    case Check::kTooManyArrivals:
      return "too many arrivals";
    case Check::kBarrierReinitialised:
      return "mbarrier initialised twice";
    case Check::kBarrierNotInitialised:
      return "mbarrier not initialised";
    case Check::kInitNotVisible:
      return "mbarrier used before its init is visible";
    case Check::kInitNotFenced:
      return "mbarrier used by TMA without fence.mbarrier_init";
    case Check::kBarrierOverwritten:
      return "mbarrier overwritten";
    case Check::kMissingWgmmaFence:
      return "missing wgmma.fence";
    case Check::kAccumulatorTouched:
      return "accumulator touched while a WGMMA owns it";
    case Check::kMissingCommit:
      return "missing wgmma.commit_group";
    case Check::kMissingFinalWait:
      return "WGMMAs never waited for";
    case Check::kMissingProxyFence:
      return "missing fence.proxy.async";
    case Check::kStoreBufferReused:
      return "store buffer reused before it was read";
    case Check::kStoreNotWaitedFor:
      return "TMA stores never waited for";
    case Check::kMisaligned:
      return "misaligned address";
    case Check::kTensorMap:
      return "not a tensor map";
    case Check::kSharedMemorySize:
      return "shared memory too small";
    case Check::kNotShared:
      return "not an address in shared memory";
    case Check::kDescriptor:
      return "matrix descriptor out of the tile";
    case Check::kLaneDivergence:
      return "lanes of a warp diverge";
    case Check::kBlockLeft:
      return "block leaves while a peer still signals it";
    case Check::kLeftInFlight:
      return "block leaves with copies under way";
    case Check::kRegisterBudget:
      return "register budget exceeded";
    case Check::kLaunch:
      return "launch not possible";
    case Check::kLimit:
      return "value out of range";
    case Check::kDeadlock:
      return "deadlock";
  }
  return "unknown";
}

namespace report {
namespace {

std::string number(int64_t value) { return std::to_string(value); }

std::string hexadecimal(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string block_name(const Block& block) {
  std::string name = "block (" + number(block.index.x) + ", " + number(block.index.y) + ", " +
                     number(block.index.z) + ")";
  if (block.cluster.has_peers()) name += ", rank " + number(block.rank) + " of its cluster";
  return name;
}

std::string role_suffix(const Thread& thread) {
  return thread.role == nullptr ? "" : " (" + *thread.role + ")";
}

std::string bytes_of(const Region& region) {
  return "shared bytes " + hexadecimal(region.begin) + " to " + hexadecimal(region.end);
}

// "phase 3 (parity 1) of full[0]".
std::string phase_of(const Barrier& barrier, uint64_t phase) {
  return "phase " + number(static_cast<int64_t>(phase)) + " (parity " +
         number(static_cast<int64_t>(phase & 1)) + ") of " + barrier.name();
}

// Puts a stage's number where the source has an index: "smem.a[stage]" becomes "smem.a[2]".
std::string with_index(const std::string& expression, const Barrier& barrier) {
  const size_t open = expression.find('[');
  const size_t close = expression.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return expression;
  if (!barrier_is_indexed(barrier.initialised)) return expression;
  return expression.substr(0, open + 1) + number(barrier.index) + expression.substr(close);
}

// What was written or read, as far as the source names it.
std::string tile_of(const Region& region) {
  if (region.write.kind == AccessKind::kTmaLoad) {
    return copy_name(region.write.where, *region.write.barrier) + " (" + bytes_of(region) + ")";
  }
  return bytes_of(region);
}

std::string reader(const Access& read) {
  if (read.kind == AccessKind::kWgmma) {
    return "WGMMA " + number(static_cast<int64_t>(read.number)) + " of warp group " +
           number(read.warp_group);
  }
  return "a TMA store";
}

// A report in the making.
class Draft {
 public:
  Draft(Check check, Cluster& cluster) : check_(check), cluster_(cluster) {
    add("emulator: ", check_name(check));
  }

  Draft& what(const std::string& text) { return add("  what:   ", text); }
  Draft& who(const Thread& thread) {
    return add("  who:    ", block_name(*thread.block) + ", warp " + number(thread.warp->index) +
                                 role_suffix(thread) + ", lane " + number(thread.lane));
  }
  Draft& who(const std::string& text) { return add("  who:    ", text); }
  Draft& at(SourceLine where) { return add("  where:  ", quote(where)); }
  // The same, and for a line inside of a class, how far the kernel itself had got.
  Draft& at(SourceLine where, const Thread& thread) {
    at(where);
    const bool elsewhere = thread.body.line != where.line && thread.body.line != 0;
    if (elsewhere && source_file(where.file).in_class(where.line)) {
      add("          ", "after " + quote(thread.body));
    }
    return *this;
  }
  Draft& other(SourceLine where) { return add("  and:    ", quote(where)); }
  Draft& why(const std::string& text) { return add("  why:    ", text); }
  Draft& fix(const std::string& text) { return add("  fix:    ", text); }
  Draft& line(const std::string& text) { return add("  ", text); }

  [[noreturn]] void stop() {
    const uint64_t seed = options().seed;
    add("  again:  ", "seed " + std::to_string(seed) + " reproduces this");
    // The first report is the cause; what others find while the kernel stops is a consequence.
    if (!cluster_.report) cluster_.report = Report{check_, text_.str(), seed, cluster_.index};
    throw KernelStopped();
  }

 private:
  Draft& add(const char* label, const std::string& text) {
    text_ << label << text << "\n";
    return *this;
  }

  Check check_;
  Cluster& cluster_;
  std::ostringstream text_;
};

Draft by(Check check, const Thread& thread, const std::string& what, SourceLine where) {
  Draft draft(check, thread.block->cluster);
  draft.what(what).who(thread).at(where, thread);
  return draft;
}

}  // namespace

std::string copy_name(SourceLine where, const Barrier& barrier) {
  // The longer name first: the shorter one might be found on a line above.
  for (const char* function : {"cp_async_bulk_tensor_2d_multicast", "cp_async_bulk_tensor_2d"}) {
    std::string destination = first_argument(where, function);
    // &smem.b[stage][offset]: a place inside smem.b[stage].
    if (destination.rfind('&', 0) == 0)
      destination = destination.substr(1, destination.rfind('[') - 1);
    // A local variable's name would tell nothing.
    if (destination.find('.') != std::string::npos) return with_index(destination, barrier);
  }
  return "the tile of " + barrier.name();
}

// --- shared memory and its tiles ---

void overwritten_while_read(const Thread& thread, const Block& block, const Region& region,
                            const Access& read, SourceLine where) {
  const Access& write = region.write;
  std::string what = "a TMA load overwrites " + tile_of(region);
  if (&block != thread.block) what += " of " + block_name(block);
  if (write.kind == AccessKind::kTmaLoad) {
    what += ", loaded for " + phase_of(*write.barrier, write.number);
  }
  what += ", which " + reader(read) + " reads";
  Draft draft = by(Check::kOverwrittenWhileRead, thread, what, where);
  draft.other(read.where)
      .why(
          "the thread that issues the load has not been told that the read is complete: whichever "
          "comes first decides what is read");
  if (region.write.kind == AccessKind::kNone) {
    draft.fix(
        "nothing had been loaded there when it was read: wait for the full barrier before the "
        "WGMMA; if that is in order, wait for the reader before the load");
  } else {
    draft.fix(
        "release the stage only after wgmma.wait_group has covered the WGMMA, and wait for that "
        "release (the empty barrier, with the right parity) before the load");
  }
  draft.stop();
}

void overwritten_in_flight(const Thread& thread, const Block& block, const Region& region,
                           SourceLine where) {
  const Access& write = region.write;
  std::string what = "a TMA load overwrites " + tile_of(region);
  if (&block != thread.block) what += " of " + block_name(block);
  if (write.kind == AccessKind::kTmaLoad) {
    what +=
        ", which a load into " + phase_of(*write.barrier, write.number) + " may still be filling";
  } else {
    what += ", which threads may still be writing";
  }
  by(Check::kOverwrittenInFlight, thread, what, where)
      .other(write.where)
      .why(
          "the thread that issues the load has not been told that the earlier write is complete: "
          "whichever lands last wins")
      .fix(
          "wait until the stage is released (the empty barrier, with the right parity) before "
          "loading into it again, and use each stage once per lap")
      .stop();
}

void read_before_full(const Thread& thread, const Region& region, char operand, uint64_t wgmma,
                      SourceLine where) {
  const Access& write = region.write;
  const Barrier* const barrier = write.barrier;
  if (barrier != nullptr && write.number == barrier->phase && barrier->announced == 0 &&
      barrier->phase > 0) {
    too_few_bytes_expected(thread, *barrier, barrier->issued, 0, write.where);
  }
  std::string what = "WGMMA " + number(static_cast<int64_t>(wgmma)) + " reads operand " + operand +
                     " from " + tile_of(region);
  if (barrier != nullptr) {
    what += ", whose load completes " + phase_of(*barrier, write.number);
  }
  Draft draft = by(Check::kReadBeforeFull, thread, what, where);
  draft.other(write.where)
      .why(
          "this warp has not been told that the data has arrived: it may read what was there "
          "before");
  if (barrier != nullptr) {
    draft.fix("wait for parity " + number(static_cast<int64_t>(write.number & 1)) + " of " +
              barrier->name() + " before the WGMMA, in every warp");
  } else {
    draft.fix("a barrier of the threads between the write and the WGMMA");
  }
  draft.stop();
}

void read_poison(const Block& block, int warp_group, char operand, uint32_t offset, bool in_flight,
                 SourceLine where) {
  Draft draft(in_flight ? Check::kReadBeforeFull : Check::kReadUninitialised, block.cluster);
  draft.what(
      std::string("a WGMMA reads operand ") + operand + " from shared byte " + hexadecimal(offset) +
      (in_flight ? ", where a copy has not landed yet" : ", where nothing was ever written"));
  draft.who(block_name(block) + ", warp group " + number(warp_group)).at(where);
  draft.why("what is read is whatever was there before");
  draft.fix(
      "wait for the full barrier (with the right parity) before the WGMMA; check the tile's "
      "address");
  draft.stop();
}

void shared_memory_too_small(const Thread& thread, size_t wanted, SourceLine where) {
  by(Check::kSharedMemorySize, thread,
     "the kernel uses " + number(static_cast<int64_t>(wanted)) +
         " bytes of dynamic shared memory; the launch asked for " +
         number(thread.block->memory.size()),
     where)
      .why("what lies beyond belongs to others")
      .fix("launch with sizeof the storage struct, at most " +
           number(static_cast<int64_t>(kSharedLimit)) + " bytes")
      .stop();
}

void not_shared(const Thread& thread, const void*, SourceLine where) {
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

// --- mbarriers ---

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
      .why("an mbarrier is 8 bytes of shared memory; only mbarrier instructions may touch them")
      .fix("check that tiles and barriers do not overlap: sizes, indices, alignments")
      .stop();
}

void box_covers_barrier(const Thread& thread, const Barrier& barrier, SourceLine where) {
  by(Check::kBarrierOverwritten, thread, "the copy's box covers " + barrier.name(), where)
      .other(barrier.initialised)
      .why("an mbarrier is 8 bytes of shared memory; only mbarrier instructions may touch them")
      .fix("check the box of the tensor map against the tile's size in shared memory")
      .stop();
}

void too_many_arrivals(const Thread& thread, const Barrier& barrier, SourceLine where) {
  by(Check::kTooManyArrivals, thread,
     "all " + number(barrier.expected) + " arrivals of " + phase_of(barrier, barrier.phase) +
         " are in; it waits for " + number(barrier.transaction) + " more bytes",
     where)
      .other(barrier.initialised)
      .why(
          "the count of pending arrivals would become negative, which the hardware does not define")
      .fix(
          "initialise the barrier with the number of arrivals per phase, and let each arrive once "
          "per phase")
      .stop();
}

void arrival_out_of_order(const Thread& thread, const Barrier& barrier, SourceLine where) {
  by(Check::kArrivalOutOfOrder, thread,
     "an arrival counts in " + phase_of(barrier, barrier.phase) +
         ", but the thread has not been told that the phase before is complete",
     where)
      .other(barrier.initialised)
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
      .fix(
          "announce (mbarrier.arrive.expect_tx) the bytes of all boxes of the stage; boxes count "
          "whole, also where they reach beyond the tensor")
      .stop();
}

void phase_ends_with_bytes_in_flight(const Barrier& barrier) {
  Draft draft(Check::kTooFewBytesExpected, barrier.block->cluster);
  draft.what(phase_of(barrier, barrier.phase) + " completes on " + number(barrier.announced) +
             " announced bytes while " + number(barrier.in_flight) + " more are under way");
  draft.who(block_name(*barrier.block)).at(barrier.block->tma.latest_load());
  draft.why("whoever waits for the phase goes on before its data is complete");
  draft.fix(
      "announce (mbarrier.arrive.expect_tx) the bytes of all boxes of the stage; boxes count "
      "whole, also where they reach beyond the tensor");
  draft.stop();
}

// --- TMA ---

void misaligned_map(const Thread& thread, const void* map, SourceLine where) {
  by(Check::kMisaligned, thread,
     "the tensor map begins " +
         number(static_cast<int64_t>(reinterpret_cast<uintptr_t>(map) % 64)) +
         " bytes past a multiple of 64",
     where)
      .why("the hardware reads maps from 64-byte aligned addresses alone")
      .fix("pass the map as a const __grid_constant__ CUtensorMap parameter")
      .stop();
}

void not_a_tensor_map(const Thread& thread, SourceLine where) {
  by(Check::kTensorMap, thread, "the map was not made by cuTensorMapEncodeTiled", where)
      .why("the TMA unit takes size, pitch, box and swizzle from it")
      .fix("encode the map on the host, check the result, pass it by value")
      .stop();
}

void box_too_large(const Thread& thread, uint32_t offset, uint32_t bytes, SourceLine where) {
  by(Check::kSharedMemorySize, thread,
     "a box of " + number(bytes) + " bytes at shared byte " + hexadecimal(offset) +
         " reaches beyond the " + number(thread.block->memory.size()) + " bytes of the launch",
     where)
      .why("what lies beyond belongs to others")
      .fix("check the box of the tensor map against the tile's size, and the stage's index")
      .stop();
}

void stored_before_written(const Thread& thread, const Region& region, SourceLine where) {
  by(Check::kReadBeforeFull, thread,
     "a TMA store reads " + tile_of(region) +
         ", and the thread that issues it has not been told that the write is complete",
     where)
      .other(region.write.where)
      .why("the store may read what was there before")
      .fix("a barrier of the writing threads (after their fence.proxy.async) before the store")
      .stop();
}

void stored_poison(const Thread& thread, uint32_t offset, SourceLine where) {
  by(Check::kReadUninitialised, thread,
     "a TMA store reads shared byte " + hexadecimal(offset) + ", where nothing was written", where)
      .why("what is stored is whatever was there before")
      .fix("write the whole box before the store, or make the box smaller")
      .stop();
}

void missing_proxy_fence(const Thread& thread, const Region& region, SourceLine where) {
  by(Check::kMissingProxyFence, thread,
     "an asynchronous unit reads " + bytes_of(region) +
         ", which threads have written without fence.proxy.async",
     where)
      .other(region.write.where)
      .why(
          "threads and asynchronous units reach shared memory by different proxies: without the "
          "fence the unit may see what was there before")
      .fix("fence.proxy.async in every thread that writes, after its writes and before the barrier")
      .stop();
}

void store_buffer_reused(const Thread& thread, const Access& read, SourceLine where) {
  by(Check::kStoreBufferReused, thread,
     "stmatrix overwrites shared memory that " + reader(read) + " may not have read yet", where)
      .other(read.where)
      .why("the store would write part of the next tile")
      .fix(read.kind == AccessKind::kTmaStore
               ? "cp.async.bulk.wait_group.read in the thread that has issued the store, then a "
                 "barrier, before the buffer is written again"
               : "wgmma.wait_group, then a barrier, before the memory is written again")
      .stop();
}

void written_too_early(const Thread& thread, const Access& access, SourceLine where) {
  by(Check::kOverwrittenInFlight, thread,
     "stmatrix overwrites shared memory that another write may still be filling", where)
      .other(access.where)
      .why("whichever write lands last wins")
      .fix("wait for the earlier write (the full barrier, or a barrier of the threads) first")
      .stop();
}

void store_not_waited_for(const Thread& thread) {
  by(Check::kStoreNotWaitedFor, thread,
     "the thread leaves with TMA stores that may not have read shared memory yet", thread.where)
      .why("shared memory ends with the block, and the stores would read what comes after it")
      .fix("cp.async.bulk.commit_group and cp.async.bulk.wait_group.read before the kernel ends")
      .stop();
}

// --- WGMMA ---

void not_a_warp_group(const Thread& thread, SourceLine where) {
  by(Check::kLaneDivergence, thread,
     "warp " + number(thread.warp->index) + " belongs to no whole warp group: the block has " +
         number(static_cast<int64_t>(thread.block->warps.size())) + " warps",
     where)
      .why("wgmma is executed by four warps, the first of them a multiple of four")
      .fix("let warps 4i to 4i + 3 execute it together")
      .stop();
}

void missing_wgmma_fence(const Thread& thread, bool first, SourceLine where) {
  by(Check::kMissingWgmmaFence, thread,
     first
         ? "the first WGMMA on these accumulator registers comes without wgmma.fence"
         : "the thread has used the accumulator registers since its last wait, and no wgmma.fence "
           "follows",
     where)
      .why("the tensor core may take the registers before the thread's own accesses are done")
      .fix("wgmma.fence before the first WGMMA, and whenever registers were touched since")
      .stop();
}

void accumulator_touched(const Thread& thread, int index, uint64_t wgmma, SourceLine where) {
  by(Check::kAccumulatorTouched, thread,
     "accumulator register " + number(index) + " was written between the issue of WGMMA " +
         number(static_cast<int64_t>(wgmma)) + " and this wait",
     where)
      .why(
          "until wait_group the registers belong to the tensor core, which overwrites them at a "
          "time of its own")
      .fix("touch accumulators only after the wgmma.wait_group that covers the WGMMA")
      .stop();
}

void missing_commit(const Thread& thread, uint64_t count, SourceLine where) {
  by(Check::kMissingCommit, thread,
     number(static_cast<int64_t>(count)) +
         " WGMMAs belong to no wgmma-group when the thread waits for all groups",
     where)
      .why("wait_group waits for committed groups; these WGMMAs go on after it")
      .fix("wgmma.commit_group after the last WGMMA, before the wait")
      .stop();
}

void missing_final_wait(const Thread& thread, uint64_t wgmma) {
  by(Check::kMissingFinalWait, thread,
     "the thread leaves, and may have stored its accumulators, without having waited for WGMMA " +
         number(static_cast<int64_t>(wgmma)),
     thread.where)
      .why("its registers hold the results only after wgmma.wait_group has covered the WGMMA")
      .fix("wgmma.commit_group and wgmma.wait_group 0 before the accumulators are read")
      .stop();
}

void descriptor_layout(const Thread& thread, char operand, uint32_t layout, uint32_t base_offset,
                       SourceLine where) {
  by(Check::kDescriptor, thread,
     std::string("the descriptor of operand ") + operand + " has swizzle mode " + number(layout) +
         " and base offset " + number(base_offset),
     where)
      .why(
          "tiles here have the 128-byte swizzle (mode 1) and 1024-byte alignment (base offset 0); "
          "the emulator knows no other")
      .fix("make descriptors with matrix_descriptor()")
      .stop();
}

void descriptor_out_of_memory(const Thread& thread, char operand, uint32_t start,
                              SourceLine where) {
  by(Check::kDescriptor, thread,
     std::string("operand ") + operand + " begins at shared address " + hexadecimal(start) +
         " and does not fit into the " + number(thread.block->memory.size()) +
         " bytes of the launch",
     where)
      .why("the WGMMA would read what belongs to others")
      .fix("check the tile's address (stage, row) and the product's shape")
      .stop();
}

void descriptor_off_the_pattern(const Thread& thread, char operand, uint32_t start,
                                SourceLine where) {
  by(Check::kDescriptor, thread,
     std::string("operand ") + operand + " begins at shared address " + hexadecimal(start) + ", " +
         number(start % 1024) + " bytes into the swizzle pattern",
     where)
      .why(
          "a tile begins at a multiple of 1024 bytes; steps of 16 elements along K add 32 bytes "
          "and end after 128")
      .fix(
          "advance by 16 elements per WGMMA, at most three times; begin at a row that is a "
          "multiple of 8")
      .stop();
}

void descriptor_across_tiles(const Thread& thread, char operand, const Region& first,
                             const Region& second, SourceLine where) {
  const auto name = [](const Region& region) {
    return region.write.kind == AccessKind::kNone ? bytes_of(region) + ", where nothing was loaded"
                                                  : tile_of(region);
  };
  by(Check::kDescriptor, thread,
     std::string("operand ") + operand + " reaches from " + name(first) + " into " + name(second),
     where)
      .why("the rows of an operand belong to one tile, loaded in one phase")
      .fix(
          "check the tile's address (stage, row) and the product's shape against the boxes that "
          "are loaded")
      .stop();
}

void operands_differ(const Thread& thread, uint64_t wgmma, SourceLine other, SourceLine where) {
  by(Check::kLaneDivergence, thread,
     "threads of the warp group execute WGMMA " + number(static_cast<int64_t>(wgmma)) +
         " with different operands or in different places",
     where)
      .other(other)
      .why(
          "a WGMMA is one instruction of 128 threads: descriptors and flags must be the same in "
          "all")
      .fix("derive them from the warp group's number, never from the thread's")
      .stop();
}

// --- warps, registers, blocks ---

void lanes_diverge(const Thread& thread, const char* others, SourceLine others_where,
                   const char* instruction, SourceLine where) {
  by(Check::kLaneDivergence, thread,
     "the lane executes " + std::string(instruction) + " where other lanes of its warp execute " +
         others,
     where)
      .other(others_where)
      .why("the instruction is executed by all lanes of a warp together (.sync.aligned)")
      .fix("keep it out of branches that part the lanes of a warp")
      .stop();
}

void lane_has_left(const Thread& thread, const Thread& gone, const char* instruction,
                   SourceLine where) {
  by(Check::kLaneDivergence, thread,
     "the lane executes " + std::string(instruction) + ", but lane " + number(gone.lane) +
         " of its warp has left the kernel",
     where)
      .why("the instruction is executed by all lanes of a warp together (.sync.aligned)")
      .fix("let whole warps leave, or none of their lanes")
      .stop();
}

void lane_leaves(const Thread& thread, const char* others, SourceLine others_where) {
  by(Check::kLaneDivergence, thread,
     "the lane leaves the kernel without " + std::string(others) +
         ", which other lanes of its warp execute",
     others_where)
      .why("the instruction is executed by all lanes of a warp together (.sync.aligned)")
      .fix("keep it out of branches that part the lanes of a warp")
      .stop();
}

void register_count(const Thread& thread, int registers, SourceLine where) {
  by(Check::kRegisterBudget, thread,
     "setmaxnreg with " + number(registers) + " registers, by " +
         number(static_cast<int64_t>(thread.block->threads.size())) + " threads a block",
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
         number(static_cast<int64_t>(thread.block->cluster.blocks.size())),
     where)
      .why("the address would lie in nobody's shared memory")
      .fix("take ranks from 0 to the cluster's size - 1")
      .stop();
}

void signal_after_exit(const Thread& thread, const Barrier& barrier, SourceLine where) {
  by(Check::kBlockLeft, thread,
     "the signal goes to " + barrier.name() + ", and that block has left", where)
      .why("shared memory ends with its block: the signal hits what comes after it")
      .fix("a cluster barrier before a block leaves")
      .stop();
}

void block_leaves(const Thread& last, const Barrier& barrier, int from, SourceLine where) {
  by(Check::kBlockLeft, last,
     "the block leaves without having been told that the block of rank " + number(from) +
         " is done with signalling " + barrier.name(),
     where)
      .why("shared memory ends with its block: a late signal hits what comes after it")
      .fix("wait for every phase that a peer signals, or a cluster barrier before the block leaves")
      .stop();
}

void loads_in_flight(const Thread& last, SourceLine where) {
  by(Check::kLeftInFlight, last, "the last thread leaves, and nobody has waited for this load",
     where)
      .why("shared memory ends with its block: the copies land in what comes after it")
      .fix("load no more stages than are waited for")
      .stop();
}

void bytes_left(const Thread& last, const Barrier& barrier) {
  by(Check::kLeftInFlight, last,
     "the last thread leaves while " + phase_of(barrier, barrier.phase) + " waits for " +
         number(barrier.transaction) + " bytes",
     barrier.initialised)
      .why("bytes announced and bytes loaded do not agree")
      .fix("announce the bytes of the boxes that are loaded, no more and no less")
      .stop();
}

void arrivals_left(const Thread& last, const Barrier& barrier) {
  by(Check::kTooManyArrivals, last,
     "the last thread leaves with " +
         number(static_cast<int64_t>(barrier.expected) - barrier.pending) + " of " +
         number(barrier.expected) + " arrivals in " + phase_of(barrier, barrier.phase),
     barrier.initialised)
      .why(
          "the init's count and the arrivals per phase do not agree: earlier phases completed too "
          "early, or this one was never going to")
      .fix(
          "initialise the barrier with the number of arrivals per phase, and let each arrive once "
          "per phase")
      .stop();
}

// --- deadlock ---

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
  const int64_t arrived = static_cast<int64_t>(barrier.expected) - barrier.pending;
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

}  // namespace report
}  // namespace emulator
