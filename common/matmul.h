// The one signature of all versions, and what all of them check and do before a launch:
//   Status matmul(const MatmulArguments& args, cudaStream_t stream)
// computes C[m, n] = A[m, k] · B[n, k]ᵀ in fp16, accumulated in fp32, rounded to nearest even.
#pragma once

#include <ceil_div.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <status.h>

#include <cstdint>
#include <utility>

// Row-major matrices in device memory; leading dimensions in elements.
struct MatmulArguments {
  const half* a = nullptr;  // m × k, lda >= k
  const half* b = nullptr;  // n × k, ldb >= k
  half* c = nullptr;  // m × n, ldc >= n
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t lda = 0;
  int64_t ldb = 0;
  int64_t ldc = 0;
  // At most so many blocks run (in clusters: whole ones, at least one); 0: no limit. Only
  // persistent versions look.
  int max_blocks = 0;
};

// The same product with its operands exchanged: Cᵀ = B·Aᵀ. (C lies in memory as before.)
inline MatmulArguments transposed(const MatmulArguments& args) {
  MatmulArguments result = args;
  std::swap(result.a, result.b);
  std::swap(result.m, result.n);
  std::swap(result.lda, result.ldb);
  return result;
}

// True if there is nothing to multiply: C is empty, or (k = 0) all zero.
inline bool is_trivial(const MatmulArguments& args) {
  return args.m == 0 || args.n == 0 || args.k == 0;
}

// Checks sizes and leading dimensions against each other and against the limits of all versions.
Status check_sizes(const MatmulArguments& args);

// Checks sizes, leading dimensions and C's pointer, and that the current device can run sm_90a
// code. What TMA demands of A and B, make_tensor_map checks.
Status check_arguments(const MatmulArguments& args);

// For trivial problems: sets the m × n region of C to zero if k = 0. Asynchronous.
Status clear_result(const MatmulArguments& args, cudaStream_t stream);
