// mbarrier: objects in shared memory by which one agent (a thread, the TMA unit) tells others that
// it has got somewhere. A barrier runs through phases 0, 1, 2, …; a phase completes when its
// pending arrivals and its pending transaction bytes are both zero. A wait names the parity
// (phase % 2) of the phase that it waits for.
// One function is one instruction; mbarrier_wait_parity is a loop around one.
// The emulator has a file of this name, with the same functions: the include path chooses.
#pragma once

#include <source_line.h>

#include <cstdint>
#include <shared_address.cuh>

struct MBarrier {
  uint64_t opaque;  // the layout is the hardware's; only these functions may touch it
};

#ifdef BOUNDED_WAITS
#include <bounded_wait.cuh>
#endif

namespace ptx {

// mbarrier.init: starts phase 0; every phase completes on `arrivals` arrivals (1 … 2^20-1).
// One thread, once per barrier; others may use it after fence_mbarrier_init and a block barrier.
// PTX ISA, "mbarrier.init".
__device__ __forceinline__ void mbarrier_init(
    MBarrier* barrier, uint32_t arrivals,
    [[maybe_unused]] SourceLine where = SourceLine::current()) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
#ifdef BOUNDED_WAITS
  bounded_wait::remember(barrier, arrivals, where);
#endif
}

// fence.mbarrier_init: orders the calling thread's inits before their use anywhere in the cluster,
// by TMA too (as CUTLASS relies on; PTX does not name the async proxy here). One thread, after its
// inits, before the block (or cluster) barrier. PTX ISA, "membar / fence".
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// mbarrier.arrive: counts one arrival on the current phase; what the calling thread did before is
// visible to whoever waits for the phase (release.cta, the default). Each calling thread counts.
// PTX ISA, "mbarrier.arrive".
__device__ __forceinline__ void mbarrier_arrive(MBarrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

// mbarrier.arrive.expect_tx: adds `bytes` (below 2^20) to those that the current phase still waits
// for, then counts one arrival. One thread, before it issues the copies that deliver the bytes.
// PTX ISA, "mbarrier.arrive".
__device__ __forceinline__ void mbarrier_arrive_expect_tx(MBarrier* barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

// mbarrier.try_wait.parity: true once the phase with this parity has completed; may first suspend
// the thread for a while (a further operand, unused here, would hint how long). What was released
// by the arrivals is then visible (acquire.cta, the default). Any thread. PTX ISA,
// "mbarrier.test_wait / mbarrier.try_wait".
__device__ __forceinline__ bool mbarrier_try_wait_parity(MBarrier* barrier, uint32_t parity) {
  uint32_t complete;
  asm volatile(
      "{\n"
      ".reg .pred complete;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n"
      "selp.b32 %0, 1, 0, complete;\n"
      "}"
      : "=r"(complete)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return complete;
}

// Returns once the phase with this parity has completed. A fresh barrier is in phase 0: parity 0
// waits for its completion, parity 1 passes at once (as if a phase before it had completed).
// Any thread. Builds with BOUNDED_WAITS give up after some seconds, say who waited for what, and
// end the kernel.
__device__ __forceinline__ void mbarrier_wait_parity(
    MBarrier* barrier, uint32_t parity, [[maybe_unused]] SourceLine where = SourceLine::current()) {
#ifdef BOUNDED_WAITS
  bounded_wait::Watchdog watchdog;
#endif
  while (!mbarrier_try_wait_parity(barrier, parity)) {
#ifdef BOUNDED_WAITS
    if (watchdog.expired()) bounded_wait::give_up(barrier, parity, where);
#endif
  }
}

}  // namespace ptx
