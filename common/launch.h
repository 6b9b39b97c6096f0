// The launch of a kernel, the same for every version.
#pragma once

#include <cuda_runtime.h>
#include <matmul.h>
#include <status.h>

#include <algorithm>
#include <cstdint>
#include <string>

// The number of blocks in each direction; 64 bits, so that products and large sizes are exact until
// they are checked.
struct Grid {
  int64_t x = 1;
  int64_t y = 1;
  int cluster = 1;  // so many blocks along x run as a cluster
};

// Checks the grid against the hardware's limits.
inline Status check_grid(const Grid& grid) {
  constexpr int64_t kLimitX = 2147483647;
  constexpr int64_t kLimitY = 65535;
  if (grid.x <= kLimitX && grid.y <= kLimitY) return {};
  if (grid.x > kLimitX) {
    return {ExitCode::kUsage, "C: " + std::to_string(grid.x) +
                                  " tiles along the grid's x; a launch takes 2147483647: split the "
                                  "problem"};
  }
  return {ExitCode::kUsage, "C: " + std::to_string(grid.y) +
                                " tile columns (n is too large); a 2-D grid takes 65535: split the "
                                "problem along n, or use a version with a 1-D grid (v4 and later)"};
}

// Lets `kernel` have so many bytes of dynamic shared memory.
template <class... Parameters>
Status reserve_shared_memory(void (*kernel)(Parameters...), size_t bytes) {
  return cuda_status(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(bytes)),
                     "reserving shared memory for the kernel");
}

// Persistent blocks step through the tiles by the width of the grid, in int.
inline Status check_tiles(int64_t tiles) {
  constexpr int64_t kLimit = 2147483647 - 65536;
  if (tiles <= kLimit) return {};
  return {ExitCode::kUsage, "C: " + std::to_string(tiles) + " tiles; these kernels count to " +
                                std::to_string(kLimit) + ": split the problem"};
}

// The fewest workers (blocks, or clusters of them) that need no more rounds for `tiles` tiles than
// `most` workers do: every round but the last is full, and the last nearly so.
inline int64_t even_rounds(int64_t tiles, int64_t most) {
  return ceil_div(tiles, ceil_div(tiles, most));
}

inline cudaLaunchAttribute cluster_attribute(int blocks) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(blocks);
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  return attribute;
}

// Blocks of a persistent kernel for `tiles` tiles, on a chip that runs `most` at a time: even
// rounds, and an even number of blocks where there is room (figures: docs/v6_persistent.md).
inline int64_t persistent_blocks(int64_t tiles, int64_t most) {
  const int64_t blocks = even_rounds(tiles, most);
  return std::min({blocks + blocks % 2, tiles, most});
}

// The same with one block per multiprocessor of the current device; at most `max_blocks` blocks, if
// that is not 0.
inline Status persistent_grid(int64_t tiles, int max_blocks, Grid* grid) {
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  }
  if (error != cudaSuccess) return cuda_status(error, "asking for the number of multiprocessors");
  const Status status = check_tiles(tiles);
  if (!status.ok()) return status;
  grid->x = persistent_blocks(tiles, max_blocks > 0 ? std::min(max_blocks, sms) : sms);
  return {};
}

// The same for a kernel whose blocks run in clusters (grid->cluster blocks each), of which the chip
// holds as many as it says: some multiprocessors may be left over. `tiles` counts what a cluster
// computes at a time.
template <class... Parameters>
Status persistent_cluster_grid(void (*kernel)(Parameters...), int threads, size_t shared_bytes,
                               int64_t tiles, int max_blocks, Grid* grid) {
  Status status = check_tiles(tiles);
  if (!status.ok()) return status;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(grid->cluster));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  cudaLaunchAttribute cluster = cluster_attribute(grid->cluster);
  config.attrs = &cluster;
  config.numAttrs = 1;
  int clusters = 0;
  status = reserve_shared_memory(kernel, shared_bytes);
  if (!status.ok()) return status;
  status = cuda_status(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config),
                       "asking how many clusters fit");
  if (!status.ok()) return status;
  if (max_blocks > 0) clusters = std::min(clusters, std::max(1, max_blocks / grid->cluster));
  if (clusters < 1) return {ExitCode::kNoDevice, "the GPU has no room for a cluster of blocks"};
  grid->x = even_rounds(tiles, clusters) * grid->cluster;
  return {};
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
  return cuda_status(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...),
                     "launching the kernel");
}
