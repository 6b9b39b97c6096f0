// Tensor maps: what TMA must know of a matrix in global memory.
#pragma once

#include <cuda.h>
#include <cuda_fp16.h>
#include <matmul.h>
#include <status.h>

#include <cstdint>

// A row-major fp16 matrix in device memory. `name` is used in messages: "A" with the leading
// dimension "lda".
struct GlobalMatrix {
  const char* name;
  const half* base;
  int64_t rows;
  int64_t columns;
  int64_t leading_dimension;
};

inline GlobalMatrix matrix_a(const MatmulArguments& args) {
  return {"A", args.a, args.m, args.k, args.lda};
}
inline GlobalMatrix matrix_b(const MatmulArguments& args) {
  return {"B", args.b, args.n, args.k, args.ldb};
}

// Every rule of TMA for copies of boxes of box_rows × box_columns elements, checked before the
// driver is asked; the sentence names the matrix, the value, the rule and the way out. CUDA Driver
// API, cuTensorMapEncodeTiled.
Status check_tensor_map(const GlobalMatrix& matrix, int box_rows, int box_columns);

// Checks all that every version asks of a call: check_arguments(), and, unless there is nothing to
// multiply, the rules of TMA for A and B.
Status check_operands(const MatmulArguments& args);

// Checks, then encodes a map with the 128-byte swizzle: boxes are 64 columns wide, elements outside
// the matrix are read as zero. Cheap (no device work); the map is passed to the kernel by value.
Status make_tensor_map(CUtensorMap* map, const GlobalMatrix& matrix, int box_rows, int box_columns);

// True if TMA can store to C; otherwise threads have to. Besides the rules for every matrix: TMA
// writes whole units of 16 bytes, and where a row of C ends inside one it overwrites what follows
// (seen on an H200; tests/wrappers has it). So n must be a multiple of 8.
bool tma_can_store(const MatmulArguments& args);

// As make_tensor_map, for stores to a C of which tma_can_store() is true.
Status make_store_map(CUtensorMap* map, const MatmulArguments& args, int box_rows, int box_columns);
