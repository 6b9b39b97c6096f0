// What is said of cp.async, and of ldmatrix, which reads what arrives.
#include "machine.h"
#include "report.h"
#include "report_draft.h"

namespace emulator::report {

void copy_source_misaligned(const Thread& thread, const void* source, uint32_t bytes,
                            SourceLine where) {
  by(Check::kMisaligned, thread,
     "the source begins " + number(reinterpret_cast<uintptr_t>(source) % bytes) +
         " bytes past a multiple of " + number(bytes),
     where)
      .why("cp.async of " + number(bytes) + " bytes faults unless both addresses are aligned so")
      .fix(
          "copy from aligned addresses, or in smaller pieces: cp_async_ca takes 4 and 8 bytes, too")
      .stop();
}

void copy_source_too_long(const Thread& thread, uint32_t source_bytes, uint32_t bytes,
                          SourceLine where) {
  by(Check::kLimit, thread,
     "cp.async is to read " + number(source_bytes) + " bytes of " + number(bytes), where)
      .why("what is read may be shorter than what is written, never longer")
      .fix("clamp the number to 0 … " + number(bytes) + " at the matrix's edge")
      .stop();
}

void copied_while_read(const Thread& thread, const Region& region, const Access& read,
                       SourceLine where) {
  by(Check::kOverwrittenWhileRead, thread,
     "a cp.async overwrites " + bytes_of(region) + ", which " + reader(read) + " reads", where)
      .other(read.where)
      .why(
          "the thread that issues the copy has not been told that the read is complete: whichever "
          "comes first decides what is read")
      .fix(
          "a barrier (__syncthreads) between the last read of the stage and the copy that refills "
          "it")
      .stop();
}

void copied_in_flight(const Thread& thread, const Region& region, SourceLine where) {
  by(Check::kOverwrittenInFlight, thread,
     "a cp.async overwrites " + bytes_of(region) + ", which an earlier write may still be filling",
     where)
      .other(region.write.where)
      .why("whichever lands last wins")
      .fix(
          "let each thread copy into bytes of its own, and refill a stage only after it was waited "
          "for and a barrier has followed")
      .stop();
}

void missing_copy_commit(const Thread& thread, uint64_t count, SourceLine where) {
  by(Check::kMissingCopyCommit, thread,
     number(count) + " copies belong to no group when the thread waits for all groups", where)
      .why("wait_group waits for committed groups; these copies go on after it")
      .fix("cp.async.commit_group after the last copy of the stage, before the wait")
      .stop();
}

void row_read_before_full(const Thread& thread, const Region& region, SourceLine where) {
  const Access& write = region.write;
  std::string what = "an ldmatrix reads " + tile_of(region);
  std::string fix = "a barrier between the write and the ldmatrix";
  if (write.kind == AccessKind::kCopy) {
    const Thread& by = CopyUnit::copying_thread(*thread.block, write);
    const std::string copier = "thread " + number(by.index);
    what += ", into which " + copier;
    if (by.copies.committed < write.number) {
      what += " has started a copy that it has not committed";
      fix =
          "cp.async.commit_group, then cp.async.wait_group by every thread that copies, then a "
          "barrier";
    } else if (by.copies.waited < write.number) {
      what += " has started a copy that it has not waited for yet";
      fix =
          "cp.async.wait_group, with no more groups pending than are newer, by every thread that "
          "copies, then a barrier (__syncthreads), before the ldmatrix";
    } else {
      what += " has copied; it has waited for the copy, and nobody has told this warp";
      fix =
          "a barrier (__syncthreads) after cp.async.wait_group: a thread waits for its own "
          "copies alone";
    }
  } else if (write.barrier != nullptr) {
    what += ", whose load completes " + phase_of(*write.barrier, write.number);
    fix = "wait for parity " + number(write.number & 1) + " of " + write.barrier->name() +
          " before the ldmatrix";
  }
  by(Check::kReadBeforeFull, thread, what, where)
      .other(write.where)
      .why(
          "this warp has not been told that the data has arrived: it may read what was there "
          "before")
      .fix(fix)
      .stop();
}

void row_is_poison(const Thread& thread, uint32_t offset, bool in_flight, SourceLine where) {
  by(in_flight ? Check::kReadBeforeFull : Check::kReadUninitialised, thread,
     "an ldmatrix reads shared byte " + hexadecimal(offset) +
         (in_flight ? ", where a copy has not landed yet" : ", where nothing was ever written"),
     where)
      .why("what is read is whatever was there before")
      .fix("wait for the copy, then a barrier, before the ldmatrix; check the row's address")
      .stop();
}

}  // namespace emulator::report
