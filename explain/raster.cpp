// The order in which tiles of C are taken, and what the blocks that run together read.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "kernels.h"
#include "topics.h"

namespace explain {

std::vector<Wave> waves(const Walk& walk) {
  std::vector<Wave> result;
  const auto total = static_cast<int64_t>(walk.order.size());
  for (int64_t begin = 0; begin < total; begin += walk.together) {
    std::set<int> rows, columns;
    Wave wave;
    for (int64_t i = begin; i < std::min(begin + walk.together, total); ++i) {
      const TileCoordinates& tile = walk.order[static_cast<size_t>(i)];
      if (tile.m_block >= walk.tiles_m) continue;  // the second of a pair, beyond the last row
      rows.insert(tile.m_block);
      columns.insert(tile.n_block);
      ++wave.tiles;
    }
    wave.strips_a = static_cast<int>(rows.size());
    wave.strips_b = static_cast<int>(columns.size());
    result.push_back(wave);
  }
  return result;
}

namespace {

// KiB of A and B of one K tile (64 columns of fp16) that the wave needs, each strip once.
int64_t needed_kib(const Walk& walk, const Wave& wave) {
  return (int64_t{wave.strips_a} * walk.block_m + int64_t{wave.strips_b} * walk.block_n) *
         kRowBytes / 1024;
}

// The same as its blocks ask for it; blocks of a cluster share the tile of B.
int64_t asked_kib(const Walk& walk, const Wave& wave) {
  return wave.tiles * (int64_t{walk.block_m} + walk.block_n / walk.cluster) * kRowBytes / 1024;
}

Walk must_walk(const std::string& version, const Question& question) {
  Walk walk;
  const Status status = walk_of(version, question, &walk);
  if (!status.ok()) throw std::runtime_error(version + ": " + status.message());
  return walk;
}

std::string order_name(const Walk& walk, const std::string& version) {
  if (walk.group == 1) return "down, column by column";
  const bool columns = version.rfind("v4", 0) == 0 || version.rfind("v5", 0) == 0;
  return format("%s of %d%s", columns ? "groups" : "panels", walk.group,
                walk.cluster > 1 ? " pairs" : "");
}

}  // namespace

std::string raster_text(const Question& question) {
  std::string text = format(
      "C = %lld x %lld on %d SMs. A strip is a tile's rows of A, or of B; each wave of blocks "
      "needs\n"
      "its strips once, whatever its blocks ask L2 for. KiB: of one K tile, the first wave.\n\n",
      static_cast<long long>(question.m), static_cast<long long>(question.n), question.sms);
  text +=
      "version               tile     order                    blocks waves  A + B strips  "
      "needed  asked\n";
  for (const std::string& version : version_names()) {
    const Walk walk = must_walk(version, question);
    const std::vector<Wave> all = waves(walk);
    const Wave& first = all.front();
    text += format("%-21s %-8s %-24s %6lld %5zu %13s %7lld %6lld\n", version.c_str(),
                   format("%dx%d", walk.block_m, walk.block_n).c_str(),
                   order_name(walk, version).c_str(), static_cast<long long>(walk.together),
                   all.size(), format("%d + %d", first.strips_a, first.strips_b).c_str(),
                   static_cast<long long>(needed_kib(walk, first)),
                   static_cast<long long>(asked_kib(walk, first)));
  }
  text +=
      "\nblocks: that run at a time. A wave is what they compute before the next tile, as if all "
      "took\nequally long.\n";
  // The upper left corner of the panels of the last version that has them, to be seen.
  const Question small{0, 0, 2048, 2048, 16};
  const Walk walk = must_walk("v6", small);
  text +=
      "\nFor example v6 on 2048 x 2048 with 16 SMs, the wave in which each tile of C is "
      "computed:\n";
  std::vector<int> wave_of(static_cast<size_t>(walk.tiles_m * walk.tiles_n));
  for (size_t i = 0; i < walk.order.size(); ++i) {
    const TileCoordinates& tile = walk.order[i];
    wave_of[static_cast<size_t>(tile.m_block * walk.tiles_n + tile.n_block)] =
        static_cast<int>(i / static_cast<size_t>(walk.together)) + 1;
  }
  for (int64_t row = 0; row < walk.tiles_m; ++row) {
    text += "  ";
    for (int64_t column = 0; column < walk.tiles_n; ++column) {
      text += format("%3d", wave_of[static_cast<size_t>(row * walk.tiles_n + column)]);
    }
    text += "\n";
  }
  text += "Another problem: --m M --n N --sms S.\n";
  return text;
}

namespace {

// FNV-1a, 32 bits, over the coordinates in order: for comparing an order with another program's.
uint32_t digest(const Walk& walk) {
  uint32_t hash = 2166136261u;
  const auto add = [&](int value) { hash = (hash ^ static_cast<uint32_t>(value)) * 16777619u; };
  for (const TileCoordinates& tile : walk.order) {
    add(tile.m_block);
    add(tile.n_block);
  }
  return hash;
}

nlohmann::json walk_data(const std::string& version, const Question& question) {
  const Walk walk = must_walk(version, question);
  nlohmann::json list = nlohmann::json::array();
  for (const Wave& wave : waves(walk)) {
    list.push_back({wave.tiles, wave.strips_a, wave.strips_b});
  }
  return {{"version", version},
          {"m", question.m},
          {"n", question.n},
          {"sms", question.sms},
          {"block_m", walk.block_m},
          {"block_n", walk.block_n},
          {"cluster", walk.cluster},
          {"group", walk.group},
          {"tiles_m", walk.tiles_m},
          {"tiles_n", walk.tiles_n},
          {"together", walk.together},
          {"digest", digest(walk)},
          {"waves", list}};
}

// The tiles of the first two waves, in order.
nlohmann::json first_tiles(const Walk& walk) {
  nlohmann::json list = nlohmann::json::array();
  const auto count = std::min(walk.order.size(), static_cast<size_t>(2 * walk.together));
  for (size_t i = 0; i < count; ++i) {
    list.push_back({walk.order[i].m_block, walk.order[i].n_block});
  }
  return list;
}

}  // namespace

// The problem that was asked for, and a series that the page's own order of tiles is held against.
nlohmann::json raster_data(const Question& question) {
  nlohmann::json asked = nlohmann::json::array(), held = nlohmann::json::array();
  for (const std::string& version : version_names()) {
    asked.push_back(walk_data(version, question));
    asked.back()["first"] = first_tiles(must_walk(version, question));
    for (const auto& [m, n] : {std::pair<int, int>{256, 512},
                               {1000, 3000},
                               {2048, 2048},
                               {4096, 4096},
                               {4000, 5000},
                               {3333, 1111},
                               {128, 8192},
                               {8192, 128},
                               {5120, 2304}}) {
      for (const int sms : {16, 131, 132}) {
        held.push_back(walk_data(version, {0, 0, m, n, sms}));
      }
    }
  }
  return {{"asked", asked}, {"held", held}};
}

}  // namespace explain
