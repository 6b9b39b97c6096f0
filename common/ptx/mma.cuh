// mma.sync: matrix products of one warp, on registers, done when the instruction is. One function
// is one instruction. The emulator has a file of this name, with the same functions: the include
// path chooses.
#pragma once

#include <cstdint>

namespace ptx {

// mma.sync m16n8k16: D (16 × 8, fp32) = A (16 × 16) · B (16 × 8) + C; `d` and `c` may be the same
// registers. A register of A or B holds two elements that are neighbours along K, the first in its
// lower half. With g = lane / 4 and t = lane % 4, lane holds
//   a[0], a[1]  rows g and g + 8 of A, columns 2t and 2t + 1;  a[2], a[3]  the same, columns + 8
//   b[0], b[1]  column g of B, rows 2t and 2t + 1; the same, rows + 8
//   d[0], d[1]  row g of D, columns 2t and 2t + 1;  d[2], d[3]  the same, row g + 8
// Four 8 × 8 matrices by ldmatrix_m8n8_x4 are an A: upper left, lower left, upper right, lower
// right. A B that is stored as 8 columns of 16 elements is two matrices by ldmatrix_m8n8_x2; one
// stored as 16 rows, two by ldmatrix_m8n8_x2_trans. One whole warp. PTX ISA, "Matrix Fragments for
// mma.m16n8k16 with floating point type".
__device__ __forceinline__ void mma_m16n8k16_f16(float (&d)[4], const uint32_t (&a)[4],
                                                 const uint32_t (&b)[2], const float (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]),
        "f"(c[2]), "f"(c[3]));
}

// The same for bf16.
__device__ __forceinline__ void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4],
                                                  const uint32_t (&b)[2], const float (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]),
        "f"(c[2]), "f"(c[3]));
}

}  // namespace ptx
