// What is said of TMA copies and of what stmatrix writes for them.
#include "machine.h"
#include "report.h"
#include "report_draft.h"
#include "source_text.h"
#include "wait_causes.h"

namespace emulator::report {

namespace {

bool overlap(const Access& write, const LoadedBox& box) {
  return write.kind == AccessKind::kTmaLoad && write.box.begin != box.begin;
}

// What the boxes say if two loads, that of `box` at `where` and the one that has written a region,
// are into places that overlap without being the same.
void add_overlap(const Access& write, const LoadedBox& box, SourceLine where, Draft* draft) {
  if (!overlap(write, box)) return;
  const bool earlier_is_lower = write.box.begin < box.begin;
  const LoadedBox& lower = earlier_is_lower ? write.box : box;
  const LoadedBox& upper = earlier_is_lower ? box : write.box;
  draft->line("        the two loads overlap: the box of the " +
              std::string(earlier_is_lower ? "earlier" : "later") + " one (" +
              place(earlier_is_lower ? write.where : where) + ") is " + size_of(lower) +
              ", and begins only " + number(upper.begin - lower.begin) + " bytes before the other");
}

constexpr char kFitTheBox[] =
    "make the box of the tensor map as large as the tile that it is loaded into; if the places are "
    "meant to overlap, wait for the earlier load and its readers first";

// The thread that has issued a TMA store.
const Thread& storer(const Block& block, const Access& read) {
  for (const Thread& thread : block.threads) {
    if (thread.bulk.component == read.component) return thread;
  }
  return block.threads.front();
}

// True if no group holds the store, and its thread has gone on: the commit is not what comes next.
bool lacks_commit(const Thread& issuer, const Access& read) {
  const bool just_issued =
      read.number == issuer.bulk.issued && issuer.where.line == read.where.line;
  return read.number > issuer.bulk.committed() && !just_issued;
}

// A TMA store that no group holds: no wait can be for it.
[[noreturn]] void missing_bulk_commit(const Thread& thread, SourceLine store, SourceLine other) {
  Draft draft = by(Check::kMissingBulkCommit, thread,
                   "a TMA store belongs to no bulk-group, so that no wait covers it: it may not "
                   "have read shared memory yet",
                   store);
  if (other.line != 0) draft.other(other);
  for (const Thread& peer : thread.block->threads) {
    if (peer.bulk.groups.empty() || peer.bulk.issued > 0) continue;
    draft.line("        commit_group was executed by warp " + number(peer.warp->index) + ", lane " +
               number(peer.lane) +
               ", which has issued no store: " + quote(peer.bulk.latest_commit));
    break;
  }
  if (!thread.bulk.groups.empty()) {
    draft.line("        the thread's latest commit_group came before the store: " +
               quote(thread.bulk.latest_commit));
  }
  draft
      .why(
          "commit_group makes a bulk-group of the stores that the same thread has issued before "
          "it, and wait_group waits for groups alone")
      .fix("cp.async.bulk.commit_group after the store, in the thread that has issued the store")
      .stop();
}

// What the barrier that guards the memory is, comes to light while the others go on.
void learn_release(Thread& thread, const Barrier& own) {
  const auto loaded = own.arrivals.find(&thread);
  const bool before = loaded != own.arrivals.end() && loaded->second.count > 1;
  if (before && !release_is_known(own)) thread.scheduler().let_others_go_on(thread);
}

}  // namespace

void overwritten_while_read(Thread& thread, const Barrier& own, const Block& block,
                            const Barrier& signalled, const Region& overwritten,
                            const Access& early, const LoadedBox& box, SourceLine where) {
  if (early.kind == AccessKind::kTmaStore) {
    const Thread& issuer = storer(block, early);
    if (lacks_commit(issuer, early)) missing_bulk_commit(issuer, early.where, where);
  }
  const Region region = overwritten;  // copies: others may go on
  const Access read = early;
  const Access& write = region.write;
  std::string what = "a TMA load overwrites " + tile_of(region);
  if (&block != thread.block) what += " of " + block_name(block);
  if (write.kind == AccessKind::kTmaLoad) {
    what += ", loaded for " + phase_of(*write.barrier, write.number);
  }
  what += ", which " + reader(read) + " reads";
  const bool of_readers = thread.block == &block && thread.warp_group() == read.warp_group;
  if (!of_readers) learn_release(thread, own);
  Draft draft = by(Check::kOverwrittenWhileRead, thread, what, where);
  draft.other(read.where);
  add_overlap(write, box, where, &draft);
  const bool overlaps = overlap(write, box);
  if (!overlaps && explain_overwrite(thread, own, block, signalled, region, read, &draft)) {
    draft.stop();
  }
  draft.why(
      "the thread that issues the load has not been told that the read is complete: whichever "
      "comes first decides what is read");
  if (overlaps) {
    draft.fix(kFitTheBox);
  } else if (read.kind == AccessKind::kTmaStore) {
    draft.fix(
        "cp.async.bulk.wait_group.read in the thread that has issued the store, then a barrier, "
        "before the load");
  } else {
    draft.fix(
        "let those who read say so when they have read (after wgmma.wait_group has covered the "
        "WGMMA), and wait for that before the load");
  }
  draft.stop();
}

void overwritten_in_flight(Thread& thread, const Barrier& own, const Block& block,
                           const Region& overwritten, const LoadedBox& box, SourceLine where) {
  const Region region = overwritten;
  const Access& write = region.write;
  std::string what = "a TMA load overwrites " + tile_of(region);
  if (&block != thread.block) what += " of " + block_name(block);
  if (write.kind == AccessKind::kTmaLoad) {
    what +=
        ", which a load into " + phase_of(*write.barrier, write.number) + " may still be filling";
  } else {
    what += ", which threads may still be writing";
  }
  const bool other_round = write.barrier != &own || write.number != own.phase;
  const bool explains = other_round && !overlap(write, box);
  if (explains) learn_release(thread, own);
  Draft draft = by(Check::kOverwrittenInFlight, thread, what, where);
  draft.other(write.where);
  add_overlap(write, box, where, &draft);
  if (explains && explain_overlapping_loads(thread, own, region, &draft)) draft.stop();
  draft
      .why(
          "the thread that issues the load has not been told that the earlier write is complete: "
          "whichever lands last wins")
      .fix(overlap(write, box)
               ? kFitTheBox
               : "wait until the stage was read and released before loading into it again, and use "
                 "each stage once per lap")
      .stop();
}

void misaligned_map(const Thread& thread, const void* map, SourceLine where) {
  by(Check::kMisaligned, thread,
     "the tensor map begins " + number(reinterpret_cast<uintptr_t>(map) % 64) +
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

void wrong_rank(const Thread& thread, int dimensions, int coordinates, SourceLine where) {
  by(Check::kTensorMap, thread,
     "the map is of a tensor of " + number(dimensions) + " dimensions; the instruction has " +
         number(coordinates) + " coordinates",
     where)
      .why("the hardware takes as many coordinates from the instruction as the map has dimensions")
      .fix("take cp_async_bulk_tensor_" + number(dimensions) +
           "d, or encode the map with that many dimensions")
      .stop();
}

void cannot_add(const Thread& thread, int type, SourceLine where) {
  by(Check::kTensorMap, thread,
     "the map's elements are of CUtensorMapDataType " + number(type) +
         "; the instruction adds them",
     where)
      .why(
          "here FLOAT16 (6), FLOAT32 (7), UINT32 (2), INT32 (3) and UINT64 (4) can be added; the "
          "emulator knows no other sums")
      .fix("encode the map with the type of the sums")
      .stop();
}

void bulk_size(const Thread& thread, uint32_t bytes, SourceLine where) {
  by(Check::kLimit, thread, "cp.async.bulk of " + number(bytes) + " bytes", where)
      .why("it copies a positive multiple of 16 bytes")
      .fix("copy whole units of 16 bytes; for tails take a tensor map, which fills with zeros")
      .stop();
}

void misaligned_global(const Thread& thread, const void* address, SourceLine where) {
  by(Check::kMisaligned, thread,
     "the address in global memory is " + number(reinterpret_cast<uintptr_t>(address) % 16) +
         " bytes past a multiple of 16",
     where)
      .why("the hardware faults on such an address")
      .fix("copy from and to 16-byte aligned addresses")
      .stop();
}

void box_too_large(const Thread& thread, uint32_t offset, uint32_t bytes, SourceLine where) {
  by(Check::kSharedMemorySize, thread,
     "a box of " + number(bytes) + " bytes at shared byte " + hexadecimal(offset) +
         " reaches beyond the " + number(thread.block->memory.size()) + " bytes of the launch",
     where)
      .why(kBelongsToOthers)
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
  Draft draft = by(
      Check::kStoreBufferReused, thread,
      "stmatrix overwrites shared memory that " + reader(read) + " may not have read yet", where);
  draft.other(read.where);
  if (read.kind == AccessKind::kTmaStore) {
    const Thread& issuer = storer(*thread.block, read);
    if (lacks_commit(issuer, read)) missing_bulk_commit(issuer, read.where, where);
    if (issuer.bulk.empty_commit.line != 0) {
      draft.line("        a commit_group of that thread found no store to commit: " +
                 quote(issuer.bulk.empty_commit));
      draft.why("waits count groups, and the empty one, too: the store's group is a later one")
          .fix("cp.async.bulk.commit_group after each store, before the next wait_group.read")
          .stop();
    }
  }
  draft.why("the store would write part of the next tile")
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
  if (thread.bulk.committed() < thread.bulk.issued) {
    missing_bulk_commit(thread, thread.bulk.latest_store, {"", 0});
  }
  by(Check::kStoreNotWaitedFor, thread,
     "the thread leaves with TMA stores that may not have read shared memory yet", thread.where)
      .why(std::string(kMemoryEndsWithBlock) + "the stores would read what comes after it")
      .fix("cp.async.bulk.commit_group and cp.async.bulk.wait_group.read before the kernel ends")
      .stop();
}

}  // namespace emulator::report
