// The machine's parts: a cluster of blocks, their warps and threads, and what belongs to each.
#pragma once

#include <cuda_runtime.h>
#include <source_line.h>

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "call_stack.h"
#include "fiber.h"
#include "mbarrier.h"
#include "register_pool.h"
#include "scheduler.h"
#include "shared_memory.h"
#include "tensor_core.h"
#include "thread_barrier.h"
#include "tma.h"
#include "trace.h"
#include "vector_clock.h"

namespace emulator {

constexpr int kWarpThreads = 32;
constexpr int kWarpsPerGroup = 4;
constexpr int kWarpGroupThreads = kWarpsPerGroup * kWarpThreads;
constexpr int kNamedBarriers = 16;

class Block;
class Cluster;
struct Warp;

enum class WaitKind {
  kNone,
  kPhase,  // of an mbarrier
  kTry,  // the same, but the thread may be sent back without
  kWgmma,
  kBlockBarrier,
  kClusterBarrier,
  kWarp,  // for the other lanes
  kBulkGroup,
  kRegisters,
};

// What a blocked thread waits for.
struct Wait {
  WaitKind kind = WaitKind::kNone;
  SourceLine where = {"", 0};
  const Barrier* barrier = nullptr;
  uint32_t parity = 0;
  int id = 0;  // of a block barrier
};

struct Thread {
  enum class State { kReady, kBlocked, kDone };

  Fiber fiber;
  Block* block = nullptr;
  Warp* warp = nullptr;
  int index = 0;  // threadIdx.x
  int lane = 0;
  State state = State::kReady;
  Wait wait;
  bool try_failed = false;  // the scheduler sent a WaitKind::kTry back

  SourceLine where = {"", 0};  // the latest wrapper call
  SourceLine body = {"", 0};  // the latest one in the kernel itself: no class, no header
  const void* address = nullptr;  // to which the latest wrapper call returns
  const std::string* role = nullptr;  // that the latest line with a role comment names

  uint64_t collectives = 0;  // calls of instructions that a warp executes together
  uint64_t cluster_use = 0;  // of the cluster's barrier, at which it has arrived
  uint64_t fenced_writes = 0;  // of its warp, by fence.proxy.async
  uint32_t matrices[4] = {};  // what it brings to an stmatrix
  uint32_t exchanged[2] = {};  // what it brings to a shuffle, and brought to the one before
  uint64_t announced = 0;  // the step at which it has announced bytes of copies last
  WgmmaProgress wgmma;
  BulkProgress bulk;

  int warp_group() const { return index / kWarpGroupThreads; }
  Cluster& cluster() const;
  Scheduler& scheduler() const;
};

// An instruction that the lanes of a warp execute together (`.sync.aligned`), as far as they have
// got: lanes run one after the other here, so each joins the call at its own time.
struct CollectiveCall {
  const char* instruction;
  SourceLine where;
  int lanes = 0;
};

struct Warp {
  Block* block = nullptr;
  int index = 0;
  std::vector<Thread*> lanes;
  uint32_t ready = 0;  // a bit per lane
  bool queued = false;
  // What the warp has been told, by whichever of its lanes.
  VectorClock clock;

  std::deque<CollectiveCall> collectives;  // from the one numbered first_collective
  uint64_t first_collective = 0;

  // Writes to shared memory by stmatrix, and which of them fence.proxy.async has covered.
  Component written = kNoComponent;
  Component fenced = kNoComponent;
  uint32_t writes = 0;

  // Signals to other blocks' barriers.
  Component signalled = kNoComponent;
  uint32_t signals = 0;

  // The calling lane joins the next collective call; reports lanes that have parted. True if it was
  // the last lane.
  bool join(Thread& thread, const char* instruction, SourceLine where);
  // The same, and waits for the others.
  void meet(Thread& thread, const char* instruction, SourceLine where);
  // Reports a lane that leaves while the others count on it.
  void check_leaving(Thread& thread);
};

// A signal that another block has sent to one of this block's barriers.
struct RemoteSignal {
  const Barrier* barrier;
  uint64_t phase;
  Component component;  // of the sending warp
  uint32_t value;
  int from;  // the sending block's rank
  SourceLine where;
};

class Block {
 public:
  Block(Cluster& cluster, uint3 index, int rank, int threads, size_t shared_bytes);

  Cluster& cluster;
  const uint3 index;
  const int rank;  // within the cluster
  SharedMemory memory;
  MBarrierTable barriers;
  TmaUnit tma;
  std::vector<std::unique_ptr<TensorCore>> tensor_cores;  // one per warp group
  std::vector<ThreadBarrier> named_barriers;
  RegisterPool registers;
  std::deque<Warp> warps;
  std::deque<Thread> threads;
  std::vector<RemoteSignal> remote_signals;
  int live_threads;
  const Thread* last_to_leave = nullptr;  // once all have

  // Called by a thread as it leaves the kernel.
  void leave(Thread& thread);

 private:
  void check_everything_done(Thread& last);
  void check_everything_known(Thread& last);
};

class Cluster {
 public:
  Cluster(const cudaLaunchConfig_t& config, dim3 cluster_size, int64_t index,
          const std::function<void()>& thread_body);

  // Runs all threads to their ends, or until a check stops them. A report, if there is one, is in
  // report().
  void run();

  Component new_component() { return components_++; }
  uint64_t next_step() { return ++steps_; }
  int live_threads() const;
  bool has_peers() const { return blocks.size() > 1; }

  const int64_t index;  // within the grid
  const std::function<void()>& thread_body;
  Scheduler scheduler;
  ThreadBarrier barrier;
  std::vector<std::unique_ptr<Block>> blocks;
  Counters counts;
  Trace trace;
  std::optional<Report> report;

 private:
  Component components_ = 0;
  uint64_t steps_ = 0;  // as mbarriers count them
};

// Hands what `thread` knows to whoever will read `clock`: what its warp has been told, and what it
// has itself waited for.
void publish(const Thread& thread, VectorClock* clock);

// Up to which operation of `component` the thread knows completion.
uint32_t known(const Thread& thread, Component component);

// Notes that the calling thread has reached a wrapper, which returns to `address`: by default,
// where the caller of this does. Null if calls in this line are switched off.
Thread* enter(const char* instruction, SourceLine where,
              const void* address = __builtin_return_address(0));

// The thread's latest call.
inline CallSite call_site(const Thread& thread) {
  return {thread.where, thread.body, thread.address};
}

}  // namespace emulator
