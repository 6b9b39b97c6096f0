// ldmatrix: 8 × 8 matrices of 16-bit elements from shared memory into the registers of a warp, as
// mma.sync takes them (ptx/mma.cuh). One function is one instruction.
// The emulator has a file of this name, with the same functions: the include path chooses.
#pragma once

#include <cstdint>
#include <shared_address.cuh>

namespace ptx {

// ldmatrix.m8n8: lane l passes the address of row l % 8 of matrix l / 8 (8 elements, 16 bytes,
// aligned); with fewer than four matrices only the first 8 or 16 lanes' addresses count. Of each
// matrix, lane l receives elements (l / 4, 2(l % 4)) and the next in one register, the first in its
// lower half; with _trans, of the transposed matrix: elements (2(l % 4), l / 4) and the one below.
// Synchronous: the registers may be used, and the memory written again by whoever is told. One
// whole warp. PTX ISA, "ldmatrix".
__device__ __forceinline__ void ldmatrix_m8n8_x1(uint32_t& matrix, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {%0}, [%1];"
               : "=r"(matrix)
               : "r"(shared_address(row))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_m8n8_x2(uint32_t (&matrices)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%0, %1}, [%2];"
               : "=r"(matrices[0]), "=r"(matrices[1])
               : "r"(shared_address(row))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_m8n8_x4(uint32_t (&matrices)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(shared_address(row))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_m8n8_x1_trans(uint32_t& matrix, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 {%0}, [%1];"
               : "=r"(matrix)
               : "r"(shared_address(row))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_m8n8_x2_trans(uint32_t (&matrices)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2];"
               : "=r"(matrices[0]), "=r"(matrices[1])
               : "r"(shared_address(row))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_m8n8_x4_trans(uint32_t (&matrices)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(shared_address(row))
               : "memory");
}

}  // namespace ptx
