// The TMA unit of a block: copies of boxes between global and shared memory that land piece by
// piece at times of their own.
#pragma once

#include <cuda.h>
#include <instructions.h>
#include <ptx/mbarrier.cuh>
#include <source_line.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "encoded_map.h"
#include "trace.h"
#include "vector_clock.h"

namespace emulator {

class Block;
struct LoadedBox;
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
  SourceLine latest_store = {"", 0};
  SourceLine latest_commit = {"", 0};
  SourceLine empty_commit = {"", 0};  // the latest one with no store to commit

  uint64_t committed() const { return groups.empty() ? 0 : groups.back(); }
};

// What reports and the trace call a copy that signals `barrier`: "smem.a[2]".
std::string copy_name(SourceLine where, const Barrier& barrier);

class TmaUnit {
 public:
  // Starts the copy of a box into `destination` and the same place in every block whose bit is set
  // in `blocks`; each counts the bytes at the barrier at the place of `full`.
  void load(Thread& thread, void* destination, const CUtensorMap* map, const Coordinates& first,
            MBarrier* full, uint32_t blocks, SourceLine where);
  // Starts the copy of a box from shared memory to global memory, to what is there if `add`.
  void store(Thread& thread, const CUtensorMap* map, const Coordinates& first, const void* source,
             bool add, SourceLine where);

  // The same for `bytes` neighbours, without a map.
  void load_neighbours(Thread& thread, void* destination, const void* source, uint32_t bytes,
                       MBarrier* full, SourceLine where);
  void store_neighbours(Thread& thread, void* destination, const void* source, uint32_t bytes,
                        SourceLine where);

  void commit_group(Thread& thread, SourceLine where);
  // Waits until at most `pending` of the thread's newest groups have not yet read their source.
  void wait_group_read(Thread& thread, int pending, SourceLine where);

  int loads_in_flight() const { return loads_in_flight_; }
  SourceLine latest_load() const { return latest_load_; }

 private:
  struct Copy;
  struct Place;
  struct Rows;

  Place check_place(Thread& thread, const void* shared, const CUtensorMap* map, int rank,
                    SourceLine where);
  uint32_t check_neighbours(Thread& thread, const void* shared, const void* global, uint32_t bytes,
                            SourceLine where);
  void check_range(Thread& thread, uint32_t begin, uint32_t bytes, SourceLine where);
  void check_hazards(Thread& thread, Block& block, const LoadedBox& box, SourceLine where);
  void start_load(Thread& thread, const Rows& rows, MBarrier* full, uint32_t blocks,
                  SourceLine where);
  // Copies [begin, end) of shared memory to where `write` takes it.
  void start_store(Thread& thread, uint32_t begin, uint32_t end, SwizzleMode mode,
                   const Trace::Box& traced, SourceLine where,
                   std::function<void(const uint8_t*)> write);
  static void land(Copy* copy, uint32_t first, uint32_t last);
  static void land_box(Block& block, const Place& place, const Coordinates& first, uint32_t from,
                       uint32_t to);
  void advance(Thread& thread);

  int loads_in_flight_ = 0;
  SourceLine latest_load_ = {"", 0};
};

}  // namespace emulator
