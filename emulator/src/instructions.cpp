// Every instruction that a kernel can execute: who calls, where, and which part of the machine does
// it.
#include <instructions.h>

#include <cstring>
#include <mutex>
#include <ptx/cluster.cuh>
#include <ptx/global.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "machine.h"
#include "report.h"
#include "source_text.h"

namespace emulator {
namespace {

// What Options::record_calls asks for. Outlives launches, and serves all their threads.
struct ExecutedCalls {
  std::mutex mutex;
  std::vector<Call> calls;
  std::set<std::pair<std::string, int>> known;  // instruction and file, line
};

ExecutedCalls& executed() {
  static ExecutedCalls instance;
  return instance;
}

void record_call(const char* instruction, SourceLine where) {
  ExecutedCalls& all = executed();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (!all.known.emplace(std::string(instruction) + '\n' + where.file, where.line).second) return;
  all.calls.push_back({instruction, {where.file, where.line}});
}

bool is_removed(SourceLine where) {
  for (const Site& site : options().removed) {
    if (site.line == where.line && site.file == where.file) return true;
  }
  return false;
}

}  // namespace

std::vector<Call> executed_calls() { return executed().calls; }

void clear_executed_calls() {
  executed().calls.clear();
  executed().known.clear();
}

Thread* enter(const char* instruction, SourceLine where) {
  Thread& thread = *current_thread();
  const Options& now = options();
  if (now.record_calls) record_call(instruction, where);
  if (!now.removed.empty() && is_removed(where)) return nullptr;
  thread.where = where;
  const SourceFile& source = source_file(where.file);
  if (!source.is_header() && !source.in_class(where.line)) thread.body = where;
  if (const std::string* role = source.role(where.line)) thread.role = role;
  Trace& trace = thread.cluster().trace;
  if (trace.enabled) trace.called(thread, instruction);
  return &thread;
}

bool executes(const char* file, int line) { return enter("statement", {file, line}) != nullptr; }

bool before_atomic(const char* function, const char* file, int line) {
  Thread* const thread = enter(function, {file, line});
  if (thread == nullptr) return false;
  thread->scheduler().yield(*thread);
  return true;
}

// Not an instruction that could be removed: a place to look at values.
void check_rounded(uint32_t bits, const char* file, int line) {
  if (Thread* const thread = current_thread()) check_use(*thread, bits, {file, line});
}

namespace {

// The tensor core of the calling thread's warp group.
TensorCore& tensor_core(Thread& thread, SourceLine where) {
  auto& cores = thread.block->tensor_cores;
  const auto group = static_cast<size_t>(thread.warp_group());
  if (group >= cores.size()) report::not_a_warp_group(thread, where);
  return *cores[group];
}

void synchronize_threads(Thread& thread, int id, int threads, SourceLine where) {
  thread.warp->join(thread, "bar.sync", where);
  ThreadBarrier& barrier = thread.block->named_barriers[static_cast<size_t>(id)];
  const uint64_t use = barrier.arrive(thread, threads);
  Wait wait;
  wait.kind = WaitKind::kBlockBarrier;
  wait.where = where;
  wait.id = id;
  barrier.wait(thread, use, wait);
}

// A row of an 8 × 8 matrix: 16 bytes of shared memory.
constexpr uint32_t kMatrixRowBytes = 16;

// Whoever writes with stmatrix must know that all earlier accesses are complete.
void check_write(const Thread& thread, const Region& region, SourceLine where) {
  if (!options().happens_before) return;
  for (const Access& read : region.reads) {
    if (known(thread, read.component) < read.value) {
      report::store_buffer_reused(thread, read, where);
    }
  }
  const Access& write = region.write;
  if (write.kind != AccessKind::kNone && known(thread, write.component) < write.value) {
    report::written_too_early(thread, write, where);
  }
}

}  // namespace

void* dynamic_shared_memory(size_t bytes, SourceLine where) {
  Thread* const thread = enter("shared_storage", where);
  if (thread == nullptr) return current_thread()->block->memory.data();
  SharedMemory& memory = thread->block->memory;
  if (bytes > memory.size()) report::shared_memory_too_small(*thread, bytes, where);
  return memory.data();
}

void bar_sync(int id, int threads, SourceLine where) {
  Thread* const thread = enter("bar.sync", where);
  if (thread == nullptr) return;
  if (id < 0 || id >= kNamedBarriers || threads < kWarpThreads || threads % kWarpThreads != 0) {
    report::named_barrier(*thread, id, threads, where);
  }
  synchronize_threads(*thread, id, threads, where);
}

void setmaxnreg_inc(int registers, SourceLine where) {
  if (Thread* thread = enter("setmaxnreg.inc", where)) {
    thread->block->registers.increase(*thread, registers, where);
  }
}

void setmaxnreg_dec(int registers, SourceLine where) {
  if (Thread* thread = enter("setmaxnreg.dec", where)) {
    thread->block->registers.decrease(*thread, registers, where);
  }
}

void stmatrix_x4(void* row, const uint32_t (&matrices)[4], SourceLine where) {
  Thread* const thread = enter("stmatrix", where);
  if (thread == nullptr) return;
  SharedMemory& memory = thread->block->memory;
  if (!memory.contains(row)) report::not_shared(*thread, where);
  const uint32_t offset = memory.offset(row);
  if (offset % kMatrixRowBytes != 0) {
    report::misaligned(*thread, "the row", offset, kMatrixRowBytes, where);
  }
  // The lanes exchange elements: all must have come with theirs before any row is complete.
  Warp& warp = *thread->warp;
  std::memcpy(thread->matrices, matrices, sizeof(matrices));
  warp.meet(*thread, "stmatrix", where);
  if (warp.written == kNoComponent) {
    warp.written = thread->cluster().new_component();
    warp.fenced = thread->cluster().new_component();
  }
  for (const Region& region : memory.regions(offset, offset + kMatrixRowBytes)) {
    check_write(*thread, region, where);
  }
  Access write;
  write.kind = AccessKind::kStoreMatrix;
  write.component = warp.written;
  write.fenced = warp.fenced;
  write.value = ++warp.writes;
  write.number = thread->fenced_writes;
  write.where = where;
  memory.record_write(offset, offset + kMatrixRowBytes, write);
  const int matrix = thread->lane / 8;
  for (int pair = 0; pair < 4; ++pair) {
    const Thread& holder = *warp.lanes[static_cast<size_t>(thread->lane % 8 * 4 + pair)];
    std::memcpy(memory.data() + offset + pair * 4, &holder.matrices[matrix], sizeof(uint32_t));
  }
  memory.end_write(offset, kMatrixRowBytes);
  // Registers may change once every lane has taken its row together.
  warp.meet(*thread, "stmatrix", where);
}

void fence_proxy_async(SourceLine where) {
  if (Thread* thread = enter("fence.proxy.async", where)) {
    thread->fenced_writes = thread->warp->writes;
    thread->copies.fenced = thread->copies.waited;
  }
}

void tma_load(void* destination, const CUtensorMap* map, const Coordinates& first, MBarrier* full,
              SourceLine where) {
  Thread* const thread = enter("cp.async.bulk.tensor", where);
  if (thread == nullptr) return;
  thread->block->tma.load(*thread, destination, map, first, full, 1u << thread->block->rank, where);
  thread->scheduler().maybe_yield(*thread);
}

void tma_store(const CUtensorMap* map, const Coordinates& first, const void* source,
               SourceLine where) {
  Thread* const thread = enter("cp.async.bulk.tensor (store)", where);
  if (thread == nullptr) return;
  thread->block->tma.store(*thread, map, first, source, false, where);
  thread->scheduler().maybe_yield(*thread);
}

void tma_add(const CUtensorMap* map, const Coordinates& first, const void* source,
             SourceLine where) {
  Thread* const thread = enter("cp.reduce.async.bulk.tensor", where);
  if (thread == nullptr) return;
  thread->block->tma.store(*thread, map, first, source, true, where);
  thread->scheduler().maybe_yield(*thread);
}

void bulk_load(void* destination, const void* source, uint32_t bytes, MBarrier* full,
               SourceLine where) {
  Thread* const thread = enter("cp.async.bulk", where);
  if (thread == nullptr) return;
  thread->block->tma.load_neighbours(*thread, destination, source, bytes, full, where);
  thread->scheduler().maybe_yield(*thread);
}

void bulk_store(void* destination, const void* source, uint32_t bytes, SourceLine where) {
  Thread* const thread = enter("cp.async.bulk (store)", where);
  if (thread == nullptr) return;
  thread->block->tma.store_neighbours(*thread, destination, source, bytes, where);
  thread->scheduler().maybe_yield(*thread);
}

void bulk_commit_group(SourceLine where) {
  if (Thread* thread = enter("cp.async.bulk.commit_group", where)) {
    thread->block->tma.commit_group(*thread, where);
  }
}

void bulk_wait_group_read(int pending, SourceLine where) {
  if (Thread* thread = enter("cp.async.bulk.wait_group.read", where)) {
    thread->block->tma.wait_group_read(*thread, pending, where);
  }
}

void tma_load_multicast(void* destination, const CUtensorMap* map, const Coordinates& first,
                        MBarrier* full, uint16_t blocks, SourceLine where) {
  Thread* const thread = enter("cp.async.bulk.tensor (multicast)", where);
  if (thread == nullptr) return;
  const auto ranks = static_cast<uint32_t>(thread->cluster().blocks.size());
  if (blocks >> ranks != 0) report::no_such_rank(*thread, ranks, where);
  thread->block->tma.load(*thread, destination, map, first, full, blocks, where);
  thread->scheduler().maybe_yield(*thread);
}

void mbarrier_arrive_remote(MBarrier* barrier, uint32_t rank, SourceLine where) {
  Thread* const thread = enter("mbarrier.arrive (remote)", where);
  if (thread == nullptr) return;
  thread->block->barriers.arrive_remote(*thread, barrier, rank, where);
  thread->scheduler().maybe_yield(*thread);
}

void wgmma(float* registers, int columns, uint64_t a, uint64_t b, bool accumulate, unsigned kind,
           SourceLine where) {
  if (Thread* thread = enter("wgmma.mma_async", where)) {
    tensor_core(*thread, where)
        .issue(*thread, registers, nullptr, {columns, a, b, accumulate, kind}, where);
  }
}

void wgmma(float* registers, int columns, const uint32_t* a, uint64_t b, bool accumulate,
           unsigned kind, SourceLine where) {
  if (Thread* thread = enter("wgmma.mma_async", where)) {
    tensor_core(*thread, where)
        .issue(*thread, registers, a, {columns, 0, b, accumulate, kind | kWgmmaAInRegisters},
               where);
  }
}

void wgmma_wait_group(int pending, SourceLine where) {
  if (Thread* thread = enter("wgmma.wait_group", where)) {
    tensor_core(*thread, where).wait(*thread, pending, where);
  }
}

// --- cp_async.cuh ---

void cp_async(void* destination, const void* source, uint32_t bytes, uint32_t source_bytes,
              SourceLine where) {
  Thread* const thread = enter("cp.async", where);
  if (thread == nullptr) return;
  thread->block->copies.copy(*thread, destination, source, bytes, source_bytes, where);
}

void cp_async_commit_group(SourceLine where) {
  Thread* const thread = enter("cp.async.commit_group", where);
  if (thread == nullptr) return;
  thread->block->copies.commit_group(*thread);
  thread->scheduler().maybe_yield(*thread);
}

void cp_async_wait_group(int pending, SourceLine where) {
  if (Thread* thread = enter("cp.async.wait_group", where)) {
    thread->block->copies.wait_group(*thread, pending, where);
  }
}

void cp_async_wait_all(SourceLine where) {
  if (Thread* thread = enter("cp.async.wait_all", where)) {
    thread->block->copies.wait_all(*thread, where);
  }
}

void cp_async_mbarrier_arrive_noinc(MBarrier* barrier, SourceLine where) {
  Thread* const thread = enter("cp.async.mbarrier.arrive.noinc", where);
  if (thread == nullptr) return;
  thread->block->copies.arrive_when_landed(*thread, barrier, where);
  thread->scheduler().maybe_yield(*thread);
}

// --- ldmatrix.cuh, mma.cuh ---

void ldmatrix(uint32_t* registers, int count, bool transposed, const void* row, SourceLine where) {
  if (Thread* thread = enter("ldmatrix", where)) {
    load_matrices(*thread, registers, count, transposed, row, where);
  }
}

void mma_m16n8k16(float* d, const uint32_t* a, const uint32_t* b, const float* c, bool bf16,
                  SourceLine where) {
  if (Thread* thread = enter("mma.sync", where)) {
    multiply_m16n8k16(*thread, d, a, b, c, bf16, where);
  }
}

}  // namespace emulator

using emulator::enter;
using emulator::Thread;

void __syncthreads(const char* file, int line) {
  const SourceLine where = {file, line};
  Thread* const thread = enter("__syncthreads", where);
  if (thread == nullptr) return;
  emulator::synchronize_threads(*thread, 0, thread->block->live_threads, where);
}

long long clock64(const char* file, int line) {
  Thread* const thread = enter("clock64", {file, line});
  if (thread == nullptr) return 0;
  thread->scheduler().yield(*thread);
  return static_cast<long long>(thread->scheduler().now());
}

void __nanosleep(unsigned nanoseconds, const char* file, int line) {
  ptx::nanosleep(nanoseconds, {file, line});
}

size_t __cvta_generic_to_shared(const void* pointer) {
  const Thread& thread = *emulator::current_thread();
  const emulator::SharedMemory& memory = thread.block->memory;
  if (!memory.contains(pointer)) emulator::report::not_shared(thread, thread.where);
  return emulator::kSharedBase + memory.offset(pointer);
}

namespace ptx {

// --- mbarrier.cuh ---

void mbarrier_init(MBarrier* barrier, uint32_t arrivals, SourceLine where) {
  if (Thread* thread = enter("mbarrier.init", where)) {
    thread->block->barriers.init(*thread, barrier, arrivals, where);
  }
}

void fence_mbarrier_init(SourceLine where) {
  if (Thread* thread = enter("fence.mbarrier_init", where)) {
    thread->block->barriers.fence(*thread);
  }
}

void mbarrier_arrive(MBarrier* barrier, SourceLine where) {
  Thread* const thread = enter("mbarrier.arrive", where);
  if (thread == nullptr) return;
  thread->block->barriers.arrive(*thread, barrier, 0, where);
  thread->scheduler().maybe_yield(*thread);
}

void mbarrier_arrive_expect_tx(MBarrier* barrier, uint32_t bytes, SourceLine where) {
  Thread* const thread = enter("mbarrier.arrive.expect_tx", where);
  if (thread == nullptr) return;
  thread->block->barriers.arrive(*thread, barrier, bytes, where);
  thread->scheduler().maybe_yield(*thread);
}

bool mbarrier_try_wait_parity(MBarrier* barrier, uint32_t parity, SourceLine where) {
  Thread* const thread = enter("mbarrier.try_wait.parity", where);
  if (thread == nullptr) return true;
  return thread->block->barriers.try_wait(*thread, barrier, parity, where);
}

void mbarrier_wait_parity(MBarrier* barrier, uint32_t parity, SourceLine where) {
  if (Thread* thread = enter("mbarrier.wait.parity", where)) {
    thread->block->barriers.wait(*thread, barrier, parity, where);
  }
}

// --- tma.cuh ---

void cp_async_bulk_tensor_2d(void* destination, const CUtensorMap* map, int column, int row,
                             MBarrier* full, SourceLine where) {
  emulator::tma_load(destination, map, {column, row}, full, where);
}

// --- warpgroup.cuh ---

bool elect_sync(SourceLine where) {
  Thread* const thread = enter("elect.sync", where);
  if (thread == nullptr) return true;  // nobody is elected: every lane goes on
  thread->warp->meet(*thread, "elect.sync", where);
  return thread->lane == 0;
}

uint32_t shfl_sync_bfly(uint32_t value, uint32_t lane_mask, SourceLine where) {
  Thread* const thread = enter("shfl.sync.bfly", where);
  if (thread == nullptr) return value;
  // Two slots in turn: a lane that is ahead by one call must not overwrite what others still read.
  const uint64_t slot = thread->collectives % 2;
  thread->exchanged[slot] = value;
  thread->warp->meet(*thread, "shfl.sync.bfly", where);
  const uint32_t partner = (thread->lane ^ lane_mask) % emulator::kWarpThreads;
  return thread->warp->lanes[partner]->exchanged[slot];
}

int shfl_sync_idx(int value, int lane, SourceLine where) {
  Thread* const thread = enter("shfl.sync.idx", where);
  if (thread == nullptr) return value;
  const uint64_t slot = thread->collectives % 2;  // as in shfl_sync_bfly
  thread->exchanged[slot] = static_cast<uint32_t>(value);
  thread->warp->meet(*thread, "shfl.sync.idx", where);
  const auto from = static_cast<uint32_t>(lane) % emulator::kWarpThreads;
  return static_cast<int>(thread->warp->lanes[from]->exchanged[slot]);
}

// --- global.cuh ---

// Clusters may run on several threads of the operating system, so these are its atomics. Whoever
// reads what others are to change lets them go first.

void red_add_relaxed_gpu(uint32_t* counter, uint32_t value, SourceLine where) {
  if (enter("red.add", where) != nullptr) __atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
}

uint32_t atom_add_acq_rel_gpu(uint32_t* counter, uint32_t value, SourceLine where) {
  if (enter("atom.add", where) == nullptr) return 0;
  return __atomic_fetch_add(counter, value, __ATOMIC_ACQ_REL);
}

uint32_t ld_relaxed_gpu(const uint32_t* counter, SourceLine where) {
  Thread* const thread = enter("ld.relaxed", where);
  if (thread == nullptr) return 0;
  thread->scheduler().yield(*thread);
  return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

uint32_t ld_acquire_gpu(const uint32_t* flag, SourceLine where) {
  Thread* const thread = enter("ld.acquire", where);
  if (thread == nullptr) return 0;
  thread->scheduler().yield(*thread);
  return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

void st_release_gpu(uint32_t* flag, uint32_t value, SourceLine where) {
  if (enter("st.release", where) != nullptr) __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

// An event wakes the thread, so that others, asynchronous operations included, can come before.
void nanosleep(uint32_t, SourceLine where) {
  Thread* const thread = enter("nanosleep", where);
  if (thread == nullptr) return;
  emulator::Scheduler& scheduler = thread->scheduler();
  scheduler.after_delay(emulator::Unit::kThreads,
                        [thread, &scheduler] { scheduler.wake(*thread); });
  emulator::Wait wait;
  wait.where = where;
  scheduler.block(*thread, wait);
}

// To look at the clock takes a turn: whoever waits for a time to come gets there.
uint32_t globaltimer_lo(SourceLine where) {
  constexpr uint64_t kNanosecondsPerTurn = 1000;
  Thread* const thread = enter("globaltimer", where);
  if (thread == nullptr) return 0;
  thread->scheduler().yield(*thread);
  return static_cast<uint32_t>((thread->scheduler().now() + 1) * kNanosecondsPerTurn);
}

// --- wgmma.cuh ---

void wgmma_fence(SourceLine where) {
  if (Thread* thread = enter("wgmma.fence", where)) {
    emulator::tensor_core(*thread, where).fence(*thread, where);
  }
}

void wgmma_commit_group(SourceLine where) {
  if (Thread* thread = enter("wgmma.commit_group", where)) {
    emulator::tensor_core(*thread, where).commit(*thread, where);
  }
}

void wgmma_m64n128k16(float (&d)[64], uint64_t a, uint64_t b, bool accumulate, SourceLine where) {
  emulator::wgmma(d, 128, a, b, accumulate, emulator::kWgmmaF16, where);
}

void wgmma_m64n256k16(float (&d)[128], uint64_t a, uint64_t b, bool accumulate, SourceLine where) {
  emulator::wgmma(d, 256, a, b, accumulate, emulator::kWgmmaF16, where);
}

// --- cluster.cuh ---

uint32_t cluster_ctarank(SourceLine) {
  return static_cast<uint32_t>(emulator::current_thread()->block->rank);
}

void barrier_cluster_arrive(SourceLine where) {
  Thread* const thread = enter("barrier.cluster.arrive", where);
  if (thread == nullptr) return;
  thread->warp->join(*thread, "barrier.cluster.arrive", where);
  emulator::Cluster& cluster = thread->cluster();
  thread->cluster_use = cluster.barrier.arrive(*thread, cluster.live_threads());
}

void barrier_cluster_wait(SourceLine where) {
  Thread* const thread = enter("barrier.cluster.wait", where);
  if (thread == nullptr) return;
  thread->warp->join(*thread, "barrier.cluster.wait", where);
  emulator::Wait wait;
  wait.kind = emulator::WaitKind::kClusterBarrier;
  wait.where = where;
  thread->cluster().barrier.wait(*thread, thread->cluster_use, wait);
}

}  // namespace ptx
