// Global memory as blocks share it while they run, and time. The emulator has a file of this name.
#pragma once

#include <cstdint>

namespace ptx {

// red.relaxed.gpu.add: adds `value` to a counter of all blocks; says nothing of other memory. One
// thread. PTX ISA, "red".
__device__ __forceinline__ void red_add_relaxed_gpu(uint32_t* counter, uint32_t value) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
}

// ld.relaxed.gpu: what the counter holds now; says nothing of other memory. One thread. PTX ISA,
// "ld".
__device__ __forceinline__ uint32_t ld_relaxed_gpu(const uint32_t* counter) {
  uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  return value;
}

// nanosleep: lets the calling thread rest, for up to twice as long as it asks for. PTX ISA,
// "nanosleep".
__device__ __forceinline__ void nanosleep(uint32_t nanoseconds) {
  asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds) : "memory");
}

// %globaltimer_lo: nanoseconds, the lower 32 bits; it advances in steps of about a microsecond. PTX
// ISA, "%globaltimer".
__device__ __forceinline__ uint32_t globaltimer_lo() {
  uint32_t nanoseconds;
  asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(nanoseconds)::"memory");
  return nanoseconds;
}

}  // namespace ptx
