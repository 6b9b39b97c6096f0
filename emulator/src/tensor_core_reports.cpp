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

void written_after_wgmma_fence(const Thread& thread, int index, SourceLine where) {
  by(Check::kMissingWgmmaFence, thread,
     "accumulator register " + number(index) + " was written between wgmma.fence and this WGMMA",
     where)
      .why(
          "the fence orders the thread's accesses before it; this write and the tensor core's "
          "access are in no order")
      .fix("first set the registers, then wgmma.fence, then the WGMMA")
      .stop();
}

void accumulator_not_set(const Thread& thread, int index, SourceLine where) {
  by(Check::kNotSet, thread,
     "the WGMMA adds to accumulator register " + number(index) + ", which nobody has set", where)
      .why("the sum begins with whatever the register held before")
      .fix("scale-d = 0 (accumulate = false) in the first WGMMA of a sum, or clear the registers")
      .stop();
}

void value_not_set(const Thread& thread, SourceLine where) {
  by(Check::kNotSet, thread, "a value that is rounded to fp16 comes from a variable nobody has set",
     where)
      .why("it is whatever the register held before")
      .fix("set the variable on every way to this line; for an accumulator, a WGMMA does")
      .stop();
}

void accumulator_read(const Thread& thread, int index, const Accumulator& accumulator,
                      SourceLine where) {
  by(Check::kAccumulatorRead, thread,
     "the thread goes on with what accumulator register " + number(index) + " held while WGMMA " +
         number(accumulator.latest) + " of warp group " + number(thread.warp_group()) +
         (accumulator.in_flight ? " owns it" : " owned it"),
     where)
      .why(
          "until wgmma.wait_group has covered the WGMMA, its registers hold neither the old sum "
          "nor the new one")
      .fix("wgmma.wait_group (0, if it is the newest group) before the accumulators are read")
      .stop();
}

void accumulators_overlap(const Thread& thread, const Accumulator& owned, int columns,
                          SourceLine where) {
  by(Check::kAccumulatorTouched, thread,
     "a WGMMA of " + number(columns) + " columns takes registers that WGMMA " +
         number(owned.latest) + ", of " + number(owned.columns) + " columns, still owns",
     where)
      .why("only WGMMAs of one shape, on the same registers, are in order without a wait")
      .fix("wgmma.wait_group before registers are used in another shape")
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

void descriptor_base_offset(const Thread& thread, char operand, uint32_t base_offset,
                            SourceLine where) {
  by(Check::kDescriptor, thread,
     std::string("the descriptor of operand ") + operand + " has base offset " +
         number(base_offset),
     where)
      .why("it is for tiles that begin inside a swizzle pattern; the emulator knows no such tiles")
      .fix(
          "begin tiles at a multiple of the pattern (1024 bytes with the 128-byte swizzle), and "
          "leave bits 49 to 51 zero")
      .stop();
}

void descriptor_out_of_memory(const Thread& thread, char operand, uint32_t start,
                              const Operand::Range& range, SourceLine where) {
  by(Check::kDescriptor, thread,
     std::string("operand ") + operand + " begins at shared address " + hexadecimal(start) +
         " and does not fit into the " + number(thread.block->memory.size()) +
         " bytes of the launch: it takes addresses " + hexadecimal(range.begin) + " to " +
         hexadecimal(range.end) + ", of " + hexadecimal(kSharedBase) + " to " +
         hexadecimal(kSharedBase + thread.block->memory.size()),
     where)
      .why("the WGMMA would read what belongs to others")
      .fix("check the tile's address (stage, row), the descriptor's strides, the product's shape")
      .stop();
}

void descriptor_off_the_pattern(const Thread& thread, char name, const Operand& operand,
                                SourceLine where) {
  const uint32_t period = swizzle_period(operand.mode);
  const uint32_t row_bytes = swizzle_bytes(operand.mode);
  Draft draft = by(Check::kDescriptor, thread,
                   std::string("operand ") + name + " begins at shared address " +
                       hexadecimal(operand.start) + ", " + number(operand.start % period) +
                       " bytes into the swizzle pattern",
                   where);
  if (operand.mn_major) {
    draft
        .why("an MN-major tile begins at a multiple of " + number(period) +
             " bytes, or in its first " + number(row_bytes) +
             " if all rows of the operand still lie in them")
        .fix("advance along K by 8 rows of the tile at a time, which is the stride offset");
  } else {
    draft
        .why("a tile begins at a multiple of " + number(period) +
             " bytes; steps of 16 elements along K add 32 bytes and end after " + number(row_bytes))
        .fix("advance by 16 elements per WGMMA, within the " + number(row_bytes) +
             " bytes of a row; begin at a row that is a multiple of 8");
  }
  draft.stop();
}

void descriptor_strides(const Thread& thread, char name, const Operand& operand, SourceLine where) {
  const bool swizzled = operand.mode != SwizzleMode::kNone;
  const std::string way = operand.mn_major ? "MN-major" : "K-major";
  const std::string mode =
      swizzled ? number(swizzle_bytes(operand.mode)) + "-byte swizzle" : "no swizzle";
  std::string rule;
  if (!swizzled) {
    rule = operand.mn_major
               ? "without a swizzle the stride offset leads to the next 8 rows of the operand, the "
                 "leading one to the next 8 along K"
               : "without a swizzle the stride offset leads to the next 8 rows, the leading one to "
                 "the next 8 elements along K";
    rule += ": 8 × 8 elements are 128 bytes";
  } else {
    rule = operand.mn_major
               ? "the stride offset leads to the next 8 along K, the leading one to the next " +
                     number(swizzle_bytes(operand.mode) / 2) + " rows of the operand"
               : "the stride offset leads to the next 8 rows";
    rule += ": both from pattern to pattern, " + number(swizzle_period(operand.mode)) +
            " bytes or a multiple";
  }
  by(Check::kDescriptor, thread,
     std::string("the descriptor of operand ") + name + " (" + way + ", " + mode +
         ") has leading offset " + number(operand.leading) + " and stride offset " +
         number(operand.stride) + " bytes, and " + number(operand.rows) + " rows do not lie so",
     where)
      .why(rule)
      .fix(
          "pass the distances that the tile has in memory; compare the way it lies with the "
          "instruction's")
      .stop();
}

void fragment_written_after_fence(const Thread& thread, uint64_t number_of_wgmma,
                                  SourceLine where) {
  by(Check::kMissingWgmmaFence, thread,
     "registers of operand A of WGMMA " + number(number_of_wgmma) +
         " were written after the latest wgmma.fence",
     where)
      .why(
          "the tensor core may take the registers before the thread's own writes are done: this "
          "holds for those of A as for accumulators")
      .fix("write all registers of A first, then wgmma.fence, then the WGMMAs that read them")
      .stop();
}

void fragment_touched(const Thread& thread, int index, const LentFragment& lent, SourceLine where) {
  by(Check::kAccumulatorTouched, thread,
     "register " + number(index) + " of operand A of WGMMA " + number(lent.number) +
         " was written before the wait that covers it",
     lent.where)
      .other(where)
      .why("until then the tensor core may still read it")
      .fix(
          "write registers of A again only after wgmma.wait_group; declare one array for each "
          "WGMMA "
          "in flight, where it lives until the wait (not inside of the loop that issues them)")
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
          "are loaded; if they agree, a box had not been asked for when the phase completed: "
          "announce the bytes of all boxes of the tile")
      .stop();
}

void swizzles_differ(const Thread& thread, char operand, SwizzleMode swizzle, const Region& region,
                     SourceLine where) {
  const auto name = [](SwizzleMode mode) {
    return mode == SwizzleMode::kNone ? std::string("no swizzle")
                                      : "the " + number(swizzle_bytes(mode)) + "-byte swizzle";
  };
  by(Check::kSwizzle, thread,
     std::string("the descriptor of operand ") + operand + " says " + name(swizzle) + ", and " +
         tile_of(region) + " was loaded through a tensor map with " +
         name(region.write.box.swizzle),
     where)
      .other(region.write.where)
      .why(
          "the swizzle is part of the address: the WGMMA would look for each row's 16-byte chunks "
          "where TMA has not put them")
      .fix(
          "the same mode in both: CU_TENSOR_MAP_SWIZZLE_128B in cuTensorMapEncodeTiled "
          "(make_tensor_map() does so) and 1 in the descriptor (matrix_descriptor() does so); 64 "
          "bytes are 64B and 2, 32 bytes 32B and 3")
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
