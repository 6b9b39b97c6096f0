// The arithmetic of WGMMA, as fast as the CPU at hand allows.
#pragma once

#include <cstdint>
#include <vector>

namespace emulator {

// d (64 × columns, fp32, row by row) = a (64 × 16) · b (columns × 16)ᵀ, plus d if `accumulate`; a
// and b are fp16, or bf16, row by row. `columns` is a multiple of 8. The sums are built in the
// order of k, every product is exact: the same bits on every CPU (but for those of a NaN).
void multiply_m64k16(float* d, const uint16_t* a, const uint16_t* b, int columns, bool accumulate,
                     bool bf16);

// The ways to compute it that the CPU at hand offers, the fastest first: that is the one taken.
struct MatrixProduct {
  const char* name;
  void (*multiply)(float* d, const uint16_t* a, const uint16_t* b, int columns, bool accumulate,
                   bool bf16);
};
std::vector<MatrixProduct> matrix_products();

}  // namespace emulator
