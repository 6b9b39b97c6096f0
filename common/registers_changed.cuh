// What the compiler must be told of registers that an asynchronous instruction writes.
#pragma once

#include <cuda_runtime.h>

// No instruction: from here on the compiler takes the values of these registers for new, and moves
// no use of them above this line. Any thread.
template <int kRegisters>
__device__ __forceinline__ void registers_changed(float (&acc)[kRegisters]) {
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) asm volatile("" : "+f"(acc[i])::"memory");
}
