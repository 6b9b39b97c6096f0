// The tensor core as one warp group sees it: WGMMAs that run in the order of issue, at times of
// their own, on operands that they read from shared memory when they run.
#pragma once

#include <source_line.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "vector_clock.h"

namespace emulator {

class Block;
struct Thread;

// The registers that one thread contributes to the accumulator of a product.
struct Accumulator {
  float* registers = nullptr;
  int columns = 0;  // of the product; the thread has half as many registers
  uint64_t latest = 0;  // the latest WGMMA on it
  bool in_flight = false;
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
};

class TensorCore {
 public:
  TensorCore(Block& block, int warp_group, Component component);

  void fence(Thread& thread, SourceLine where);
  void issue(Thread& thread, float* registers, int columns, uint64_t a, uint64_t b, bool accumulate,
             SourceLine where);
  void commit(Thread& thread, SourceLine where);
  void wait(Thread& thread, int pending, SourceLine where);
  // Reports WGMMAs that a thread that leaves has not waited for.
  void check_leaving(Thread& thread);

  // In clocks: how many WGMMAs have read their operands and written their accumulators.
  Component component() const { return component_; }
  int warp_group() const { return warp_group_; }
  // The oldest WGMMA that is not complete, and how many threads have executed it; 0 if there is
  // none.
  uint64_t oldest() const { return operations_.empty() ? 0 : completed_ + 1; }
  int oldest_lanes() const { return operations_.empty() ? 0 : operations_.front().lanes; }

 private:
  struct Operation {
    uint64_t a, b;
    int columns;
    int tile;
    bool accumulate;
    SourceLine where;
    int lanes = 0;
    bool issued = false;
  };
  // The accumulator of all 128 threads, row by row, while WGMMAs work on it.
  struct Tile {
    int columns = 0;
    std::vector<float> values;
  };

  Tile& tile_of(Thread& thread, float* registers, int columns, int* index, bool* first);
  void hand_over(Thread& thread, Accumulator* accumulator, Tile* tile, bool accumulate, bool first,
                 SourceLine where);
  void hand_back(Thread& thread, Accumulator* accumulator, const Tile& tile, SourceLine where);
  void check_descriptor(Thread& thread, uint64_t descriptor, int rows, char operand,
                        SourceLine where);
  void check_hazards(Thread& thread, uint64_t descriptor, int rows, char operand, uint64_t number,
                     SourceLine where);
  void schedule_front();
  void run_front();
  void read_operand(const Operation& operation, uint64_t descriptor, int rows, char operand,
                    uint16_t* elements);

  Block& block_;
  const int warp_group_;
  const Component component_;
  std::deque<Operation> operations_;  // not yet complete
  uint64_t completed_ = 0;
  bool front_scheduled_ = false;
  uint64_t front_since_ = 0;
  std::vector<Tile> tiles_;
  std::vector<Thread*> waiting_;
};

}  // namespace emulator
