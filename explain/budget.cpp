// How large a tile may be: registers, shared memory, threads, and what its blocks ask for.
#include <algorithm>

#include "topics.h"

namespace explain {
namespace {

// One SM of sm_90 (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
constexpr int kRegisters = 65536;
constexpr int kRegisterUnit = 256;  // of a warp
constexpr int kSubPartitions = 4;  // warps are spread over them
constexpr int kMostRegisters = 255;  // of a thread
constexpr int kThreads = 2048;
constexpr int kBlocks = 32;
constexpr int kSharedBytes = 228 * 1024;
constexpr int kSharedBytesOfBlock = 227 * 1024;
constexpr int kReservedBytes = 1024;  // of each block
constexpr int kFmaPerCycle = 2048;  // fp16, of the four tensor cores
constexpr int kBlockK = 64;
constexpr int kWarpGroup = 128;

int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

int warps_of(int threads) { return (threads + 31) / 32; }

// Blocks of so many warps that fit if each thread has so many registers.
int blocks_by_registers(int warps, int registers) {
  const int warps_that_fit =
      kRegisters / round_up(registers * 32, kRegisterUnit) / kSubPartitions * kSubPartitions;
  return warps_that_fit / warps;
}

// The most registers with which so many blocks fit.
int registers_of_launch(int warps, int blocks) {
  int registers = kMostRegisters;
  while (registers > 0 && blocks_by_registers(warps, registers) < blocks) --registers;
  return registers;
}

}  // namespace

Budget budget_of(const Tile& tile) {
  Budget budget;
  const int warps = warps_of(tile.threads);
  budget.accumulators = tile.block_m * tile.block_n / (tile.consumers * kWarpGroup);
  const int at_launch = registers_of_launch(warps, tile.blocks_per_sm);
  budget.registers = tile.consumer_registers > 0 ? tile.consumer_registers : at_launch;
  budget.stage_bytes = int64_t{tile.block_m + tile.block_n} * kBlockK * 2;
  const int needed = budget.accumulators + kOtherRegisters;
  // setmaxnreg moves registers inside a block; how many blocks fit, the launch's number says.
  budget.blocks_by_registers =
      needed > kMostRegisters ? 0
      : tile.consumer_registers > 0
          ? (needed <= tile.consumer_registers ? blocks_by_registers(warps, at_launch) : 0)
          : blocks_by_registers(warps, needed);
  budget.blocks_by_shared =
      tile.shared_bytes > kSharedBytesOfBlock
          ? 0
          : static_cast<int>(kSharedBytes / (tile.shared_bytes + kReservedBytes));
  budget.blocks_by_threads = std::min(kThreads / (warps * 32), kBlocks);
  budget.blocks =
      std::min({budget.blocks_by_registers, budget.blocks_by_shared, budget.blocks_by_threads});
  budget.limit =
      budget.blocks == budget.blocks_by_registers && budget.blocks == budget.blocks_by_shared
          ? "registers and shared memory"
      : budget.blocks == budget.blocks_by_registers ? "registers"
      : budget.blocks == budget.blocks_by_shared    ? "shared memory"
                                                    : "threads";
  const double asked = (tile.block_m + tile.block_n / static_cast<double>(tile.cluster)) * 2;
  budget.fma_per_byte = tile.block_m * tile.block_n / asked;
  budget.cycles = tile.block_m * tile.block_n * kBlockK / kFmaPerCycle;
  budget.l2_bytes_per_cycle = asked * kBlockK / budget.cycles;
  // m64nNk16 reads 64 rows of A and N of B, 32 bytes each, in N / 2 cycles.
  budget.shared_bytes_per_cycle = (64 + tile.block_n) * 32 / (tile.block_n / 2.0);
  return budget;
}

std::string budget_text(const Question&) {
  std::string text =
      "An SM has 65,536 registers and 228 KiB of shared memory; a thread at most 255 registers.\n"
      "acc: registers of a consumer's thread that hold its part of C; max: all that it may have.\n"
      "blocks: that fit on an SM by registers (acc + 32), by shared memory, by threads.\n\n"
      "version              tile     stages  acc  max  shared   blocks   FMA per   L2     smem\n"
      "                                                KiB      r/s/t    byte      B/cycle, of an "
      "SM\n";
  for (const VersionTile& each : version_tiles()) {
    const Tile& tile = each.tile;
    const Budget budget = budget_of(tile);
    text += format("%-20s %-8s %6d %4d %4d  %5.1f    %d/%d/%d  %8.1f %7.1f %7.1f\n",
                   each.version.c_str(), format("%dx%d", tile.block_m, tile.block_n).c_str(),
                   tile.stages, budget.accumulators, budget.registers, tile.shared_bytes / 1024.0,
                   budget.blocks_by_registers, budget.blocks_by_shared, budget.blocks_by_threads,
                   budget.fma_per_byte, budget.l2_bytes_per_cycle, budget.shared_bytes_per_cycle);
  }
  text +=
      "\nFMA per byte: of A and B that a block asks L2 for (blocks of a cluster share B).\n"
      "L2: bytes that an SM asks for while its tensor cores are busy all the time.\n"
      "smem: bytes that WGMMA reads of shared memory, which gives 128: why a tile of N = 64 "
      "starves.\n"
      "\nWhy not larger? 128 x 256 per consumer would be 256 accumulators of 255 registers. 256 x "
      "200\n"
      "needs 200, which 240 registers hold (setmaxnreg), and its ring has three stages, not "
      "four.\n";
  return text;
}

nlohmann::json budget_data(const Question&) {
  nlohmann::json list = nlohmann::json::array();
  const auto entry = [](const std::string& version, const Tile& tile) {
    const Budget budget = budget_of(tile);
    return nlohmann::json{{"version", version},
                          {"block_m", tile.block_m},
                          {"block_n", tile.block_n},
                          {"stages", tile.stages},
                          {"consumers", tile.consumers},
                          {"threads", tile.threads},
                          {"blocks_per_sm", tile.blocks_per_sm},
                          {"cluster", tile.cluster},
                          {"consumer_registers", tile.consumer_registers},
                          {"shared_bytes", tile.shared_bytes},
                          {"accumulators", budget.accumulators},
                          {"registers", budget.registers},
                          {"stage_bytes", budget.stage_bytes},
                          {"blocks_by_registers", budget.blocks_by_registers},
                          {"blocks_by_shared", budget.blocks_by_shared},
                          {"blocks_by_threads", budget.blocks_by_threads},
                          {"blocks", budget.blocks},
                          {"limit", budget.limit},
                          {"fma_per_byte", budget.fma_per_byte},
                          {"cycles", budget.cycles},
                          {"l2_bytes_per_cycle", budget.l2_bytes_per_cycle},
                          {"shared_bytes_per_cycle", budget.shared_bytes_per_cycle}};
  };
  for (const VersionTile& each : version_tiles()) list.push_back(entry(each.version, each.tile));
  // A series that the page's own arithmetic is held against.
  nlohmann::json held = nlohmann::json::array();
  Tile tile;
  for (tile.block_m = 64; tile.block_m <= 256; tile.block_m += 64) {
    for (tile.block_n = 64; tile.block_n <= 256; tile.block_n += 24) {
      for (tile.consumers = 1; tile.consumers <= 2; ++tile.consumers) {
        if (tile.block_m % (tile.consumers * 64) != 0) continue;
        for (tile.blocks_per_sm = 1; tile.blocks_per_sm <= 3; ++tile.blocks_per_sm) {
          for (const int registers : {0, 240}) {
            tile.consumer_registers = registers;
            tile.cluster = 1 + registers / 240;
            tile.stages = 1 + (tile.block_n / 8 + tile.blocks_per_sm) % 5;
            tile.threads = tile.consumers * kWarpGroup + (registers > 0 ? kWarpGroup : 32);
            tile.shared_bytes = budget_of(tile).stage_bytes * tile.stages + 16 * tile.stages;
            held.push_back(entry("", tile));
          }
        }
      }
    }
  }
  return {{"versions", list}, {"held", held}};
}

}  // namespace explain
