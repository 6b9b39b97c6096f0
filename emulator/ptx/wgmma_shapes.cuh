// WGMMA of every width on the CPU: the function of common/ptx/wgmma_shapes.cuh, which says what it
// does.
#pragma once

#include <instructions.h>
#include <source_line.h>

#include <cstdint>

namespace ptx {

template <int kN>
void wgmma_m64nNk16(float (&d)[kN / 2], uint64_t a, uint64_t b, bool accumulate,
                    SourceLine where = SourceLine::current()) {
  static_assert(kN % 8 == 0 && kN >= 8 && kN <= 256, "WGMMA takes 8, 16, ... 256 columns");
  emulator::wgmma(d, kN, a, b, accumulate, where);
}

}  // namespace ptx
