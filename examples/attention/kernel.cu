// Attention for one tile of 64 queries a block: keys and values come in tiles by TMA, both products
// are WGMMAs, and the softmax is kept up tile by tile (each tile's maximum rescales what was summed
// before). The probabilities never leave the registers: where the first product leaves them is
// where the second one takes its operand A.
#include "attention.h"

#include <ceil_div.h>
#include <launch.h>
#include <matrix_descriptor.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <ptx/wgmma_shapes.cuh>
#include <store_accumulator.cuh>
#include <tensor_map.h>

#include <cmath>
#include <cstring>

namespace {

constexpr int kQueries = 64;  // of a block: M of both products
constexpr int kKeys = 64;  // of a tile: N of the first product, K of the second
constexpr int kSlab = 64;  // columns of a TMA box: 128 bytes, the swizzle's row
constexpr int kStages = 2;
constexpr int kConsumers = 128;
constexpr int kThreads = kConsumers + 32;

template <int kHeadDim>
struct Storage {
  static constexpr int kSlabs = kHeadDim / kSlab;
  alignas(1024) half q[kSlabs][kQueries * kSlab];
  alignas(1024) half k[kStages][kSlabs][kKeys * kSlab];
  alignas(1024) half v[kStages][kSlabs][kKeys * kSlab];
  MBarrier q_full, full[kStages], empty[kStages];
};

__device__ float from_lane(float value, uint32_t mask) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  bits = ptx::shfl_sync_bfly(bits, mask);
  memcpy(&value, &bits, sizeof(value));
  return value;
}

// A row of the scores is spread over four lanes.
__device__ float maximum_of_row(float value) {
  value = fmaxf(value, from_lane(value, 1));
  return fmaxf(value, from_lane(value, 2));
}
__device__ float sum_of_row(float value) {
  value += from_lane(value, 1);
  return value + from_lane(value, 2);
}

// What a thread knows of its two rows, those of registers with bit 1 clear and set.
struct Softmax {
  float maximum[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};  // of the thread's own columns

  // Scores to exp2(scale · (score - maximum)); returns what earlier sums are to be multiplied by.
  __device__ void add(float (&s)[kKeys / 2], int keys_left, float scale, float (&factor)[2]) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      float top = maximum[row];
#pragma unroll
      for (int i = 0; i < kKeys / 2; ++i) {
        if (i / 2 % 2 != row) continue;
        const int column = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        if (column >= keys_left) s[i] = -INFINITY;
        top = fmaxf(top, s[i]);
      }
      top = maximum_of_row(top);
      factor[row] = exp2f((maximum[row] - top) * scale);
      maximum[row] = top;
      sum[row] *= factor[row];
#pragma unroll
      for (int i = 0; i < kKeys / 2; ++i) {
        if (i / 2 % 2 != row) continue;
        s[i] = exp2f((s[i] - top) * scale);
        sum[row] += s[i];
      }
    }
  }
};

template <int kHeadDim>
__global__ void __launch_bounds__(kThreads)
    attention_kernel(const __grid_constant__ CUtensorMap map_q,
                     const __grid_constant__ CUtensorMap map_k,
                     const __grid_constant__ CUtensorMap map_v, half* out, int length,
                     float scale) {
  auto& smem = shared_storage<Storage<kHeadDim>>();
  const int first_query = blockIdx.x * kQueries;
  const int head = blockIdx.y;
  const int tiles = (length + kKeys - 1) / kKeys;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.q_full, 1);
    for (MBarrier& full : smem.full) ptx::mbarrier_init(&full, 1);
    for (MBarrier& empty : smem.empty) ptx::mbarrier_init(&empty, kConsumers);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();

  if (threadIdx.x >= kConsumers) {  // --- producer ---
    if (!ptx::elect_sync()) return;
    ptx::mbarrier_arrive_expect_tx(&smem.q_full, sizeof(smem.q));
    for (int i = 0; i < kHeadDim; i += kSlab) {
      ptx::cp_async_bulk_tensor_3d(smem.q[i / kSlab], &map_q, i, first_query, head, &smem.q_full);
    }
    for (int tile = 0; tile < tiles; ++tile) {
      const int stage = tile % kStages;
      MBarrier* const full = &smem.full[stage];
      ptx::mbarrier_wait_parity(&smem.empty[stage], (tile / kStages + 1) % 2);
      ptx::mbarrier_arrive_expect_tx(full, sizeof(smem.k[0]) + sizeof(smem.v[0]));
      for (int i = 0; i < kHeadDim; i += kSlab) {
        half* const k = smem.k[stage][i / kSlab];
        half* const v = smem.v[stage][i / kSlab];
        ptx::cp_async_bulk_tensor_3d(k, &map_k, i, tile * kKeys, head, full);
        ptx::cp_async_bulk_tensor_3d(v, &map_v, i, tile * kKeys, head, full);
      }
    }
    return;
  }

  // --- consumer ---
  float s[kKeys / 2];
  float o[kHeadDim / 2] = {};
  uint32_t p[kKeys / 16][4];
  Softmax softmax;
  ptx::mbarrier_wait_parity(&smem.q_full, 0);
  for (int tile = 0; tile < tiles; ++tile) {
    const int stage = tile % kStages;
    ptx::mbarrier_wait_parity(&smem.full[stage], tile / kStages % 2);
    ptx::wgmma_fence();  // before S
#pragma unroll
    for (int k = 0; k < kHeadDim; k += 16) {
      ptx::wgmma_m64nNk16<kKeys>(s, matrix_descriptor(smem.q[k / kSlab], k % kSlab),
                                 matrix_descriptor(smem.k[stage][k / kSlab], k % kSlab), k > 0);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>(s);

    float factor[2];
    softmax.add(s, length - tile * kKeys, scale, factor);
#pragma unroll
    for (int i = 0; i < kHeadDim / 2; ++i) o[i] *= factor[i / 2 % 2];
#pragma unroll
    for (int i = 0; i < kKeys / 4; ++i) {
      const half2 pair = __floats2half2_rn(s[2 * i], s[2 * i + 1]);
      memcpy(&p[i / 4][i % 4], &pair, sizeof(pair));
    }

    ptx::wgmma_fence();  // before O
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step) {
      // V is stored key by key: its columns, N of this product, are neighbours.
      const half* const v = &smem.v[stage][0][step * 16 * kSlab];
      ptx::wgmma_m64nNk16_f16_rs<kHeadDim, ptx::Major::kMN>(
          o, p[step], matrix_descriptor(v, sizeof(smem.v[0][0]), 1024, Swizzle::k128B), true);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>(o);
    ptx::mbarrier_arrive(&smem.empty[stage]);
  }

  const float scales[2] = {1 / sum_of_row(softmax.sum[0]), 1 / sum_of_row(softmax.sum[1])};
#pragma unroll
  for (int i = 0; i < kHeadDim / 2; ++i) o[i] *= scales[i / 2 % 2];
  const OutputMatrix matrix = {out + int64_t{head} * length * kHeadDim, length, kHeadDim, kHeadDim};
  store_accumulator(o, matrix, first_query, 0);
}

template <int kHeadDim>
Status run(const AttentionArguments& args, cudaStream_t stream) {
  const half* const inputs[3] = {args.q, args.k, args.v};
  const char* const names[3] = {"Q", "K", "V"};
  CUtensorMap maps[3];
  for (int i = 0; i < 3; ++i) {
    const int64_t row_bytes = kHeadDim * sizeof(half);
    const GlobalTensor tensor = {names[i],
                                 inputs[i],
                                 CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                 3,
                                 {kHeadDim, args.length, args.heads},
                                 {row_bytes, args.length * row_bytes}};
    const Status status = make_tensor_map(&maps[i], tensor, {kSlab, kKeys, 1}, Swizzle::k128B);
    if (!status.ok()) return status;
  }
  const float scale = 1.4426950408889634f / std::sqrt(static_cast<float>(kHeadDim));  // log2(e)
  const Grid grid = {ceil_div(args.length, kQueries), args.heads};
  return launch(attention_kernel<kHeadDim>, grid, kThreads, sizeof(Storage<kHeadDim>), stream,
                maps[0], maps[1], maps[2], args.out, args.length, scale);
}

}  // namespace

Status attention(const AttentionArguments& args, cudaStream_t stream) {
  if (args.head_dim == 64) return run<64>(args, stream);
  if (args.head_dim == 128) return run<128>(args, stream);
  return {ExitCode::kUsage,
          "head_dim is " + std::to_string(args.head_dim) + "; it must be 64 or 128"};
}
