// The block and its warps on the CPU: the functions of common/ptx/warpgroup.cuh, which says what
// each does.
#pragma once

#include <cuda_fp16.h>
#include <source_line.h>

#include <cstddef>
#include <cstdint>

namespace ptx {

bool elect_sync(SourceLine where = SourceLine::current());
uint32_t shfl_sync_bfly(uint32_t value, uint32_t lane_mask,
                        SourceLine where = SourceLine::current());

void stmatrix_m8n8_x4(half* row, half2 matrix0, half2 matrix1, half2 matrix2, half2 matrix3,
                      SourceLine where = SourceLine::current());
void bar_sync(int barrier, int threads, SourceLine where = SourceLine::current());
template <int kRegisters>
void setmaxnreg_dec(SourceLine where = SourceLine::current());
template <int kRegisters>
void setmaxnreg_inc(SourceLine where = SourceLine::current());

}  // namespace ptx

namespace emulator {
// The calling block's dynamic shared memory; checks that the launch asked for so many bytes.
void* dynamic_shared_memory(size_t bytes, SourceLine where);
}  // namespace emulator

template <class T>
T& shared_storage(SourceLine where = SourceLine::current()) {
  static_assert(alignof(T) <= 1024, "dynamic shared memory is aligned to 1024 bytes");
  return *static_cast<T*>(emulator::dynamic_shared_memory(sizeof(T), where));
}
