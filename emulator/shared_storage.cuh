// The memory that the threads of a block share, on the CPU: common/shared_storage.cuh.
#pragma once

#include <source_line.h>

#include <cstddef>

namespace emulator {
// The calling block's dynamic shared memory; checks that the launch asked for so many bytes.
void* dynamic_shared_memory(size_t bytes, SourceLine where);
}  // namespace emulator

template <class T>
T& shared_storage(SourceLine where = SourceLine::current()) {
  static_assert(alignof(T) <= 1024, "dynamic shared memory is aligned to 1024 bytes");
  static_assert(sizeof(T) <= 227 * 1024, "a block of sm_90 has 227 KiB of shared memory");
  return *static_cast<T*>(emulator::dynamic_shared_memory(sizeof(T), where));
}
