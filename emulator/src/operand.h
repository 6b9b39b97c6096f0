// Where WGMMA finds an operand in shared memory: what a matrix descriptor says, together with the
// way that the operand lies.
#pragma once

#include <cstdint>
#include <vector>

#include "encoded_map.h"

namespace emulator {

// Elements along K of every product (of 16-bit elements).
constexpr int kProductDepth = 16;

// Operands of 16-bit elements: `rows` rows (M or N) of 16 elements along K. K-major: elements along
// K are neighbours, in chunks of 8. MN-major: those of a column are, 8 rows a chunk. Addresses are
// those of the shared window. PTX ISA, "Matrix Descriptor Format" and "Strides".
class Operand {
 public:
  Operand(uint64_t descriptor, bool mn_major, int rows);

  // Bytes that are read, in 1024-byte patterns and the like: more than what is read by less than
  // one pattern at each end.
  struct Range {
    uint32_t begin;
    uint32_t end;
  };

  // --- what is wrong with it; false if all is right ---

  bool has_base_offset() const { return base_offset != 0; }
  // Its start lies inside a pattern, or it leaves the pattern's rows.
  bool leaves_pattern() const;
  // The strides do not lead from pattern to pattern, or lead to the same bytes twice.
  bool has_wrong_strides() const;

  // In the order of addresses; neighbours are one range.
  std::vector<Range> ranges() const;
  // Calls visit(element, step, address) for each chunk of eight elements: the first one's place
  // among rows × 16, how far apart the elements are there, and where the chunk lies, swizzled.
  template <class Visit>
  void for_each_chunk(Visit visit) const;

  uint32_t start;
  uint32_t leading;
  uint32_t stride;
  uint32_t base_offset;
  SwizzleMode mode;
  bool mn_major;
  int rows;

 private:
  static constexpr int kChunkElements = 8;
  static constexpr int kChunkBytes = 16;

  // Eight rows of the pattern (or eight chunks, without a swizzle) at a time.
  std::vector<uint32_t> patterns() const;
  uint32_t chunks() const { return static_cast<uint32_t>(rows) / kChunkElements; }
};

template <class Visit>
void Operand::for_each_chunk(Visit visit) const {
  const uint32_t row_bytes = swizzle_bytes(mode);
  const uint32_t wide = row_bytes / kChunkBytes;  // chunks in a row of the pattern
  if (mn_major) {
    for (uint32_t chunk = 0; chunk < chunks(); ++chunk) {
      const uint32_t along = mode == SwizzleMode::kNone
                                 ? chunk * stride
                                 : chunk % wide * kChunkBytes + chunk / wide * leading;
      for (uint32_t k = 0; k < kProductDepth; ++k) {
        const uint32_t down =
            k % 8 * row_bytes + k / 8 * (mode == SwizzleMode::kNone ? leading : stride);
        visit(chunk * kChunkElements * kProductDepth + k, kProductDepth,
              swizzle(mode, start + along + down));
      }
    }
    return;
  }
  for (uint32_t row = 0; row < static_cast<uint32_t>(rows); ++row) {
    const uint32_t first = start + row / 8 * stride + row % 8 * row_bytes;
    for (uint32_t chunk = 0; chunk < 2; ++chunk) {
      const uint32_t along = chunk * (mode == SwizzleMode::kNone ? leading : kChunkBytes);
      visit(row * kProductDepth + chunk * kChunkElements, 1, swizzle(mode, first + along));
    }
  }
}

}  // namespace emulator
