// The stand-in's binary16 conversions, against exact arithmetic in double precision.
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

// The value of a finite binary16 bit pattern, from its definition.
double value_of(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(Fp16, EveryPatternWidensToItsValueAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const half narrow = __ushort_as_half(static_cast<uint16_t>(bits));
    const float wide = __half2float(narrow);
    if ((bits & 0x7c00) != 0x7c00) {
      EXPECT_EQ(wide, value_of(static_cast<uint16_t>(bits)));
      EXPECT_EQ(__half_as_ushort(__float2half_rn(wide)), bits);
    } else if ((bits & 0x3ff) == 0) {
      EXPECT_TRUE(std::isinf(wide) && std::signbit(wide) == (bits >> 15 != 0));
      EXPECT_EQ(__half_as_ushort(__float2half_rn(wide)), bits);
    } else {
      EXPECT_TRUE(std::isnan(wide));
      EXPECT_TRUE(std::isnan(__half2float(__float2half_rn(wide))));
    }
  }
}

TEST(Fp16, RoundsToNearestAndTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {  // neighbours `bits` and `bits` + 1
    const double low = value_of(static_cast<uint16_t>(bits));
    const double high = value_of(static_cast<uint16_t>(bits + 1));
    const auto middle = static_cast<float>((low + high) / 2);  // exact: 12 significant bits
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    EXPECT_EQ(__half_as_ushort(__float2half_rn(middle)), even);
    EXPECT_EQ(__half_as_ushort(__float2half_rn(std::nextafterf(middle, 0))), bits);
    EXPECT_EQ(__half_as_ushort(__float2half_rn(std::nextafterf(middle, 1e9f))), bits + 1);
  }
}

TEST(Fp16, OverflowsToInfinityFrom65520) {
  EXPECT_EQ(__half_as_ushort(__float2half_rn(std::nextafterf(65520, 0))), 0x7bff);
  EXPECT_EQ(__half_as_ushort(__float2half_rn(65520)), 0x7c00);
  EXPECT_EQ(__half_as_ushort(__float2half_rn(-65520)), 0xfc00);
  EXPECT_EQ(__half_as_ushort(__float2half_rn(std::numeric_limits<float>::max())), 0x7c00);
}

}  // namespace
