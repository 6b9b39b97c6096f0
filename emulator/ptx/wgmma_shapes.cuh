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

template <int kN>
WgmmaOperands wgmma_operands(ptx::Major a, ptx::Major b, bool bf16, bool accumulate) {
  static_assert(kN % 8 == 0 && kN >= 8 && kN <= 256, "WGMMA takes 8, 16, ... 256 columns");
  WgmmaOperands operands;
  operands.columns = kN;
  operands.a_mn_major = a == ptx::Major::kMN;
  operands.b_mn_major = b == ptx::Major::kMN;
  operands.bf16 = bf16;
  operands.accumulate = accumulate;
  return operands;
}

template <int kN>
void wgmma_shared(float* d, uint64_t a, ptx::Major major_a, uint64_t b, ptx::Major major_b,
                  bool bf16, bool accumulate, SourceLine where) {
  auto operands = wgmma_operands<kN>(major_a, major_b, bf16, accumulate);
  operands.a = a;
  operands.b = b;
  wgmma(d, nullptr, operands, where);
}

template <int kN>
void wgmma_fragment(float* d, const uint32_t* a, uint64_t b, ptx::Major major_b, bool bf16,
                    bool accumulate, SourceLine where) {
  auto operands = wgmma_operands<kN>(ptx::Major::kK, major_b, bf16, accumulate);
  operands.a_in_registers = true;
  operands.b = b;
  wgmma(d, a, operands, where);
}

}  // namespace emulator

namespace ptx {

template <int kN>
void wgmma_m64nNk16(float (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate,
                    SourceLine where = SourceLine::current()) {
  emulator::wgmma_shared<kN>(d, a, Major::kK, b, Major::kK, false, accumulate, where);
}
template <int kN, Major kMajorA, Major kMajorB>
void wgmma_m64nNk16_f16(float (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate,
                        SourceLine where = SourceLine::current()) {
  emulator::wgmma_shared<kN>(d, a, kMajorA, b, kMajorB, false, accumulate, where);
}
template <int kN, Major kMajorA, Major kMajorB>
void wgmma_m64nNk16_bf16(float (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate,
                         SourceLine where = SourceLine::current()) {
  emulator::wgmma_shared<kN>(d, a, kMajorA, b, kMajorB, true, accumulate, where);
}
template <int kN, Major kMajorB>
void wgmma_m64nNk16_f16_rs(float (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b, bool accumulate,
                           SourceLine where = SourceLine::current()) {
  emulator::wgmma_fragment<kN>(d, a, b, kMajorB, false, accumulate, where);
}
template <int kN, Major kMajorB>
void wgmma_m64nNk16_bf16_rs(float (&d)[kN / 2], const uint32_t (&a)[4], uint64_t b, bool accumulate,
                            SourceLine where = SourceLine::current()) {
  emulator::wgmma_fragment<kN>(d, a, b, kMajorB, true, accumulate, where);
}

}  // namespace ptx
