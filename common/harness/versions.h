// The versions of the ladder: their names, and the tiles of C that their blocks compute.
#pragma once

#include <matmul.h>

#include <array>
#include <string>

// Each version's kernel.cu defines this function in its namespace.
namespace v1_simple {
Status matmul(const MatmulArguments& args, cudaStream_t stream);
}
namespace v2_pipelined {
Status matmul(const MatmulArguments& args, cudaStream_t stream);
}
namespace v3_warp_specialized {
Status matmul(const MatmulArguments& args, cudaStream_t stream);
}

namespace v4_two_consumers {
Status matmul(const MatmulArguments& args, cudaStream_t stream);
}
namespace v5_async_mma {
Status matmul(const MatmulArguments& args, cudaStream_t stream);
}
namespace v6_persistent {
Status matmul(const MatmulArguments& args, cudaStream_t stream);
}
namespace v7_cluster_multicast {
Status matmul(const MatmulArguments& args, cudaStream_t stream);
}

namespace harness {

struct Version {
  const char* name;
  Status (*matmul)(const MatmulArguments& args, cudaStream_t stream);
};

// In ladder order. Whoever uses it links every version.
inline const std::array<Version, 7>& versions() {
  static const std::array<Version, 7> all = {{
      {"v1_simple", v1_simple::matmul},
      {"v2_pipelined", v2_pipelined::matmul},
      {"v3_warp_specialized", v3_warp_specialized::matmul},
      {"v4_two_consumers", v4_two_consumers::matmul},
      {"v5_async_mma", v5_async_mma::matmul},
      {"v6_persistent", v6_persistent::matmul},
      {"v7_cluster_multicast", v7_cluster_multicast::matmul},
  }};
  return all;
}

// kBlockM, kBlockN and the number of consumer warp groups of a version, for messages that say where
// a wrong element was computed. (A gate holds them against kernel.cu.)
struct TileShape {
  int block_m;
  int block_n;
  int warpgroups;
};

inline TileShape tile_shape(const std::string& version) {
  constexpr TileShape kOneConsumer{128, 128, 1};
  constexpr TileShape kTwoConsumers{128, 256, 2};
  for (const char* early : {"v1_", "v2_", "v3_"}) {
    if (version.rfind(early, 0) == 0) return kOneConsumer;
  }
  return kTwoConsumers;
}

}  // namespace harness
