// A plain store to global memory, on the CPU: common/global_store.cuh.
#pragma once

#include <source_line.h>

#include <cstddef>

namespace emulator {
// The calling thread writes these bytes, which other blocks may reach.
void note_global_store(const void* address, size_t bytes, SourceLine where);
}  // namespace emulator

template <class T>
inline void store_global(T* address, const T& value, SourceLine where = SourceLine::current()) {
  emulator::note_global_store(address, sizeof(T), where);
  *address = value;
}
