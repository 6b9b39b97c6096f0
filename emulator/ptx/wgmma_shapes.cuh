// WGMMA of every width on the CPU: the functions of common/ptx/wgmma_shapes.cuh, which says what
// each does.
#pragma once

#include <instructions.h>
#include <source_line.h>

#include <cstdint>

namespace ptx {
enum class Major { kK = 0, kMN = 1 };
}  // namespace ptx

namespace emulator {
constexpr unsigned wgmma_majors(ptx::Major a, ptx::Major b) {
  return (a == ptx::Major::kMN ? kWgmmaAMnMajor : 0u) |
         (b == ptx::Major::kMN ? kWgmmaBMnMajor : 0u);
}
template <int kN>
constexpr int wgmma_columns() {
  static_assert(kN % 8 == 0 && kN >= 8 && kN <= 256, "WGMMA takes 8, 16, ... 256 columns");
  return kN;
}
}  // namespace emulator

namespace ptx {

template <int kN>
void wgmma_m64nNk16(float (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate,
                    SourceLine where = SourceLine::current()) {
  emulator::wgmma(d, emulator::wgmma_columns<kN>(), a, b, accumulate, emulator::kWgmmaF16, where);
}
template <int kN, Major kMajorA, Major kMajorB>
void wgmma_m64nNk16_f16(float (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate,
                        SourceLine where = SourceLine::current()) {
  emulator::wgmma(d, emulator::wgmma_columns<kN>(), a, b, accumulate,
                  emulator::wgmma_majors(kMajorA, kMajorB), where);
}
template <int kN, Major kMajorA, Major kMajorB>
void wgmma_m64nNk16_bf16(float (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate,
                         SourceLine where = SourceLine::current()) {
  emulator::wgmma(d, emulator::wgmma_columns<kN>(), a, b, accumulate,
                  emulator::wgmma_majors(kMajorA, kMajorB) | emulator::kWgmmaBf16, where);
}
template <int kN, Major kMajorB>
void wgmma_m64nNk16_f16_rs(float (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b, bool accumulate,
                           SourceLine where = SourceLine::current()) {
  emulator::wgmma(d, emulator::wgmma_columns<kN>(), a, b, accumulate,
                  emulator::wgmma_majors(Major::kK, kMajorB), where);
}
template <int kN, Major kMajorB>
void wgmma_m64nNk16_bf16_rs(float (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b, bool accumulate,
                            SourceLine where = SourceLine::current()) {
  emulator::wgmma(d, emulator::wgmma_columns<kN>(), a, b, accumulate,
                  emulator::wgmma_majors(Major::kK, kMajorB) | emulator::kWgmmaBf16, where);
}

}  // namespace ptx
