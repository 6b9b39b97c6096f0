// mbarrier on the CPU: the functions of common/ptx/mbarrier.cuh, which says what each does.
#pragma once

#include <source_line.h>

#include <cstdint>

struct MBarrier {
  uint64_t opaque;
};

namespace ptx {

void mbarrier_init(MBarrier* barrier, uint32_t arrivals, SourceLine where = SourceLine::current());
void fence_mbarrier_init(SourceLine where = SourceLine::current());
void mbarrier_arrive(MBarrier* barrier, SourceLine where = SourceLine::current());
void mbarrier_arrive_expect_tx(MBarrier* barrier, uint32_t bytes,
                               SourceLine where = SourceLine::current());
bool mbarrier_try_wait_parity(MBarrier* barrier, uint32_t parity,
                              SourceLine where = SourceLine::current());
void mbarrier_wait_parity(MBarrier* barrier, uint32_t parity,
                          SourceLine where = SourceLine::current());

}  // namespace ptx
