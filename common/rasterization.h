// What a grid of tiles needs for being walked in groups of columns; the order itself is the
// kernel's decision (tile_coordinates).
#pragma once

#include <fast_divmod.h>
#include <launch.h>

#include <cstdint>

struct TileCoordinates {
  int m_block;
  int n_block;
};

// Made on the host, passed to the kernel by value.
struct Rasterization {
  int m_tiles;
  int n_tiles;
  int group_width;  // in tile columns
  FastDivmod tiles_per_group;
  FastDivmod last_group_width;

  Rasterization(int64_t m_tiles, int64_t n_tiles, int group_width)
      : m_tiles(static_cast<int>(m_tiles)),
        n_tiles(static_cast<int>(n_tiles)),
        group_width(group_width),
        tiles_per_group(static_cast<int>(m_tiles * group_width)),
        last_group_width(static_cast<int>((n_tiles - 1) % group_width + 1)) {}

  // One block a tile: numbered through, or the plain 2-D grid where groups are one column wide.
  Grid grid() const {
    return group_width == 1 ? Grid{m_tiles, n_tiles} : Grid{int64_t{m_tiles} * n_tiles, 1};
  }
};
