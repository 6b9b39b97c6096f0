// What the emulator's driver writes into a CUtensorMap.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cstring>

namespace emulator {

constexpr int kMostDimensions = 5;

// How the 16-byte chunks of shared memory change places: with 128 bytes, address bits 4 to 6 are
// XORed with bits 7 to 9; with 64, bits 4 and 5 with 7 and 8; with 32, bit 4 with bit 7. PTX ISA,
// "Swizzling modes".
enum class SwizzleMode : uint8_t { kNone = 0, k32 = 1, k64 = 2, k128 = 3 };

constexpr uint32_t swizzle(SwizzleMode mode, uint32_t address) {
  const uint32_t mask = (1u << static_cast<int>(mode)) - 1;
  return address ^ (address >> 7 & mask) << 4;
}

// The bytes of a row that the mode is made for; 16 without a swizzle.
constexpr uint32_t swizzle_bytes(SwizzleMode mode) { return 16u << static_cast<int>(mode); }

// Addresses that differ by a multiple of so many bytes are swizzled alike.
constexpr uint32_t swizzle_period(SwizzleMode mode) { return 8 * swizzle_bytes(mode); }

// A tensor of one to five dimensions, the one of neighbours first, and the box that a copy moves. A
// kernel's threads hold copies of their parameters, so a map is known by its content, not by its
// address.
struct EncodedMap {
  uint64_t magic;
  uint64_t base;
  uint64_t size[kMostDimensions];  // elements; 1 beyond the rank
  uint64_t pitch[kMostDimensions - 1];  // bytes, from one index of dimension i + 1 to the next
  uint16_t box[kMostDimensions];  // elements; 1 beyond the rank
  uint8_t rank;
  uint8_t type;  // a CUtensorMapDataType
  uint8_t element_bytes;
  SwizzleMode swizzle;

  // Of the box, in shared memory: rows of neighbours, packed.
  uint32_t box_pitch() const { return uint32_t{box[0]} * element_bytes; }
  uint32_t box_rows() const { return uint32_t{box[1]} * box[2] * box[3] * box[4]; }
  uint32_t box_bytes() const { return box_pitch() * box_rows(); }
};
static_assert(sizeof(EncodedMap) <= sizeof(CUtensorMap));

constexpr uint64_t kEncodedMapMagic = 0x70616d20726f736e;

inline EncodedMap decode_map(const CUtensorMap* map) {
  EncodedMap result;
  std::memcpy(static_cast<void*>(&result), map, sizeof(result));
  return result;
}

}  // namespace emulator
