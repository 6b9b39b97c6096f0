// Global memory as blocks share it while they run, and time. The emulator has a file of this name.
//
// The order in which blocks see each other's accesses is what these functions make it (PTX ISA,
// "Memory Consistency Model"): who has read, by an acquire, what another has written by a release,
// sees all that the other had seen and done before. Relaxed accesses order nothing, until a fence
// between them and the rest does. Weak ones (ld_global…, st_global…, plain C++) must be ordered by
// such a pair before another block may touch the same bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace ptx {

// --- weak accesses: data. Any thread ---

// ld.global.f32, ld.global.v4.f32: 4 bytes, or 16 that are aligned to 16. PTX ISA, "ld".
__device__ __forceinline__ float ld_global_f32(const float* address) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(address) : "memory");
  return value;
}
__device__ __forceinline__ float4 ld_global_v4_f32(const float4* address) {
  float4 value;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "l"(address)
               : "memory");
  return value;
}

// st.global.f32, st.global.v4.f32: the same, written. PTX ISA, "st".
__device__ __forceinline__ void st_global_f32(float* address, float value) {
  asm volatile("st.global.f32 [%0], %1;" ::"l"(address), "f"(value) : "memory");
}
__device__ __forceinline__ void st_global_v4_f32(float4* address, const float4& value) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(address), "f"(value.x),
               "f"(value.y), "f"(value.z), "f"(value.w)
               : "memory");
}

// --- accesses that all blocks of the GPU see as one (.gpu). One thread, or each for itself ---

// red.relaxed.gpu.add: adds `value` to a counter, or a sum, of all blocks; says nothing of other
// memory. PTX ISA, "red".
__device__ __forceinline__ void red_add_relaxed_gpu(uint32_t* counter, uint32_t value) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
}
__device__ __forceinline__ void red_add_relaxed_gpu(float* sum, float value) {
  asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(sum), "f"(value) : "memory");
}

// red.release.gpu.add: the same; whoever acquires the counter sees what was done before, as after
// st_release_gpu. PTX ISA, "red".
__device__ __forceinline__ void red_add_release_gpu(uint32_t* counter, uint32_t value) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
}

// atom.relaxed.gpu.add, atom.acq_rel.gpu.add: the same, and returns what the counter held before;
// .acq_rel is a release of what the thread has done, and an acquire of what those released who came
// before it. PTX ISA, "atom".
__device__ __forceinline__ uint32_t atom_add_relaxed_gpu(uint32_t* counter, uint32_t value) {
  uint32_t before;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(value)
               : "memory");
  return before;
}
__device__ __forceinline__ uint32_t atom_add_acq_rel_gpu(uint32_t* counter, uint32_t value) {
  uint32_t before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(value)
               : "memory");
  return before;
}

// atom.acquire.gpu.cas: sets the lock to `value` if it holds `expected`; returns what it held
// before. Whoever so gets a lock sees what was done before the release that opened it. PTX ISA,
// "atom".
__device__ __forceinline__ uint32_t atom_cas_acquire_gpu(uint32_t* lock, uint32_t expected,
                                                         uint32_t value) {
  uint32_t before;
  asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(before)
               : "l"(lock), "r"(expected), "r"(value)
               : "memory");
  return before;
}

// ld.relaxed.gpu: what the counter holds now; says nothing of other memory. PTX ISA, "ld".
__device__ __forceinline__ uint32_t ld_relaxed_gpu(const uint32_t* counter) {
  uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  return value;
}

// ld.acquire.gpu: what the flag holds now; what was done before the release that set it is seen
// from here on: by the calling thread, and by those who meet it at a barrier afterwards. PTX ISA,
// "ld".
__device__ __forceinline__ uint32_t ld_acquire_gpu(const uint32_t* flag) {
  uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

// st.relaxed.gpu: sets the flag; says nothing of other memory. PTX ISA, "st".
__device__ __forceinline__ void st_relaxed_gpu(uint32_t* flag, uint32_t value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

// st.release.gpu: sets the flag; whoever acquires it sees what was done before: by the calling
// thread, and by those with which it has met at a barrier since. PTX ISA, "st".
__device__ __forceinline__ void st_release_gpu(uint32_t* flag, uint32_t value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

// --- fences. Each thread for itself ---

// fence.acq_rel.gpu: __threadfence(). A relaxed write after it releases what came before it; a
// relaxed read before it acquires for what comes after it. PTX ISA, "membar, fence".
__device__ __forceinline__ void fence_acq_rel_gpu() {
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// fence.proxy.async.global: orders the calling thread's ordinary accesses to global memory, and
// those that it has come to see, before copies by TMA that it, or whoever sees the fence, asks for
// later. PTX ISA, "membar, fence".
__device__ __forceinline__ void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

// --- time ---

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
