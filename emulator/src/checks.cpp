#include <emulator.h>

namespace emulator {

const char* check_name(Check check) {
  switch (check) {
    case Check::kOverwrittenWhileRead:
      return "stage overwritten while it is read (WAR)";
    case Check::kReadBeforeFull:
      return "stage read before it is full (RAW)";
    case Check::kOverwrittenInFlight:
      return "stage overwritten while it is being filled (WAW)";
    case Check::kNotReleased:
      return "stage filled again before it was released";
    case Check::kReadUninitialised:
      return "shared memory read before anything has arrived there";
    case Check::kTooFewBytesExpected:
      return "too few bytes expected";
    case Check::kTooManyBytesExpected:
      return "too many bytes expected";
    case Check::kArrivalOutOfOrder:
      return "arrival out of order";
    case Check::kTooManyArrivals:
      return "too many arrivals";
    case Check::kBarrierReinitialised:
      return "mbarrier initialised twice";
    case Check::kBarrierNotInitialised:
      return "mbarrier not initialised";
    case Check::kInitNotVisible:
      return "mbarrier used before its init is visible";
    case Check::kInitNotFenced:
      return "mbarrier used by TMA without fence.mbarrier_init";
    case Check::kBarrierOverwritten:
      return "mbarrier overwritten";
    case Check::kMissingWgmmaFence:
      return "missing wgmma.fence";
    case Check::kAccumulatorTouched:
      return "accumulator touched while a WGMMA owns it";
    case Check::kMissingCommit:
      return "missing wgmma.commit_group";
    case Check::kMissingFinalWait:
      return "WGMMAs never waited for";
    case Check::kMissingProxyFence:
      return "missing fence.proxy.async";
    case Check::kStoreBufferReused:
      return "store buffer reused before it was read";
    case Check::kStoreNotWaitedFor:
      return "TMA stores never waited for";
    case Check::kMisaligned:
      return "misaligned address";
    case Check::kTensorMap:
      return "not a tensor map";
    case Check::kSharedMemorySize:
      return "shared memory too small";
    case Check::kNotShared:
      return "not an address in shared memory";
    case Check::kDescriptor:
      return "matrix descriptor out of the tile";
    case Check::kLaneDivergence:
      return "lanes of a warp diverge";
    case Check::kBlockLeft:
      return "block leaves while a peer still signals it";
    case Check::kLeftInFlight:
      return "block leaves with copies under way";
    case Check::kRegisterBudget:
      return "register budget exceeded";
    case Check::kLaunch:
      return "launch not possible";
    case Check::kLimit:
      return "value out of range";
    case Check::kDeadlock:
      return "deadlock";
  }
  return "unknown";
}

}  // namespace emulator
