// TMA on the CPU: the functions of common/ptx/tma.cuh, which says what each does.
#pragma once

#include <cuda.h>
#include <ptx/mbarrier.cuh>
#include <source_line.h>

namespace ptx {

void cp_async_bulk_tensor_2d(void* destination, const CUtensorMap* map, int column, int row,
                             MBarrier* full, SourceLine where = SourceLine::current());

}  // namespace ptx
