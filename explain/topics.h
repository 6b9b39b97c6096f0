// What can be explained, and the numbers behind it. Every number comes from the functions that the
// kernels or the emulator use; text and pages only show it.
#pragma once

#include <harness/version.h>
#include <rasterization.h>
#include <status.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace explain {

// What a reader may choose.
struct Question {
  int row = 5;  // of a K tile, or of a product
  int column = 19;  // k of a K tile; column of a product
  int64_t m = 8192;
  int64_t n = 8192;
  int sms = 132;  // at most: what the emulated chip has
};

// --- swizzle: a K tile in shared memory, rows of 64 fp16 ---

constexpr int kTileColumns = 64;
constexpr int kRowBytes = 128;
constexpr int kChunkBytes = 16;
constexpr int kChunks = kRowBytes / kChunkBytes;
constexpr int kBanks = 32;  // of 4 bytes

// The byte of a tile (1024-byte aligned) at which element (row, k) lies.
uint32_t element_byte(int row, int k, bool swizzled);
constexpr int bank_of(uint32_t byte) { return static_cast<int>(byte / 4 % kBanks); }
// How often the busiest bank is asked when eight rows from `first_row` on give 16 bytes each, those
// of chunk `chunk`: 1 is without conflict.
int conflicts(int first_row, int chunk, bool swizzled);

// --- descriptor ---

struct Field {
  const char* name;
  int first;
  int last;
  const char* meaning;
};
const std::vector<Field>& descriptor_fields();
uint64_t field_of(uint64_t descriptor, const Field& field);

// An operand of WGMMA in the shared memory of a version.
struct Operand {
  std::string version;
  std::string name;
  int rows;
  uint32_t address;
};
std::vector<Operand> operands();
// From column kk on: 0, 16, 32, 48.
uint64_t descriptor_of(const Operand& operand, int kk);

// --- fragment ---

// Who holds an element of the accumulator of m64nN.
struct Holder {
  int thread;  // of the warp group
  int reg;
};
// [row * columns + column], as a WGMMA of this width leaves them; 128, 176, 184, 200
// or 256 columns.
std::vector<Holder> holders(int columns);
// [thread * 32 + register]: the byte of the tile to which stage_fragment() writes the register of
// the first 64 columns.
std::vector<int> staged_bytes();
// For each 16 bytes of that tile the lane that names their address: of stmatrix.x4 lane l names
// that of row l mod 8 of matrix l / 8 (PTX ISA, "stmatrix"); four lanes hold its elements.
std::vector<int> address_lanes();

// --- phases ---

// What can be done to a barrier: an arrival, which may announce bytes; or bytes that land.
struct Action {
  std::string label;
  int arrivals = 0;
  int announced = 0;
  int landing = 0;
};

struct BarrierState {
  uint64_t phase = 0;  // modulo 2
  int pending_arrivals = 0;
  int64_t pending_bytes = 0;  // announced less landed
  int64_t landed = 0;  // bytes, in this phase
  bool passes[2] = {false, true};  // a wait for parity 0, 1
  struct Edge {
    int to = -1;  // -1: the emulator refuses
    bool completes = false;
    std::string refused;  // what it says
  };
  std::vector<Edge> edges;  // one an action
};

// A barrier of a kernel: all that can happen to it.
struct BarrierModel {
  std::string name;
  std::string of;
  int count;
  int bytes;  // of a phase
  std::vector<Action> actions;
  std::vector<BarrierState> states;  // the first is that of a fresh barrier
};
const std::vector<BarrierModel>& barrier_models();

// --- raster ---

// The tiles of C in the order in which a version's blocks take them.
struct Walk {
  std::string version;
  int block_m = 0;
  int block_n = 0;
  int cluster = 1;
  int group = 1;  // width of the groups or panels; 1: none
  int64_t tiles_m = 0;
  int64_t tiles_n = 0;
  int64_t together = 0;  // blocks that run at a time
  std::vector<TileCoordinates> order;
};
Status walk_of(const std::string& version, const Question& question, Walk* walk);

// What the tiles of one wave read: each strip is block_m rows of A or block_n rows of B.
struct Wave {
  int tiles = 0;
  int strips_a = 0;
  int strips_b = 0;
};
std::vector<Wave> waves(const Walk& walk);

// --- budget ---

// A tile, and how a block computes it.
struct Tile {
  int block_m = 128;
  int block_n = 128;
  int stages = 1;
  int consumers = 1;
  int threads = 128;
  int blocks_per_sm = 1;  // wanted
  int cluster = 1;  // blocks that share each tile of B
  int consumer_registers = 0;  // by setmaxnreg; 0: as the launch gives
  int64_t shared_bytes = 0;
};

struct Budget {
  int accumulators = 0;  // registers of a thread
  int registers = 0;  // that a thread may have
  int64_t stage_bytes = 0;
  int blocks_by_registers = 0;  // if a thread has accumulators + kOtherRegisters
  int blocks_by_shared = 0;
  int blocks_by_threads = 0;
  int blocks = 0;  // the least of these
  const char* limit = "";  // which that is
  double fma_per_byte = 0;  // of A and B that a block asks for
  int cycles = 0;  // of the tensor cores, for a K tile
  double l2_bytes_per_cycle = 0;  // that an SM asks for
  double shared_bytes_per_cycle = 0;  // that WGMMA reads, of at most 128
};
constexpr int kOtherRegisters = 32;  // the fewest beside the accumulators: v1's
Budget budget_of(const Tile& tile);

struct VersionTile {
  std::string version;
  Tile tile;
};
std::vector<VersionTile> version_tiles();

// --- the topics ---

struct Topic {
  const char* name;
  const char* summary;
  const char* page;  // the file that shows it
  std::string (*text)(const Question& question);
  nlohmann::json (*data)(const Question& question);
};
const std::vector<Topic>& topics();

std::string swizzle_text(const Question& question);
nlohmann::json swizzle_data(const Question& question);
std::string descriptor_text(const Question& question);
nlohmann::json descriptor_data(const Question& question);
std::string fragment_text(const Question& question);
nlohmann::json fragment_data(const Question& question);
std::string phases_text(const Question& question);
nlohmann::json phases_data(const Question& question);
std::string raster_text(const Question& question);
nlohmann::json raster_data(const Question& question);
std::string budget_text(const Question& question);
nlohmann::json budget_data(const Question& question);

// printf into a string.
std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

}  // namespace explain
