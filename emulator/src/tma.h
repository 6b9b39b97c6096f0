// The TMA unit of a block: copies of boxes between global and shared memory that land piece by
// piece at times of their own.
#pragma once

#include <cuda.h>
#include <ptx/mbarrier.cuh>
#include <source_line.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "encoded_map.h"
#include "vector_clock.h"

namespace emulator {

class Block;
struct Barrier;
struct Thread;

// The bulk-groups of a thread: its TMA stores, in order.
struct BulkProgress {
  Component component = kNoComponent;  // counts stores that have read their source
  uint64_t issued = 0;
  uint64_t read = 0;  // complete, in the order of issue
  uint64_t waited = 0;  // known to the thread to have read their source
  uint64_t target = 0;  // that it waits for
  bool waits = false;
  std::vector<uint64_t> groups;  // the number of stores issued at each commit
  std::vector<bool> read_done;  // per store
};

// What reports and the trace call a copy that signals `barrier`: "smem.a[2]".
std::string copy_name(SourceLine where, const Barrier& barrier);

class TmaUnit {
 public:
  // Starts the copy of a box into `destination` and the same place in every block whose bit is set
  // in `blocks`; each counts the bytes at the barrier at the place of `full`.
  void load(Thread& thread, void* destination, const CUtensorMap* map, int column, int row,
            MBarrier* full, uint32_t blocks, SourceLine where);

  // Starts the copy of a box from shared memory to global memory.
  void store(Thread& thread, const CUtensorMap* map, int column, int row, const void* source,
             SourceLine where);
  void commit_group(Thread& thread);
  // Waits until at most `pending` of the thread's newest groups have not yet read their source.
  void wait_group_read(Thread& thread, int pending, SourceLine where);

 private:
  struct Copy;
  struct Place;

  Place check_place(Thread& thread, const void* shared, const CUtensorMap* map, SourceLine where);
  void check_hazards(Thread& thread, const Barrier& own, Block& block, const Barrier& signalled,
                     const Place& place, SourceLine where);
  void land(const Copy& copy, int first, int last);
  void advance(Thread& thread);
};

}  // namespace emulator
