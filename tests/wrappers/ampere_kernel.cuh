// The Ampere way to multiply: cp.async into a ring of stages, ldmatrix, mma.sync. A kernel for
// tests, which may leave something out.
#pragma once

#include <cuda_fp16.h>
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/mma.cuh>
#include <ptx/warpgroup.cuh>

namespace ampere {

enum class Bug {
  kNone,
  kNoCommit,
  kNoWait,
  kOneGroupTooMany,  // may be under way after the wait
  kNoBarrierAfterWait,
  kNoBarrierBeforeRefill,
};

constexpr int kRows = 64;  // of A and of B
constexpr int kDepth = 32;  // of a stage
constexpr int kStages = 3;
constexpr int kThreads = 128;

struct Stages {
  alignas(16) half a[kStages][kRows * kDepth];
  alignas(16) half b[kStages][kRows * kDepth];
};

// Element (row, column): the four 16-byte chunks of a row change places, so that the eight rows of
// an 8 × 8 matrix lie in different banks.
__device__ __forceinline__ int index(int row, int column) {
  return row * kDepth + ((column / 8) ^ (row / 2 % 4)) * 8 + column % 8;
}

// Stage `to` of one operand: each thread copies two chunks; columns from k on arrive as zero.
__device__ __forceinline__ void copy(half* to, const half* from, int k_tile, int k) {
  for (int chunk = threadIdx.x; chunk < kRows * kDepth / 8; chunk += kThreads) {
    const int row = chunk / (kDepth / 8);
    const int column = chunk % (kDepth / 8) * 8;
    const int inside = k - k_tile * kDepth - column;
    const int left = inside > 0 ? min(inside, 8) : 0;
    const half* const source = from + row * k + (left > 0 ? k_tile * kDepth + column : 0);
    ptx::cp_async_cg(&to[index(row, column)], source, left * static_cast<uint32_t>(sizeof(half)));
  }
}

// C (64 × 64, fp32) = A (64 × k) · B (64 × k)ᵀ, row-major and packed; k is a multiple of 8. One
// block of 128 threads: each warp computes 16 rows.
template <Bug kBug>
__global__ void kernel(const half* a, const half* b, float* c, int k) {
  auto& smem = shared_storage<Stages>();
  const int k_tiles = (k + kDepth - 1) / kDepth;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  float acc[kRows / 8][4] = {};

  auto fill = [&](int k_tile) {
    if (k_tile < k_tiles) {
      copy(smem.a[k_tile % kStages], a, k_tile, k);
      copy(smem.b[k_tile % kStages], b, k_tile, k);
    }
    if (kBug != Bug::kNoCommit) ptx::cp_async_commit_group();  // an empty group counts, too
  };
  for (int k_tile = 0; k_tile < kStages - 1; ++k_tile) fill(k_tile);
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    constexpr int kPending = kBug == Bug::kOneGroupTooMany ? kStages - 1 : kStages - 2;
    if (kBug != Bug::kNoWait) ptx::cp_async_wait_group<kPending>();
    if (kBug != Bug::kNoBarrierAfterWait) __syncthreads();
    if (kBug != Bug::kNoBarrierBeforeRefill) fill(k_tile + kStages - 1);
    const half* const stage_a = smem.a[k_tile % kStages];
    const half* const stage_b = smem.b[k_tile % kStages];
    for (int kk = 0; kk < kDepth; kk += 16) {
      uint32_t fragment[4];
      ptx::ldmatrix_m8n8_x4(fragment, &stage_a[index(warp * 16 + lane % 16, kk + lane / 16 * 8)]);
      for (int column = 0; column < kRows; column += 16) {
        // 16 rows of B, 16 along k: the operands of two products.
        uint32_t both[4];
        ptx::ldmatrix_m8n8_x4(
            both, &stage_b[index(column + lane % 8 + lane / 16 * 8, kk + lane / 8 % 2 * 8)]);
        const uint32_t left[2] = {both[0], both[1]};
        const uint32_t right[2] = {both[2], both[3]};
        ptx::mma_m16n8k16_f16(acc[column / 8], fragment, left, acc[column / 8]);
        ptx::mma_m16n8k16_f16(acc[column / 8 + 1], fragment, right, acc[column / 8 + 1]);
      }
    }
    if (kBug == Bug::kNoBarrierBeforeRefill) fill(k_tile + kStages);  // where it has just read
  }
  ptx::cp_async_wait_all();
  for (int n = 0; n < kRows / 8; ++n) {
    for (int i = 0; i < 4; ++i) {
      const int row = warp * 16 + lane / 4 + i / 2 * 8;
      c[row * kRows + n * 8 + lane % 4 * 2 + i % 2] = acc[n][i];
    }
  }
}

}  // namespace ampere
