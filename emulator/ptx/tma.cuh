// TMA on the CPU: the functions of common/ptx/tma.cuh, which says what each does.
#pragma once

#include <cuda.h>
#include <instructions.h>
#include <ptx/mbarrier.cuh>
#include <source_line.h>

namespace ptx {

void cp_async_bulk_tensor_2d(void* destination, const CUtensorMap* map, int column, int row,
                             MBarrier* full, SourceLine where = SourceLine::current());

inline void cp_async_bulk_tensor_2d(const CUtensorMap* map, int column, int row, const void* source,
                                    SourceLine where = SourceLine::current()) {
  emulator::tma_store_2d(map, column, row, source, where);
}
inline void cp_async_bulk_commit_group(SourceLine where = SourceLine::current()) {
  emulator::bulk_commit_group(where);
}
template <int kPending>
void cp_async_bulk_wait_group_read(SourceLine where = SourceLine::current()) {
  emulator::bulk_wait_group_read(kPending, where);
}
inline void fence_proxy_async(SourceLine where = SourceLine::current()) {
  emulator::fence_proxy_async(where);
}

}  // namespace ptx
