// When an element of C is right. The same function on every device.
#pragma once

#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>

namespace harness {

// How far a correct result may lie from the reference value `expected`, given Σ|a·b| = `magnitude`
// over k products. In units of 2^-23 · magnitude, which is one unit in the last place of the
// largest partial sum at most: one for each step of WGMMA, which adds 16 products to the running
// sum at a time (ceil(k / 16) steps); 16 for the reference, which adds runs of 32 products in fp32,
// half a unit each; 4 for last roundings. Then the rounding to fp16: half a unit in the last place,
// 2^-11 of the value or, among the subnormals, 2^-25. One unit a step is no worst case: the tensor
// core aligns all 17 addends and cuts each off. It holds where errors of both signs meet, as in all
// data made here; strict are the whole numbers, which are compared bit by bit.
constexpr __host__ __device__ float error_bound(float expected, float magnitude, int64_t k) {
  const float chain = static_cast<float>((k + 15) / 16 + 20);
  return (expected < 0 ? -expected : expected) * 0x1p-11f + 0x1p-25f + chain * 0x1p-23f * magnitude;
}

// True if `got` is right. `exact` (sums of whole numbers below 2^24, which no order of summation
// changes): the bits must be those of the rounded reference. Otherwise within error_bound; written
// so that NaN is never right unless NaN is expected.
inline __host__ __device__ bool is_right(half got, float expected, float magnitude, int64_t k,
                                         bool exact) {
  const float value = __half2float(got);
  if (std::isnan(expected)) return std::isnan(value);
  if (exact) return __half_as_ushort(got) == __half_as_ushort(__float2half_rn(expected));
  if (std::isinf(expected)) return value == expected;
  const float bound = error_bound(expected, magnitude, k);
  constexpr float kFirstInfinite = 65520;  // rounds to infinity, as every larger magnitude does
  if (std::isinf(value)) return (value > 0 ? expected : -expected) + bound >= kFirstInfinite;
  return std::fabs(value - expected) <= bound;
}

}  // namespace harness
