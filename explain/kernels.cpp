// The kernels' host code calls this instead of making a launch; it must be known before launch.h.
#include <cuda_runtime.h>

namespace explain {
template <class... Parameters, class... Arguments>
cudaError_t write_down(const cudaLaunchConfig_t* config, void (*)(Parameters...),
                       const Arguments&... arguments);
}  // namespace explain
#define cudaLaunchKernelEx explain::write_down
#include <launch.h>
#undef cudaLaunchKernelEx

#include <emulator/src/shared_memory.h>
#include <harness/versions.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "../v1_simple/kernel.cu"
#include "../v2_pipelined/kernel.cu"
#include "../v3_warp_specialized/kernel.cu"
#include "../v4_two_consumers/kernel.cu"
#include "../v5_async_mma/kernel.cu"
#include "../v6_persistent/kernel.cu"
#include "../v7_cluster_multicast/kernel.cu"
#include "../v8_fitted_tiles/kernel.cu"
#include "../v9_aligned_blocks/kernel.cu"
#include "kernels.h"

namespace explain {
namespace {

Recorded& latest() {
  static Recorded launch;
  return launch;
}

void find_raster(const Rasterization& raster) { latest().raster.emplace(raster); }
template <class T>
void find_raster(const T&) {}

}  // namespace

template <class... Parameters, class... Arguments>
cudaError_t write_down(const cudaLaunchConfig_t* config, void (*)(Parameters...),
                       const Arguments&... arguments) {
  Recorded& launch = latest();
  launch = {};
  launch.grid_x = config->gridDim.x;
  launch.grid_y = config->gridDim.y;
  launch.threads = static_cast<int>(config->blockDim.x);
  launch.shared_bytes = static_cast<int64_t>(config->dynamicSmemBytes);
  if (config->numAttrs > 0) launch.cluster = static_cast<int>(config->attrs->val.clusterDim.x);
  (find_raster(arguments), ...);
  return cudaSuccess;
}

}  // namespace explain

namespace explain {
namespace {

const harness::Version& version_named(const std::string& name) {
  for (const harness::Version& version : harness::versions()) {
    if (name == version.name) return version;
  }
  throw std::invalid_argument("there is no version " + name);
}

// Calls visit(TileType) for each tile from which v8 and v9 choose.
template <template <int, int> class Tile, class Visit>
void for_each_fitted(Visit visit) {
  visit(Tile<2, 200>{});
  visit(Tile<2, 184>{});
  visit(Tile<2, 176>{});
  visit(Tile<1, 256>{});
}

template <class Tile>
constexpr int64_t fitted_bytes() {
  return static_cast<int64_t>(sizeof(typename Tile::SharedStorage));
}

// The tile that a launch of v8 or v9 uses, known by its shared memory.
template <template <int, int> class Tile>
void set_fitted(const Recorded& launch, Walk* walk) {
  for_each_fitted<Tile>([&](auto tile) {
    using Each = decltype(tile);
    if (fitted_bytes<Each>() != launch.shared_bytes) return;
    walk->block_m = Each::kBlockM;
    walk->block_n = Each::kBlockN;
  });
  if (walk->block_m == 0) throw std::logic_error("a tile that is not listed here");
}

// The order of the tiles, by the version's own tile_coordinates(). `Coordinates` takes the number
// of a block, or of a cluster, whose blocks compute tiles one below the other.
template <class Coordinates>
void set_order(Coordinates coordinates, Walk* walk) {
  const int64_t pairs = walk->tiles_n * ((walk->tiles_m + walk->cluster - 1) / walk->cluster);
  for (int64_t i = 0; i < pairs; ++i) {
    const TileCoordinates tile = coordinates(static_cast<int>(i));
    for (int rank = 0; rank < walk->cluster; ++rank) {
      walk->order.push_back({tile.m_block * walk->cluster + rank, tile.n_block});
    }
  }
}

// A width of groups as a template argument, as the kernels have it.
template <int kWidth, class Function>
bool with_width(int width, Function function) {
  if (width != kWidth) return false;
  function(std::integral_constant<int, kWidth>{});
  return true;
}

template <class Function>
void with_width(int width, Function function) {
  if (!(with_width<1>(width, function) || with_width<4>(width, function) ||
        with_width<8>(width, function))) {
    throw std::logic_error("a group width that is not listed here");
  }
}

#define ORDER_OF(name)                                                                      \
  with_width(raster.group_width, [&](auto width) {                                          \
    set_order([&](int i) { return name::tile_coordinates<width.value>(i, raster); }, walk); \
  })
#define ORDER_OF_GRID(name)                                                                    \
  with_width(raster.group_width, [&](auto width) {                                             \
    set_order([&](int i) { return name::tile_coordinates<width.value>(i, 0, raster); }, walk); \
  })

void set_order(const std::string& name, const Recorded& launch, Walk* walk) {
  if (!launch.raster) {  // the plain 2-D grid: blocks are numbered along x first
    const Rasterization raster(walk->tiles_m, walk->tiles_n, 1);
    const int along = static_cast<int>(walk->tiles_m);
    return set_order(
        [&](int i) { return v4_two_consumers::tile_coordinates<1>(i % along, i / along, raster); },
        walk);
  }
  const Rasterization& raster = *launch.raster;
  if (name == "v4_two_consumers") return ORDER_OF_GRID(v4_two_consumers);
  if (name == "v5_async_mma") return ORDER_OF_GRID(v5_async_mma);
  if (name == "v6_persistent") return ORDER_OF(v6_persistent);
  if (name == "v7_cluster_multicast") return ORDER_OF(v7_cluster_multicast);
  if (name == "v8_fitted_tiles") return ORDER_OF(v8_fitted_tiles);
  if (name == "v9_aligned_blocks") return ORDER_OF(v9_aligned_blocks);
  throw std::logic_error("the walk of " + name + " is not listed here");
}

int blocks_per_sm(const std::string& name) {
#define BLOCKS_PER_SM(version, ...) \
  if (name == #version) return version::kBlocksPerSm;
  FOR_EACH_VERSION(BLOCKS_PER_SM)
#undef BLOCKS_PER_SM
  throw std::invalid_argument(name);
}

}  // namespace

std::vector<std::string> version_names() {
  std::vector<std::string> names;
  for (const harness::Version& version : harness::versions()) names.push_back(version.name);
  return names;
}

Status full_name(const std::string& name, std::string* full) {
  for (const std::string& each : version_names()) {
    if (each == name || each.rfind(name + "_", 0) == 0) {
      *full = each;
      return {};
    }
  }
  return {ExitCode::kUsage, "there is no version '" + name + "'; say v1, v2, …"};
}

Status recorded_launch(const std::string& name, const Question& question, Recorded* launch) {
  // Nothing is read or written: the addresses need only be such as TMA takes.
  alignas(256) static half memory[256];
  MatmulArguments args;
  args.a = args.b = args.c = memory;
  args.m = question.m;
  args.n = question.n;
  args.k = args.lda = args.ldb = 64;
  args.ldc = (question.n + 7) / 8 * 8;
  args.max_blocks = question.sms;
  const Status status = version_named(name).matmul(args, nullptr);
  if (status.ok()) *launch = latest();
  return status;
}

Status walk_of(const std::string& name, const Question& question, Walk* walk) {
  *walk = {};
  Recorded launch;
  Status status = full_name(name, &walk->version);
  if (status.ok()) status = recorded_launch(walk->version, question, &launch);
  if (!status.ok()) return status;
  const harness::Version& version = version_named(walk->version);
  walk->block_m = version.shape.block_m;
  walk->block_n = version.shape.block_n;
  if (walk->version == "v8_fitted_tiles") set_fitted<v8_fitted_tiles::Tile>(launch, walk);
  if (walk->version == "v9_aligned_blocks") set_fitted<v9_aligned_blocks::Tile>(launch, walk);
  walk->cluster = launch.cluster;
  walk->tiles_m = ceil_div(question.m, int64_t{walk->block_m});
  walk->tiles_n = ceil_div(question.n, int64_t{walk->block_n});
  walk->group = launch.raster ? launch.raster->group_width : 1;
  walk->together = std::min(
      launch.grid_x * launch.grid_y,
      int64_t{question.sms / launch.cluster * launch.cluster} * blocks_per_sm(walk->version));
  set_order(walk->version, launch, walk);
  return {};
}

std::vector<VersionTile> version_tiles() {
  std::vector<VersionTile> result;
  const auto add = [&](const harness::Version& version, int block_m, int block_n, int stages,
                       int threads, int consumer_registers, int cluster, int64_t shared_bytes) {
    VersionTile each{version.name, {}};
    Tile& tile = each.tile;
    tile.block_m = block_m;
    tile.block_n = block_n;
    tile.stages = stages;
    tile.consumers = version.shape.warpgroups;
    tile.threads = threads;
    tile.blocks_per_sm = blocks_per_sm(version.name);
    tile.cluster = cluster;
    tile.consumer_registers = consumer_registers;
    tile.shared_bytes = shared_bytes;
    result.push_back(each);
  };
  for (const harness::Version& version : harness::versions()) {
    Recorded launch;
    const Status status = recorded_launch(version.name, Question{}, &launch);
    if (!status.ok()) throw std::runtime_error(status.message());
    const auto add_fitted = [&](int consumer_registers, auto tile) {
      using Each = decltype(tile);
      add(version, Each::kBlockM, Each::kBlockN, Each::kStages, launch.threads, consumer_registers,
          launch.cluster, fitted_bytes<Each>());
    };
    if (std::string(version.name) == "v8_fitted_tiles") {
      for_each_fitted<v8_fitted_tiles::Tile>(
          [&](auto tile) { add_fitted(v8_fitted_tiles::kConsumerRegisters, tile); });
    } else if (std::string(version.name) == "v9_aligned_blocks") {
      for_each_fitted<v9_aligned_blocks::Tile>(
          [&](auto tile) { add_fitted(v9_aligned_blocks::kConsumerRegisters, tile); });
    } else {
      add(version, version.shape.block_m, version.shape.block_n, version.stages, launch.threads, 0,
          launch.cluster, launch.shared_bytes);
    }
  }
  return result;
}

std::vector<Operand> operands() {
  std::vector<Operand> result;
  const auto add = [&](const char* version, std::string name, int rows, size_t offset) {
    result.push_back(
        {version, std::move(name), rows, emulator::kSharedBase + static_cast<uint32_t>(offset)});
  };
  {
    using Storage = v1_simple::SharedStorage;
    add("v1_simple", "a", 64, offsetof(Storage, a));
    add("v1_simple", "a + 64 rows", 64, offsetof(Storage, a) + 64 * kRowBytes);
    add("v1_simple", "b", v1_simple::kBlockN, offsetof(Storage, b));
  }
  {
    constexpr int kStages = 3;
    using Storage = v4_two_consumers::SharedStorage<kStages>;
    for (int stage = 0; stage < kStages; ++stage) {
      const std::string index = "[" + std::to_string(stage) + "]";
      for (int slab = 0; slab < 2; ++slab) {
        add("v4_two_consumers", "a" + index + "[" + std::to_string(slab) + "]", 64,
            offsetof(Storage, a) + (stage * 2 + slab) * sizeof(Storage::a[0][0]));
      }
      add("v4_two_consumers", "b" + index, v4_two_consumers::kBlockN,
          offsetof(Storage, b) + stage * sizeof(Storage::b[0]));
    }
  }
  return result;
}

}  // namespace explain
