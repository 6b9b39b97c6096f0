// The block and its warps on the CPU: the functions of common/ptx/warpgroup.cuh, which says what
// each does.
#pragma once

#include <source_line.h>

#include <cstddef>
#include <cstdint>

namespace ptx {

bool elect_sync(SourceLine where = SourceLine::current());
uint32_t shfl_sync_bfly(uint32_t value, uint32_t lane_mask,
                        SourceLine where = SourceLine::current());

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
