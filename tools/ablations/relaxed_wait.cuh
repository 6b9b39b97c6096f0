// A wait without acquire semantics, for the ablation of that name.
#pragma once

#include <ptx/mbarrier.cuh>

namespace ptx {

// mbarrier.try_wait.parity.relaxed (PTX ISA 8.0): as mbarrier_wait_parity, but what happened before
// the phase completed is not promised to be visible to the calling thread's own loads.
__device__ __forceinline__ void mbarrier_wait_parity_relaxed(MBarrier* barrier, uint32_t parity) {
  uint32_t complete;
  do {
    asm volatile(
        "{\n"
        ".reg .pred complete;\n"
        "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 complete, [%1], %2;\n"
        "selp.b32 %0, 1, 0, complete;\n"
        "}"
        : "=r"(complete)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  } while (!complete);
}

}  // namespace ptx
