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

namespace harness {

struct Version {
  const char* name;
  Status (*matmul)(const MatmulArguments& args, cudaStream_t stream);
};

// In ladder order. Whoever uses it links every version.
inline const std::array<Version, 5>& versions() {
  static const std::array<Version, 5> all = {{
      {"v1_simple", v1_simple::matmul},
      {"v2_pipelined", v2_pipelined::matmul},
      {"v3_warp_specialized", v3_warp_specialized::matmul},
      {"v4_two_consumers", v4_two_consumers::matmul},
      {"v5_async_mma", v5_async_mma::matmul},
  }};
  return all;
}

// kBlockM, kBlockN and the number of consumer warp groups of a version, for messages that say where
// a wrong element was computed.
struct TileShape {
  int block_m;
  int block_n;
  int warpgroups;
};

inline TileShape tile_shape(const std::string& version) {
  const bool small = version[0] == 'v' && version[1] <= '3' && version[2] == '_';
  return small ? TileShape{128, 128, 1} : TileShape{128, 256, 2};
}

}  // namespace harness
