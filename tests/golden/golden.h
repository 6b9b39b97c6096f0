// Golden data: what an H200 did with small inputs that give every element away. dump_golden.cu made
// the files; host tests hold the project's formulas against them, and so can whatever else claims
// to know how TMA and WGMMA lay out their data.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace golden {

// --- TMA: boxes of 64 columns out of a matrix of consecutive numbers, as they lie in shared memory
// ---

constexpr int kRows = 100;
constexpr int kColumns = 90;
constexpr int kPitch = 96;  // elements; the 6 of padding are never loaded

struct Box {
  int rows;  // of the box
  int row;  // where it begins
  int column;
};
constexpr std::array<Box, 6> kBoxes = {
    {{64, 0, 0}, {64, 64, 64}, {64, 0, 128}, {128, 0, 0}, {128, 64, 64}, {256, 0, 0}}};

// Bit pattern of element (row, column); 0 outside, as TMA fills.
constexpr uint16_t tma_element(int row, int column) {
  const bool inside = row < kRows && column < kColumns;
  return inside ? static_cast<uint16_t>(row * kColumns + column + 1) : 0;
}

inline std::string tma_file(const Box& box) {
  return "tma_" + std::to_string(box.rows) + "x64_at_" + std::to_string(box.row) + "_" +
         std::to_string(box.column) + ".bin";
}

// --- WGMMA: one m64nNk16 product, as each thread's registers hold it ---

// Two products. kPosition: D[row][column] = 256 · row + column. kStep: A is one-hot, row r has its
// 1 at k = r % 16, so that D[row][column] = B[column][row % 16] = 16 · (column % 64) + row % 16.
enum class Product { kPosition, kStep };

constexpr __host__ __device__ int a_element(Product product, int row, int k) {
  if (product == Product::kStep) return k == row % 16 ? 1 : 0;
  return k == 0 ? row : k == 1 ? 1 : 0;
}
constexpr __host__ __device__ int b_element(Product product, int column, int k) {
  if (product == Product::kStep) return 16 * (column % 64) + k;
  return k == 0 ? 256 : k == 1 ? column : 0;
}

// N. dump_golden makes the files of all of these; tests are registered for those that are here.
constexpr std::array<int, 4> kWidths = {128, 176, 200, 256};

// [thread][register], as whole numbers.
inline std::string wgmma_file(int n, Product product) {
  return "wgmma_m64n" + std::to_string(n) + "k16_" +
         (product == Product::kStep ? "step" : "position") + ".bin";
}

inline std::vector<uint16_t> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<uint16_t> values(file ? static_cast<size_t>(file.tellg()) / 2 : 0);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * 2));
  return values;
}

// The widths that have been recorded.
inline std::vector<int> recorded_widths(const std::string& folder) {
  std::vector<int> widths;
  for (const int n : kWidths) {
    if (!read(folder + "/" + wgmma_file(n, Product::kPosition)).empty()) widths.push_back(n);
  }
  return widths;
}

}  // namespace golden
