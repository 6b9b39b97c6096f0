// What happened in a run, event by event: the one account from which the timeline for Perfetto
// (timeline.cpp) and the player's page (recording.cpp) are made.
//
// Events are in the order in which they happened; several may share a turn of the scheduler. What
// takes time (a wait, a copy, a WGMMA) is a span from one event to another. Lanes of a warp that do
// the same in the same turn are one event.
#pragma once

#include <source_line.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace emulator {

class Block;
class Cluster;
class TensorCore;
struct Access;
struct Barrier;
struct Report;
struct Thread;

// Whoever does something: a warp, or a unit of a block.
struct TraceAgent {
  enum class Kind { kWarp, kTma, kTensorCore };
  Kind kind = Kind::kWarp;
  int block = 0;  // rank within the cluster
  int index = 0;  // of the warp, or of the tensor core's warp group
  std::string role;  // of a warp, if the source names one
};

struct TraceBarrier {
  int block = 0;
  std::string name;  // "full[1]"
  std::string family;  // "full"
  int stage = -1;  // its index, if the source has one
  uint32_t expected = 0;  // arrivals that complete a phase
  bool carries_bytes = false;
};

struct TraceEvent {
  enum class Kind {
    kCall,  // of an instruction that has no kind of its own
    kArrive,  // at an mbarrier; `bytes` are announced
    kLand,  // `bytes` of a copy arrive
    kComplete,  // a phase of an mbarrier, because of `cause`
    kPass,  // a wait that need not wait, thanks to `cause`
    kWait,  // begins
    kResume,  // the end of a wait, thanks to `cause`
    kLoad,  // is issued
    kStore,  // is issued
    kStoreRead,  // a store has read its source
    kStored,  // and written its destination
    kWgmma,  // is issued, by all warps of its warp group
    kWgmmaStart,
    kWgmmaEnd,
    kReport,
  };

  Kind kind = Kind::kCall;
  uint64_t turn = 0;
  int agent = -1;
  SourceLine where = {"", 0};
  const char* instruction = "";  // of a call
  int lanes = 1;
  int repeats = 1;  // of a call, one after the other

  int barrier = -1;  // if it concerns one; the state afterwards:
  uint64_t phase = 0;  // the current, incomplete one; of a kComplete, the one that is complete
  uint32_t pending = 0;  // arrivals
  int64_t transaction = 0;  // bytes announced that have not arrived

  int64_t bytes = 0;
  int span = -1;
  int cause = -1;  // an event
};

struct TraceSpan {
  enum class Kind { kWait, kLoad, kStore, kWgmma };

  Kind kind = Kind::kWait;
  int agent = -1;
  int begin = -1;  // events; a span that never ended has no end
  int start = -1;  // a WGMMA begins to execute; a store has read its source
  int end = -1;
  int cause = -1;  // the event that ended a wait
  std::string name;  // "wait full[1]", "smem.a[1]", "WGMMA 12"
  int lanes = 1;  // that wait
  int barrier = -1;  // that a wait is for, a load signals, a WGMMA's stage was announced by
  uint64_t phase = 0;  // of it
  int parity = -1;  // that a wait names
  int64_t bytes = 0;
  int64_t landed = 0;
  int k_tile = -1;  // by the coordinate of the box
  int64_t row = 0;  // of the box
  int64_t column = 0;
  uint64_t number = 0;  // of a WGMMA or a store, from 1
  int issuer = -1;  // of a load or a store: a warp
};

class Trace {
 public:
  bool enabled = false;
  // The cluster that it tells of; before anything happens.
  void begin(const Cluster& cluster);

  // --- called as things happen, and only if it is enabled ---

  void called(const Thread& thread, const char* instruction);
  void wait_begins(const Thread& thread);
  void wait_ends(const Thread& thread);

  void passed(const Thread& thread, const Barrier& barrier);
  void arrived(const Barrier& barrier, int64_t announced_bytes);
  void completed(const Barrier& barrier);

  struct Box {
    int64_t column, row;
    int columns;  // of the box
    int64_t bytes;
  };
  // Both return the span of the copy.
  int load_issued(const Thread& thread, const Block& destination, const Barrier& barrier,
                  const Box& box);
  void landed(const Barrier& barrier, int copy, int64_t bytes);
  int store_issued(const Thread& thread, const Box& box, uint64_t number);
  void store_read(int copy);
  void stored(int copy);

  // WGMMA `number` of the warp group reads what `write` has written.
  void wgmma_reads(const TensorCore& core, uint64_t number, const Access& write);
  void wgmma_issued(const TensorCore& core, uint64_t number, SourceLine where);
  void wgmma_starts(const TensorCore& core, uint64_t number);
  void wgmma_ends(const TensorCore& core, uint64_t number);

  void reported(const Report& report);
  // Names everybody, once the roles are known.
  void finish(const Cluster& cluster);

  // --- the account ---

  int64_t cluster() const { return cluster_; }
  int64_t first_block() const { return first_block_; }  // linear index within the grid
  int blocks() const { return blocks_; }
  const std::vector<TraceAgent>& agents() const { return agents_; }
  const std::vector<TraceBarrier>& barriers() const { return barriers_; }
  const std::vector<TraceEvent>& events() const { return events_; }
  const std::vector<TraceSpan>& spans() const { return spans_; }
  const std::string& report() const { return report_; }
  const std::string& report_title() const { return report_title_; }

 private:
  uint64_t now() const;
  int warp(const Thread& thread);
  int core(const TensorCore& core);
  int unit(const Block& block);
  int barrier(const Barrier& barrier);
  int wgmma(const TensorCore& core, uint64_t number);
  int wgmma_or_new(const TensorCore& core, uint64_t number);

  // An event here and now, which is not yet in the account.
  TraceEvent event(TraceEvent::Kind kind, int agent, SourceLine where) const;
  void describe(const Barrier& barrier, TraceEvent* event);
  // Puts it there, or adds its lanes to one of the same turn that is the same.
  int add(const TraceEvent& event);
  int add_or_merge(const TraceEvent& event);
  bool repeats_a_call(int agent, const char* instruction, SourceLine where);
  // What ended the wait of `thread` on something that is no mbarrier.
  int cause_of_end(const Thread& thread, const TraceSpan& wait);

  const Cluster* machine_ = nullptr;
  int64_t cluster_ = 0;
  int64_t first_block_ = 0;
  int blocks_ = 0;
  std::vector<TraceAgent> agents_;
  std::vector<TraceBarrier> barriers_;
  std::vector<TraceEvent> events_;
  std::vector<TraceSpan> spans_;
  std::string report_, report_title_;

  // While it runs:
  struct History {  // of an agent, or of a barrier
    int latest = -1;  // event
    int before = -1;
    std::vector<int> open;  // waits
  };
  std::unordered_map<const void*, int> agent_numbers_;  // of warps, tensor cores, TMA units
  std::unordered_map<const Barrier*, int> barrier_numbers_;
  std::vector<History> agent_history_;
  struct Signals {
    int latest = -1;  // an arrival, or bytes
    int completion = -1;
    std::unordered_map<uint64_t, int> k_tiles;  // of the loads of a phase
    std::unordered_map<int, int> passes;  // the latest of each agent
  };
  std::vector<Signals> signals_;
  std::unordered_map<const Thread*, int> waits_;  // spans
  std::unordered_map<const TensorCore*, std::unordered_map<uint64_t, int>> wgmmas_;  // spans
};

}  // namespace emulator
