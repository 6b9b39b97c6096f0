// What the harness must know of a version to run it and to speak of its result.
#pragma once

#include <matmul.h>

namespace harness {

// The tile of C that a block computes, and how many warp groups share it from top to bottom: for
// messages that say where a wrong element was computed. 0 × 0 where the host chooses a tile for
// each problem: then they do not say.
struct TileShape {
  int block_m;
  int block_n;
  int warpgroups;
};

inline bool is_chosen_by_host(const TileShape& shape) { return shape.block_m == 0; }

// What a map of wrong elements shows one character for: a tile; where tiles vary, 128 × 128.
inline TileShape areas(const TileShape& shape) {
  return is_chosen_by_host(shape) ? TileShape{128, 128, shape.warpgroups} : shape;
}

struct Version {
  const char* name;
  Status (*matmul)(const MatmulArguments& args, cudaStream_t stream);
  TileShape shape;
  int stages = 1;  // of its ring: K tiles that a block has room for
};

}  // namespace harness
