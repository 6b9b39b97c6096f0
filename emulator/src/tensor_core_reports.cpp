// What is said of WGMMAs.
#include "machine.h"
#include "report.h"
#include "report_draft.h"
#include "wait_causes.h"

namespace emulator::report {

void not_a_warp_group(const Thread& thread, SourceLine where) {
  by(Check::kLaneDivergence, thread,
     "warp " + number(thread.warp->index) + " belongs to no whole warp group: the block has " +
         number(thread.block->warps.size()) + " warps",
     where)
      .why("wgmma is executed by four warps, the first of them a multiple of four")
      .fix("let warps 4i to 4i + 3 execute it together")
      .stop();
}

void read_before_full(const Thread& thread, const Region& region, char operand, uint64_t wgmma,
                      SourceLine where) {
  const Access& write = region.write;
  const Barrier* const barrier = write.barrier;
  std::string what =
      "WGMMA " + number(wgmma) + " reads operand " + operand + " from " + tile_of(region);
  if (barrier != nullptr) {
    what += ", whose load completes " + phase_of(*barrier, write.number);
  }
  Draft draft = by(Check::kReadBeforeFull, thread, what, where);
  draft.other(write.where);
  if (barrier != nullptr && explain_early_read(thread, *barrier, write.number, &draft)) {
    draft.stop();
  }
  draft
      .why(
          "this warp has not been told that the data has arrived: it may read what was there "
          "before")
      .fix("a barrier of the threads between the write and the WGMMA")
      .stop();
}

void read_poison(const Block& block, int warp_group, char operand, uint32_t offset, bool in_flight,
                 SourceLine where) {
  Draft draft(in_flight ? Check::kReadBeforeFull : Check::kReadUninitialised, block.cluster);
  draft.what(
      std::string("a WGMMA reads operand ") + operand + " from shared byte " + hexadecimal(offset) +
      (in_flight ? ", where a copy has not landed yet" : ", where nothing was ever written"));
  draft.who(block_name(block) + ", warp group " + number(warp_group)).at(where);
  if (explain_poison(block, warp_group, &draft)) draft.stop();
  draft.why("what is read is whatever was there before");
  draft.fix(
      "wait for the barrier that the load completes, with the right parity, before the WGMMA; "
      "check "
      "the tile's address");
  draft.stop();
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
         number(wgmma) + " and this wait",
     where)
      .why(
          "until wait_group the registers belong to the tensor core, which overwrites them at a "
          "time of its own")
      .fix("touch accumulators only after the wgmma.wait_group that covers the WGMMA")
      .stop();
}

void missing_commit(const Thread& thread, uint64_t count, SourceLine where) {
  by(Check::kMissingCommit, thread,
     number(count) + " WGMMAs belong to no wgmma-group when the thread waits for all groups", where)
      .why("wait_group waits for committed groups; these WGMMAs go on after it")
      .fix("wgmma.commit_group after the last WGMMA, before the wait")
      .stop();
}

void missing_final_wait(const Thread& thread, uint64_t wgmma) {
  by(Check::kMissingFinalWait, thread,
     "the thread leaves, and may have stored its accumulators, without having waited for WGMMA " +
         number(wgmma),
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
     "threads of the warp group execute WGMMA " + number(wgmma) +
         " with different operands or in different places",
     where)
      .other(other)
      .why(
          "a WGMMA is one instruction of 128 threads: descriptors and flags must be the same in "
          "all")
      .fix("derive them from the warp group's number, never from the thread's")
      .stop();
}

}  // namespace emulator::report
