// The block, its warps and warp groups: who a thread is, and what threads do together. (The memory
// that they share comes with it: shared_storage.cuh.)
// The emulator has a file of this name, with the same functions: the include path chooses.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <shared_address.cuh>
#include <shared_storage.cuh>

#include <cstdint>
#include <cstring>

namespace ptx {

// elect.sync: true in one lane of the calling warp, the same one at every call. One whole warp.
// PTX ISA, "elect.sync".
__device__ __forceinline__ bool elect_sync() {
  uint32_t elected;
  asm volatile(
      "{\n"
      ".reg .pred elected;\n"
      "elect.sync _|elected, 0xffffffff;\n"
      "selp.b32 %0, 1, 0, elected;\n"
      "}"
      : "=r"(elected)
      :
      : "memory");
  return elected;
}

// shfl.sync.bfly: the `value` of the lane whose number differs from the caller's in the bits of
// `lane_mask`. One whole warp. PTX ISA, "shfl.sync".
__device__ __forceinline__ uint32_t shfl_sync_bfly(uint32_t value, uint32_t lane_mask) {
  uint32_t received;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=r"(received)
               : "r"(value), "r"(lane_mask)
               : "memory");
  return received;
}

// shfl.sync.idx: lane `lane`'s value, in all lanes: the compiler then knows that it is the same in
// the whole warp, and keeps what depends on it in uniform registers. One whole warp. PTX ISA,
// "shfl.sync".
__device__ __forceinline__ int shfl_sync_idx(int value, int lane) {
  int received;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=r"(received)
               : "r"(value), "r"(lane)
               : "memory");
  return received;
}

// stmatrix.m8n8.x4: stores four 8 × 8 matrices of fp16 to shared memory. Lane l passes the address
// of row l % 8 of matrix l / 8 (16 bytes, aligned), and holds elements (l / 4, 2(l % 4)) and the
// next of each matrix. One whole warp. PTX ISA, "stmatrix".
__device__ __forceinline__ void stmatrix_m8n8_x4(half* row, half2 matrix0, half2 matrix1,
                                                 half2 matrix2, half2 matrix3) {
  const auto bits = [](half2 pair) {
    uint32_t word;
    memcpy(&word, &pair, sizeof(word));
    return word;
  };
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(row)),
               "r"(bits(matrix0)), "r"(bits(matrix1)), "r"(bits(matrix2)), "r"(bits(matrix3))
               : "memory");
}

// bar.sync: a barrier of `threads` threads, whole warps, that name the same `barrier` (0 … 15; 0 is
// the one of __syncthreads). PTX ISA, "bar / barrier".
__device__ __forceinline__ void bar_sync(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// setmaxnreg: the calling warp group gives registers back, or waits for more: kRegisters a thread
// from here on (24 … 256, a multiple of 8). All warps of a warp group; needs __launch_bounds__ with
// a minimum of one block. PTX ISA, "setmaxnreg".
template <int kRegisters>
__device__ __forceinline__ void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters) : "memory");
}
template <int kRegisters>
__device__ __forceinline__ void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters) : "memory");
}

}  // namespace ptx
