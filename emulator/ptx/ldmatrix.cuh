// ldmatrix on the CPU: the functions of common/ptx/ldmatrix.cuh, which says what each does.
#pragma once

#include <instructions.h>
#include <source_line.h>

#include <cstdint>

namespace ptx {

inline void ldmatrix_m8n8_x1(uint32_t& matrix, const void* row,
                             SourceLine where = SourceLine::current()) {
  emulator::ldmatrix(&matrix, 1, false, row, where);
}
inline void ldmatrix_m8n8_x2(uint32_t (&matrices)[2], const void* row,
                             SourceLine where = SourceLine::current()) {
  emulator::ldmatrix(matrices, 2, false, row, where);
}
inline void ldmatrix_m8n8_x4(uint32_t (&matrices)[4], const void* row,
                             SourceLine where = SourceLine::current()) {
  emulator::ldmatrix(matrices, 4, false, row, where);
}
inline void ldmatrix_m8n8_x1_trans(uint32_t& matrix, const void* row,
                                   SourceLine where = SourceLine::current()) {
  emulator::ldmatrix(&matrix, 1, true, row, where);
}
inline void ldmatrix_m8n8_x2_trans(uint32_t (&matrices)[2], const void* row,
                                   SourceLine where = SourceLine::current()) {
  emulator::ldmatrix(matrices, 2, true, row, where);
}
inline void ldmatrix_m8n8_x4_trans(uint32_t (&matrices)[4], const void* row,
                                   SourceLine where = SourceLine::current()) {
  emulator::ldmatrix(matrices, 4, true, row, where);
}

}  // namespace ptx
