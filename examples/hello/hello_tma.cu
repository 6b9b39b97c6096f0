// TMA copies a box of 8 rows × 64 columns to shared memory; one thread prints where its chunks of
// 16 bytes lie there. Chapter: docs/v0_from_ampere.md
#include "hello.h"

struct SharedStorage {
  alignas(1024) half box[8][64];
  MBarrier full;  // completes on 1 arrival + the bytes of the box
};

__global__ void hello_tma(const __grid_constant__ CUtensorMap map) {
  auto& smem = shared_storage<SharedStorage>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, sizeof(smem.box));
    ptx::cp_async_bulk_tensor_2d(smem.box, &map, 0, 0, &smem.full);
  }
  __syncthreads();  // the others may use the barrier now
  ptx::mbarrier_wait_parity(&smem.full, 0);  // the box is there
  for (int i = 0; threadIdx.x == 0 && i < 8 * 8; ++i) {
    const int column = static_cast<int>(__half2float(smem.box[i / 8][i % 8 * 8]));
    std::printf("%2d%s", column / 8, i % 8 == 7 ? "\n" : "");
  }
}

// Each element holds its column.
int main() {
  return hello<SharedStorage>(hello_tma, 32, 8, [](int, int column) { return column; });
}
