// Making a problem, judging a result, and telling what is wrong with it.
#include <ceil_div.h>
#include <harness/problem.h>
#include <stream_memory.h>
#include <tensor_map.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>
#include <vector>

namespace harness {

namespace {

constexpr uint16_t kPoison = 0x7fff;  // a NaN
constexpr int64_t kGuardRows = 2;

int64_t or_packed(int64_t leading_dimension, int64_t columns) {
  return leading_dimension == 0 ? columns : leading_dimension;
}

// The next launch would begin with what this one has left there. Empty if that is nothing, as it
// must be; otherwise it is cleared, for those who come next are not to blame.
std::string fault_of_stream_memory() {
  const StreamMemory memory = existing_stream_memory(nullptr);
  if (memory.bytes == 0) return "";
  std::vector<char> bytes(memory.bytes);
  copy(bytes.data(), memory.data, memory.bytes);
  if (std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; })) return "";
  fill(static_cast<half*>(memory.data), static_cast<int64_t>(memory.bytes / sizeof(half)), 0);
  return "the memory that blocks share (stream_memory) is not zero after the launch, and the next "
         "one begins with it: whoever leaves last must clear all of it\n";
}

int64_t round_up(int64_t value, int64_t multiple) { return ceil_div(value, multiple) * multiple; }

}  // namespace

MatmulArguments sizes_of(const ProblemSize& size) {
  MatmulArguments args;
  args.m = size.m;
  args.n = size.n;
  args.k = size.k;
  args.lda = or_packed(size.lda, size.k);
  args.ldb = or_packed(size.ldb, size.k);
  args.ldc = or_packed(size.ldc, size.n);
  return args;
}

std::string problem_name(const ProblemSize& size) {
  return std::to_string(size.m) + "x" + std::to_string(size.n) + "x" + std::to_string(size.k);
}

Status check_limits(const ProblemSize& size) {
  constexpr int64_t kElementLimit = int64_t{1} << 60;
  MatmulArguments args = sizes_of(size);
  args.a = args.b = reinterpret_cast<const half*>(uintptr_t{256});  // any that is aligned
  Status status = check_sizes(args);
  for (const auto& [rows, leading] :
       {std::make_pair(args.m, args.lda), std::make_pair(args.n, args.ldb),
        std::make_pair(args.m, args.ldc)}) {
    const int64_t with_guards = rows + 2 * kGuardRows;
    if (status.ok() && leading > 0 && with_guards > kElementLimit / leading) {
      status = {ExitCode::kUsage,
                std::to_string(rows) + " rows of " + std::to_string(leading) +
                    " elements are beyond every memory; choose a smaller problem"};
    }
  }
  if (!status.ok() || is_trivial(args)) return status;
  status = check_tensor_map(matrix_a(args), 64, 64);
  return status.ok() ? check_tensor_map(matrix_b(args), 64, 64) : status;
}

Problem::Guarded::Guarded(int64_t rows, int64_t leading_dimension, int64_t offset)
    : guard(round_up(std::max<int64_t>(kGuardRows * leading_dimension, 1), 128)),
      count(2 * guard + rows * leading_dimension + offset),
      offset(offset),
      buffer(count * sizeof(half)) {
  fill(begin(), count, kPoison);
}

half* Problem::Guarded::matrix() const { return begin() + guard + offset; }

Problem::Problem(const ProblemSize& size)
    : size_(size),
      a_(size.m, or_packed(size.lda, size.k), size.a_offset),
      b_(size.n, or_packed(size.ldb, size.k), size.b_offset),
      c_(size.m, or_packed(size.ldc, size.n), size.c_offset),
      reference_values_(std::max<int64_t>(size.m * size.n, 1) * sizeof(float)),
      reference_magnitudes_(std::max<int64_t>(size.m * size.n, 1) * sizeof(float)),
      args_(sizes_of(size)) {
  args_.a = a_.matrix();
  args_.b = b_.matrix();
  args_.c = c_.matrix();
}

void Problem::generate(DataKind kind, uint64_t seed) {
  const float scale = size_.k > 0 ? 1 / std::sqrt(static_cast<float>(size_.k)) : 1;
  // The identity goes into B alone, so that C repeats A's first columns.
  const DataKind kind_a = kind == DataKind::kIdentity ? DataKind::kInts : kind;
  harness::generate(a_.matrix(), size_.m, size_.k, args_.lda, kind_a, 2 * seed, scale);
  harness::generate(b_.matrix(), size_.n, size_.k, args_.ldb, kind, 2 * seed + 1, scale);
  exact_ = sums_are_exact(kind, size_.k);
  reference_is_current_ = false;
}

void Problem::sprinkle(uint16_t bits, int count, uint64_t seed) {
  const half value = __ushort_as_half(bits);
  const auto put = [&](const half* matrix, int64_t rows, int64_t leading_dimension, int64_t salt) {
    for (int64_t i = 0; i < count && rows * size_.k > 0; ++i) {
      const auto place = static_cast<int64_t>(random_bits(seed, i, salt) >> 1) % (rows * size_.k);
      const int64_t offset = place / size_.k * leading_dimension + place % size_.k;
      copy(const_cast<half*>(matrix) + offset, &value, sizeof(value));
    }
  };
  put(args_.a, size_.m, args_.lda, 0);
  put(args_.b, size_.n, args_.ldb, 1);
  reference_is_current_ = false;
}

Problem::Verdict Problem::check(const MatmulFunction& matmul, const TileShape& shape) {
  auto* const values = static_cast<float*>(reference_values_.data());
  auto* const magnitudes = static_cast<float*>(reference_magnitudes_.data());
  if (!reference_is_current_) {
    compute_reference(args_, values, magnitudes);
    reference_is_current_ = true;
  }
  fill(c_.begin(), c_.count, kPoison);
  Verdict verdict;
  verdict.status = matmul(args_);
  if (verdict.status.ok()) verdict.status = synchronize();
  if (verdict.status.code() == ExitCode::kUsage) {
    MatmulArguments nothing = args_;
    nothing.m = 0;
    const int64_t touched = count_changed(c_.begin(), c_.count, kPoison, nothing);
    if (touched > 0) {
      verdict.fault = "it was refused, yet " + std::to_string(touched) +
                      " elements in and around C were overwritten\n";
    }
  }
  if (!verdict.status.ok()) return verdict;
  const TileShape counted = areas(shape);
  const Comparison comparison =
      compare(args_, values, magnitudes, exact_, counted.block_m, counted.block_n);
  if (comparison.wrong > 0) verdict.fault = describe(comparison, args_, shape);
  const int64_t changed = count_changed(c_.begin(), c_.count, kPoison, args_);
  if (changed > 0) {
    verdict.fault += std::to_string(changed) +
                     " elements outside C (padding of its rows, or before and after it) were "
                     "overwritten\n";
  }
  verdict.fault += fault_of_stream_memory();
  return verdict;
}

std::string describe(const Comparison& comparison, const MatmulArguments& args,
                     const TileShape& tile) {
  const TileShape shape = areas(tile);
  const int64_t tile_row = comparison.first_row / shape.block_m;
  const int64_t tile_column = comparison.first_column / shape.block_n;
  const int64_t row = comparison.first_row % shape.block_m;
  const int64_t column = comparison.first_column % shape.block_n;
  // Where an accumulator element lives: common/store_accumulator.cuh.
  const int64_t product = row / 64;
  const bool stacked = shape.warpgroups == 1;
  const int64_t reg = column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
  std::ostringstream text;
  text.precision(7);
  text << comparison.wrong << " of " << args.m * args.n << " elements are wrong; the first is C["
       << comparison.first_row << "][" << comparison.first_column << "] = " << comparison.got
       << ", expected " << comparison.expected;
  if (comparison.bound > 0) text << " ± " << comparison.bound;
  if (is_chosen_by_host(tile)) {
    text << "\n  (the host chooses this version's tile by the problem, so the map has areas of "
         << shape.block_m << " × " << shape.block_n << ")\n";
  } else {
    text << "\n  computed in tile (" << tile_row << ", " << tile_column << ") of " << shape.block_m
         << " × " << shape.block_n << ", warp group " << (stacked ? 0 : product) << ", warp "
         << row % 64 / 16 << " of the group, lane " << row % 8 * 4 + column % 8 / 2 << ", register "
         << (stacked ? "acc[" + std::to_string(product) + "][" : "acc[") << reg << "]\n";
  }

  constexpr int64_t kMapRows = 24;
  constexpr int64_t kMapColumns = 64;
  const int64_t tile_rows = ceil_div(args.m, shape.block_m);
  const int64_t tile_columns = ceil_div(args.n, shape.block_n);
  text << (is_chosen_by_host(tile) ? "  areas" : "  tiles") << " (# all wrong, + some, . none)";
  if (tile_rows > kMapRows || tile_columns > kMapColumns) {
    text << ", the first " << std::min(tile_rows, kMapRows) << " × "
         << std::min(tile_columns, kMapColumns) << " of " << tile_rows << " × " << tile_columns;
  }
  text << ":\n";
  for (int64_t i = 0; i < std::min(tile_rows, kMapRows); ++i) {
    text << "    ";
    for (int64_t j = 0; j < std::min(tile_columns, kMapColumns); ++j) {
      const int64_t wrong = comparison.wrong_per_tile[i * tile_columns + j];
      const int64_t elements = std::min<int64_t>(shape.block_m, args.m - i * shape.block_m) *
                               std::min<int64_t>(shape.block_n, args.n - j * shape.block_n);
      text << (wrong == 0 ? '.' : wrong == elements ? '#' : '+');
    }
    text << "\n";
  }
  return text.str();
}

}  // namespace harness
