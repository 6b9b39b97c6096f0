// Matrix elements as a function of where they stand: the same on every device, in any order.
#pragma once

#include <cuda_fp16.h>
#include <split_mix.h>

#include <cmath>
#include <cstdint>

namespace harness {

enum class DataKind { kUniform, kNormal, kInts, kIota, kIdentity, kZeros };

// As --data takes them, in the order of the enum.
inline constexpr const char* kDataKinds[] = {"uniform", "normal",   "ints",
                                             "iota",    "identity", "zeros"};
inline const char* name_of(DataKind kind) { return kDataKinds[static_cast<int>(kind)]; }

// 64 well-mixed bits from a seed and a position.
inline __host__ __device__ uint64_t random_bits(uint64_t seed, int64_t row, int64_t column) {
  const uint64_t position = static_cast<uint64_t>(row) << 32 | static_cast<uint64_t>(column);
  return split_mix(split_mix(position + 0x9e3779b97f4a7c15) + seed * 0xd1342543de82ef95);
}

// Element (row, column) of a matrix of this kind: kUniform is [-0.5, 0.5) · scale, kNormal about
// N(0, 1), kInts whole numbers of -3 … 3, kIota whole numbers of -3 … 3 that count along rows and
// columns, kIdentity 1 on the diagonal and 0 elsewhere.
inline __host__ __device__ half element(DataKind kind, uint64_t seed, int64_t row, int64_t column,
                                        float scale) {
  const uint64_t bits = random_bits(seed, row, column);
  float value = 0;
  switch (kind) {
    case DataKind::kUniform:
      value = (static_cast<float>(bits >> 40) * 0x1p-24f - 0.5f) * scale;
      break;
    case DataKind::kNormal: {
      // The sum of twelve uniform numbers less their mean has variance 1. Five bits each: exact
      // sums, hence the same value on every device.
      int sum = 0;
      for (int i = 0; i < 12; ++i) sum += static_cast<int>(bits >> (5 * i) & 31);
      value = static_cast<float>(2 * sum - 12 * 31) * (1.0f / 64);
      break;
    }
    case DataKind::kInts:
      value = static_cast<float>(static_cast<int>(bits % 7) - 3);
      break;
    case DataKind::kIota:
      value = static_cast<float>(static_cast<int>((row * 5 + column) % 7) - 3);
      break;
    case DataKind::kIdentity:
      value = row == column ? 1.0f : 0.0f;
      break;
    case DataKind::kZeros:
      break;
  }
  return __float2half_rn(value);
}

// True if every sum of k products of such elements is a whole number that fp32 holds, so that no
// order of summation changes it: 9 is the largest product, and up to 2^24 there are no gaps.
constexpr bool sums_are_exact(DataKind kind, int64_t k) {
  const bool whole_numbers = kind != DataKind::kUniform && kind != DataKind::kNormal;
  return whole_numbers && k <= (1 << 24) / 9;
}

}  // namespace harness
