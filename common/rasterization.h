// What a grid of tiles needs for being walked in groups; the order itself is the kernel's decision
// (tile_coordinates): v4 and v5 group columns of tiles, later versions rows.
#pragma once

#include <fast_divmod.h>
#include <launch.h>

#include <cstdint>

struct TileCoordinates {
  int m_block;
  int n_block;
};

// A grid of `along` × `across` tiles, cut across into groups of `group_width`; the last group may
// be narrower. Made on the host, passed to the kernel by value.
struct Rasterization {
  int along;
  int across;
  int group_width;
  FastDivmod tiles_per_group;
  FastDivmod last_group_width;

  Rasterization(int64_t along, int64_t across, int group_width)
      : along(static_cast<int>(along)),
        across(static_cast<int>(across)),
        group_width(group_width),
        tiles_per_group(static_cast<int>(along * group_width)),
        last_group_width(static_cast<int>((across - 1) % group_width + 1)) {}

  __host__ __device__ int64_t tiles() const { return int64_t{along} * across; }

  // For kernels with one block a tile: numbered through, or the plain 2-D grid where groups are one
  // tile wide.
  Grid grid() const { return group_width == 1 ? Grid{along, across} : Grid{tiles(), 1}; }
};
