// TMA on the CPU: the functions of common/ptx/tma.cuh, which says what each does.
#pragma once

#include <cuda.h>
#include <instructions.h>
#include <ptx/mbarrier.cuh>
#include <source_line.h>

#include <cstdint>

namespace ptx {

void cp_async_bulk_tensor_2d(void* destination, const CUtensorMap* map, int column, int row,
                             MBarrier* full, SourceLine where = SourceLine::current());

inline void cp_async_bulk_tensor_2d(const CUtensorMap* map, int column, int row, const void* source,
                                    SourceLine where = SourceLine::current()) {
  emulator::tma_store(map, {column, row}, source, where);
}
inline void cp_async_bulk_tensor_1d(void* destination, const CUtensorMap* map, int x,
                                    MBarrier* full, SourceLine where = SourceLine::current()) {
  emulator::tma_load(destination, map, {x}, full, where);
}
inline void cp_async_bulk_tensor_3d(void* destination, const CUtensorMap* map, int x, int y, int z,
                                    MBarrier* full, SourceLine where = SourceLine::current()) {
  emulator::tma_load(destination, map, {x, y, z}, full, where);
}
inline void cp_async_bulk_tensor_1d(const CUtensorMap* map, int x, const void* source,
                                    SourceLine where = SourceLine::current()) {
  emulator::tma_store(map, {x}, source, where);
}
inline void cp_reduce_async_bulk_tensor_1d_add(const CUtensorMap* map, int x, const void* source,
                                               SourceLine where = SourceLine::current()) {
  emulator::tma_add(map, {x}, source, where);
}
inline void cp_reduce_async_bulk_tensor_2d_add(const CUtensorMap* map, int column, int row,
                                               const void* source,
                                               SourceLine where = SourceLine::current()) {
  emulator::tma_add(map, {column, row}, source, where);
}
inline void cp_async_bulk_tensor_3d(const CUtensorMap* map, int x, int y, int z, const void* source,
                                    SourceLine where = SourceLine::current()) {
  emulator::tma_store(map, {x, y, z}, source, where);
}
inline void cp_reduce_async_bulk_tensor_3d_add(const CUtensorMap* map, int x, int y, int z,
                                               const void* source,
                                               SourceLine where = SourceLine::current()) {
  emulator::tma_add(map, {x, y, z}, source, where);
}
inline void cp_async_bulk(void* destination, const void* source, uint32_t bytes, MBarrier* full,
                          SourceLine where = SourceLine::current()) {
  emulator::bulk_load(destination, source, bytes, full, where);
}
inline void cp_async_bulk(void* destination, const void* source, uint32_t bytes,
                          SourceLine where = SourceLine::current()) {
  emulator::bulk_store(destination, source, bytes, where);
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
