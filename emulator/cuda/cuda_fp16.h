// Stand-in for CUDA's fp16 header: IEEE 754 binary16, in software where the CPU has no instruction.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

// The last parameters of a conversion: the caller's place, for reports.
#define EMULATOR_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

struct alignas(2) __half {
  uint16_t bits;

  __half() = default;
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  __half(Number value, EMULATOR_PLACE);
  operator float() const;
};
struct alignas(4) __half2 {
  __half x, y;

  __half2() = default;
  __half2(__half x, __half y) : x(x), y(y) {}
};
using half = __half;
using half2 = __half2;

inline uint16_t __half_as_ushort(half value) { return value.bits; }
inline half __ushort_as_half(uint16_t bits) {
  half result;
  result.bits = bits;
  return result;
}

inline float __half2float(half value) {
  const uint32_t sign = (value.bits & 0x8000u) << 16;
  const uint32_t exponent = value.bits >> 10 & 0x1f;
  const uint32_t mantissa = value.bits & 0x3ff;
  uint32_t bits;
  if (exponent == 0x1f) {  // infinity, NaN
    bits = sign | 0x7f800000 | mantissa << 13;
  } else if (exponent != 0) {
    bits = sign | (exponent + 112) << 23 | mantissa << 13;
  } else {  // zero, subnormal: a multiple of 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    std::memcpy(&bits, &magnitude, sizeof(bits));
    bits |= sign;
  }
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

namespace emulator {
// Speaks if a thread of a kernel rounds what a register holds while a WGMMA owns it, or what nobody
// has set. Such values are NaN or large.
void check_rounded(uint32_t bits, const char* file, int line);
}  // namespace emulator

// Rounds to nearest, ties to even; magnitudes of 65520 and more become infinite.
inline half __float2half_rn(float value, EMULATOR_PLACE) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  auto round = [](uint32_t mantissa, uint32_t shift) {
    const uint32_t quotient = mantissa >> shift;
    const uint32_t rest = mantissa & ((1u << shift) - 1);
    const uint32_t tie = 1u << (shift - 1);
    return quotient + (rest > tie || (rest == tie && (quotient & 1)));
  };
  uint32_t result;
  if (magnitude >= 0x477ff000) emulator::check_rounded(bits, file, line);
  if (magnitude > 0x7f800000) {  // NaN, as the hardware makes it
    return __ushort_as_half(0x7fff);
  } else if (magnitude >= 0x477ff000) {  // 65520 and more
    result = 0x7c00;
  } else if (magnitude >= 0x38800000) {  // normal: 2^-14 and more
    result = round(magnitude - 0x38000000, 13);
  } else if (magnitude >= 0x33000000) {  // subnormal: 2^-25 and more
    result = round((magnitude & 0x7fffff) | 0x800000, 126 - (magnitude >> 23));
  } else {
    result = 0;
  }
  return __ushort_as_half(static_cast<uint16_t>(sign | result));
}

inline half __float2half(float value, EMULATOR_PLACE) { return __float2half_rn(value, file, line); }
inline half2 __floats2half2_rn(float x, float y, EMULATOR_PLACE) {
  return {__float2half_rn(x, file, line), __float2half_rn(y, file, line)};
}
inline half2 __float2half2_rn(float value, EMULATOR_PLACE) {
  return __floats2half2_rn(value, value, file, line);
}
inline half2 __float22half2_rn(float2 value, EMULATOR_PLACE) {
  return __floats2half2_rn(value.x, value.y, file, line);
}
inline float2 __half22float2(half2 pair) { return {__half2float(pair.x), __half2float(pair.y)}; }
inline half __int2half_rn(int value) { return __float2half_rn(static_cast<float>(value)); }
inline int __half2int_rn(half value) { return static_cast<int>(rintf(__half2float(value))); }
inline int __half2int_rz(half value) { return static_cast<int>(__half2float(value)); }
inline int16_t __half_as_short(half value) { return static_cast<int16_t>(value.bits); }
inline half __short_as_half(int16_t bits) { return __ushort_as_half(static_cast<uint16_t>(bits)); }

inline half2 make_half2(half x, half y) { return {x, y}; }
inline half2 __halves2half2(half x, half y) { return {x, y}; }
inline half2 __half2half2(half value) { return {value, value}; }
inline half __low2half(half2 pair) { return pair.x; }
inline half __high2half(half2 pair) { return pair.y; }
inline float __low2float(half2 pair) { return __half2float(pair.x); }
inline float __high2float(half2 pair) { return __half2float(pair.y); }
inline half2 __low2half2(half2 pair) { return {pair.x, pair.x}; }
inline half2 __high2half2(half2 pair) { return {pair.y, pair.y}; }
inline half2 __lowhigh2highlow(half2 pair) { return {pair.y, pair.x}; }

// --- arithmetic: computed with more bits, then rounded once, as one operation of fp16 is ---

// (Rounded to odd on its way through fp32: then the second rounding sees all that the first did.)
inline half __double2half(double value, EMULATOR_PLACE) {
  float nearest = static_cast<float>(value);
  if (nearest - value != 0 && nearest - nearest == 0) {
    uint32_t bits = emulator::with_bits_of<uint32_t>(nearest);
    if (fabs(nearest) > fabs(value)) --bits;
    nearest = emulator::with_bits_of<float>(bits | 1);
  }
  return __float2half_rn(nearest, file, line);
}

template <class Number, class>
__half::__half(Number value, const char* file, int line)
    : bits(std::is_same_v<Number, double>
               ? __double2half(static_cast<double>(value), file, line).bits
               : __float2half_rn(static_cast<float>(value), file, line).bits) {}
inline __half::operator float() const { return __half2float(*this); }

inline half __hadd(half x, half y) { return __half2float(x) + __half2float(y); }
inline half __hsub(half x, half y) { return __half2float(x) - __half2float(y); }
inline half __hmul(half x, half y) { return __half2float(x) * __half2float(y); }
inline half __hdiv(half x, half y) { return __half2float(x) / __half2float(y); }
inline half __hfma(half x, half y, half z) {
  return __double2half(double{__half2float(x)} * __half2float(y) + __half2float(z));
}
inline half __hneg(half x) { return __ushort_as_half(static_cast<uint16_t>(x.bits ^ 0x8000)); }
inline half __habs(half x) { return __ushort_as_half(static_cast<uint16_t>(x.bits & 0x7fff)); }

inline bool __heq(half x, half y) { return __half2float(x) == __half2float(y); }
inline bool __hne(half x, half y) {
  return __half2float(x) < __half2float(y) || __half2float(x) > __half2float(y);
}
inline bool __hlt(half x, half y) { return __half2float(x) < __half2float(y); }
inline bool __hle(half x, half y) { return __half2float(x) <= __half2float(y); }
inline bool __hgt(half x, half y) { return __half2float(x) > __half2float(y); }
inline bool __hge(half x, half y) { return __half2float(x) >= __half2float(y); }
inline bool __hisnan(half x) { return (x.bits & 0x7fff) > 0x7c00; }
inline int __hisinf(half x) { return (x.bits & 0x7fff) != 0x7c00 ? 0 : x.bits >> 15 ? -1 : 1; }
// Of two numbers one of which is NaN, the other.
inline half __hmax(half x, half y) { return fmaxf(__half2float(x), __half2float(y)); }
inline half __hmin(half x, half y) { return fminf(__half2float(x), __half2float(y)); }

inline half operator+(half x, half y) { return __hadd(x, y); }
inline half operator-(half x, half y) { return __hsub(x, y); }
inline half operator*(half x, half y) { return __hmul(x, y); }
inline half operator/(half x, half y) { return __hdiv(x, y); }
inline half operator-(half x) { return __hneg(x); }
inline half& operator+=(half& x, half y) { return x = x + y; }
inline half& operator-=(half& x, half y) { return x = x - y; }
inline half& operator*=(half& x, half y) { return x = x * y; }
inline half& operator/=(half& x, half y) { return x = x / y; }
inline bool operator==(half x, half y) { return __heq(x, y); }
inline bool operator!=(half x, half y) { return !__heq(x, y); }
inline bool operator<(half x, half y) { return __hlt(x, y); }
inline bool operator<=(half x, half y) { return __hle(x, y); }
inline bool operator>(half x, half y) { return __hgt(x, y); }
inline bool operator>=(half x, half y) { return __hge(x, y); }

inline half2 __hadd2(half2 a, half2 b) { return {__hadd(a.x, b.x), __hadd(a.y, b.y)}; }
inline half2 __hsub2(half2 a, half2 b) { return {__hsub(a.x, b.x), __hsub(a.y, b.y)}; }
inline half2 __hmul2(half2 a, half2 b) { return {__hmul(a.x, b.x), __hmul(a.y, b.y)}; }
inline half2 __h2div(half2 a, half2 b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }
inline half2 __hfma2(half2 a, half2 b, half2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
inline half2 __hmax2(half2 a, half2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
inline half2 __hmin2(half2 a, half2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
inline half2 __hneg2(half2 a) { return {__hneg(a.x), __hneg(a.y)}; }
inline half2 __habs2(half2 a) { return {__habs(a.x), __habs(a.y)}; }
inline half2 operator+(half2 a, half2 b) { return __hadd2(a, b); }
inline half2 operator-(half2 a, half2 b) { return __hsub2(a, b); }
inline half2 operator*(half2 a, half2 b) { return __hmul2(a, b); }
inline half2 operator/(half2 a, half2 b) { return __h2div(a, b); }
inline half2 operator-(half2 a) { return __hneg2(a); }
inline half2& operator+=(half2& a, half2 b) { return a = a + b; }
inline half2& operator-=(half2& a, half2 b) { return a = a - b; }
inline half2& operator*=(half2& a, half2 b) { return a = a * b; }

// Rounded from fp32's functions; a GPU's are approximations.
inline half hexp(half x) { return expf(__half2float(x)); }
inline half hexp2(half x) { return exp2f(__half2float(x)); }
inline half hlog(half x) { return logf(__half2float(x)); }
inline half hsqrt(half x) { return sqrtf(__half2float(x)); }
inline half hrsqrt(half x) { return 1 / sqrtf(__half2float(x)); }
inline half hrcp(half x) { return 1 / __half2float(x); }
