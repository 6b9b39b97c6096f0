// cp.async on the CPU: the functions of common/ptx/cp_async.cuh, which says what each does.
#pragma once

#include <instructions.h>
#include <ptx/mbarrier.cuh>
#include <source_line.h>

#include <cstdint>

namespace ptx {

template <int kBytes>
void cp_async_ca(void* destination, const void* source, SourceLine where = SourceLine::current()) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async.ca takes 4, 8 or 16 bytes");
  emulator::cp_async(destination, source, kBytes, kBytes, where);
}
template <int kBytes>
void cp_async_ca(void* destination, const void* source, uint32_t source_bytes,
                 SourceLine where = SourceLine::current()) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async.ca takes 4, 8 or 16 bytes");
  emulator::cp_async(destination, source, kBytes, source_bytes, where);
}
inline void cp_async_cg(void* destination, const void* source,
                        SourceLine where = SourceLine::current()) {
  emulator::cp_async(destination, source, 16, 16, where);
}
inline void cp_async_cg(void* destination, const void* source, uint32_t source_bytes,
                        SourceLine where = SourceLine::current()) {
  emulator::cp_async(destination, source, 16, source_bytes, where);
}
inline void cp_async_commit_group(SourceLine where = SourceLine::current()) {
  emulator::cp_async_commit_group(where);
}
template <int kPending>
void cp_async_wait_group(SourceLine where = SourceLine::current()) {
  emulator::cp_async_wait_group(kPending, where);
}
inline void cp_async_wait_all(SourceLine where = SourceLine::current()) {
  emulator::cp_async_wait_all(where);
}
inline void cp_async_mbarrier_arrive_noinc(MBarrier* barrier,
                                           SourceLine where = SourceLine::current()) {
  emulator::cp_async_mbarrier_arrive_noinc(barrier, where);
}

}  // namespace ptx
