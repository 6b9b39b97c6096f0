// How WGMMA is told where an operand lies in shared memory.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <shared_address.cuh>

// The 64-bit descriptor of a K-major fp16 tile whose rows are 64 elements (128 bytes) long, as TMA
// writes it with the 128-byte swizzle. PTX ISA, "Matrix Descriptor Format":
//   bits  0-13  start address / 16
//   bits 16-29  leading dimension offset / 16: not used by swizzled K-major tiles, 1 by convention
//   bits 32-45  stride dimension offset / 16: 8 rows of 128 bytes further on
//   bits 49-51  base offset: 0, since tiles are aligned to the 1024 bytes of the swizzle pattern
//   bits 62-63  swizzle mode: 1 is 128 bytes
constexpr __host__ __device__ uint64_t encode_matrix_descriptor(uint32_t start_address) {
  constexpr uint64_t kLeadingOffset = 1;
  constexpr uint64_t kStrideOffset = 8 * 128 / 16;
  constexpr uint64_t kSwizzle128B = 1;
  return (start_address & 0x3ffff) >> 4 | kLeadingOffset << 16 | kStrideOffset << 32 |
         kSwizzle128B << 62;
}

// The descriptor of the 64-row (or longer) tile that begins at `tile`: element (row, 0) of a
// 1024-byte aligned tile, row a multiple of 8, or element (row, k) with k = 16, 32 or 48 for the
// next steps along K, which lie inside the same 128 bytes. Any thread.
__device__ __forceinline__ uint64_t matrix_descriptor(const half* tile) {
  return encode_matrix_descriptor(shared_address(tile));
}
