#include "warp_matrix.h"

#include <cuda_fp16.h>

#include <cstring>

#include "machine.h"
#include "report.h"

namespace emulator {
namespace {

constexpr uint32_t kRowBytes = 16;  // of an 8 × 8 matrix
constexpr int kDepth = 16;

float from_f16(uint16_t bits) { return __half2float(__ushort_as_half(bits)); }

float from_bf16(uint16_t bits) {
  const uint32_t word = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

// The two elements of each register.
void unpack(const uint32_t* registers, int count, bool bf16, float* elements) {
  for (int i = 0; i < count; ++i) {
    const auto lower = static_cast<uint16_t>(registers[i]);
    const auto upper = static_cast<uint16_t>(registers[i] >> 16);
    elements[2 * i] = bf16 ? from_bf16(lower) : from_f16(lower);
    elements[2 * i + 1] = bf16 ? from_bf16(upper) : from_f16(upper);
  }
}

// The warp must have been told that what it reads has arrived; that it has read, others must be
// told before they write.
void read_row(Thread& thread, uint32_t offset, const Access& read, SourceLine where) {
  SharedMemory& memory = thread.block->memory;
  for (Region& region : memory.regions(offset, offset + kRowBytes)) {
    const Access& write = region.write;
    const bool told =
        write.kind == AccessKind::kNone || known(thread, write.component) >= write.value;
    if (options().happens_before && !told) report::row_read_before_full(thread, region, where);
    SharedMemory::record_read(&region, read);
  }
  if (memory.is_poisoned(offset)) {
    report::row_is_poison(thread, offset, memory.is_in_flight(offset), where);
  }
}

uint32_t pair_of(uint16_t first, uint16_t second) { return first | uint32_t{second} << 16; }

// Lane l has elements (l / 4, 2(l % 4)) and the next of each matrix; PTX ISA, "ldmatrix".
void distribute(Warp& warp, int count, bool transposed) {
  const uint8_t* const memory = warp.block->memory.data();
  for (int i = 0; i < count; ++i) {
    uint16_t matrix[8][8];
    for (int row = 0; row < 8; ++row) {
      std::memcpy(matrix[row], memory + warp.lanes[i * 8 + row]->exchange.row, kRowBytes);
    }
    for (Thread* lane : warp.lanes) {
      const int row = lane->lane / 4;
      const int column = lane->lane % 4 * 2;
      lane->exchange.loaded[i] = transposed ? pair_of(matrix[column][row], matrix[column + 1][row])
                                            : pair_of(matrix[row][column], matrix[row][column + 1]);
    }
  }
}

// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type".
void multiply(Warp& warp) {
  float a[16][kDepth];
  float b[8][kDepth];
  for (const Thread* lane : warp.lanes) {
    const MatrixExchange& from = lane->exchange;
    const int group = lane->lane / 4;
    const int k = lane->lane % 4 * 2;
    for (int i = 0; i < 2; ++i) {
      a[group][k + i] = from.a[i];
      a[group + 8][k + i] = from.a[2 + i];
      a[group][k + 8 + i] = from.a[4 + i];
      a[group + 8][k + 8 + i] = from.a[6 + i];
      b[group][k + i] = from.b[i];
      b[group][k + 8 + i] = from.b[2 + i];
    }
  }
  for (Thread* lane : warp.lanes) {
    MatrixExchange& to = lane->exchange;
    for (int i = 0; i < 4; ++i) {
      const float* const row = a[lane->lane / 4 + i / 2 * 8];
      const float* const column = b[lane->lane % 4 * 2 + i % 2];
      float sum = to.c[i];
      for (int k = 0; k < kDepth; ++k) sum += row[k] * column[k];
      to.d[i] = sum;
    }
  }
}

}  // namespace

void load_matrices(Thread& thread, uint32_t* registers, int count, bool transposed, const void* row,
                   SourceLine where) {
  static const char* const kNames[2][5] = {
      {"", "ldmatrix.x1", "ldmatrix.x2", "", "ldmatrix.x4"},
      {"", "ldmatrix.x1.trans", "ldmatrix.x2.trans", "", "ldmatrix.x4.trans"}};
  const char* const name = kNames[transposed][count];
  Block& block = *thread.block;
  Warp& warp = *thread.warp;
  if (thread.lane < count * 8) {
    if (!block.memory.contains(row, kRowBytes)) report::not_shared(thread, where);
    thread.exchange.row = block.memory.offset(row);
    if (thread.exchange.row % kRowBytes != 0) {
      report::misaligned(thread, "the row", thread.exchange.row, kRowBytes, where);
    }
  }
  warp.meet(thread, name, where, [&] {
    if (warp.read == kNoComponent) warp.read = thread.cluster().new_component();
    Access read;
    read.kind = AccessKind::kLoadMatrix;
    read.component = warp.read;
    read.value = ++warp.reads;
    read.where = where;
    read.number = warp.reads;
    for (int lane = 0; lane < count * 8; ++lane) {
      read_row(*warp.lanes[lane], warp.lanes[lane]->exchange.row, read, where);
    }
    distribute(warp, count, transposed);
  });
  std::memcpy(registers, thread.exchange.loaded, count * sizeof(uint32_t));
}

void multiply_m16n8k16(Thread& thread, float* d, const uint32_t* a, const uint32_t* b,
                       const float* c, bool bf16, SourceLine where) {
  MatrixExchange& exchange = thread.exchange;
  unpack(a, 4, bf16, exchange.a);
  unpack(b, 2, bf16, exchange.b);
  std::memcpy(exchange.c, c, sizeof(exchange.c));
  thread.warp->meet(thread, bf16 ? "mma.m16n8k16.bf16" : "mma.m16n8k16.f16", where,
                    [&] { multiply(*thread.warp); });
  std::memcpy(d, exchange.d, sizeof(exchange.d));
}

}  // namespace emulator
