// What the wrappers of emulator/ptx call for instructions that need more than a declaration there.
// The wrappers' contracts are in common/ptx.
#pragma once

#include <cuda.h>
#include <ptx/mbarrier.cuh>
#include <source_line.h>

#include <cstdint>
#include <initializer_list>

namespace emulator {

// bar.sync id, threads: a barrier of `threads` threads of the block, id 0 … 15. Whole warps.
void bar_sync(int id, int threads, SourceLine where);

// Of which kind a WGMMA is: bits.
enum WgmmaKind : unsigned {
  kWgmmaF16 = 0,
  kWgmmaBf16 = 1,
  kWgmmaAMnMajor = 2,  // A's columns, not its rows, are neighbours in memory
  kWgmmaBMnMajor = 4,
  kWgmmaAInRegisters = 8,
};

// wgmma.mma_async m64nNk16 with N = `columns`, on the caller's N / 2 accumulator registers. One
// warp group. (No struct of these arguments: it would lie on the kernel's stack, perhaps where the
// registers are.)
void wgmma(float* registers, int columns, uint64_t a, uint64_t b, bool accumulate, unsigned kind,
           SourceLine where);
// The same with A in the caller's 4 registers at `a`.
void wgmma(float* registers, int columns, const uint32_t* a, uint64_t b, bool accumulate,
           unsigned kind, SourceLine where);

// wgmma.wait_group: waits until at most `pending` (0 … 7) of the newest wgmma-groups of the calling
// warp group are unfinished. One warp group.
void wgmma_wait_group(int pending, SourceLine where);

// setmaxnreg.inc / .dec: changes how many registers the threads of the calling warp group own.
void setmaxnreg_inc(int registers, SourceLine where);
void setmaxnreg_dec(int registers, SourceLine where);

// stmatrix.x4: stores four 8 × 8 matrices of fp16; lane l names row l % 8 of matrix l / 8, and
// holds in matrices[i] the elements (l / 4, 2 (l % 4)) and the next of matrix i. One whole warp.
void stmatrix_x4(void* row, const uint32_t (&matrices)[4], SourceLine where);

// fence.proxy.async: makes the calling thread's writes to shared memory visible to TMA and WGMMA.
void fence_proxy_async(SourceLine where);

// Where a box begins: as many coordinates as the tensor has dimensions, that of neighbours first.
struct Coordinates {
  int at[5] = {};
  int rank = 0;

  Coordinates(std::initializer_list<int> list) {
    for (const int coordinate : list) at[rank++] = coordinate;
  }
};

// cp.async.bulk.tensor, global to shared; shared to global; and the same that adds. One thread.
void tma_load(void* destination, const CUtensorMap* map, const Coordinates& first, MBarrier* full,
              SourceLine where);
void tma_store(const CUtensorMap* map, const Coordinates& first, const void* source,
               SourceLine where);
void tma_add(const CUtensorMap* map, const Coordinates& first, const void* source,
             SourceLine where);

// cp.async.bulk: neighbours, without a map, global to shared and back. One thread.
void bulk_load(void* destination, const void* source, uint32_t bytes, MBarrier* full,
               SourceLine where);
void bulk_store(void* destination, const void* source, uint32_t bytes, SourceLine where);

// The bulk-groups of all stores.
void bulk_commit_group(SourceLine where);
void bulk_wait_group_read(int pending, SourceLine where);

// cp.async.bulk.tensor.2d with .multicast::cluster: into the same place of every block of the
// cluster whose bit is set in `blocks`, each of which counts the bytes at its own barrier. One
// thread.
void tma_load_multicast(void* destination, const CUtensorMap* map, const Coordinates& first,
                        MBarrier* full, uint16_t blocks, SourceLine where);

// mapa and mbarrier.arrive on the result: counts an arrival at the barrier at the same place in
// block `rank` of the cluster.
void mbarrier_arrive_remote(MBarrier* barrier, uint32_t rank, SourceLine where);

// cp.async: starts a copy of 4, 8 or 16 bytes, of which `source_bytes` are read and the rest
// arrives as zero; its groups; and the arrival that follows them. Any thread.
void cp_async(void* destination, const void* source, uint32_t bytes, uint32_t source_bytes,
              SourceLine where);
void cp_async_commit_group(SourceLine where);
void cp_async_wait_group(int pending, SourceLine where);
void cp_async_wait_all(SourceLine where);
void cp_async_mbarrier_arrive_noinc(MBarrier* barrier, SourceLine where);

// ldmatrix: `count` (1, 2, 4) 8 × 8 matrices into as many registers. One whole warp.
void ldmatrix(uint32_t* registers, int count, bool transposed, const void* row, SourceLine where);

// mma.sync m16n8k16, fp16 or bf16 operands: d = a · b + c. One whole warp.
void mma_m16n8k16(float* d, const uint32_t* a, const uint32_t* b, const float* c, bool bf16,
                  SourceLine where);

}  // namespace emulator
