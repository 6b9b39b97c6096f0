// The block and its warps on the CPU: the functions of common/ptx/warpgroup.cuh, which says what
// each does.
#pragma once

#include <cuda_fp16.h>
#include <instructions.h>
#include <shared_storage.cuh>
#include <source_line.h>

#include <cstdint>
#include <cstring>

namespace ptx {

bool elect_sync(SourceLine where = SourceLine::current());
uint32_t shfl_sync_bfly(uint32_t value, uint32_t lane_mask,
                        SourceLine where = SourceLine::current());
int shfl_sync_idx(int value, int lane, SourceLine where = SourceLine::current());

inline void stmatrix_m8n8_x4(half* row, half2 matrix0, half2 matrix1, half2 matrix2, half2 matrix3,
                             SourceLine where = SourceLine::current()) {
  const half2 matrices[4] = {matrix0, matrix1, matrix2, matrix3};
  uint32_t bits[4];
  std::memcpy(bits, matrices, sizeof(bits));
  emulator::stmatrix_x4(row, bits, where);
}
inline void bar_sync(int barrier, int threads, SourceLine where = SourceLine::current()) {
  emulator::bar_sync(barrier, threads, where);
}
template <int kRegisters>
void setmaxnreg_dec(SourceLine where = SourceLine::current()) {
  emulator::setmaxnreg_dec(kRegisters, where);
}
template <int kRegisters>
void setmaxnreg_inc(SourceLine where = SourceLine::current()) {
  emulator::setmaxnreg_inc(kRegisters, where);
}

}  // namespace ptx
