// The epilogue: accumulator registers to C in global memory, for every shape, leading dimension and
// alignment.
#pragma once

#include <cuda_fp16.h>
#include <matmul.h>

#include <cstdint>

// A row-major fp16 result.
struct OutputMatrix {
  half* base;
  int rows;
  int columns;
  int64_t leading_dimension;

  // True if two elements that begin at an even column can always be stored as one half2.
  __device__ __forceinline__ bool pairs_are_aligned() const {
    return reinterpret_cast<uintptr_t>(base) % sizeof(half2) == 0 && leading_dimension % 2 == 0;
  }
};

inline OutputMatrix matrix_c(const MatmulArguments& args) {
  return {args.c, static_cast<int>(args.m), static_cast<int>(args.n), args.ldc};
}

// Stores x and y, rounded to nearest even, as elements (row, column) and (row, column + 1), as far
// as they lie inside c: with one 4-byte store where the address allows it. One thread.
__device__ __forceinline__ void store_pair(const OutputMatrix& c, int row, int column, float x,
                                           float y) {
  if (row >= c.rows || column >= c.columns) return;
  half* const address = c.base + row * c.leading_dimension + column;
  const half2 pair = __floats2half2_rn(x, y);
  const bool second = column + 1 < c.columns;
  if (second && reinterpret_cast<uintptr_t>(address) % sizeof(half2) == 0) {
    *reinterpret_cast<half2*>(address) = pair;
  } else {
    address[0] = __low2half(pair);
    if (second) address[1] = __high2half(pair);
  }
}

// Stores the accumulator of one m64nN WGMMA, N = 2 · kRegisters, its first element at (row, column)
// of c, as far as it lies inside. One warp group; each thread stores what its registers hold: warp
// w of the group has rows 16w … 16w+15; of these, lane l has rows l/4 (registers 4j, 4j+1) and l/4
// + 8 (registers 4j+2, 4j+3), in columns 8j + 2(l%4) and the next. PTX ISA, "Register Fragments for
// wgmma.mma_async.m64nNk16".
template <int kRegisters>
__device__ __forceinline__ void store_accumulator(const float (&acc)[kRegisters],
                                                  const OutputMatrix& c, int row, int column) {
  row += threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
  column += threadIdx.x % 4 * 2;
  const int last_column = column + 2 * kRegisters - 8 + 1;
  const bool inside = row + 8 < c.rows && last_column < c.columns;
  if (inside && c.pairs_are_aligned()) {
    half* const address = c.base + row * c.leading_dimension + column;
#pragma unroll
    for (int r = 0; r < kRegisters; r += 2) {
      *reinterpret_cast<half2*>(address + r / 2 % 2 * 8 * c.leading_dimension + r / 4 * 8) =
          __floats2half2_rn(acc[r], acc[r + 1]);
    }
  } else {
#pragma unroll
    for (int r = 0; r < kRegisters; r += 2) {
      store_pair(c, row + r / 2 % 2 * 8, column + r / 4 * 8, acc[r], acc[r + 1]);
    }
  }
}

// The same for accumulators of several WGMMAs, one below the other.
template <int kProducts, int kRegisters>
__device__ __forceinline__ void store_accumulator(const float (&acc)[kProducts][kRegisters],
                                                  const OutputMatrix& c, int row, int column) {
#pragma unroll
  for (int i = 0; i < kProducts; ++i) store_accumulator(acc[i], c, row + i * 64, column);
}
