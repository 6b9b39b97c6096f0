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

namespace harness {

struct Version {
  const char* name;
  Status (*matmul)(const MatmulArguments& args, cudaStream_t stream);
};

// In ladder order. Whoever uses it links every version.
inline const std::array<Version, 3>& versions() {
  static const std::array<Version, 3> all = {{
      {"v1_simple", v1_simple::matmul},
      {"v2_pipelined", v2_pipelined::matmul},
      {"v3_warp_specialized", v3_warp_specialized::matmul},
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

inline TileShape tile_shape(const std::string&) { return {128, 128, 1}; }

}  // namespace harness
