// Where an element of a K tile lies, asked of a TMA load in the emulator; which banks an access
// asks.
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <shared_storage.cuh>

#include <algorithm>
#include <array>

#include "emulated.h"
#include "topics.h"

namespace explain {

namespace {

constexpr int kTileRows = 64;

struct LoadedTile {
  alignas(1024) half elements[kTileRows * kTileColumns];
  MBarrier full;
};

void load_kernel(const CUtensorMap map, uint16_t* out) {
  auto& smem = shared_storage<LoadedTile>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, sizeof(smem.elements));
    ptx::cp_async_bulk_tensor_2d(smem.elements, &map, 0, 0, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  if (threadIdx.x == 0) std::memcpy(out, smem.elements, sizeof(smem.elements));
}

// [row * 64 + k]: where a TMA load puts the element, in bytes from the tile's beginning.
std::vector<uint32_t> load_tile() {
  TileSource source(kTileRows);
  for (int i = 0; i < kTileRows * kTileColumns; ++i) {
    source.set_bits(i / kTileColumns, i % kTileColumns, static_cast<uint16_t>(i));
  }
  std::vector<uint16_t> tile(kTileRows * kTileColumns);
  const auto report = run_block(load_kernel, 32, sizeof(LoadedTile), source.map(), tile.data());
  if (report) throw std::runtime_error(report->text);
  std::vector<uint32_t> bytes(tile.size());
  for (size_t i = 0; i < tile.size(); ++i) bytes.at(tile[i]) = static_cast<uint32_t>(i * 2);
  return bytes;
}

}  // namespace

uint32_t element_byte(int row, int k, bool swizzled) {
  static const std::vector<uint32_t> loaded = load_tile();
  const int place = row * kTileColumns + k;
  return swizzled ? loaded.at(place) : static_cast<uint32_t>(place * 2);
}

int conflicts(int first_row, int chunk, bool swizzled) {
  std::array<int, kBanks> asked = {};
  for (int row = first_row; row < first_row + 8; ++row) {
    const uint32_t begin = element_byte(row, chunk * 8, swizzled);
    for (uint32_t byte = begin; byte < begin + kChunkBytes; byte += 4) ++asked[bank_of(byte)];
  }
  return *std::max_element(asked.begin(), asked.end());
}

namespace {

// Over all chunks.
int worst_conflicts(bool swizzled) {
  int worst = 0;
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    worst = std::max(worst, conflicts(0, chunk, swizzled));
  }
  return worst;
}

}  // namespace

std::string swizzle_text(const Question& question) {
  std::string text =
      "A K tile in shared memory: rows of 64 fp16 (128 bytes), eight chunks of 16 bytes each.\n"
      "With the 128-byte swizzle the number is the chunk of the row (k / 8) that lies there:\n\n"
      "byte      ";
  for (int position = 0; position < kChunks; ++position) {
    text += format("%6d", position * kChunkBytes);
  }
  text += "\nbanks     ";
  for (int position = 0; position < kChunks; ++position) {
    text += format("%6s", format("%d-%d", position * 4, position * 4 + 3).c_str());
  }
  text += "\n";
  for (int row = 0; row < 8; ++row) {
    std::array<int, kChunks> lies = {};
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      lies[element_byte(row, chunk * 8, true) % kRowBytes / kChunkBytes] = chunk;
    }
    text += format("row %d     ", row);
    for (const int chunk : lies) text += format("%6d", chunk);
    text += "\n";
  }
  text += "row 8     as row 0, 1024 bytes further on\n\n";
  text +=
      "Eight rows of one chunk at once, as ldmatrix and stmatrix move them and as WGMMA's core\n";
  text += "matrices are made of:\n";
  for (const bool swizzled : {true, false}) {
    const int times = worst_conflicts(swizzled);
    text += format("  %-20s the busiest bank is asked %d time%s%s\n",
                   swizzled ? "with the swizzle" : "without", times, times == 1 ? "" : "s",
                   times == 1 ? ": no conflict" : ": the same four banks for all");
  }
  const uint32_t byte = element_byte(question.row, question.column, true);
  text += format(
      "\nElement (row %d, k %d): chunk %d of its row, which lies in place %d.\n"
      "  byte %d * 128 + %d * 16 + %d * 2 = %u, bank %d\n"
      "  place = chunk XOR (row mod 8) = %d XOR %d = %d\n",
      question.row, question.column, question.column / 8, byte % kRowBytes / kChunkBytes,
      question.row, byte % kRowBytes / kChunkBytes, question.column % 8, byte, bank_of(byte),
      question.column / 8, question.row % 8, byte % kRowBytes / kChunkBytes);
  text +=
      "Another one: --row R --column K. Why, and the rest: "
      "docs/reference/swizzle-and-descriptors.md\n";
  return text;
}

nlohmann::json swizzle_data(const Question&) {
  constexpr int kRows = 16;  // two periods
  nlohmann::json modes = nlohmann::json::object();
  for (const bool swizzled : {true, false}) {
    nlohmann::json bytes = nlohmann::json::array(), asked = nlohmann::json::array();
    for (int row = 0; row < kRows; ++row) {
      nlohmann::json line = nlohmann::json::array();
      for (int k = 0; k < kTileColumns; ++k) line.push_back(element_byte(row, k, swizzled));
      bytes.push_back(line);
    }
    for (int chunk = 0; chunk < kChunks; ++chunk) asked.push_back(conflicts(0, chunk, swizzled));
    modes[swizzled ? "swizzled" : "plain"] = {{"bytes", bytes}, {"conflicts", asked}};
  }
  return {{"rows", kRows}, {"modes", modes}, {"banks", kBanks}};
}

}  // namespace explain
