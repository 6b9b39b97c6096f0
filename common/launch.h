// The launch of a kernel, the same for every version.
#pragma once

#include <cuda_runtime.h>
#include <cuda_status.h>
#include <status.h>

#include <cstdint>
#include <string>

// The number of blocks in each direction; 64 bits, so that products and large sizes are exact until
// they are checked.
struct Grid {
  int64_t x = 1;
  int64_t y = 1;
  int cluster = 1;  // so many blocks along x run as a cluster
  int64_t tiles_per_block = 1;  // the most that one block computes: for reports, not for the launch
};

// The hardware's limits.
constexpr int64_t kMaxGridX = 2147483647;
constexpr int64_t kMaxGridY = 65535;

inline Status check_grid(const Grid& grid) {
  if (grid.x > kMaxGridX) {
    return {ExitCode::kUsage, "C: " + std::to_string(grid.x) +
                                  " tiles along the grid's x; a launch takes " +
                                  std::to_string(kMaxGridX) + ": split the problem"};
  }
  if (grid.y > kMaxGridY) {
    return {ExitCode::kUsage,
            "C: " + std::to_string(grid.y) + " tile columns (n is too large); a 2-D grid takes " +
                std::to_string(kMaxGridY) +
                ": split the problem along n, or use a version with a 1-D grid (v4 and later)"};
  }
  return {};
}

// The grid that launch() has last used in the calling thread; none of it (0 × 0) before. Whoever
// reports on a run reads it, and may reset it before: a kernel's matmul() need not hand it out.
inline Grid& latest_grid() {
  thread_local Grid grid{0, 0};
  return grid;
}

// Lets `kernel` have so many bytes of dynamic shared memory.
template <class... Parameters>
Status reserve_shared_memory(void (*kernel)(Parameters...), size_t bytes) {
  return cuda_status(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(bytes)),
                     "reserving shared memory for the kernel");
}

inline cudaLaunchAttribute cluster_attribute(int blocks) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(blocks);
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  return attribute;
}

// Launches `kernel` with `shared_bytes` of dynamic shared memory. Asynchronous; the status tells
// whether the launch was accepted.
template <class... Parameters, class... Arguments>
Status launch(void (*kernel)(Parameters...), Grid grid, int threads, size_t shared_bytes,
              cudaStream_t stream, Arguments... arguments) {
  Status status = check_grid(grid);
  if (!status.ok()) return status;
  status = reserve_shared_memory(kernel, shared_bytes);
  if (!status.ok()) return status;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute cluster = cluster_attribute(grid.cluster);
  config.attrs = &cluster;
  config.numAttrs = grid.cluster > 1 ? 1 : 0;
  latest_grid() = grid;
  return cuda_status(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...),
                     "launching the kernel");
}
