#include "machine.h"

#include <algorithm>
#include <string_view>

#include "report.h"

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;

namespace emulator {
namespace {

// The life of a CUDA thread.
void run_thread(void* argument) {
  Thread& thread = *static_cast<Thread*>(argument);
  try {
    thread.cluster().thread_body();
    thread.block->leave(thread);
  } catch (const KernelStopped&) {
    thread.scheduler().stop();
  }
  thread.scheduler().finish(thread);
}

}  // namespace

Cluster& Thread::cluster() const { return block->cluster; }
Scheduler& Thread::scheduler() const { return block->cluster.scheduler; }

void publish(const Thread& thread, VectorClock* clock) {
  const Block& block = *thread.block;
  const Warp& warp = *thread.warp;
  clock->join(warp.clock);
  if (thread.wgmma.retired > 0) {
    clock->learn(block.tensor_cores[thread.warp_group()]->component(),
                 static_cast<uint32_t>(thread.wgmma.retired));
  }
  if (thread.bulk.waited > 0) {
    clock->learn(thread.bulk.component, static_cast<uint32_t>(thread.bulk.waited));
  }
  if (warp.writes > 0) {
    clock->learn(warp.written, warp.writes);
    uint64_t fenced = warp.writes;
    for (const Thread* lane : warp.lanes) fenced = std::min(fenced, lane->fenced_writes);
    clock->learn(warp.fenced, static_cast<uint32_t>(fenced));
  }
  if (warp.signals > 0) clock->learn(warp.signalled, warp.signals);
  if (warp.reads > 0) clock->learn(warp.read, warp.reads);
  if (thread.copies.waited > 0) {
    clock->learn(thread.copies.component, static_cast<uint32_t>(thread.copies.waited));
    clock->learn(thread.copies.fenced_component, static_cast<uint32_t>(thread.copies.fenced));
  }
}

uint32_t known(const Thread& thread, Component component) {
  VectorClock own;
  const uint32_t told = thread.warp->clock[component];
  const Block& block = *thread.block;
  const size_t group = static_cast<size_t>(thread.warp_group());
  if (group < block.tensor_cores.size() && block.tensor_cores[group]->component() == component) {
    return std::max(told, static_cast<uint32_t>(thread.wgmma.retired));
  }
  if (thread.bulk.component == component) {
    return std::max(told, static_cast<uint32_t>(thread.bulk.waited));
  }
  if (thread.copies.component == component && component != kNoComponent) {
    return std::max(told, static_cast<uint32_t>(thread.copies.waited));
  }
  if (thread.copies.fenced_component == component && component != kNoComponent) {
    return std::max(told, static_cast<uint32_t>(thread.copies.fenced));
  }
  if (thread.warp->read == component && component != kNoComponent) return thread.warp->reads;
  if (thread.warp->written == component && component != kNoComponent) return thread.warp->writes;
  if (thread.warp->fenced == component && component != kNoComponent) {
    publish(thread, &own);
    return own[component];
  }
  return told;
}

// --- Warp ---

bool Warp::join(Thread& thread, const char* instruction, SourceLine where) {
  const uint64_t number = thread.collectives++;
  if (number == first_collective + collectives.size()) {
    for (const Thread* lane : lanes) {
      if (lane->state == Thread::State::kDone && lane->collectives <= number) {
        report::lane_has_left(thread, *lane, instruction, where);
      }
    }
    collectives.push_back({instruction, where});
  }
  CollectiveCall& call = collectives[number - first_collective];
  if (std::string_view(call.instruction) != instruction || call.where.line != where.line) {
    report::lanes_diverge(thread, call.instruction, call.where, instruction, where);
  }
  if (++call.lanes < kWarpThreads) return false;
  collectives.pop_front();
  ++first_collective;
  return true;
}

void Warp::meet(Thread& thread, const char* instruction, SourceLine where) {
  meet(thread, instruction, where, [] {});
}

void Warp::meet(Thread& thread, const char* instruction, SourceLine where,
                const std::function<void()>& together) {
  if (join(thread, instruction, where)) {
    together();
    for (Thread* lane : lanes) {
      if (lane->wait.kind == WaitKind::kWarp) thread.scheduler().wake(*lane);
    }
    // The textbook's lanes go on together, the first first.
    if (thread.scheduler().by_the_book()) thread.scheduler().yield(thread);
    return;
  }
  Wait wait;
  wait.kind = WaitKind::kWarp;
  wait.where = where;
  thread.scheduler().block(thread, wait);
}

void Warp::check_leaving(Thread& thread) {
  if (thread.collectives < first_collective + collectives.size()) {
    const CollectiveCall& call = collectives[thread.collectives - first_collective];
    report::lane_leaves(thread, call.instruction, call.where);
  }
  exchange.leave(thread);
}

// --- Block ---

Block::Block(Cluster& of_cluster, uint3 block_index, int block_rank, int thread_count,
             size_t shared_bytes)
    : cluster(of_cluster),
      index(block_index),
      rank(block_rank),
      memory(shared_bytes),
      named_barriers(kNamedBarriers),
      registers(thread_count),
      warps(static_cast<size_t>(thread_count) / kWarpThreads),
      threads(static_cast<size_t>(thread_count)),
      live_threads(thread_count) {
  for (int i = 0; i < thread_count / kWarpGroupThreads; ++i) {
    tensor_cores.push_back(std::make_unique<TensorCore>(*this, i, cluster.new_component()));
  }
  for (size_t i = 0; i < warps.size(); ++i) {
    warps[i].block = this;
    warps[i].index = static_cast<int>(i);
  }
  StackPool& stacks = StackPool::of_this_thread();
  for (size_t i = 0; i < threads.size(); ++i) {
    Thread& thread = threads[i];
    thread.block = this;
    thread.index = static_cast<int>(i);
    thread.lane = thread.index % kWarpThreads;
    thread.warp = &warps[i / kWarpThreads];
    thread.warp->lanes.push_back(&thread);
    thread.fiber.prepare(stacks.at(static_cast<size_t>(rank) * threads.size() + i), run_thread,
                         &thread);
  }
  for (Warp& warp : warps) cluster.scheduler.add(warp);
}

void Block::leave(Thread& thread) {
  if (static_cast<size_t>(thread.warp_group()) < tensor_cores.size()) {
    tensor_cores[static_cast<size_t>(thread.warp_group())]->check_leaving(thread);
  }
  if (thread.bulk.waited < thread.bulk.issued) report::store_not_waited_for(thread);
  thread.warp->check_leaving(thread);
  --live_threads;
  if (live_threads == 0) check_everything_done(thread);
  for (ThreadBarrier& barrier : named_barriers) {
    if (&barrier == &named_barriers[0]) barrier.expect_only(live_threads);
  }
  cluster.barrier.expect_only(cluster.live_threads());
}

// The last thread leaves, and shared memory with it.
void Block::check_everything_done(Thread& last) {
  if (tma.loads_in_flight() > 0) report::loads_in_flight(last, tma.latest_load());
  for (const auto& barrier : barriers.all()) {
    if (barrier->transaction != 0) report::bytes_left(last, *barrier);
  }
  if (options().happens_before) check_everything_known(last);
  for (const auto& barrier : barriers.all()) {
    // A peer may still arrive: that is found when it does.
    const bool from_peers =
        std::any_of(remote_signals.begin(), remote_signals.end(),
                    [&](const RemoteSignal& signal) { return signal.barrier == barrier.get(); });
    if (barrier->pending != barrier->expected && !from_peers) {
      report::arrivals_left(last, *barrier);
    }
  }
}

// What others do to the block's memory must be known to be over.
void Block::check_everything_known(Thread& last) {
  VectorClock told;
  for (const Thread& thread : threads) publish(thread, &told);
  for (const Region& region : memory.regions(0, memory.size())) {
    const Access& write = region.write;
    const bool copied = write.kind == AccessKind::kTmaLoad || write.kind == AccessKind::kCopy;
    if (copied && told[write.component] < write.value) report::loads_in_flight(last, write.where);
  }
  for (const RemoteSignal& signal : remote_signals) {
    if (told[signal.barrier->component] >= phase_known(signal.phase)) continue;
    if (told[signal.component] >= signal.value) continue;
    report::block_leaves(last, *signal.barrier, signal.from, signal.where);
  }
}

// --- Cluster ---

Cluster::Cluster(const cudaLaunchConfig_t& config, dim3 size, int64_t cluster_index,
                 const std::function<void()>& body)
    : index(cluster_index), thread_body(body), scheduler(options(), cluster_index) {
  trace.enabled = options().trace;
  const int64_t clusters_x = config.gridDim.x / size.x;
  const int64_t clusters_y = config.gridDim.y / size.y;
  const uint3 first = {static_cast<unsigned>(cluster_index % clusters_x * size.x),
                       static_cast<unsigned>(cluster_index / clusters_x % clusters_y * size.y),
                       static_cast<unsigned>(cluster_index / (clusters_x * clusters_y) * size.z)};
  for (unsigned rank = 0; rank < size.x * size.y * size.z; ++rank) {
    const uint3 block = {first.x + rank % size.x, first.y + rank / size.x % size.y,
                         first.z + rank / (size.x * size.y)};
    blocks.push_back(std::make_unique<Block>(*this, block, static_cast<int>(rank),
                                             static_cast<int>(config.blockDim.x),
                                             config.dynamicSmemBytes));
  }
  if (trace.enabled) trace.begin(*this);
}

void Cluster::run() {
  scheduler.run(*this);
  counts.blocks += blocks.size();
  counts.reports += report.has_value();
  if (trace.enabled) trace.finish(*this);
}

int Cluster::live_threads() const {
  int live = 0;
  for (const auto& block : blocks) live += block->live_threads;
  return live;
}

}  // namespace emulator
