// What the harness must know of a version to run it and to speak of its result.
#pragma once

#include <matmul.h>

namespace harness {

// The tile of C that a block computes, and how many warp groups share it from top to bottom: for
// messages that say where a wrong element was computed.
struct TileShape {
  int block_m;
  int block_n;
  int warpgroups;
};

struct Version {
  const char* name;
  Status (*matmul)(const MatmulArguments& args, cudaStream_t stream);
  TileShape shape;
  int stages = 1;  // of its ring: K tiles that a block has room for
};

}  // namespace harness
