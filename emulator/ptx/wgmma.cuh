// WGMMA on the CPU: the functions of common/ptx/wgmma.cuh, which says what each does.
#pragma once

#include <instructions.h>
#include <source_line.h>

#include <cstdint>

namespace ptx {

void wgmma_fence(SourceLine where = SourceLine::current());
void wgmma_commit_group(SourceLine where = SourceLine::current());
template <int kPending, int kRegisters>
void wgmma_wait_group(float (&)[kRegisters], SourceLine where = SourceLine::current()) {
  emulator::wgmma_wait_group(kPending, where);
}
template <int kPending, int kProducts, int kRegisters>
void wgmma_wait_group(float (&)[kProducts][kRegisters], SourceLine where = SourceLine::current()) {
  emulator::wgmma_wait_group(kPending, where);
}
template <int kPending>
void wgmma_wait_group(SourceLine where = SourceLine::current()) {
  static_assert(kPending > 0, "when nothing is left in flight, pass the accumulators");
  emulator::wgmma_wait_group(kPending, where);
}
void wgmma_m64n128k16(float (&d)[64], uint64_t a, uint64_t b, bool accumulate,
                      SourceLine where = SourceLine::current());
void wgmma_m64n256k16(float (&d)[128], uint64_t a, uint64_t b, bool accumulate,
                      SourceLine where = SourceLine::current());

}  // namespace ptx
