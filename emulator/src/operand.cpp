#include "operand.h"

#include <algorithm>

namespace emulator {
namespace {

// PTX ISA, "Matrix Descriptor Format": 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes.
constexpr SwizzleMode kModes[4] = {SwizzleMode::kNone, SwizzleMode::k128, SwizzleMode::k64,
                                   SwizzleMode::k32};

}  // namespace

Operand::Operand(uint64_t bits, bool is_mn_major, int row_count)
    : start(static_cast<uint32_t>(bits & 0x3fff) << 4),
      leading(static_cast<uint32_t>(bits >> 16 & 0x3fff) << 4),
      stride(static_cast<uint32_t>(bits >> 32 & 0x3fff) << 4),
      base_offset(static_cast<uint32_t>(bits >> 49 & 7)),
      mode(kModes[bits >> 62]),
      mn_major(is_mn_major),
      rows(row_count) {}

bool Operand::leaves_pattern() const {
  if (mode == SwizzleMode::kNone) return false;
  const uint32_t row_bytes = swizzle_bytes(mode);
  if (start % swizzle_period(mode) >= row_bytes) return true;
  const uint32_t in_row = start % row_bytes;
  if (!mn_major) return in_row + 2 * kChunkBytes > row_bytes;
  return in_row != 0 && in_row + chunks() * kChunkBytes > row_bytes;
}

bool Operand::has_wrong_strides() const {
  const uint32_t period = swizzle_period(mode);
  if (mode != SwizzleMode::kNone) {
    const bool several = mn_major ? chunks() * kChunkBytes > swizzle_bytes(mode) : rows > 8;
    if (mn_major) {
      if (stride % period != 0 || (several && leading % period != 0)) return true;
    } else if (several && stride % period != 0) {
      return true;
    }
  }
  std::vector<uint32_t> all = patterns();
  std::sort(all.begin(), all.end());
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i] - all[i - 1] < period) return true;
  }
  return false;
}

std::vector<uint32_t> Operand::patterns() const {
  const uint32_t row_bytes = swizzle_bytes(mode);
  const uint32_t first = start / row_bytes * row_bytes;
  const uint32_t groups = (static_cast<uint32_t>(rows) + 7) / 8;
  std::vector<uint32_t> result;
  if (mode == SwizzleMode::kNone) {  // 8 × 8 elements each, in both dimensions
    for (uint32_t group = 0; group < groups; ++group) {
      for (uint32_t half = 0; half < 2; ++half) {
        result.push_back(first + group * stride + half * leading);
      }
    }
  } else if (mn_major) {
    const uint32_t slabs = (chunks() * kChunkBytes + row_bytes - 1) / row_bytes;
    for (uint32_t slab = 0; slab < slabs; ++slab) {
      for (uint32_t half = 0; half < 2; ++half) {
        result.push_back(first + slab * leading + half * stride);
      }
    }
  } else {
    for (uint32_t group = 0; group < groups; ++group) result.push_back(first + group * stride);
  }
  return result;
}

std::vector<Operand::Range> Operand::ranges() const {
  std::vector<uint32_t> all = patterns();
  std::sort(all.begin(), all.end());
  std::vector<Range> result;
  for (const uint32_t begin : all) {
    const uint32_t end = begin + swizzle_period(mode);
    if (!result.empty() && result.back().end == begin) {
      result.back().end = end;
    } else {
      result.push_back({begin, end});
    }
  }
  return result;
}

}  // namespace emulator
