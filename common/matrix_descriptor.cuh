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
  constexpr uint32_t kLeadingOffset = 1;
  constexpr uint32_t kStrideOffset = 8 * 128 / 16;
  constexpr uint32_t kSwizzle128B = 1;
  // Shared addresses are below 2^18: 14 bits hold them. In two halves of 32 bits, so that the
  // compiler sees that only the lower one ever changes.
  const uint32_t low = start_address / 16 | kLeadingOffset << 16;
  const uint32_t high = kStrideOffset | kSwizzle128B << 30;
  return uint64_t{high} << 32 | low;
}

// The descriptor of the tile that begins at `tile` (1024-byte aligned, or a multiple of 8 rows
// further on), from column k on: 0, 16, 32 or 48. A step of 16 columns is 32 bytes, inside the 128
// of a row. Any thread.
__device__ __forceinline__ uint64_t matrix_descriptor(const half* tile, int k) {
  const uint64_t first = encode_matrix_descriptor(shared_address(tile));
  const auto low = static_cast<uint32_t>(first) + k * static_cast<uint32_t>(sizeof(half)) / 16;
  return first >> 32 << 32 | low;
}

// The descriptor of what lies `bytes` further on, a multiple of 16: another column, slab or stage.
// Where tiles are addressed so, from one descriptor made once, a K tile costs one addition for each
// WGMMA. Any thread.
constexpr __host__ __device__ uint64_t advance_descriptor(uint64_t descriptor, uint32_t bytes) {
  return descriptor + bytes / 16;
}
