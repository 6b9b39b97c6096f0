// What the lanes of a warp do together on matrices: ldmatrix and mma.sync. The last lane that comes
// does it for all, so that what a lane does next comes after it.
#pragma once

#include <source_line.h>

#include <cstdint>

namespace emulator {

struct Thread;

// What a lane brings to such an instruction, and takes away from it.
struct MatrixExchange {
  uint32_t row = 0;  // ldmatrix: the offset of its row
  uint32_t loaded[4] = {};
  float a[8] = {};  // mma.sync: pairs, in the order of the registers
  float b[4] = {};
  float c[4] = {};
  float d[4] = {};
};

// Loads `count` (1, 2, 4) 8 × 8 matrices into as many registers of each lane.
void load_matrices(Thread& thread, uint32_t* registers, int count, bool transposed, const void* row,
                   SourceLine where);

// d = a · b + c, m16n8k16. Sums are built in the order of k, every product is exact.
void multiply_m16n8k16(Thread& thread, float* d, const uint32_t* a, const uint32_t* b,
                       const float* c, bool bf16, SourceLine where);

}  // namespace emulator
