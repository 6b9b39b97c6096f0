// WGMMA on the CPU: the functions of common/ptx/wgmma.cuh, which says what each does.
#pragma once

#include <source_line.h>

#include <cstdint>

namespace ptx {

void wgmma_fence(SourceLine where = SourceLine::current());
void wgmma_commit_group(SourceLine where = SourceLine::current());
template <int kPending>
void wgmma_wait_group(SourceLine where = SourceLine::current());  // kPending from 0 to 7
void wgmma_m64n128k16(float (&d)[64], uint64_t a, uint64_t b, bool accumulate,
                      SourceLine where = SourceLine::current());
void wgmma_m64n256k16(float (&d)[128], uint64_t a, uint64_t b, bool accumulate,
                      SourceLine where = SourceLine::current());

}  // namespace ptx
