// One warp group multiplies one K tile: a kernel for tests of what the accumulator registers hold.
#pragma once

#include <matrix_descriptor.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <ptx/wgmma_shapes.cuh>

#include <cstring>

namespace kernel_test {

template <int kColumns>
struct Operands {
  alignas(1024) half a[64 * 64];
  alignas(1024) half b[kColumns * 64];
  MBarrier full;
};

// D = A · Bᵀ (64 × kColumns) over one K tile, `laps` times on the same accumulator; the registers
// of every thread go to `out`.
template <int kColumns>
void product_kernel(const CUtensorMap map_a, const CUtensorMap map_b, int laps, float* out) {
  auto& smem = shared_storage<Operands<kColumns>>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, sizeof(smem.a) + sizeof(smem.b));
    ptx::cp_async_bulk_tensor_2d(smem.a, &map_a, 0, 0, &smem.full);
    ptx::cp_async_bulk_tensor_2d(smem.b, &map_b, 0, 0, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  float acc[kColumns / 2];
  ptx::wgmma_fence();
  for (int lap = 0; lap < laps; ++lap) {
    for (int kk = 0; kk < 64; kk += 16) {
      const uint64_t a = matrix_descriptor(smem.a, kk);
      const uint64_t b = matrix_descriptor(smem.b, kk);
      if constexpr (kColumns == 256) {
        ptx::wgmma_m64n256k16(acc, a, b, lap > 0 || kk > 0);
      } else if constexpr (kColumns == 128) {
        ptx::wgmma_m64n128k16(acc, a, b, lap > 0 || kk > 0);
      } else {
        ptx::wgmma_m64nNk16<kColumns>(acc, a, b, lap > 0 || kk > 0);
      }
    }
    ptx::wgmma_commit_group();
    if (lap >= 1) ptx::wgmma_wait_group<1>();
  }
  ptx::wgmma_wait_group<0>(acc);
  std::memcpy(out + threadIdx.x * (kColumns / 2), acc, sizeof(acc));
}

}  // namespace kernel_test
