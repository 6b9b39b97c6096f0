// What explain says, against statements that do not come from the functions that it asks: formulas
// of the documentation, and what an H200 did (tests/golden).
#include <gtest/gtest.h>
#include <stage_fragment.cuh>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "../../explain/kernels.h"
#include "../../explain/topics.h"
#include "../golden/golden.h"

namespace {

using explain::Question;

std::vector<uint16_t> recorded(const std::string& file) {
  std::vector<uint16_t> values = golden::read(std::string(GOLDEN_FOLDER) + "/" + file);
  EXPECT_FALSE(values.empty()) << file;
  return values;
}

// --- swizzle ---

TEST(ExplainSwizzle, AChunkLiesAtItsNumberXorTheRow) {
  for (int row = 0; row < 64; ++row) {
    for (int k = 0; k < 64; ++k) {
      const uint32_t place = static_cast<uint32_t>((k / 8) ^ (row % 8));
      EXPECT_EQ(explain::element_byte(row, k, true), row * 128 + place * 16 + k % 8 * 2);
      EXPECT_EQ(explain::element_byte(row, k, false), static_cast<uint32_t>(row * 128 + k * 2));
    }
  }
}

TEST(ExplainSwizzle, AsStagedByThreads) {
  alignas(1024) static half tile[64 * 64];
  for (int row = 0; row < 64; ++row) {
    for (int k = 0; k < 64; ++k) {
      EXPECT_EQ(explain::element_byte(row, k, true),
                static_cast<uint32_t>((swizzled(tile, row, k) - tile) * 2));
    }
  }
}

TEST(ExplainSwizzle, AsAnH200LoadsABox) {
  const std::vector<uint16_t> box = recorded(golden::tma_file(golden::kBoxes[0]));
  for (int row = 0; row < 64; ++row) {
    for (int k = 0; k < 64; ++k) {
      EXPECT_EQ(box.at(explain::element_byte(row, k, true) / 2), golden::tma_element(row, k));
    }
  }
}

TEST(ExplainSwizzle, EightWaysWithoutItAndOneWithIt) {
  for (int chunk = 0; chunk < 8; ++chunk) {
    for (const int first_row : {0, 8, 56}) {
      EXPECT_EQ(explain::conflicts(first_row, chunk, true), 1);
      EXPECT_EQ(explain::conflicts(first_row, chunk, false), 8);
    }
  }
}

// --- descriptor ---

TEST(ExplainDescriptor, FieldsCoverAllBitsOnce) {
  int next = 0;
  for (const explain::Field& field : explain::descriptor_fields()) {
    EXPECT_EQ(field.first, next);
    next = field.last + 1;
  }
  EXPECT_EQ(next, 64);
}

TEST(ExplainDescriptor, OnlyTheStartDiffers) {
  ASSERT_EQ(explain::operands().size(), 3u + 3 * 3);
  for (const explain::Operand& operand : explain::operands()) {
    EXPECT_EQ(operand.address % 1024, 0u) << operand.name;
    for (int kk = 0; kk < 64; kk += 16) {
      const uint64_t bits = explain::descriptor_of(operand, kk);
      EXPECT_EQ(bits & 0x3fff, (operand.address + kk * 2) / 16) << operand.name;
      EXPECT_EQ(bits & ~uint64_t{0x3fff}, 0x4000004000010000u) << operand.name;
    }
  }
}

TEST(ExplainDescriptor, TilesOfAStageDoNotOverlap) {
  std::vector<explain::Operand> all = explain::operands();
  all.erase(all.begin(), all.begin() + 3);  // v1's
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  for (size_t i = 1; i < all.size(); ++i) {
    EXPECT_EQ(all[i].address, all[i - 1].address + all[i - 1].rows * 128) << all[i].name;
  }
}

// --- fragment ---

TEST(ExplainFragment, TheFormulaOfTheDocumentation) {
  for (const int columns : {128, 176, 184, 200, 256}) {
    const std::vector<explain::Holder> holders = explain::holders(columns);
    ASSERT_EQ(holders.size(), static_cast<size_t>(64 * columns));
    for (int row = 0; row < 64; ++row) {
      for (int column = 0; column < columns; ++column) {
        const explain::Holder& holder = holders[row * columns + column];
        EXPECT_EQ(holder.thread, row / 16 * 32 + row % 8 * 4 + column % 8 / 2);
        EXPECT_EQ(holder.reg, column / 8 * 4 + row / 8 % 2 * 2 + column % 2);
      }
    }
  }
}

TEST(ExplainFragment, AsOnAnH200) {
  for (const int columns : {128, 256}) {
    const std::vector<uint16_t> registers =
        recorded(golden::wgmma_file(columns, golden::Product::kPosition));
    const std::vector<explain::Holder> holders = explain::holders(columns);
    for (int i = 0; i < 64 * columns; ++i) {
      const explain::Holder& holder = holders[i];
      EXPECT_EQ(registers.at(holder.thread * (columns / 2) + holder.reg),
                256 * (i / columns) + i % columns);
    }
  }
}

TEST(ExplainFragment, StagedAsTmaReadsIt) {
  const std::vector<explain::Holder> holders = explain::holders(128);
  const std::vector<int> bytes = explain::staged_bytes();
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 64; ++column) {
      const explain::Holder& holder = holders[row * 128 + column];
      EXPECT_EQ(bytes[holder.thread * 32 + holder.reg],
                row * 128 + ((column / 8) ^ (row % 8)) * 16 + column % 8 * 2);
    }
  }
}

TEST(ExplainFragment, EachLaneNamesOneAddressOfEachStmatrix) {
  const std::vector<int> lanes = explain::address_lanes();
  for (int row = 0; row < 64; ++row) {
    for (int chunk = 0; chunk < 8; ++chunk) {  // chunk / 2: which of the four stmatrix
      const int lane = lanes[row * 8 + (chunk ^ (row % 8))];
      EXPECT_EQ(lane, row % 16 + chunk % 2 * 16) << "row " << row << ", chunk " << chunk;
    }
  }
}

// --- phases ---

TEST(ExplainPhases, StatesObeyTheRules) {
  for (const explain::BarrierModel& model : explain::barrier_models()) {
    ASSERT_FALSE(model.states.empty());
    EXPECT_EQ(model.states[0].phase, 0u);
    EXPECT_EQ(model.states[0].pending_arrivals, model.count);
    for (const explain::BarrierState& state : model.states) {
      EXPECT_NE(state.passes[state.phase], state.passes[1 - state.phase]) << model.name;
      EXPECT_FALSE(state.passes[state.phase]) << "a wait for the current phase's parity waits";
      EXPECT_FALSE(state.pending_arrivals == 0 && state.pending_bytes == 0) << "it would be over";
      ASSERT_EQ(state.edges.size(), model.actions.size());
      for (size_t i = 0; i < state.edges.size(); ++i) {
        const explain::Action& action = model.actions[i];
        const auto& edge = state.edges[i];
        EXPECT_EQ(edge.to < 0, !edge.refused.empty());
        EXPECT_TRUE(edge.to < 0 || action.arrivals <= state.pending_arrivals) << model.name;
        if (edge.to < 0) continue;
        const explain::BarrierState& after = model.states[edge.to];
        const int arrivals = state.pending_arrivals - action.arrivals;
        const int64_t bytes = state.pending_bytes + action.announced - action.landing;
        EXPECT_EQ(edge.completes, arrivals == 0 && bytes == 0) << model.name;
        EXPECT_EQ(after.phase, edge.completes ? 1 - state.phase : state.phase);
        EXPECT_EQ(after.pending_arrivals, edge.completes ? model.count : arrivals);
        EXPECT_EQ(after.pending_bytes, edge.completes ? 0 : bytes);
      }
    }
  }
}

TEST(ExplainPhases, SecondArrivalsAndUnannouncedBytesAreRefused) {
  const explain::BarrierModel& full = explain::barrier_models()[0];
  const int announced = full.states[0].edges[0].to;
  EXPECT_NE(full.states[announced].edges[0].refused.find("The emulator refuses"),
            std::string::npos);
  const int landed = full.states[0].edges[1].to;
  ASSERT_GE(landed, 0) << "bytes may land before they are announced";
  EXPECT_NE(full.states[landed].edges[2].refused.find("16384"), std::string::npos)
      << full.states[landed].edges[2].refused;
}

// --- raster ---

explain::Walk walk_of(const std::string& version, const Question& question) {
  explain::Walk walk;
  const Status status = explain::walk_of(version, question, &walk);
  EXPECT_TRUE(status.ok()) << status.message();
  return walk;
}

TEST(ExplainRaster, EveryTileOnceInEveryOrder) {
  for (const std::string& version : explain::version_names()) {
    for (const auto& [m, n] : {std::pair<int, int>{1, 1}, {1000, 3000}, {3333, 1111}}) {
      const explain::Walk walk = walk_of(version, {0, 0, m, n, 16});
      std::set<std::pair<int, int>> seen;
      for (const TileCoordinates& tile : walk.order) seen.insert({tile.m_block, tile.n_block});
      EXPECT_EQ(seen.size(), walk.order.size()) << version;
      EXPECT_EQ(walk.tiles_m, (m + walk.block_m - 1) / walk.block_m);
      int tiles = 0;
      for (const explain::Wave& wave : explain::waves(walk)) tiles += wave.tiles;
      EXPECT_EQ(tiles, walk.tiles_m * walk.tiles_n) << version;
    }
  }
}

TEST(ExplainRaster, WhatTheChaptersSayOf8192) {
  const Question question;
  const auto first = [&](const char* version) {
    const explain::Wave wave = explain::waves(walk_of(version, question)).front();
    return std::vector<int>{wave.tiles, wave.strips_a, wave.strips_b};
  };
  EXPECT_EQ(first("v1"), (std::vector<int>{396, 64, 7}));
  EXPECT_EQ(first("v4"), (std::vector<int>{132, 33, 4}));
  EXPECT_EQ(first("v6"), (std::vector<int>{128, 8, 16})) << "128 blocks, 16 rounds for 2048 tiles";
  EXPECT_EQ(first("v7"), (std::vector<int>{128, 16, 8}));
  const explain::Walk v8 = walk_of("v8", question);
  EXPECT_EQ(v8.block_m, 256);
  EXPECT_EQ(v8.block_n, 200);
  EXPECT_EQ(explain::waves(v8).size(), 10u);
}

TEST(ExplainRaster, NoSuchVersion) {
  explain::Walk walk;
  EXPECT_EQ(explain::walk_of("v99", {}, &walk).code(), ExitCode::kUsage);
}

// --- budget ---

TEST(ExplainBudget, WhatTheKernelsSayOfThemselves) {
  const auto of = [](const std::string& version) {
    for (const explain::VersionTile& each : explain::version_tiles()) {
      if (each.version == version) return each.tile;
    }
    ADD_FAILURE() << version;
    return explain::Tile{};
  };
  const explain::Budget v1 = explain::budget_of(of("v1_simple"));
  EXPECT_EQ(v1.accumulators, 128);
  EXPECT_EQ(v1.blocks, 3) << "3 * 128 * 160 registers are 61440 of 65536";
  const explain::Budget v2 = explain::budget_of(of("v2_pipelined"));
  EXPECT_EQ(v2.blocks, 2);
  EXPECT_STREQ(v2.limit, "shared memory") << "three stages of 32 KiB leave room for no third";
  const explain::Budget v3 = explain::budget_of(of("v3_warp_specialized"));
  EXPECT_EQ(v3.blocks, 2);
  EXPECT_STREQ(v3.limit, "registers") << "their registers leave room for no third";
  EXPECT_EQ(explain::budget_of(of("v6_persistent")).registers, 168);
  EXPECT_EQ(explain::budget_of(of("v8_fitted_tiles")).registers, 240);
  EXPECT_EQ(of("v4_two_consumers").shared_bytes, 3 * 48 * 1024 + 1024) << "rounded to 1024";
}

TEST(ExplainBudget, NumbersFromThePeak) {
  explain::Tile tile;
  tile.block_n = 256;
  tile.consumers = 2;
  tile.threads = 288;
  const explain::Budget budget = explain::budget_of(tile);
  EXPECT_EQ(budget.cycles, 1024);
  EXPECT_NEAR(budget.fma_per_byte, 42.67, 0.01);
  EXPECT_NEAR(budget.l2_bytes_per_cycle, 48, 1e-9);
  EXPECT_NEAR(budget.shared_bytes_per_cycle, 80, 1e-9) << "10 KiB in 128 cycles";
  tile.cluster = 2;
  EXPECT_NEAR(explain::budget_of(tile).fma_per_byte, 64, 1e-9);
  tile.block_n = 64;
  EXPECT_NEAR(explain::budget_of(tile).shared_bytes_per_cycle, 128, 1e-9) << "all there is";
}

TEST(ExplainBudget, ATileTooLargeFitsNowhere) {
  explain::Tile tile;
  tile.block_m = tile.block_n = 256;
  tile.threads = 128 + 32;
  EXPECT_EQ(explain::budget_of(tile).accumulators, 512);
  EXPECT_EQ(explain::budget_of(tile).blocks, 0);
  tile.block_m = 64;
  tile.shared_bytes = 227 * 1024 + 1;
  EXPECT_EQ(explain::budget_of(tile).blocks_by_shared, 0);
}

}  // namespace
