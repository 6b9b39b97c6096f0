// cp.async: small copies that threads start for themselves, each of which lands at a time of its
// own.
#pragma once

#include <ptx/mbarrier.cuh>
#include <source_line.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "call_stack.h"
#include "vector_clock.h"

namespace emulator {

class Block;
struct Access;
struct Barrier;
struct Thread;

// The copies of one thread, counted from 1, and its groups.
struct CopyProgress {
  struct Copy {
    uint8_t* destination;
    const uint8_t* source;
    uint32_t bytes;
    uint32_t source_bytes;
    uint64_t number;
  };
  // Copies that land together: more would only be slower to emulate, not more telling.
  struct Batch {
    std::vector<Copy> copies;
  };
  // cp.async.mbarrier.arrive: arrives once `target` copies have landed.
  struct Arrival {
    Barrier* barrier;
    uint64_t target;
    CallSite site;
  };

  Component component = kNoComponent;  // in clocks: copies that have landed
  Component fenced_component = kNoComponent;  // the same, visible to the asynchronous proxy
  uint64_t issued = 0;
  uint64_t committed = 0;
  uint64_t landed = 0;  // without a gap, in the order of issue
  uint64_t waited = 0;  // known to the thread to have landed
  uint64_t fenced = 0;  // of these, before its latest fence.proxy.async
  uint64_t target = 0;  // that it waits for
  bool waits = false;
  std::deque<bool> done;  // per copy, from the one numbered landed + 1
  std::vector<uint64_t> groups;  // copies issued at each commit
  std::shared_ptr<Batch> batch;  // that the next copy may join; null once it has landed
  std::vector<Arrival> arrivals;
};

// The copies of a block's threads.
class CopyUnit {
 public:
  // Starts a copy of 4, 8 or 16 bytes, of which `source_bytes` are read and the rest is zero.
  void copy(Thread& thread, void* destination, const void* source, uint32_t bytes,
            uint32_t source_bytes, SourceLine where);
  void commit_group(Thread& thread);
  // Waits until at most `pending` of the thread's newest groups are under way.
  void wait_group(Thread& thread, int pending, SourceLine where);
  void wait_all(Thread& thread, SourceLine where);
  void arrive_when_landed(Thread& thread, MBarrier* barrier, SourceLine where);

  // The thread that has started the copy that `write` is of.
  static const Thread& copying_thread(const Block& block, const Access& write);

 private:
  void check_place(Thread& thread, const void* destination, const void* source, uint32_t bytes,
                   uint32_t source_bytes, SourceLine where);
  void begin(Block& block, uint32_t offset, uint32_t bytes);
  void land(Thread& thread, const CopyProgress::Copy& copy);
  void advance(Thread& thread);
  void wait_for(Thread& thread, uint64_t target, SourceLine where);

  // Small copies share the 16 bytes that shared memory keeps account of: how many are under way.
  std::unordered_map<uint32_t, int> under_way_;
};

}  // namespace emulator
