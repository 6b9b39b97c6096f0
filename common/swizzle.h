// How the 16-byte chunks of a tile in shared memory change places, so that a column of chunks lies
// in many banks: named alike by tensor maps (for TMA) and by matrix descriptors (for WGMMA).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// k128B: rows of 128 bytes; in row r, chunk c lies where chunk c ^ (r % 8) would. k64B: rows of 64
// bytes, c ^ (r / 2 % 4). k32B: rows of 32 bytes, c ^ (r / 4 % 2). kNone: chunks lie in order.
// PTX ISA, "Swizzling modes".
enum class Swizzle { kNone = 0, k32B = 1, k64B = 2, k128B = 3 };

// The bytes of a row for which the pattern is made; 16 without a swizzle.
constexpr __host__ __device__ uint32_t swizzle_row_bytes(Swizzle mode) {
  return 16u << static_cast<int>(mode);
}

// The byte of a tile (which begins at a multiple of the pattern: 8 rows) that holds the byte which
// without a swizzle would be number `offset`: bits 4 and up are XORed with bits 7 and up.
constexpr __host__ __device__ uint32_t swizzle_offset(Swizzle mode, uint32_t offset) {
  const uint32_t mask = (1u << static_cast<int>(mode)) - 1;
  return offset ^ (offset >> 7 & mask) << 4;
}
