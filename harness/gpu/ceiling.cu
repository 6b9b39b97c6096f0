// The most that the tensor cores can give: WGMMAs on random operands that already lie in shared
// memory, no loads, no stores.
#include <cuda_runtime.h>
#include <harness/gpu/ceiling.h>
#include <launch.h>
#include <matrix_descriptor.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>

namespace harness {

namespace {

constexpr int kWarpgroups = 2;
constexpr int kThreads = kWarpgroups * 128;
constexpr int64_t kOperationsPerStep = int64_t{2} * 64 * 256 * 64;  // of a warp group: 64 along K

struct SharedStorage {
  alignas(1024) half a[kWarpgroups][64 * 64];
  alignas(1024) half b[256 * 64];
};

// Fills shared memory with `a_units` and `b_units` groups of 8 elements, over and over (where they
// lie does not matter, their bits do: they decide how much power a product takes), then multiplies
// `steps` times.
__global__ void __launch_bounds__(kThreads, 1)
    ceiling_kernel(const half* a, unsigned a_units, const half* b, unsigned b_units, int steps,
                   float* never) {
  auto& smem = shared_storage<SharedStorage>();
  const int warpgroup = threadIdx.x / 128;
  const auto fill = [](half* tile, unsigned units, const half* from, unsigned from_units) {
    for (unsigned i = threadIdx.x; i < units; i += kThreads) {
      reinterpret_cast<uint4*>(tile)[i] = reinterpret_cast<const uint4*>(from)[i % from_units];
    }
  };
  fill(smem.a[0], sizeof(smem.a) / 16, a, a_units);
  fill(smem.b, sizeof(smem.b) / 16, b, b_units);
  ptx::fence_proxy_async();  // WGMMA reads what threads wrote
  __syncthreads();
  float acc[128];
  for (int step = 0; step < steps; ++step) {
    ptx::wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < 64; kk += 16) {
      ptx::wgmma_m64n256k16(acc, matrix_descriptor(smem.a[warpgroup], kk),
                            matrix_descriptor(smem.b, kk), step > 0 || kk > 0);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();
  }
  ptx::wgmma_wait_group<0>(acc);
  if (never != nullptr) {  // keeps the products from being optimised away
#pragma unroll
    for (int i = 0; i < 128; ++i) never[threadIdx.x * 128 + i] = acc[i];
  }
}

}  // namespace

Status wgmma_ceiling(const MatmulArguments& args, int sms) {
  const int64_t operations = 2 * args.m * args.n * args.k;
  const int64_t steps = ceil_div(operations, kOperationsPerStep * kWarpgroups * sms);
  // One row of each is enough, and is all that has no gap in it.
  const auto units = static_cast<unsigned>(args.k / 8);
  if (units == 0) return {ExitCode::kUsage, "the ceiling needs rows of at least 8 elements"};
  return launch(ceiling_kernel, {sms, 1}, kThreads, sizeof(SharedStorage), nullptr, args.a, units,
                args.b, units, static_cast<int>(steps), nullptr);
}

}  // namespace harness
