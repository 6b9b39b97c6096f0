// The tensor core as one warp group sees it: WGMMAs that run in the order of issue, at times of
// their own, on operands that they read from shared memory when they run.
#pragma once

#include <instructions.h>
#include <source_line.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "operand.h"
#include "register_poison.h"
#include "vector_clock.h"

namespace emulator {

class Block;
struct Region;
struct Thread;

// The registers that one thread contributes to the accumulator of a product.
struct Accumulator {
  float* registers = nullptr;
  int columns = 0;  // of the product; the thread has half as many registers
  uint64_t latest = 0;  // the latest WGMMA on it
  bool in_flight = false;
  RegisterPoison poison = {};  // while it is in flight
};

// What a thread's stack held at a wgmma.fence: the values of accumulators that no WGMMA has named
// yet.
struct StackSnapshot {
  const char* begin = nullptr;
  std::vector<char> bytes;
};

// What a WGMMA is told, alike in all threads.
struct WgmmaOperands {
  int columns = 0;  // N
  uint64_t a = 0;  // descriptors
  uint64_t b = 0;
  bool accumulate = false;
  unsigned kind = 0;  // bits of WgmmaKind

  bool has(WgmmaKind bit) const { return (kind & bit) != 0; }
  bool operator==(const WgmmaOperands& other) const {
    return columns == other.columns && a == other.a && b == other.b &&
           accumulate == other.accumulate && kind == other.kind;
  }
};

// The registers that one thread contributes to operand A of a product.
struct LentFragment {
  const uint32_t* registers;
  uint32_t values[4];  // when the WGMMA was issued
  uint64_t number;
  SourceLine where;
};

// How far a thread has got: WGMMAs are counted from 1.
struct WgmmaProgress {
  bool fenced = false;  // since its registers were last free
  uint64_t issued = 0;
  uint64_t committed = 0;
  uint64_t retired = 0;  // known to it, by wait_group, to be complete
  uint64_t target = 0;  // that it waits for
  std::vector<uint64_t> groups;  // WGMMAs issued at each commit
  std::vector<Accumulator> accumulators;
  bool new_accumulators = true;  // since the fence; so the next one may be for more of them
  bool lends_fragments = false;
  StackSnapshot at_fence;
  std::vector<LentFragment> fragments;
};

// Speaks if a value that a thread goes on with is what a register holds while a WGMMA owns it, or
// what one holds that nobody has set. `bits` are those of a float.
void check_use(Thread& thread, uint32_t bits, SourceLine where);

class TensorCore {
 public:
  TensorCore(Block& block, int warp_group, Component component);

  void fence(Thread& thread, SourceLine where);
  // `fragment`: the thread's registers of A, if A is in registers.
  void issue(Thread& thread, float* registers, const uint32_t* fragment,
             const WgmmaOperands& operands, SourceLine where);
  void commit(Thread& thread, SourceLine where);
  void wait(Thread& thread, int pending, SourceLine where);
  // Reports WGMMAs that a thread that leaves has not waited for.
  void check_leaving(Thread& thread);

  // In clocks: how many WGMMAs have read their operands and written their accumulators.
  Component component() const { return component_; }
  int warp_group() const { return warp_group_; }

 private:
  struct Operation {
    WgmmaOperands operands;
    int tile = 0;
    SourceLine where = {"", 0};
    std::vector<uint16_t> a_elements;  // of an A in registers, row by row
    int lanes = 0;
    bool issued = false;
  };
  // The accumulator of all 128 threads, row by row, while WGMMAs work on it.
  struct Tile {
    int columns = 0;
    std::vector<float> values;
  };

  Tile& tile_of(Thread& thread, float* registers, int columns, int* index, bool* first,
                SourceLine where);
  void hand_over(Thread& thread, Accumulator* accumulator, Tile* tile, bool accumulate, bool first,
                 SourceLine where);
  void check_fence(Thread& thread, const Accumulator& accumulator, const Tile& tile,
                   bool accumulate, bool first, SourceLine where);
  void check_values(Thread& thread, const Accumulator& accumulator, SourceLine where);
  void hand_back(Thread& thread, Accumulator* accumulator, const Tile& tile, SourceLine where);
  void lend_fragment(Thread& thread, const uint32_t* registers, Operation* operation,
                     uint64_t number, SourceLine where);
  void check_fragments(Thread& thread, SourceLine where);
  void take_back_fragments(Thread& thread, uint64_t completed, SourceLine where);
  void check_descriptor(Thread& thread, const Operand& operand, char name, SourceLine where);
  void check_hazards(Thread& thread, const Operand& operand, char name, uint64_t number,
                     SourceLine where);
  void check_region(Thread& thread, const Operand& operand, char name, const Region& region,
                    uint64_t number, SourceLine where);
  void schedule_front();
  void run_front();
  void read_operand(const Operation& operation, const Operand& operand, char name,
                    uint16_t* elements);

  Block& block_;
  const int warp_group_;
  const Component component_;
  std::deque<Operation> operations_;  // not yet complete
  uint64_t completed_ = 0;
  bool front_scheduled_ = false;
  std::vector<Tile> tiles_;
  std::vector<Thread*> waiting_;
};

}  // namespace emulator
