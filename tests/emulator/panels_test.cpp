// The order in which persistent versions walk the tiles: every tile once. The kernels' own text is
// compiled in, hence a program of its own.
#include <gtest/gtest.h>

#include <vector>

#include "../../v6_persistent/kernel.cu"
#include "../../v7_cluster_multicast/kernel.cu"
#include "../../v8_fitted_tiles/kernel.cu"

namespace {

TEST(TileCoordinates, ABijectionInPanelsOfRowsToo) {
  const auto expect = [](auto coordinates, int height, int m_tiles, int n_tiles) {
    const Rasterization raster(n_tiles, m_tiles, height);
    std::vector<bool> seen(m_tiles * n_tiles);
    for (int tile = 0; tile < raster.tiles(); ++tile) {
      const auto [m_block, n_block] = coordinates(tile, raster);
      ASSERT_TRUE(m_block >= 0 && m_block < m_tiles && n_block >= 0 && n_block < n_tiles);
      ASSERT_FALSE(seen[m_block * n_tiles + n_block]);
      seen[m_block * n_tiles + n_block] = true;
    }
  };
  for (int m_tiles = 1; m_tiles <= 40; ++m_tiles) {
    for (int n_tiles = 1; n_tiles <= 40; ++n_tiles) {
      expect(v6_persistent::tile_coordinates<1>, 1, m_tiles, n_tiles);
      expect(v6_persistent::tile_coordinates<3>, 3, m_tiles, n_tiles);
      expect(v6_persistent::tile_coordinates<16>, 16, m_tiles, n_tiles);
      expect(v7_cluster_multicast::tile_coordinates<8>, 8, m_tiles, n_tiles);
      expect(v8_fitted_tiles::tile_coordinates<4>, 4, m_tiles, n_tiles);
    }
  }
}

}  // namespace
