// mma.sync on the CPU: the functions of common/ptx/mma.cuh, which says what each does.
#pragma once

#include <instructions.h>
#include <source_line.h>

#include <cstdint>

namespace ptx {

inline void mma_m16n8k16_f16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                             const float (&c)[4], SourceLine where = SourceLine::current()) {
  emulator::mma_m16n8k16(d, a, b, c, false, where);
}
inline void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                              const float (&c)[4], SourceLine where = SourceLine::current()) {
  emulator::mma_m16n8k16(d, a, b, c, true, where);
}

}  // namespace ptx
