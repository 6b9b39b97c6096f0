// Waits that give up, for builds with BOUNDED_WAITS (the debug preset): a kernel that hangs says
// which block and warp waited for which stage of which barrier, at which line, and stops.
// Included by mbarrier.cuh, after MBarrier.
#pragma once

#include <globaltimer.cuh>
#include <shared_address.cuh>
#include <source_line.h>

#include <cstdint>
#include <cstdio>

namespace ptx::bounded_wait {

constexpr uint64_t kLimitNanoseconds = 4'000'000'000;
constexpr uint32_t kSharedBytes = 228 * 1024;

// What mbarrier_init said of the barrier at each 8-byte word of shared memory. Every block of a
// launch has the same layout and writes the same values.
struct Init {
  int line;
  uint32_t arrivals;
};
static __device__ Init inits[kSharedBytes / sizeof(MBarrier)];

__device__ inline void remember(const MBarrier* barrier, uint32_t arrivals, SourceLine where) {
  inits[shared_address(barrier) / sizeof(MBarrier)] = {where.line, arrivals};
}

class Watchdog {
 public:
  __device__ Watchdog() : start_(globaltimer()) {}
  __device__ bool expired() const { return globaltimer() - start_ > kLimitNanoseconds; }

 private:
  uint64_t start_;
};

// Barriers initialised by the same line are the stages of one ring, in the order of addresses.
__device__ inline void give_up(const MBarrier* barrier, uint32_t parity, SourceLine where) {
  const uint32_t word = shared_address(barrier) / sizeof(MBarrier);
  const Init init = inits[word];
  uint32_t first = word;
  while (first > 0 && init.line != 0 && inits[first - 1].line == init.line) --first;
  printf(
      "%s:%d: block (%u, %u, %u), warp %u, lane %u gave up waiting: parity %u of stage %u of the "
      "barriers initialised at line %d (%u arrivals a phase) never completed\n",
      where.file, where.line, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x / 32,
      threadIdx.x % 32, parity, word - first, init.line, init.arrivals);
  __trap();
}

}  // namespace ptx::bounded_wait
