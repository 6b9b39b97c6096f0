// The grids of persistent kernels (v6 and later): how many blocks, or clusters of them, stay for
// all the tiles. Before v6 every tile has a block of its own; then common/launch.h is all one
// needs.
#pragma once

#include <ceil_div.h>
#include <cuda_runtime.h>
#include <cuda_status.h>
#include <launch.h>
#include <status.h>

#include <algorithm>
#include <cstdint>
#include <string>

// Persistent blocks step through the tiles by the width of the grid, in int.
inline Status check_tiles(int64_t tiles) {
  constexpr int64_t kLimit = kMaxGridX - 65536;
  if (tiles <= kLimit) return {};
  return {ExitCode::kUsage, "C: " + std::to_string(tiles) + " tiles; these kernels count to " +
                                std::to_string(kLimit) + ": split the problem"};
}

// The fewest workers (blocks, or clusters of them) that need no more rounds for `tiles` tiles than
// `most` workers do: every round but the last is full, and the last nearly so.
inline int64_t even_rounds(int64_t tiles, int64_t most) {
  return ceil_div(tiles, ceil_div(tiles, most));
}

// Of the current device.
inline Status multiprocessors(int* count) {
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(count, cudaDevAttrMultiProcessorCount, device);
  }
  return cuda_status(error, "asking how many multiprocessors the device has");
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
  int sms = 0;
  Status status = multiprocessors(&sms);
  if (status.ok()) status = check_tiles(tiles);
  if (!status.ok()) return status;
  grid->x = persistent_blocks(tiles, max_blocks > 0 ? std::min(max_blocks, sms) : sms);
  grid->tiles_per_block = ceil_div(tiles, grid->x);
  return {};
}

// About how many clusters of so many blocks run at a time, for choosing a tile before there is a
// kernel to ask for: one block per multiprocessor, at most `max_blocks` blocks if that is not 0.
inline Status resident_clusters(int cluster_blocks, int max_blocks, int* clusters) {
  int sms = 0;
  const Status status = multiprocessors(&sms);
  if (!status.ok()) return status;
  *clusters = std::max(1, (max_blocks > 0 ? std::min(max_blocks, sms) : sms) / cluster_blocks);
  return {};
}

// The same for a kernel whose blocks run in clusters (grid->cluster blocks each), of which the chip
// holds as many as it says: some multiprocessors may be left over. `tiles` counts what a cluster
// computes at a time; clusters may also share a tile, which has so many `parts`.
template <class... Parameters>
Status persistent_cluster_grid(void (*kernel)(Parameters...), int threads, size_t shared_bytes,
                               int64_t tiles, int max_blocks, Grid* grid, int64_t parts = 1) {
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
  grid->x = even_rounds(tiles * parts, clusters) * grid->cluster;
  grid->tiles_per_block = ceil_div(tiles, clusters);
  return {};
}
