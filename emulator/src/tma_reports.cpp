// What is said of TMA copies and of what stmatrix writes for them.
#include "machine.h"
#include "report.h"
#include "report_draft.h"
#include "wait_causes.h"

namespace emulator::report {

namespace {

// What the barrier that guards the memory is, comes to light while the others go on.
void learn_release(Thread& thread, const Barrier& own) {
  const auto loaded = own.arrivals.find(&thread);
  const bool before = loaded != own.arrivals.end() && loaded->second.count > 1;
  if (before && !release_is_known(own)) thread.scheduler().let_others_go_on(thread);
}

}  // namespace

void overwritten_while_read(Thread& thread, const Barrier& own, const Block& block,
                            const Barrier& signalled, const Region& overwritten,
                            const Access& early, SourceLine where) {
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
  if (explain_overwrite(thread, own, block, signalled, region, read, &draft)) draft.stop();
  draft
      .why(
          "the thread that issues the load has not been told that the read is complete: whichever "
          "comes first decides what is read")
      .fix(read.kind == AccessKind::kTmaStore
               ? "cp.async.bulk.wait_group.read in the thread that has issued the store, then a "
                 "barrier, before the load"
               : "let those who read say so after wgmma.wait_group has covered the WGMMA, and wait "
                 "for that before the load")
      .stop();
}

void overwritten_in_flight(Thread& thread, const Barrier& own, const Block& block,
                           const Region& overwritten, SourceLine where) {
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
  const bool same_round = write.barrier == &own && write.number == own.phase;
  if (!same_round) learn_release(thread, own);
  Draft draft = by(Check::kOverwrittenInFlight, thread, what, where);
  draft.other(write.where);
  if (!same_round && explain_overlapping_loads(thread, own, region, &draft)) draft.stop();
  draft
      .why(
          "the thread that issues the load has not been told that the earlier write is complete: "
          "whichever lands last wins")
      .fix(
          "wait until the stage was read and released before loading into it again, and use each "
          "stage once per lap; do two boxes overlap?")
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
      .why(std::string(kMemoryEndsWithBlock) + "the stores would read what comes after it")
      .fix("cp.async.bulk.commit_group and cp.async.bulk.wait_group.read before the kernel ends")
      .stop();
}

}  // namespace emulator::report
