// How WGMMA is told where an operand lies in shared memory.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <shared_address.cuh>
#include <swizzle.h>

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

// --- tiles of other kinds ---

// Every field of a descriptor, in bytes (multiples of 16), and the mode. "Rows" are those of the
// operand: M of A, N of B; all elements are of 16 bits. What lies in the places that the two
// offsets lead to depends on how the tile lies:
//
//              K-major                            MN-major
//   swizzled   rows of the pattern are rows,      rows of the pattern are single k's, along MN.
//              along K. stride: to the next       stride: to the next 8 k's. leading: to the next
//              8 rows. leading: not used          pattern along MN (64, 32 or 16 rows), if there is
//                                                 one
//   kNone      8 × 8 elements are 128 bytes, row  8 × 8 elements are 128 bytes, k after k.
//              after row. stride: to the next     stride: to the next 8 rows. leading: to the next
//              8 rows. leading: to the next       8 k's
//              8 k's
//
// TMA writes a swizzled tile so if a box is as wide as the pattern: K-major if the box's rows run
// along K, MN-major if they run along MN. A swizzled tile begins at a multiple of its pattern, 8
// rows of swizzle_row_bytes(). PTX ISA, "Strides", "Matrix Descriptor Format".
constexpr __host__ __device__ uint64_t encode_matrix_descriptor(uint32_t start_address,
                                                                uint32_t leading_bytes,
                                                                uint32_t stride_bytes,
                                                                Swizzle swizzle) {
  constexpr uint32_t kModes[] = {0, 3, 2, 1};  // the descriptor counts the other way
  const uint32_t low = start_address / 16 | leading_bytes / 16 << 16;
  const uint32_t high = stride_bytes / 16 | kModes[static_cast<int>(swizzle)] << 30;
  return uint64_t{high} << 32 | low;
}

// The same for the tile that begins at `tile`, in the calling block's shared memory. Any thread.
__device__ __forceinline__ uint64_t matrix_descriptor(const void* tile, uint32_t leading_bytes,
                                                      uint32_t stride_bytes, Swizzle swizzle) {
  return encode_matrix_descriptor(shared_address(tile), leading_bytes, stride_bytes, swizzle);
}

// The descriptor of what lies `bytes` further on, a multiple of 16: another column, slab or stage.
// Where tiles are addressed so, from one descriptor made once, a K tile costs one addition for each
// WGMMA. Any thread.
constexpr __host__ __device__ uint64_t advance_descriptor(uint64_t descriptor, uint32_t bytes) {
  return descriptor + bytes / 16;
}
