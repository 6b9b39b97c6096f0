// TMA: the unit that copies boxes of a tensor between global and shared memory while the threads
// go on. What a box is, the tensor map says (common/tensor_map.h).
// One function is one instruction.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <ptx/mbarrier.cuh>
#include <shared_address.cuh>

namespace ptx {

// cp.async.bulk.tensor.2d, global to shared: starts the copy of the box whose first element is
// (column, row) of the tensor, in elements, to `destination` in the calling block's shared memory
// (1024-byte aligned for the 128-byte swizzle). Elements outside the tensor arrive as zero. On
// arrival the bytes of the whole box are subtracted from those that `full` waits for. One thread:
// every thread that calls starts a copy of its own. PTX ISA, "cp.async.bulk.tensor".
__device__ __forceinline__ void cp_async_bulk_tensor_2d(void* destination, const CUtensorMap* map,
                                                        int column, int row, MBarrier* full) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(destination)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(full))
      : "memory");
}

}  // namespace ptx
