// Who holds which element of an accumulator, and where stage_fragment() puts it: asked of the
// emulator, which runs the instructions on numbers that give every element away.
#include <cuda_fp16.h>
#include <matrix_descriptor.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <ptx/wgmma_shapes.cuh>
#include <stage_fragment.cuh>

#include <cstring>
#include <stdexcept>

#include "emulated.h"
#include "topics.h"

namespace explain {
namespace {

constexpr int kThreads = 128;
constexpr int kRows = 64;
constexpr int kStagedColumns = 64;
constexpr int kStagedRegisters = kStagedColumns / 2;

template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), size_t shared_bytes, Arguments... arguments) {
  const auto report = run_block(kernel, kThreads, shared_bytes, arguments...);
  if (report) throw std::runtime_error(report->text);
}

template <int kColumns>
struct Operands {
  alignas(1024) half a[kRows * kTileColumns];
  alignas(1024) half b[kColumns * kTileColumns];
  MBarrier full;
};

// One m64nNk16 product.
template <int kColumns>
void product_kernel(const CUtensorMap map_a, const CUtensorMap map_b, float* out) {
  auto& smem = shared_storage<Operands<kColumns>>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, sizeof(smem.a) + sizeof(smem.b));
    ptx::cp_async_bulk_tensor_2d(smem.a, &map_a, 0, 0, &smem.full);
    ptx::cp_async_bulk_tensor_2d(smem.b, &map_b, 0, 0, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  float acc[kColumns / 2];
  ptx::wgmma_fence();
  if constexpr (kColumns == 128) {
    ptx::wgmma_m64n128k16(acc, matrix_descriptor(smem.a, 0), matrix_descriptor(smem.b, 0), false);
  } else if constexpr (kColumns == 256) {
    ptx::wgmma_m64n256k16(acc, matrix_descriptor(smem.a, 0), matrix_descriptor(smem.b, 0), false);
  } else {
    ptx::wgmma_m64nNk16<kColumns>(acc, matrix_descriptor(smem.a, 0), matrix_descriptor(smem.b, 0),
                                  false);
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(acc);
  std::memcpy(out + threadIdx.x * (kColumns / 2), acc, sizeof(acc));
}

// D[row][column] = row * 256 + column: exact in fp32, its factors in fp16.
template <int kColumns>
std::vector<Holder> holders_of_width() {
  TileSource a(kRows), b(kColumns);
  for (int row = 0; row < kRows; ++row) {
    a.set(row, 0, row);
    a.set(row, 1, 1);
  }
  for (int column = 0; column < kColumns; ++column) {
    b.set(column, 0, 256);
    b.set(column, 1, column);
  }
  constexpr int kRegisters = kColumns / 2;
  std::vector<float> out(kThreads * kRegisters);
  run(product_kernel<kColumns>, sizeof(Operands<kColumns>), a.map(), b.map(), out.data());
  std::vector<Holder> result(kRows * kColumns, {-1, -1});
  for (int i = 0; i < kThreads * kRegisters; ++i) {
    const int element = static_cast<int>(out[i]);
    result.at(element / 256 * kColumns + element % 256) = {i / kRegisters, i % kRegisters};
  }
  return result;
}

struct StagedTile {
  alignas(1024) half tile[kRows * kStagedColumns];
};

// The fp16 number whose bits are `index` + 1: all different, none special.
float numbered(int index) {
  const auto bits = static_cast<uint16_t>(index + 1);
  half number;
  std::memcpy(&number, &bits, sizeof(number));
  return __half2float(number);
}

void stage_kernel(uint16_t* out) {
  auto& smem = shared_storage<StagedTile>();
  float acc[kStagedRegisters];
  for (int r = 0; r < kStagedRegisters; ++r) {
    acc[r] = numbered(static_cast<int>(threadIdx.x) * kStagedRegisters + r);
  }
  stage_fragment(acc, 0, smem.tile);
  __syncthreads();
  if (threadIdx.x == 0) std::memcpy(out, smem.tile, sizeof(smem.tile));
}

}  // namespace

std::vector<Holder> holders(int columns) {
  switch (columns) {
    case 128:
      return holders_of_width<128>();
    case 176:
      return holders_of_width<176>();
    case 184:
      return holders_of_width<184>();
    case 200:
      return holders_of_width<200>();
    case 256:
      return holders_of_width<256>();
  }
  throw std::invalid_argument("no product of this width is made here");
}

std::vector<int> staged_bytes() {
  std::vector<uint16_t> tile(kRows * kStagedColumns);
  run(stage_kernel, sizeof(StagedTile), tile.data());
  std::vector<int> result(kThreads * kStagedRegisters, -1);
  for (size_t i = 0; i < tile.size(); ++i) result.at(tile[i] - 1) = static_cast<int>(i * 2);
  return result;
}

std::vector<int> address_lanes() {
  const std::vector<int> bytes = staged_bytes();
  std::vector<int> lanes(kRows * kChunks, -1);
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int r = 0; r < kStagedRegisters; ++r) {
      const int matrix = r / 2 % 4, row = thread % 32 / 4;
      lanes.at(bytes[thread * kStagedRegisters + r] / kChunkBytes) = matrix * 8 + row;
    }
  }
  return lanes;
}

std::string fragment_text(const Question& question) {
  constexpr int kColumns = 256;
  const std::vector<Holder> all = holders(kColumns);
  const auto at = [&](int row, int column) { return all[row * kColumns + column]; };
  std::string text =
      "The accumulator of m64n256: 64 x 256 results in the registers of 128 threads, 128 each.\n"
      "Its upper left corner, as lane:register of warp 0:\n\n            ";
  constexpr int kShown = 10;
  for (int column = 0; column < kShown; ++column) text += format("%7d", column);
  text += "   column\n";
  for (const int row : {0, 1, 2, 6, 7, 8, 9, 15, 16}) {
    if (row == 6) text += "...\n";
    text += format("row %2d      ", row);
    for (int column = 0; column < kShown; ++column) {
      const Holder holder = at(row, column);
      text += format("%7s", format("%d:%d", holder.thread % 32, holder.reg).c_str());
    }
    text += row == 16 ? "   warp 1\n" : "\n";
  }
  const Holder holder = at(question.row, question.column);
  const int lane = holder.thread % 32;
  text += format(
      "\n  warp = row / 16    lane = row %% 8 * 4 + column %% 8 / 2\n"
      "  register = column / 8 * 4 + row / 8 %% 2 * 2 + column %% 2\n\n"
      "Element (row %d, column %d) is in warp %d of the group, lane %d (thread %d), register %d.\n",
      question.row, question.column, holder.thread / 32, lane, holder.thread, holder.reg);
  text +=
      "Another one: --row R --column C. Other widths have the same order and fewer registers.\n\n";
  if (question.column < kStagedColumns) {
    const int byte = staged_bytes()[holder.thread * kStagedRegisters + holder.reg];
    text += format(
        "On its way to a TMA store stage_fragment() writes it, as fp16, to byte %d of the staged\n"
        "tile: row %d, place %d of eight (chunk %d XOR row mod 8); four lanes and two registers\n"
        "of each fill these 16 bytes, and one stmatrix.x4 fills 16 columns of a warp's 16 rows.\n",
        byte, byte / kRowBytes, byte % kRowBytes / kChunkBytes, question.column / 8);
  }
  return text;
}

nlohmann::json fragment_data(const Question&) {
  constexpr int kColumns = 256;
  nlohmann::json threads = nlohmann::json::array(), registers = nlohmann::json::array();
  for (const Holder& holder : holders(kColumns)) {
    threads.push_back(holder.thread);
    registers.push_back(holder.reg);
  }
  return {{"columns", kColumns},
          {"threads", threads},
          {"registers", registers},
          {"staged", staged_bytes()},
          {"lanes", address_lanes()}};
}

}  // namespace explain
