// A small producer and consumer as in v3, and one bug at a time: each check must speak, name the
// right line and say what to do.
#include <harness/random.h>
#include <matrix_descriptor.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <store_accumulator.cuh>

#include "kernel_test.h"

namespace {

using emulator::Check;
using emulator::Delay;
using emulator::Options;
using emulator::Report;
using kernel_test::expect_bug;
using kernel_test::expect_report;
using kernel_test::expect_silent;
using kernel_test::Matrix;
using kernel_test::quiet;
using kernel_test::run;
using kernel_test::Shape;

enum class Bug {
  kNone,
  kReleasedTooEarly,  // before wait_group
  kNoFullWait,
  kWrongFullParity,
  kFullParityKept,
  kFullWaitStops,
  kWrongEmptyParity,
  kNoEmptyWait,
  kEmptyWaitStops,  // after two laps
  kEmptyParityKept,  // never flipped
  kExpectTooSmall,
  kExpectTooSmallAfterLoad,
  kArriveWithoutBytes,
  kExpectTooLarge,
  kOneArrivalTooMany,
  kOneArrivalTooFew,
  kHalfOfTheArrivalsCounted,
  kInitTwice,
  kNoInit,
  kNoBlockBarrier,
  kNoInitFence,
  kNoWgmmaFence,
  kAccumulatorCleared,  // while in flight
  kAccumulatorChanged,  // between tiles, without a fence
  kNoCommit,
  kNoFinalWait,
  kMisalignedTile,
  kMisalignedBarrier,
  kWrongStage,
  kStepOutOfPattern,
  kTileTooFar,
  kSharedTooSmall,
  kBarrierUnderTile,
  kBarrierWritten,
  kLaneDependentOperand,
  kFenceInOneLane,
  kLaneLeaves,
  kElectAfterExit,
  kSameStageTwice,
  kLoadNotWaitedFor,
  kNotAMap,
  kForeignAddress,
  kZeroArrivals,
  kWgmmaByFourthWarp,
  kOneWarpDoesNotWait,
  kReleasesNewest,  // with one group left in flight
  kParityWithOtherBits,
  kFenceAfterBlockBarrier,
  kFenceByAnotherThread,
  // Unusual, but legal:
  kLegalLoadBeforeExpect,
  kLegalOneLaneWaits,
  kLegalElectedRelease,
  kLegalLateFence,  // before the barrier that the others see it by
  kLegalSecondWait,  // for the same phase
  kLegalLaterEmpty,  // waits for the release of a stage that is read later
  kLegalBlockBarrierAfterExit,
};

constexpr int kStages = 2;
constexpr int kColumns = 128;
constexpr int kTileBytes = (64 + kColumns) * 64 * sizeof(half);

struct SharedStorage {
  alignas(1024) half a[kStages][64 * 64];
  alignas(1024) half b[kStages][kColumns * 64];
  MBarrier full[kStages];
  MBarrier empty[kStages];
  MBarrier spare;
};

template <Bug kBug>
void pipeline_kernel(const CUtensorMap map_a, const CUtensorMap map_b, const OutputMatrix c,
                     int k_tiles) {
  auto& smem = shared_storage<SharedStorage>();
  if (threadIdx.x == 0 && kBug != Bug::kNoInit) {
    for (int stage = 0; stage < kStages; ++stage) {
      ptx::mbarrier_init(&smem.full[stage], 1);
      ptx::mbarrier_init(&smem.empty[stage], kBug == Bug::kOneArrivalTooFew           ? 129
                                             : kBug == Bug::kHalfOfTheArrivalsCounted ? 64
                                             : kBug == Bug::kLegalElectedRelease      ? 1
                                                                                      : 128);
    }
    if (kBug == Bug::kInitTwice) ptx::mbarrier_init(&smem.full[0], 1);
    if (kBug == Bug::kZeroArrivals) ptx::mbarrier_init(&smem.spare, 0);
    if (kBug == Bug::kMisalignedBarrier) {
      auto* const odd = reinterpret_cast<MBarrier*>(reinterpret_cast<char*>(&smem.spare) + 4);
      ptx::mbarrier_init(odd, 1);
    }
    if (kBug == Bug::kBarrierUnderTile) {
      ptx::mbarrier_init(reinterpret_cast<MBarrier*>(&smem.b[1][512]), 1);
    }
    constexpr bool kFencesNow = kBug != Bug::kNoInitFence && kBug != Bug::kFenceAfterBlockBarrier &&
                                kBug != Bug::kFenceByAnotherThread && kBug != Bug::kLegalLateFence;
    if (kFencesNow) ptx::fence_mbarrier_init();
  }
  if (kBug != Bug::kNoBlockBarrier) __syncthreads();
  if (kBug == Bug::kFenceAfterBlockBarrier && threadIdx.x == 0) ptx::fence_mbarrier_init();
  if (kBug == Bug::kFenceByAnotherThread && threadIdx.x == 128) ptx::fence_mbarrier_init();
  if (kBug == Bug::kLegalLateFence) {
    if (threadIdx.x == 0) ptx::fence_mbarrier_init();
    __syncthreads();
  }
  if (kBug == Bug::kBarrierWritten && threadIdx.x == 0) smem.empty[1].opaque = 17;

  if (threadIdx.x >= 128) {  // --- producer ---
    if (kBug == Bug::kElectAfterExit && threadIdx.x == 130) return;
    uint32_t phases = kBug == Bug::kWrongEmptyParity ? 0 : ~0u;
    int stage = 0;
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
      const bool waits =
          kBug != Bug::kNoEmptyWait && (kBug != Bug::kEmptyWaitStops || k_tile < 2 * kStages);
      const int guard = kBug == Bug::kLegalLaterEmpty ? (stage + 1) % kStages : stage;
      const uint32_t parity =
          kBug == Bug::kParityWithOtherBits ? phases >> guard : phases >> guard & 1;
      if (waits) ptx::mbarrier_wait_parity(&smem.empty[guard], parity);
      if (ptx::elect_sync()) {
        constexpr bool kLoadsFirst =
            kBug == Bug::kLegalLoadBeforeExpect || kBug == Bug::kExpectTooSmallAfterLoad;
        constexpr bool kTooSmall =
            kBug == Bug::kExpectTooSmall || kBug == Bug::kExpectTooSmallAfterLoad;
        const int bytes = kTooSmall                      ? kTileBytes / 2
                          : kBug == Bug::kExpectTooLarge ? kTileBytes * 2
                                                         : kTileBytes;
        if (kBug == Bug::kArriveWithoutBytes) {
          ptx::mbarrier_arrive(&smem.full[stage]);
        } else if (!kLoadsFirst) {
          ptx::mbarrier_arrive_expect_tx(&smem.full[stage], bytes);
        }
        half* a = smem.a[stage] + (kBug == Bug::kMisalignedTile ? 64 : 0);
        CUtensorMap not_a_map = {};
        const CUtensorMap* const map = kBug == Bug::kNotAMap ? &not_a_map : &map_a;
        half elsewhere[64];
        if (kBug == Bug::kForeignAddress) a = elsewhere;
        ptx::cp_async_bulk_tensor_2d(a, map, k_tile * 64, 0, &smem.full[stage]);
        const int b_stage = kBug == Bug::kSameStageTwice ? 0 : stage;
        ptx::cp_async_bulk_tensor_2d(smem.b[b_stage], &map_b, k_tile * 64, 0, &smem.full[stage]);
        if (kLoadsFirst) {
          ptx::mbarrier_arrive_expect_tx(&smem.full[stage], bytes);
        }
      }
      if (kBug != Bug::kEmptyParityKept) phases ^= 1u << stage;
      stage = (stage + 1) % kStages;
    }
    if (kBug == Bug::kWgmmaByFourthWarp) {
      float acc[64];
      ptx::wgmma_m64n128k16(acc, 0, 0, false);
    }
    return;
  }

  // --- consumer ---
  float acc[64];
  uint32_t phases = kBug == Bug::kWrongFullParity ? ~0u : 0;
  int stage = 0;
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    if (kBug == Bug::kLoadNotWaitedFor && k_tile == k_tiles - 1) return;
    const bool waits = kBug == Bug::kOneWarpDoesNotWait  ? threadIdx.x / 32 != 2
                       : kBug == Bug::kFullWaitStops     ? k_tile < 2 * kStages
                       : kBug == Bug::kLegalOneLaneWaits ? threadIdx.x % 32 == 5
                                                         : true;
    if (kBug != Bug::kNoFullWait && waits) {
      ptx::mbarrier_wait_parity(&smem.full[stage], phases >> stage & 1);
    }
    if (kBug == Bug::kLegalSecondWait) {
      ptx::mbarrier_wait_parity(&smem.full[stage], phases >> stage & 1);
    }
    const bool fences = kBug != Bug::kNoWgmmaFence && kBug != Bug::kFenceInOneLane &&
                        (kBug != Bug::kAccumulatorChanged || k_tile == 0);
    if (fences) ptx::wgmma_fence();
    if (kBug == Bug::kFenceInOneLane && threadIdx.x % 32 == 0) ptx::wgmma_fence();
    for (int kk = 0; kk < 64; kk += 16) {
      const int step = kBug == Bug::kStepOutOfPattern ? 2 * kk : kk;
      const int other = kBug == Bug::kWrongStage ? (stage + 1) % kStages : stage;
      uint64_t a = encode_matrix_descriptor(shared_address(smem.a[other]) + step * 2);
      if (kBug == Bug::kLaneDependentOperand && threadIdx.x == 77) a += 2;
      const half* const b = smem.b[stage] + (kBug == Bug::kTileTooFar ? 64 * 64 : 0);
      ptx::wgmma_m64n128k16(acc, a, matrix_descriptor(b, kk), k_tile > 0 || kk > 0);
    }
    if (kBug != Bug::kNoCommit) ptx::wgmma_commit_group();
    if (kBug == Bug::kReleasedTooEarly) ptx::mbarrier_arrive(&smem.empty[stage]);
    if (kBug == Bug::kAccumulatorCleared && k_tile == 1) acc[5] = 0;
    if (kBug == Bug::kReleasesNewest && k_tile < k_tiles - 1) {
      ptx::wgmma_wait_group<1>();
    } else if (kBug != Bug::kNoFinalWait || k_tile < k_tiles - 1) {
      ptx::wgmma_wait_group<0>(acc);
    }
    if (kBug == Bug::kAccumulatorChanged) acc[3] += 1;
    const bool releases = kBug != Bug::kLegalElectedRelease || threadIdx.x == 64;
    if (kBug != Bug::kReleasedTooEarly && releases) ptx::mbarrier_arrive(&smem.empty[stage]);
    if (kBug == Bug::kOneArrivalTooMany && threadIdx.x == 0) {
      ptx::mbarrier_arrive(&smem.empty[stage]);
    }
    if (kBug != Bug::kFullParityKept) phases ^= 1u << stage;
    stage = (stage + 1) % kStages;
    if (kBug == Bug::kLaneLeaves && threadIdx.x == 40) return;
  }
  if (kBug == Bug::kLegalBlockBarrierAfterExit) __syncthreads();
  store_accumulator(acc, c, 0, 0);
}

constexpr int kTiles = 6;

class Pipeline : public testing::Test {
 protected:
  Pipeline() : a_(64, kTiles * 64), b_(kColumns, kTiles * 64), c_(64, kColumns) {
    a_.set([](int row, int column) { return (row * 3 + column) % 7 - 3; });
    b_.set([](int row, int column) { return (row + column * 5) % 5 - 2; });
  }

  template <Bug kBug>
  std::optional<Report> run_with(const Options& options, int k_tiles = kTiles) {
    c_.set([](int, int) { return -1; });
    const size_t bytes = sizeof(SharedStorage) - (kBug == Bug::kSharedTooSmall ? 64 : 0);
    const OutputMatrix c = {c_.data(), 64, kColumns, kColumns};
    return run(options, {1, 160, bytes}, pipeline_kernel<kBug>, a_.map(64), b_.map(kColumns), c,
               k_tiles);
  }

  template <Bug kBug>
  void expect(const std::vector<Check>& checks, const std::vector<std::string>& parts = {}) {
    expect_bug(checks, parts, [&](const Options& options) { return run_with<kBug>(options); });
  }

  Matrix a_, b_, c_;
};

TEST_F(Pipeline, WithoutABugIsSilentAndRight) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    expect_silent(run_with<Bug::kNone>(quiet(seed)));
    for (int row = 0; row < 64; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        float sum = 0;
        for (int k = 0; k < kTiles * 64; ++k) sum += a_.value(row, k) * b_.value(column, k);
        ASSERT_EQ(c_.value(row, column), __half2float(__float2half_rn(sum)));
      }
    }
  }
}

TEST_F(Pipeline, LegalVariantsAreSilent) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    expect_silent(run_with<Bug::kLegalLoadBeforeExpect>(quiet(seed)));
    expect_silent(run_with<Bug::kLegalOneLaneWaits>(quiet(seed)));
    expect_silent(run_with<Bug::kLegalElectedRelease>(quiet(seed)));
    expect_silent(run_with<Bug::kLegalLateFence>(quiet(seed)));
    expect_silent(run_with<Bug::kLegalSecondWait>(quiet(seed)));
    expect_silent(run_with<Bug::kLegalLaterEmpty>(quiet(seed)));
    expect_silent(run_with<Bug::kLegalBlockBarrierAfterExit>(quiet(seed)));
  }
}

TEST_F(Pipeline, NewestGroupReleasedWhileInFlight) {
  expect<Bug::kReleasesNewest>({Check::kOverwrittenWhileRead}, {"which WGMMA"});
}

TEST_F(Pipeline, StageReleasedBeforeWaitGroup) {
  expect<Bug::kReleasedTooEarly>(
      {Check::kOverwrittenWhileRead},
      {"tile of full[", "which WGMMA", "warp 4 (producer), lane 0", "pipeline_bugs_test.cpp:",
       "release the stage only after wgmma.wait_group", "reproduces this"});
}

TEST_F(Pipeline, NoWaitForTheFullBarrier) {
  expect<Bug::kNoFullWait>(
      {Check::kReadBeforeFull, Check::kOverwrittenWhileRead, Check::kReadUninitialised},
      {"reads operand", "phase 0 (parity 0) of full[0]", "(consumer)",
       "wait for parity 0 of full[0]"});
}

TEST_F(Pipeline, OneWarpDoesNotWait) {
  expect<Bug::kOneWarpDoesNotWait>({Check::kReadBeforeFull, Check::kOverwrittenWhileRead},
                                   {"warp 2 (consumer)", "in every warp"});
}

// Whichever check speaks, and whoever finds it: it is the wait on full, and its parity.
TEST_F(Pipeline, WrongParityOfTheFullBarrier) {
  for (const Check check :
       {Check::kReadBeforeFull, Check::kOverwrittenWhileRead, Check::kReadUninitialised}) {
    expect<Bug::kWrongFullParity>({check, Check::kReadBeforeFull, Check::kOverwrittenWhileRead,
                                   Check::kReadUninitialised, Check::kDeadlock},
                                  {"  wait:   emulator/pipeline_bugs_test.cpp:",
                                   "ptx::mbarrier_wait_parity(&smem.full[stage]", "(consumer) ",
                                   "this wait for parity 1 of full[", "returned at once",
                                   "let the wait before the read name parity 0 of full["});
  }
  expect<Bug::kWrongFullParity>(
      {Check::kDeadlock, Check::kReadBeforeFull, Check::kOverwrittenWhileRead,
       Check::kReadUninitialised},
      {"was never told of phase 0, which is complete", "Parity 0 of full[", "would have passed"});
}

TEST_F(Pipeline, ParityOfTheFullBarrierNeverFlipped) {
  for (const Check check :
       {Check::kReadBeforeFull, Check::kOverwrittenWhileRead, Check::kArrivalOutOfOrder}) {
    expect<Bug::kFullParityKept>(
        {check, Check::kReadBeforeFull, Check::kOverwrittenWhileRead, Check::kArrivalOutOfOrder,
         Check::kDeadlock},
        {"  wait:   emulator/pipeline_bugs_test.cpp:", "this wait for parity 0 of full[",
         "returned for phase 0, which was complete already",
         "let the wait before the read name parity 1 of full[", "flips the parity"});
  }
}

TEST_F(Pipeline, WaitForTheFullBarrierMissingLater) {
  expect<Bug::kFullWaitStops>(
      {Check::kReadBeforeFull, Check::kOverwrittenWhileRead},
      {"it has not waited for full[0] again since its phase 1", "wait for parity 0 of full[0]"});
}

TEST_F(Pipeline, WrongFirstParityOfTheEmptyBarrier) {
  expect<Bug::kWrongEmptyParity>(
      {Check::kDeadlock},
      {"warp 4 (producer), 32 threads: waits for parity 0 of empty[0]",
       "warps 0 to 3 (consumer), 128 threads: waits for parity 0 of full[0]", "0 of 128 arrivals",
       "let the first wait of the one who fills the stages pass", "lets parity 1 pass"});
}

TEST_F(Pipeline, NoWaitForTheEmptyBarrier) {
  expect<Bug::kNoEmptyWait>(
      {Check::kNotReleased},
      {"24576 bytes more at full[0]", "warp 4 (producer), lane 0", "mbarrier_arrive_expect_tx",
       "the thread has not waited for empty[0], at which warp ", "(consumer) releases the stage",
       "  and:    emulator/pipeline_bugs_test.cpp:", "wait for parity 0 of empty[0] before"});
}

TEST_F(Pipeline, WaitForTheEmptyBarrierMissingLater) {
  expect<Bug::kEmptyWaitStops>(
      {Check::kOverwrittenWhileRead, Check::kNotReleased, Check::kArrivalOutOfOrder},
      {"the thread has not waited for empty[0]", "wait for parity 1 of empty[0] before"});
}

TEST_F(Pipeline, ParityOfTheEmptyBarrierNeverFlipped) {
  expect<Bug::kEmptyParityKept>(
      {Check::kNotReleased, Check::kDeadlock},
      {"  wait:   emulator/pipeline_bugs_test.cpp:", "&smem.empty[guard]",
       "this wait for parity 1 of empty[0] returned at once: a fresh barrier lets parity 1 pass",
       "let the wait before the load name parity 0 of empty[0]", "flips the parity"});
}

TEST_F(Pipeline, ParityIs0Or1) {
  expect<Bug::kParityWithOtherBits>(
      {Check::kLimit}, {"the wait names parity 4294967295 of empty[0]", "(phases >> stage) & 1"});
}

TEST_F(Pipeline, TooFewBytesExpected) {
  expect<Bug::kExpectTooSmall>({Check::kTooFewBytesExpected},
                               {"announce (mbarrier.arrive.expect_tx) the bytes of all boxes"});
}

TEST_F(Pipeline, TooFewBytesExpectedAfterTheLoad) {
  expect<Bug::kExpectTooSmallAfterLoad>(
      {Check::kTooFewBytesExpected},
      {"loads of 24576 bytes signal phase 0 (parity 0) of full[0], for which 12288"});
}

TEST_F(Pipeline, ArrivalThatExpectsNoBytes) {
  expect<Bug::kArriveWithoutBytes>(
      {Check::kTooFewBytesExpected, Check::kOverwrittenWhileRead, Check::kReadUninitialised},
      {"for which no bytes are announced", "who:    block (0, 0, 0), warp 4 (producer), lane 0",
       "where:  emulator/pipeline_bugs_test.cpp:", "ptx::cp_async_bulk_tensor_2d("});
}

TEST_F(Pipeline, TooManyBytesExpected) {
  expect<Bug::kExpectTooLarge>(
      {Check::kTooManyBytesExpected},
      {"24576 bytes missing", "more bytes are announced than loads deliver"});
}

TEST_F(Pipeline, OneArrivalTooMany) {
  expect<Bug::kOneArrivalTooMany>(
      {Check::kArrivalOutOfOrder},
      {"an arrival counts in phase", " twice in ", "let each arrive once per phase"});
}

TEST_F(Pipeline, MoreArrivalsThanCounted) {
  expect<Bug::kHalfOfTheArrivalsCounted>(
      {Check::kArrivalOutOfOrder, Check::kOverwrittenWhileRead, Check::kNotReleased},
      {"was complete after 64 arrivals (warp ", "initialise empty["});
}

TEST_F(Pipeline, OneArrivalTooFew) {
  expect<Bug::kOneArrivalTooFew>({Check::kDeadlock}, {"128 of 129 arrivals", "never come"});
}

TEST_F(Pipeline, BarrierInitialisedTwice) {
  expect<Bug::kInitTwice>({Check::kBarrierReinitialised}, {"full[0] is initialised a second time"});
}

TEST_F(Pipeline, BarrierNotInitialised) {
  expect<Bug::kNoInit>({Check::kBarrierNotInitialised}, {"there is no mbarrier at shared byte"});
}

TEST_F(Pipeline, NoBarrierBetweenInitAndUse) {
  expect<Bug::kNoBlockBarrier>({Check::kBarrierNotInitialised},
                               {"before the block's first barrier"});
}

TEST_F(Pipeline, NoFenceAfterInit) {
  expect<Bug::kNoInitFence>({Check::kInitNotFenced}, {"TMA is to signal full[0]"});
}

// In time or not: nobody has told the loader of it.
TEST_F(Pipeline, FenceAfterInitThatTheLoaderNeedNotHaveSeen) {
  expect<Bug::kFenceAfterBlockBarrier>({Check::kInitNotFenced}, {"warp 4 (producer)"});
  expect<Bug::kFenceByAnotherThread>({Check::kInitNotFenced},
                                     {"fence.mbarrier_init in the thread that initialises"});
}

TEST_F(Pipeline, NoWgmmaFence) {
  expect<Bug::kNoWgmmaFence>({Check::kMissingWgmmaFence}, {"the first WGMMA", "(consumer)"});
}

TEST_F(Pipeline, AccumulatorTouchedInFlight) {
  expect<Bug::kAccumulatorCleared>({Check::kAccumulatorTouched}, {"accumulator register 5"});
}

TEST_F(Pipeline, AccumulatorChangedWithoutFence) {
  expect<Bug::kAccumulatorChanged>({Check::kMissingWgmmaFence}, {"since its last wait"});
}

TEST_F(Pipeline, NoCommit) {
  expect<Bug::kNoCommit>({Check::kMissingCommit}, {"4 WGMMAs belong to no wgmma-group"});
}

TEST_F(Pipeline, NoFinalWait) {
  expect<Bug::kNoFinalWait>({Check::kMissingFinalWait}, {"for WGMMA 24"});
}

TEST_F(Pipeline, MisalignedAddresses) {
  expect<Bug::kMisalignedTile>({Check::kMisaligned}, {"128 bytes past a multiple of 1024"});
  expect<Bug::kMisalignedBarrier>({Check::kMisaligned}, {"the mbarrier begins 4 bytes past"});
}

TEST_F(Pipeline, OperandOfAnotherStage) {
  expect<Bug::kWrongStage>(
      {Check::kReadBeforeFull, Check::kOverwrittenWhileRead, Check::kReadUninitialised},
      {"reads operand A"});
}

TEST_F(Pipeline, DescriptorOutOfTheTile) {
  expect<Bug::kStepOutOfPattern>({Check::kDescriptor}, {"operand A", "into the swizzle pattern"});
  expect<Bug::kTileTooFar>({Check::kDescriptor, Check::kReadBeforeFull},
                           {"operand B reaches from"});
}

TEST_F(Pipeline, SharedMemoryTooSmall) {
  expect<Bug::kSharedTooSmall>({Check::kSharedMemorySize}, {"the launch asked for"});
}

TEST_F(Pipeline, BarriersAndTilesOverlap) {
  expect<Bug::kBarrierUnderTile>({Check::kBarrierOverwritten}, {"the copy's box covers"});
  expect<Bug::kBarrierWritten>({Check::kBarrierOverwritten},
                               {"the bytes of empty[1] were overwritten"});
}

TEST_F(Pipeline, LanesDiverge) {
  expect<Bug::kLaneDependentOperand>({Check::kLaneDivergence}, {"with different operands"});
  expect<Bug::kFenceInOneLane>({Check::kMissingWgmmaFence}, {"comes without wgmma.fence"});
  expect<Bug::kLaneLeaves>({Check::kLaneDivergence}, {"lane 8"});
  expect<Bug::kElectAfterExit>({Check::kLaneDivergence}, {"elect.sync"});
  expect<Bug::kWgmmaByFourthWarp>({Check::kLaneDivergence},
                                  {"warp 4 belongs to no whole warp group"});
}

TEST_F(Pipeline, StageLoadedTwice) {
  expect<Bug::kSameStageTwice>({Check::kOverwrittenInFlight, Check::kOverwrittenWhileRead},
                               {"may still be filling"});
}

TEST_F(Pipeline, BlockLeavesWithLoadsInFlight) {
  expect<Bug::kLoadNotWaitedFor>({Check::kLeftInFlight}, {"nobody has waited for a load"});
}

TEST_F(Pipeline, NotATensorMap) {
  expect<Bug::kNotAMap>({Check::kTensorMap}, {"was not made by cuTensorMapEncodeTiled"});
}

TEST_F(Pipeline, NotASharedAddress) {
  expect<Bug::kForeignAddress>({Check::kNotShared}, {"lies outside of the block's"});
}

TEST_F(Pipeline, BarrierWithoutArrivals) {
  expect<Bug::kZeroArrivals>({Check::kLimit}, {"initialised with 0 arrivals"});
}

// What a wait learns is what was known when its phase completed, however late the thread goes on:
// here the reader releases twice, and only the second release comes after its wait_group.
void early_and_late_release_kernel(const CUtensorMap map_a, const CUtensorMap map_b) {
  auto& smem = shared_storage<SharedStorage>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full[0], 1);
    ptx::mbarrier_init(&smem.empty[0], 1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    for (int lap = 0; lap < 2; ++lap) {
      if (lap > 0) ptx::mbarrier_wait_parity(&smem.empty[0], 0);
      if (ptx::elect_sync()) {
        ptx::mbarrier_arrive_expect_tx(&smem.full[0], kTileBytes);
        ptx::cp_async_bulk_tensor_2d(smem.a[0], &map_a, 0, 0, &smem.full[0]);
        ptx::cp_async_bulk_tensor_2d(smem.b[0], &map_b, 0, 0, &smem.full[0]);
      }
    }
    return;
  }
  float acc[64];
  ptx::mbarrier_wait_parity(&smem.full[0], 0);
  ptx::wgmma_fence();
  ptx::wgmma_m64n128k16(acc, matrix_descriptor(smem.a[0], 0), matrix_descriptor(smem.b[0], 0),
                        false);
  ptx::wgmma_commit_group();
  if (threadIdx.x == 0) ptx::mbarrier_arrive(&smem.empty[0]);
  ptx::wgmma_wait_group<0>(acc);
  if (threadIdx.x == 0) ptx::mbarrier_arrive(&smem.empty[0]);
  ptx::mbarrier_wait_parity(&smem.full[0], 1);
}

TEST_F(Pipeline, AWaitLearnsWhatItsPhaseKnew) {
  int hazards = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto report = run(quiet(seed), {1, 160, sizeof(SharedStorage)},
                            early_and_late_release_kernel, a_.map(64), b_.map(kColumns));
    ASSERT_TRUE(report.has_value()) << "silent on seed " << seed;
    // The second release is out of order; where the load comes before it, the load is the hazard.
    const bool hazard = report->check == Check::kOverwrittenWhileRead;
    hazards += hazard;
    if (!hazard) expect_report(report, Check::kArrivalOutOfOrder);
  }
  EXPECT_GT(hazards, 20);
}

// Timing and poison alone: the safety net, with holes.
TEST_F(Pipeline, WithoutHappensBeforeSomeSeedsStillFindAnEarlyRelease) {
  int found = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Options options = quiet(seed);
    options.happens_before = false;
    found += run_with<Bug::kReleasedTooEarly>(options).has_value();
  }
  EXPECT_GT(found, 10);
}

// A hazard is found even where the timing hides it.
TEST_F(Pipeline, HappensBeforeNeedsNoLuck) {
  Options options = quiet();
  options.delay = Delay::kAtOnce;
  options.schedule = emulator::Schedule::kRoundRobin;
  expect_report(run_with<Bug::kReleasedTooEarly>(options), Check::kOverwrittenWhileRead);
}

TEST_F(Pipeline, TheSameSeedGivesTheSameReport) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto first = run_with<Bug::kNoFullWait>(quiet(seed));
    const auto again = run_with<Bug::kNoFullWait>(quiet(seed));
    ASSERT_TRUE(first && again);
    EXPECT_EQ(first->text, again->text);
  }
}

}  // namespace
