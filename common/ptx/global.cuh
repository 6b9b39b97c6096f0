// Global memory as blocks share it while they run, and time. The emulator has a file of this name.
#pragma once

#include <cstdint>

namespace ptx {

// red.relaxed.gpu.add: adds `value` to a counter of all blocks; says nothing of other memory. One
// thread. PTX ISA, "red".
__device__ __forceinline__ void red_add_relaxed_gpu(uint32_t* counter, uint32_t value) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
}

// atom.acq_rel.gpu.add: the same, and returns what the counter held before. What the calling thread
// has done before it is seen by whoever comes later. One thread. PTX ISA, "atom".
__device__ __forceinline__ uint32_t atom_add_acq_rel_gpu(uint32_t* counter, uint32_t value) {
  uint32_t before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(value)
               : "memory");
  return before;
}

// ld.relaxed.gpu: what the counter holds now; says nothing of other memory. One thread. PTX ISA,
// "ld".
__device__ __forceinline__ uint32_t ld_relaxed_gpu(const uint32_t* counter) {
  uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  return value;
}

// ld.acquire.gpu: what the flag holds now; what was done before the release that set it is seen
// from here on. One thread. PTX ISA, "ld".
__device__ __forceinline__ uint32_t ld_acquire_gpu(const uint32_t* flag) {
  uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

// st.release.gpu: sets the flag; whoever acquires it sees what was done before: by the calling
// thread, and by those with which it has met at a barrier since. One thread. PTX ISA, "st".
__device__ __forceinline__ void st_release_gpu(uint32_t* flag, uint32_t value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
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
