// One WGMMA, m64n8k16; one thread prints which lane and register of warp 0 holds which element of
// the product. Chapter: docs/v0_from_ampere.md
#include <matrix_descriptor.cuh>
#include <ptx/wgmma.cuh>
#include <ptx/wgmma_shapes.cuh>

#include "hello.h"

struct SharedStorage {
  alignas(1024) half rows[72][64];  // 64 of A, then 8 of B
  MBarrier full;
  int holder[64 * 8];  // of each element of the product: thread · 4 + register
};

__global__ void hello_wgmma(const __grid_constant__ CUtensorMap map) {
  auto& smem = shared_storage<SharedStorage>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, sizeof(smem.rows));
    ptx::cp_async_bulk_tensor_2d(smem.rows, &map, 0, 0, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  float product[4];
  ptx::wgmma_fence();
  ptx::wgmma_m64nNk16<8>(product, matrix_descriptor(smem.rows[0], 0),
                         matrix_descriptor(smem.rows[64], 0), false);
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(product);
  for (int i = 0; i < 4; ++i) smem.holder[static_cast<int>(product[i]) & 511] = threadIdx.x * 4 + i;
  __syncthreads();
  for (int i = 0; threadIdx.x == 0 && i < 16 * 8; ++i) {  // the rows of warp 0
    std::printf(" %2d:%d%s", smem.holder[i] / 4, smem.holder[i] % 4, i % 8 == 7 ? "\n" : "");
  }
}

// Row r of A is (8 r, 1, 0, …), row c of B (1, c, 0, …): element (r, c) of the product is 8 r + c.
int main() {
  return hello<SharedStorage>(hello_wgmma, 128, 72, [](int row, int k) {
    return k == 0 ? (row < 64 ? 8 * row : 1) : k == 1 ? (row < 64 ? 1 : row - 64) : 0;
  });
}
