// The ladder: every version, in order, with the tile of C that a block of it computes.
#pragma once

#include <harness/version.h>
#include <matmul.h>

#include <array>

// Name, kBlockM, kBlockN (0, 0: the host chooses), consumer warp groups, kStages (the most); a gate
// holds the numbers against kernel.cu.
#define FOR_EACH_VERSION(VERSION)               \
  VERSION(v1_simple, 128, 128, 1, 1)            \
  VERSION(v2_pipelined, 128, 128, 1, 3)         \
  VERSION(v3_warp_specialized, 128, 128, 1, 2)  \
  VERSION(v4_two_consumers, 128, 256, 2, 3)     \
  VERSION(v5_async_mma, 128, 256, 2, 4)         \
  VERSION(v6_persistent, 128, 256, 2, 4)        \
  VERSION(v7_cluster_multicast, 128, 256, 2, 4) \
  VERSION(v8_fitted_tiles, 0, 0, 2, 4)          \
  VERSION(v9_aligned_blocks, 0, 0, 2, 4)        \
  VERSION(v10_stream_k, 0, 0, 2, 9)

// Each version's kernel.cu defines matmul() in its namespace.
#define DECLARE_VERSION(name, block_m, block_n, warpgroups, stages)             \
  namespace name {                                                              \
  Status matmul(const MatmulArguments& args, cudaStream_t stream);              \
  inline constexpr harness::TileShape kTileShape{block_m, block_n, warpgroups}; \
  }
FOR_EACH_VERSION(DECLARE_VERSION)
#undef DECLARE_VERSION

namespace harness {

#define COUNT_VERSION(name, block_m, block_n, warpgroups, stages) +1
constexpr int kVersions = FOR_EACH_VERSION(COUNT_VERSION);
#undef COUNT_VERSION

// In ladder order. Whoever calls it links every version.
inline const std::array<Version, kVersions>& versions() {
#define LIST_VERSION(name, block_m, block_n, warpgroups, stages) \
  {#name, name::matmul, name::kTileShape, stages},
  static const std::array<Version, kVersions> all = {{FOR_EACH_VERSION(LIST_VERSION)}};
#undef LIST_VERSION
  return all;
}

}  // namespace harness
