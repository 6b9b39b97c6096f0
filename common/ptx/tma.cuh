// TMA: the unit that copies boxes of a tensor between global and shared memory while the threads
// go on. What a box is, the tensor map says (common/tensor_map.h).
// One function is one instruction.
// The emulator has a file of this name, with the same functions: the include path chooses.
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

// cp.async.bulk.tensor.2d, shared to global: starts the copy of the box at `source` in the calling
// block's shared memory to (column, row) of the tensor. Rows and units of 16 bytes outside it are
// not written; a unit in which a row ends is written whole (make_store_map). Part of the calling
// thread's current bulk group. One thread, after fence_proxy_async of those who wrote the box and a
// barrier. PTX ISA, "cp.async.bulk.tensor".
__device__ __forceinline__ void cp_async_bulk_tensor_2d(const CUtensorMap* map, int column, int row,
                                                        const void* source) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(column), "r"(row), "r"(shared_address(source))
      : "memory");
}

// cp.async.bulk.tensor.1d and .3d: the same for tensors of one and of three dimensions, x that of
// neighbours in memory; a box lies in shared memory as rows along x, one behind the other, y before
// z. PTX ISA, "cp.async.bulk.tensor".
__device__ __forceinline__ void cp_async_bulk_tensor_1d(void* destination, const CUtensorMap* map,
                                                        int x, MBarrier* full) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2}], [%3];" ::"r"(shared_address(destination)),
      "l"(map), "r"(x), "r"(shared_address(full))
      : "memory");
}
__device__ __forceinline__ void cp_async_bulk_tensor_1d(const CUtensorMap* map, int x,
                                                        const void* source) {
  asm volatile(
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];" ::"l"(map),
      "r"(x), "r"(shared_address(source))
      : "memory");
}
__device__ __forceinline__ void cp_async_bulk_tensor_3d(void* destination, const CUtensorMap* map,
                                                        int x, int y, int z, MBarrier* full) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(destination)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(full))
      : "memory");
}
__device__ __forceinline__ void cp_async_bulk_tensor_3d(const CUtensorMap* map, int x, int y, int z,
                                                        const void* source) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
          map),
      "r"(x), "r"(y), "r"(z), "r"(shared_address(source))
      : "memory");
}

// cp.reduce.async.bulk.tensor, .add: as the stores, but adds the box to what the tensor holds, each
// element by itself, in the type of the map (fp16 sums are rounded to fp16). The order of additions
// by different copies is not defined. Part of the calling thread's current bulk group. PTX ISA,
// "cp.reduce.async.bulk.tensor".
__device__ __forceinline__ void cp_reduce_async_bulk_tensor_1d_add(const CUtensorMap* map, int x,
                                                                   const void* source) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {%1}], [%2];" ::
          "l"(map),
      "r"(x), "r"(shared_address(source))
      : "memory");
}
__device__ __forceinline__ void cp_reduce_async_bulk_tensor_2d_add(const CUtensorMap* map,
                                                                   int column, int row,
                                                                   const void* source) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], "
      "[%3];" ::"l"(map),
      "r"(column), "r"(row), "r"(shared_address(source))
      : "memory");
}
__device__ __forceinline__ void cp_reduce_async_bulk_tensor_3d_add(const CUtensorMap* map, int x,
                                                                   int y, int z,
                                                                   const void* source) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2, %3}], "
      "[%4];" ::"l"(map),
      "r"(x), "r"(y), "r"(z), "r"(shared_address(source))
      : "memory");
}

// cp.async.bulk, global to shared: starts a copy of `bytes` neighbours, without a map: both
// addresses and the number are multiples of 16. On arrival the bytes are subtracted from those that
// `full` waits for. One thread. PTX ISA, "cp.async.bulk".
__device__ __forceinline__ void cp_async_bulk(void* destination, const void* source, uint32_t bytes,
                                              MBarrier* full) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(destination)),
      "l"(source), "r"(bytes), "r"(shared_address(full))
      : "memory");
}

// cp.async.bulk, shared to global: the way back. Part of the calling thread's current bulk group.
// One thread, after fence_proxy_async of those who wrote the source and a barrier. PTX ISA,
// "cp.async.bulk".
__device__ __forceinline__ void cp_async_bulk(void* destination, const void* source,
                                              uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(destination),
               "r"(shared_address(source)), "r"(bytes)
               : "memory");
}

// cp.async.bulk.commit_group: the stores that the calling thread has started since its last commit
// become one bulk group. PTX ISA, "cp.async.bulk.commit_group".
__device__ __forceinline__ void cp_async_bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// cp.async.bulk.wait_group.read: waits until at most `kPending` of the calling thread's newest bulk
// groups have yet to read their sources; those of the others may be overwritten.
// PTX ISA, "cp.async.bulk.wait_group".
template <int kPending>
__device__ __forceinline__ void cp_async_bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// fence.proxy.async: what the calling thread has written to its block's shared memory is seen by
// TMA operations that follow a barrier. Each thread that wrote. PTX ISA, "membar / fence".
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace ptx
