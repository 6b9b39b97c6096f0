// What the emulator's driver writes into a CUtensorMap.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cstring>

namespace emulator {

// A two-dimensional tensor of fp16 and the box that a copy moves. A kernel's threads hold copies of
// their parameters, so a map is known by its content, not by its address.
struct EncodedMap {
  uint64_t magic;
  uint64_t base;
  uint64_t columns;
  uint64_t rows;
  uint64_t pitch;  // bytes
  uint32_t box_columns;
  uint32_t box_rows;
  uint32_t swizzled;  // 1: with 128 bytes

  uint32_t box_pitch() const { return box_columns * 2; }
  uint32_t box_bytes() const { return box_pitch() * box_rows; }
};
static_assert(sizeof(EncodedMap) <= sizeof(CUtensorMap));

constexpr uint64_t kEncodedMapMagic = 0x70616d20726f736e;

inline EncodedMap decode_map(const CUtensorMap* map) {
  EncodedMap result;
  std::memcpy(&result, map, sizeof(result));
  return result;
}

// The 128-byte swizzle exchanges the 16-byte chunks of a row: address bits 4-6 ^= bits 7-9.
constexpr uint32_t swizzle_128b(uint32_t address) { return address ^ (address >> 7 & 7) << 4; }

}  // namespace emulator
