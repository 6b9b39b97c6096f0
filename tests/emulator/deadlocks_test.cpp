// Deadlocks, one for each kind of wait: who waits, called from which line of the kernel, for what,
// and where those are who would have to come. And where the lines of other reports are reached
// from.
#include <instructions.h>
#include <matrix_descriptor.cuh>
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>

#include "kernel_test.h"

namespace {

using emulator::Check;
using kernel_test::expect_report;
using kernel_test::expect_silent;
using kernel_test::Matrix;
using kernel_test::quiet;
using kernel_test::run;

constexpr int kBoxRows = 8;
constexpr int kBoxBytes = kBoxRows * 64 * sizeof(half);

struct Storage {
  MBarrier full;
  MBarrier empty;
  alignas(1024) half tile[128 * 64];
};

// Waits where the kernel does not show, and not inlined, so that no line tells who has called.
class Ring {
 public:
  static void acquire_empty(MBarrier* empty, uint32_t parity) { wait(empty, parity); }
  static void acquire_full(MBarrier* full, uint32_t parity) { wait(full, parity); }

 private:
  __attribute__((noinline)) static void wait(MBarrier* barrier, uint32_t parity) {
    ptx::mbarrier_wait_parity(barrier, parity);
  }
};

void init(Storage* smem, uint32_t full, uint32_t empty) {
  if (threadIdx.x != 0) return;
  ptx::mbarrier_init(&smem->full, full);
  ptx::mbarrier_init(&smem->empty, empty);
  ptx::fence_mbarrier_init();
}

// "where: …_test.cpp:N" of a line that says so.
std::string at(int line) { return "deadlocks_test.cpp:" + std::to_string(line); }

// --- mbarriers ---

int acquires_empty, acquires_full;

void first_waits_in_a_class() {
  auto& smem = shared_storage<Storage>();
  init(&smem, 1, 1);
  __syncthreads();
  if (threadIdx.x >= 32) {  // --- producer ---
    acquires_empty = __LINE__ + 1;
    Ring::acquire_empty(&smem.empty, 0);
    ptx::mbarrier_arrive(&smem.full);
    return;
  }
  // --- consumer ---
  acquires_full = __LINE__ + 1;
  Ring::acquire_full(&smem.full, 0);
  ptx::mbarrier_arrive(&smem.empty);
}

TEST(Deadlock, FirstWaitsInAClass) {
  const auto report = run(quiet(), {1, 64, sizeof(Storage)}, first_waits_in_a_class);
  expect_report(
      report, Check::kDeadlock,
      {"warp 0 (consumer), 32 threads: waits for parity 0 of full at",
       "warp 1 (producer), 32 threads: waits for parity 0 of empty at",
       "called at emulator/" + at(acquires_empty) + "  Ring::acquire_empty(&smem.empty, 0)",
       "called at emulator/" + at(acquires_full) + "  Ring::acquire_full(&smem.full, 0)",
       "nobody has arrived anywhere yet", "lets parity 1 pass"});
}

// The consumer leaves one lap early.
void one_lap_less() {
  auto& smem = shared_storage<Storage>();
  init(&smem, 1, 32);
  __syncthreads();
  if (threadIdx.x >= 32) {  // --- producer ---
    for (int lap = 0; lap < 3; ++lap) {
      ptx::mbarrier_wait_parity(&smem.empty, (lap & 1) ^ 1);
      if (ptx::elect_sync()) ptx::mbarrier_arrive(&smem.full);
    }
    return;
  }
  // --- consumer ---
  ptx::mbarrier_wait_parity(&smem.full, 0);
  ptx::mbarrier_arrive(&smem.empty);
}

TEST(Deadlock, ThoseWhoArrivedBeforeHaveLeft) {
  expect_report(run(quiet(), {1, 64, sizeof(Storage)}, one_lap_less), Check::kDeadlock,
                {"warp 1 (producer), 32 threads: waits for parity 1 of empty at",
                 "warp 0 (consumer), 32 threads: has left the kernel, after emulator/",
                 "phase 1 (parity 1) of empty: 0 of 32 arrivals", "nobody arrives any more",
                 "32 threads of warp 0 (consumer) arrived in phase 0 (emulator/deadlocks_test.cpp:",
                 "and now has left the kernel"});
}

void parity_ahead() {
  auto& smem = shared_storage<Storage>();
  init(&smem, 1, 1);
  __syncthreads();
  if (threadIdx.x == 32) ptx::mbarrier_arrive(&smem.full);
  __syncthreads();
  if (threadIdx.x < 32) ptx::mbarrier_wait_parity(&smem.full, 1);  // phase 0 is complete
}

TEST(Deadlock, ParityOnePhaseAhead) {
  expect_report(run(quiet(), {1, 64, sizeof(Storage)}, parity_ahead), Check::kDeadlock,
                {"warp 0 waits for phase 1 of full and was never told of phase 0",
                 "Parity 0 of full would have passed"});
}

void parity_of_a_try(uint32_t parity) {
  auto& smem = shared_storage<Storage>();
  init(&smem, 1, 1);
  __syncthreads();
  ptx::mbarrier_try_wait_parity(&smem.full, parity);
}

TEST(Parity, Is0Or1) {
  expect_silent(run(quiet(), {1, 32, sizeof(Storage)}, parity_of_a_try, 0u));
  expect_silent(run(quiet(), {1, 32, sizeof(Storage)}, parity_of_a_try, 1u));
  for (const uint32_t parity : {2u, 3u, ~0u}) {
    expect_report(run(quiet(), {1, 32, sizeof(Storage)}, parity_of_a_try, parity), Check::kLimit,
                  {"names parity " + std::to_string(parity) + " of full", "0 or 1"});
  }
}

// --- threads ---

enum class Missing { kBlock, kNamed, kNamedLeft, kWarpGroup };

void wait_for_threads(const CUtensorMap map, Missing how) {
  auto& smem = shared_storage<Storage>();
  init(&smem, 1, 1);
  __syncthreads();
  if (threadIdx.x >= 96) {  // --- absent ---
    if (how == Missing::kNamedLeft) return;
    Ring::acquire_full(&smem.full, how == Missing::kWarpGroup ? 1 : 0);
    if (how == Missing::kWarpGroup) ptx::mbarrier_wait_parity(&smem.empty, 0);
    return;
  }
  // --- waiting ---
  if (how == Missing::kBlock) __syncthreads();
  if (how == Missing::kNamed || how == Missing::kNamedLeft) {
    emulator::bar_sync(1, 128, SourceLine::current());
  }
  if (how == Missing::kWarpGroup) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(&smem.full, 16 * kBoxBytes);
      ptx::cp_async_bulk_tensor_2d(smem.tile, &map, 0, 0, &smem.full);
    }
    ptx::mbarrier_wait_parity(&smem.full, 0);
    float acc[64];
    ptx::wgmma_fence();
    const uint64_t tile = matrix_descriptor(smem.tile, 0);
    ptx::wgmma_m64n128k16(acc, tile, tile, false);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>(acc);
  }
}

TEST(Deadlock, ThreadsThatDoNotCome) {
  Matrix source(128, 64);
  const auto run_with = [&](Missing how) {
    return run(quiet(), {1, 128, sizeof(Storage)}, wait_for_threads, source.map(128), how);
  };
  const std::string absent = "warp 3 (absent), 32 threads: ";
  expect_report(run_with(Missing::kBlock), Check::kDeadlock,
                {"warps 0 to 2 (waiting), 96 threads: waits at bar.sync 0 (96 of 128 threads",
                 absent + "waits for parity 0 of full at", "called at emulator/deadlocks_test.cpp:",
                 "let all threads that it counts come to it"});
  expect_report(run_with(Missing::kNamed), Check::kDeadlock,
                {"(waiting), 96 threads: waits at bar.sync 1 (96 of 128 threads",
                 absent + "waits for parity 0 of full at"});
  expect_report(run_with(Missing::kNamedLeft), Check::kDeadlock,
                {"waits at bar.sync 1 (96 of 128 threads",
                 "warp 3, 32 threads: has left the kernel, after emulator/deadlocks_test.cpp:"});
  expect_report(run_with(Missing::kWarpGroup), Check::kDeadlock,
                {"waits for its wgmma-groups, that is for WGMMA 1, which 96 of 128 threads have",
                 absent + "waits for parity 0 of empty at", "let all lanes execute it, or none"});
}

// --- registers ---

void registers_that_nobody_gives() {
  if (threadIdx.x >= 256) {  // --- producer ---
    auto& smem = shared_storage<Storage>();
    if (threadIdx.x == 256) ptx::mbarrier_init(&smem.full, 1);
    emulator::bar_sync(1, 128, SourceLine::current());
    ptx::mbarrier_wait_parity(&smem.full, 0);
    return;
  }
  // --- consumer ---
  emulator::setmaxnreg_inc(232, SourceLine::current());
}

TEST(Deadlock, RegistersThatNobodyGives) {
  expect_report(run(quiet(), {1, 384, sizeof(Storage)}, registers_that_nobody_gives),
                Check::kRegisterBudget,
                {"warps 0 to 7 (consumer), 256 threads: waits for 232 registers per thread at",
                 "warps 8 to 11 (producer), 128 threads: waits for parity 0 of full at",
                 "registers per thread: 168 in warp group 0, 168 in warp group 1, 168 in warp "
                 "group 2; 0 more",
                 "each of them reach its setmaxnreg"});
}

// --- clusters ---

enum class Disagreement { kMulticast, kLeavesEarly, kMorePhases };

// Two blocks, each of which announces a tile of two halves, and loads one of them for both.
void two_blocks(const CUtensorMap map, Disagreement how) {
  auto& smem = shared_storage<Storage>();
  const uint32_t rank = ptx::cluster_ctarank();
  init(&smem, 1, 1);
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (how == Disagreement::kLeavesEarly && rank == 1) return;
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&smem.full, 2 * kBoxBytes);
    const bool alone = how == Disagreement::kMulticast && rank == 1;
    ptx::cp_async_bulk_tensor_2d_multicast(&smem.tile[rank * kBoxRows * 64], &map, 0, 0, &smem.full,
                                           alone ? 2 : 3);
  }
  ptx::mbarrier_wait_parity(&smem.full, 0);
  if (how == Disagreement::kMorePhases && rank == 0) ptx::mbarrier_wait_parity(&smem.full, 1);
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

TEST(Deadlock, BlocksOfAClusterDisagree) {
  Matrix source(kBoxRows, 64);
  const auto run_with = [&](Disagreement how) {
    return run(quiet(), {2, 32, sizeof(Storage), 2}, two_blocks, source.map(kBoxRows), how);
  };
  expect_report(run_with(Disagreement::kMulticast), Check::kTooManyBytesExpected,
                {"who:    block (0, 0, 0), rank 0 of its cluster\n",
                 "phase 0 (parity 0) of full of block rank 0: 1 of 1 arrivals, 1024 bytes missing",
                 "block rank 0 has loaded 1024 bytes for this phase",
                 "block rank 1 has never loaded for this barrier",
                 "who:    block (1, 0, 0), rank 1 of its cluster\n",
                 "waits at the cluster's barrier (32 of 64 threads have arrived)",
                 "what one block of a cluster announces for a multicast, another must load"});
  // Block 1 has left: where it was, and that the load still goes there.
  expect_report(run_with(Disagreement::kLeavesEarly), Check::kBlockLeft,
                {"the signal goes to full of block rank 1, and that block has left",
                 "  and:    emulator/deadlocks_test.cpp:", "ptx::barrier_cluster_wait();"});
  expect_report(run_with(Disagreement::kMorePhases), Check::kDeadlock,
                {"waits for parity 1 of full of block rank 0 at",
                 "32 threads: waits at the cluster's barrier",
                 "1 thread of warp 0 of block rank 0 arrived in phase 0"});
}

}  // namespace
