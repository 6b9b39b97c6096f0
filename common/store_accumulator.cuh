// The epilogue: accumulator registers to C in global memory, for every shape, leading dimension and
// alignment.
#pragma once

#include <cuda_fp16.h>
#include <matmul.h>
#include <ptx/warpgroup.cuh>

#include <cstdint>
#include <cstring>

// A row-major fp16 result.
struct OutputMatrix {
  half* base;
  int rows;
  int columns;
  int64_t leading_dimension;

  // True if 8 elements that begin at a multiple of 8 columns can be stored at once, as 16 bytes.
  __device__ __forceinline__ bool has_aligned_rows() const {
    return reinterpret_cast<uintptr_t>(base) % 16 == 0 && leading_dimension % 8 == 0;
  }
};

inline OutputMatrix matrix_c(const MatmulArguments& args) {
  return {args.c, static_cast<int>(args.m), static_cast<int>(args.n), args.ldc};
}

// What a thread holds of the accumulator of one m64nN WGMMA, N = 2 · kRegisters: warp w of the
// group has rows 16w … 16w+15; of these, lane l has rows l/4 (registers 4j, 4j+1) and l/4 + 8
// (registers 4j+2, 4j+3), in columns 8j + 2(l%4) and the next. PTX ISA, "Register Fragments for
// wgmma.mma_async.m64nNk16".

// Stores an accumulator two elements at a time, its first element at (row, column) of c, as far as
// it lies inside: a pair with one 4-byte store where the address allows it. One warp group.
template <int kRegisters>
__device__ __forceinline__ void store_accumulator_in_pairs(const float (&acc)[kRegisters],
                                                           const OutputMatrix& c, int row,
                                                           int column) {
  row += threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
  column += threadIdx.x % 4 * 2;
  const int columns_left = c.columns - column;
#pragma unroll
  for (int lower = 0; lower < 2; ++lower) {
    if (row + lower * 8 >= c.rows) return;
    half* const address = c.base + (row + lower * 8) * c.leading_dimension + column;
    const bool aligned = reinterpret_cast<uintptr_t>(address) % sizeof(half2) == 0;
#pragma unroll
    for (int j = 0; j < kRegisters / 4; ++j) {  // 8 columns of the product each
      if (8 * j >= columns_left) break;
      const half2 pair = __floats2half2_rn(acc[4 * j + 2 * lower], acc[4 * j + 2 * lower + 1]);
      const bool second = 8 * j + 1 < columns_left;
      if (second && aligned) {
        *reinterpret_cast<half2*>(address + 8 * j) = pair;
      } else {
        address[8 * j] = __low2half(pair);
        if (second) address[8 * j + 1] = __high2half(pair);
      }
    }
  }
}

// A 4 × 4 transpose within each quad of lanes: word p of lane q becomes word q of lane p. One whole
// warp.
__device__ __forceinline__ void transpose_quad(uint32_t (&words)[4]) {
#pragma unroll
  for (int bit = 1; bit <= 2; bit *= 2) {
    const bool upper = threadIdx.x & bit;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i & bit) continue;
      const uint32_t received = ptx::shfl_sync_bfly(upper ? words[i] : words[i + bit], bit);
      (upper ? words[i] : words[i + bit]) = received;
    }
  }
}

// Stores an accumulator eight elements at a time, where it lies inside c and alignment allows it,
// else in pairs. In pairs, a warp's store touches 16 bytes of each of 8 rows, half a sector of
// memory; after the transpose each lane of a quad has 8 of every 32 columns, and a warp's store
// covers 64 whole bytes of each row. (Widths that are no multiple of 32 are stored in pairs.) One
// warp group.
template <int kRegisters>
__device__ __forceinline__ void store_accumulator(const float (&acc)[kRegisters],
                                                  const OutputMatrix& c, int row, int column) {
  const int lane = threadIdx.x % 32;
  const int warp_row = row + threadIdx.x % 128 / 32 * 16;
  const bool inside = c.rows - warp_row >= 16 && c.columns - column >= 2 * kRegisters;
  if (kRegisters % 16 != 0 || !inside || !c.has_aligned_rows()) {
    return store_accumulator_in_pairs(acc, c, row, column);
  }
  half* const address =
      c.base + (warp_row + lane / 4) * c.leading_dimension + column + lane % 4 * 8;
#pragma unroll
  for (int r = 0; r + 16 <= kRegisters; r += 16) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      uint32_t words[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const half2 pair = __floats2half2_rn(acc[r + 4 * j + 2 * i], acc[r + 4 * j + 2 * i + 1]);
        memcpy(&words[j], &pair, sizeof(pair));
      }
      transpose_quad(words);
      *reinterpret_cast<uint4*>(address + i * 8 * c.leading_dimension + r * 2) =
          make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
}

// The same for the accumulators of several WGMMAs, one below the other.
template <int kProducts, int kRegisters>
__device__ __forceinline__ void store_accumulator(const float (&acc)[kProducts][kRegisters],
                                                  const OutputMatrix& c, int row, int column) {
#pragma unroll
  for (int i = 0; i < kProducts; ++i) store_accumulator(acc[i], c, row + i * 64, column);
}

// Stores the transpose of what accumulators hold, of which (row, column) is the first element's
// place in the product: the product's columns become rows of c, whose rows and columns are those of
// the product. (In each row of c a warp's store covers 16 bytes.) One warp group.
template <int kProducts, int kRegisters>
__device__ __forceinline__ void store_transposed(const float (&acc)[kProducts][kRegisters],
                                                 const OutputMatrix& c, int row, int column) {
  row += threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
  column += threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < kProducts; ++i) {
#pragma unroll
    for (int r = 0; r < kRegisters; ++r) {
      const int product_row = row + i * 64 + r % 4 / 2 * 8;
      const int product_column = column + r / 4 * 8 + r % 2;
      if (product_row < c.rows && product_column < c.columns) {
        c.base[product_column * c.leading_dimension + product_row] = __float2half_rn(acc[i][r]);
      }
    }
  }
}
