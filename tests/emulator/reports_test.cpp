// Reports that the pipelines of the other tests do not reach, each from a kernel as small as can
// be.
#include <instructions.h>
#include <matrix_descriptor.cuh>
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>

#include <cstring>

#include "kernel_test.h"

namespace {

using emulator::Check;
using emulator::Delay;
using emulator::Options;
using emulator::Schedule;
using kernel_test::expect_bug;
using kernel_test::expect_report;
using kernel_test::Matrix;
using kernel_test::quiet;
using kernel_test::run;
using kernel_test::Shape;

constexpr int kBoxRows = 8;  // so few land in one piece
constexpr int kBoxBytes = kBoxRows * 64 * sizeof(half);

struct Storage {
  MBarrier ready;
  MBarrier copied;
  alignas(1024) half tile[2][kBoxRows * 64];
};

const Shape kOneWarp = {1, 32, sizeof(Storage)};
const Shape kTwoWarps = {1, 64, sizeof(Storage)};
const Shape kTwoBlocks = {2, 32, sizeof(Storage), 2};

CUtensorMap map_of(Matrix* matrix) { return matrix->map(kBoxRows); }

Options round_robin() {
  Options options = quiet();
  options.schedule = Schedule::kRoundRobin;
  return options;
}

// No copy lands before every thread waits or has left.
Options late_copies() {
  Options options = round_robin();
  options.delay = Delay::kOnlyWhenIdle;
  return options;
}

// --- mbarriers ---

void init_in_another_warp() {
  auto& smem = shared_storage<Storage>();
  if (threadIdx.x == 32) ptx::mbarrier_init(&smem.ready, 1);
  if (threadIdx.x < 32) ptx::mbarrier_wait_parity(&smem.ready, 1);
}

TEST(Reports, InitNotVisible) {
  expect_bug({Check::kInitNotVisible, Check::kBarrierNotInitialised},
             {"ready is used by a warp that need not have seen its init",
              "__syncthreads() after the inits and their fence"},
             [](const Options& options) { return run(options, kTwoWarps, init_in_another_warp); });
}

enum class Arrivals { kTooManyBytes, kTwice, kOneMissing, kBytesMissing };

void arrive(Arrivals how) {
  auto& smem = shared_storage<Storage>();
  if (threadIdx.x != 0) return;
  ptx::mbarrier_init(&smem.ready, how == Arrivals::kOneMissing ? 2 : 1);
  if (how == Arrivals::kOneMissing) {
    ptx::mbarrier_arrive(&smem.ready);
  } else {
    ptx::mbarrier_arrive_expect_tx(&smem.ready, how == Arrivals::kTooManyBytes ? 1 << 20 : 64);
  }
  if (how == Arrivals::kTwice) ptx::mbarrier_arrive(&smem.ready);
}

TEST(Reports, BytesBeyondTheCounter) {
  expect_report(run(quiet(), kOneWarp, arrive, Arrivals::kTooManyBytes), Check::kLimit,
                {"1048576 bytes are announced at once"});
}

TEST(Reports, ArrivalBeyondTheCount) {
  expect_report(run(quiet(), kOneWarp, arrive, Arrivals::kTwice), Check::kTooManyArrivals,
                {"all 1 arrivals of phase 0 (parity 0) of ready are in; it waits for 64 more bytes",
                 "initialise the barrier with the number of arrivals per phase"});
}

TEST(Reports, ArrivalsLeft) {
  expect_report(run(quiet(), kOneWarp, arrive, Arrivals::kOneMissing), Check::kTooManyArrivals,
                {"leaves with 1 of 2 arrivals in phase 0 (parity 0) of ready"});
}

TEST(Reports, BytesLeft) {
  expect_report(run(quiet(), kOneWarp, arrive, Arrivals::kBytesMissing), Check::kLeftInFlight,
                {"while phase 0 (parity 0) of ready waits for 64 bytes"});
}

// --- TMA ---

enum class Load { kMisalignedMap, kBeyondMemory, kUnderStmatrix };

void load(const CUtensorMap map, Load how) {
  auto& smem = shared_storage<Storage>();
  alignas(64) char copy[sizeof(map) + 16];
  const CUtensorMap* used = &map;
  if (how == Load::kMisalignedMap) {
    std::memcpy(copy + 16, &map, sizeof(map));
    used = reinterpret_cast<const CUtensorMap*>(copy + 16);
  }
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.ready, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.ready, kBoxBytes);
    half* const tile = smem.tile[how == Load::kBeyondMemory ? 1 : 0];
    ptx::cp_async_bulk_tensor_2d(tile, used, 0, 0, &smem.ready);
  }
  if (how == Load::kUnderStmatrix) {
    const uint32_t matrices[4] = {};
    emulator::stmatrix_x4(&smem.tile[0][threadIdx.x * 8], matrices, SourceLine::current());
  }
}

TEST(Reports, MisalignedMap) {
  Matrix source(kBoxRows, 64);
  expect_report(run(quiet(), kOneWarp, load, map_of(&source), Load::kMisalignedMap),
                Check::kMisaligned, {"the tensor map begins 16 bytes past a multiple of 64"});
}

TEST(Reports, BoxBeyondSharedMemory) {
  Matrix source(kBoxRows, 64);
  expect_report(run(quiet(), kOneWarp, load, source.map(2 * kBoxRows), Load::kBeyondMemory),
                Check::kSharedMemorySize,
                {"a box of 2048 bytes at shared byte 0x800 reaches beyond the 3072 bytes"});
}

TEST(Reports, StmatrixUnderALoad) {
  Matrix source(kBoxRows, 64);
  expect_report(run(round_robin(), kOneWarp, load, map_of(&source), Load::kUnderStmatrix),
                Check::kOverwrittenInFlight,
                {"stmatrix overwrites shared memory that another write may still be filling"});
}

void store_of_another_warp(const CUtensorMap map) {
  auto& smem = shared_storage<Storage>();
  if (threadIdx.x >= 32) {
    const uint32_t matrices[4] = {};
    emulator::stmatrix_x4(&smem.tile[0][threadIdx.x % 32 * 8], matrices, SourceLine::current());
    ptx::fence_proxy_async();
  } else if (threadIdx.x == 0) {
    ptx::cp_async_bulk_tensor_2d(&map, 0, 0, smem.tile[0]);
  }
}

TEST(Reports, StoreBeforeTheWriteIsKnown) {
  Matrix target(kBoxRows, 64);
  expect_bug({Check::kReadBeforeFull, Check::kReadUninitialised, Check::kMissingBulkCommit,
              Check::kStoreBufferReused},
             {"has not been told that the write is complete", "a barrier of the writing threads"},
             [&](const Options& options) {
               return run(options, kTwoWarps, store_of_another_warp, map_of(&target));
             });
}

// --- WGMMA ---

enum class Operand { kZero, kBeyondMemory, kNeverWritten };

void multiply(Operand how) {
  auto& smem = shared_storage<Storage>();
  const uint32_t begin = shared_address(&smem);
  const uint64_t a =
      how == Operand::kZero
          ? 0
          : encode_matrix_descriptor(how == Operand::kBeyondMemory ? begin + 64 * 1024 : begin);
  float acc[64];
  ptx::wgmma_fence();
  ptx::wgmma_m64n128k16(acc, a, a, false);
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(acc);
}

TEST(Reports, OperandsThatCannotBeRead) {
  const Shape shape = {1, 128, 64 * 1024};
  expect_report(run(quiet(), shape, multiply, Operand::kZero), Check::kDescriptor,
                {"operand A begins at shared address 0x0 and does not fit into the 65536"});
  expect_report(run(quiet(), shape, multiply, Operand::kBeyondMemory), Check::kDescriptor,
                {"operand A begins at shared address 0x10400 and does not fit into the 65536"});
  expect_report(run(quiet(), shape, multiply, Operand::kNeverWritten), Check::kReadUninitialised,
                {"a WGMMA reads operand A from shared byte 0x0, where nothing was ever written"});
}

// --- warps ---

void two_instructions() {
  if (threadIdx.x < 16) {
    ptx::elect_sync();
  } else {
    ptx::shfl_sync_bfly(0, 1);
  }
}

void one_lane_leaves(int lane) {
  if (static_cast<int>(threadIdx.x) == lane) return;
  ptx::elect_sync();
}

TEST(Reports, LanesPart) {
  expect_report(
      run(round_robin(), {1, 32}, two_instructions), Check::kLaneDivergence,
      {"the lane executes shfl.sync.bfly where other lanes of its warp execute elect.sync",
       "(.sync.aligned)"});
  expect_report(run(round_robin(), {1, 32}, one_lane_leaves, 0), Check::kLaneDivergence,
                {"the lane executes elect.sync, but lane 0 of its warp has left the kernel"});
  expect_report(run(round_robin(), {1, 32}, one_lane_leaves, 31), Check::kLaneDivergence,
                {"the lane leaves the kernel without elect.sync, which other lanes"});
}

// --- deadlocks ---

enum class Lacking { kLanes, kBlocks };

void wait_for_each_other(Lacking lacking) {
  auto& smem = shared_storage<Storage>();
  if (threadIdx.x == 0) ptx::mbarrier_init(&smem.ready, 1);
  __syncthreads();
  const bool alone = lacking == Lacking::kLanes ? threadIdx.x < 16 : ptx::cluster_ctarank() == 1;
  if (alone) {
    ptx::mbarrier_wait_parity(&smem.ready, 0);
  } else if (lacking == Lacking::kLanes) {
    ptx::elect_sync();
  } else {
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
  }
}

TEST(Reports, WaitsForOthersThatDoNotCome) {
  expect_report(run(quiet(), kOneWarp, wait_for_each_other, Lacking::kLanes), Check::kDeadlock,
                {"16 threads: waits for the other lanes of its warp at",
                 "warp 0: 16 of 32 lanes have executed elect.sync at"});
  expect_report(run(quiet(), kTwoBlocks, wait_for_each_other, Lacking::kBlocks), Check::kDeadlock,
                {"32 threads: waits at the cluster's barrier (32 of 64 threads have arrived)"});
}

// --- clusters: block 0 has a barrier, block 1 signals it ---

enum class Signal { kLast, kToNobody, kToNoBarrier, kAfterExit, kBeforeExit };

void cluster_barrier() {
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

// Lasts until nothing else can run, if copies are late.
void wait_for_a_copy(Storage* smem, const CUtensorMap* map) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&smem->copied, kBoxBytes);
    ptx::cp_async_bulk_tensor_2d(smem->tile[0], map, 0, 0, &smem->copied);
  }
  ptx::mbarrier_wait_parity(&smem->copied, 0);
}

void signal(const CUtensorMap map, Signal how) {
  auto& smem = shared_storage<Storage>();
  const uint32_t rank = ptx::cluster_ctarank();
  if (threadIdx.x == 0 && how != Signal::kToNoBarrier) {
    ptx::mbarrier_init(&smem.ready, how == Signal::kLast ? 2 : 1);
    ptx::mbarrier_init(&smem.copied, 1);
    ptx::fence_mbarrier_init();
  }
  cluster_barrier();
  if (how == Signal::kLast) {
    if (rank == 0 && threadIdx.x == 0) {
      // Half of what is loaded is announced, and the phase needs the signal, too.
      ptx::mbarrier_arrive_expect_tx(&smem.ready, kBoxBytes);
      ptx::cp_async_bulk_tensor_2d(smem.tile[0], &map, 0, 0, &smem.ready);
      ptx::cp_async_bulk_tensor_2d(smem.tile[1], &map, 0, 0, &smem.ready);
    }
    cluster_barrier();
  }
  if (how == (rank == 0 ? Signal::kBeforeExit : Signal::kAfterExit)) wait_for_a_copy(&smem, &map);
  if (rank == 1 && threadIdx.x == 0) {
    ptx::mbarrier_arrive_cluster(&smem.ready, how == Signal::kToNobody ? 2 : 0);
  }
  if (how == Signal::kLast && rank == 0) ptx::mbarrier_wait_parity(&smem.ready, 0);
}

TEST(Reports, SignalsBetweenBlocks) {
  Matrix source(kBoxRows, 64);
  const auto run_with = [&](Signal how) {
    return run(late_copies(), kTwoBlocks, signal, map_of(&source), how);
  };
  expect_report(run_with(Signal::kLast), Check::kTooFewBytesExpected,
                {"completes on 1024 announced bytes while 1024 more are under way"});
  expect_report(run_with(Signal::kToNobody), Check::kLimit,
                {"there is no block of rank 2 in a cluster of 2"});
  expect_report(run_with(Signal::kToNoBarrier), Check::kBarrierNotInitialised,
                {"rank 0 of its cluster has no mbarrier at shared byte 0x0 (yet)"});
  expect_report(run_with(Signal::kAfterExit), Check::kBlockLeft,
                {"the signal goes to ready of block rank 0, and that block has left"});
  expect_report(
      run_with(Signal::kBeforeExit), Check::kBlockLeft,
      {"without having been told that the block of rank 1 is done with signalling ready"});
}

}  // namespace
