// Our wrappers beside cuda::ptx's, for those instructions that both have: cuda_ptx_names.py
// compares the PTX of ours_… with that of theirs_…. The names are the same but for cuda::ptx's tag
// arguments.
#include <cuda/ptx>
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>

#define KERNEL extern "C" __global__ void

__device__ uint64_t* theirs(MBarrier* barrier) { return &barrier->opaque; }

KERNEL ours_mbarrier_init() {
  __shared__ MBarrier barrier;
  ptx::mbarrier_init(&barrier, 5);
}
KERNEL theirs_mbarrier_init() {
  __shared__ MBarrier barrier;
  cuda::ptx::mbarrier_init(theirs(&barrier), 5);
}

KERNEL ours_fence_mbarrier_init() { ptx::fence_mbarrier_init(); }
KERNEL theirs_fence_mbarrier_init() {
  cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
}

KERNEL ours_mbarrier_arrive() {
  __shared__ MBarrier barrier;
  ptx::mbarrier_arrive(&barrier);
}
KERNEL theirs_mbarrier_arrive() {
  __shared__ MBarrier barrier;
  cuda::ptx::mbarrier_arrive(theirs(&barrier));
}

KERNEL ours_mbarrier_arrive_expect_tx() {
  __shared__ MBarrier barrier;
  ptx::mbarrier_arrive_expect_tx(&barrier, 4096);
}
KERNEL theirs_mbarrier_arrive_expect_tx() {
  __shared__ MBarrier barrier;
  cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                       cuda::ptx::space_shared, theirs(&barrier), 4096);
}

KERNEL ours_mbarrier_try_wait_parity(int* done) {
  __shared__ MBarrier barrier;
  *done = ptx::mbarrier_try_wait_parity(&barrier, 1);
}
KERNEL theirs_mbarrier_try_wait_parity(int* done) {
  __shared__ MBarrier barrier;
  *done = cuda::ptx::mbarrier_try_wait_parity(theirs(&barrier), 1);
}

KERNEL ours_cp_async_bulk_tensor_2d(const __grid_constant__ CUtensorMap map, int x, int y) {
  __shared__ MBarrier barrier;
  __shared__ alignas(1024) char box[1024];
  ptx::cp_async_bulk_tensor_2d(box, &map, x, y, &barrier);
}
KERNEL theirs_cp_async_bulk_tensor_2d(const __grid_constant__ CUtensorMap map, int x, int y) {
  __shared__ MBarrier barrier;
  __shared__ alignas(1024) char box[1024];
  const int coordinates[2] = {x, y};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, box, &map,
                                  coordinates, theirs(&barrier));
}

KERNEL ours_barrier_cluster_arrive() { ptx::barrier_cluster_arrive(); }
KERNEL theirs_barrier_cluster_arrive() {
  cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_release);
}

KERNEL ours_barrier_cluster_wait() { ptx::barrier_cluster_wait(); }
KERNEL theirs_barrier_cluster_wait() { cuda::ptx::barrier_cluster_wait(cuda::ptx::sem_acquire); }
