// harness/device.h on the CPU, all but what the emulator itself must say (emulator_device.cpp):
// device memory is host memory, the reference is a plain loop.
#include <harness/device.h>
#include <harness/judge.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace harness {

bool measures_time() { return false; }

Status synchronize() { return {}; }

Buffer::Buffer(size_t bytes) {
  constexpr size_t kAlignment = 256;  // as cudaMalloc's
  data_ = std::aligned_alloc(kAlignment, (bytes + kAlignment) / kAlignment * kAlignment);
  if (data_ == nullptr) {
    std::fprintf(stderr, "out of memory: %.1f GB more are needed; choose a smaller problem\n",
                 static_cast<double>(bytes) / 1e9);
    std::exit(static_cast<int>(ExitCode::kCudaError));
  }
}
Buffer::Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  return *this;
}
Buffer::~Buffer() { std::free(data_); }

void fill(half* data, int64_t count, uint16_t bits) {
  for (int64_t i = 0; i < count; ++i) data[i] = __ushort_as_half(bits);
}

void generate(half* data, int64_t rows, int64_t columns, int64_t leading_dimension, DataKind kind,
              uint64_t seed, float scale) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      data[row * leading_dimension + column] = element(kind, seed, row, column, scale);
    }
  }
}

void copy(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

void compute_reference(const MatmulArguments& args, float* values, float* magnitudes) {
  // Each sum runs along k in double precision; a few columns at a time, side by side, so that the
  // compiler can use vectors.
  constexpr int64_t kColumns = 8;
  const Buffer a_buffer(args.m * args.k * sizeof(double));
  const Buffer b_buffer(args.k * kColumns * sizeof(double));
  auto* const a = static_cast<double*>(a_buffer.data());
  auto* const b = static_cast<double*>(b_buffer.data());  // transposed
  std::fill_n(b, args.k * kColumns, 0.0);
  for (int64_t row = 0; row < args.m; ++row) {
    for (int64_t i = 0; i < args.k; ++i) {
      a[row * args.k + i] = __half2float(args.a[row * args.lda + i]);
    }
  }
  for (int64_t first = 0; first < args.n; first += kColumns) {
    const int64_t columns = std::min(kColumns, args.n - first);
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < args.k; ++i) {
        b[i * kColumns + j] = __half2float(args.b[(first + j) * args.ldb + i]);
      }
    }
    for (int64_t row = 0; row < args.m; ++row) {
      double sums[kColumns] = {};
      double sizes[kColumns] = {};
      for (int64_t i = 0; i < args.k; ++i) {
        for (int64_t j = 0; j < kColumns; ++j) {
          const double product = a[row * args.k + i] * b[i * kColumns + j];
          sums[j] += product;
          sizes[j] += std::fabs(product);
        }
      }
      for (int64_t j = 0; j < columns; ++j) {
        values[row * args.n + first + j] = static_cast<float>(sums[j]);
        magnitudes[row * args.n + first + j] = static_cast<float>(sizes[j]);
      }
    }
  }
}

Comparison compare(const MatmulArguments& args, const float* values, const float* magnitudes,
                   bool exact, int block_m, int block_n) {
  Comparison comparison;
  const int64_t tile_columns = ceil_div(args.n, block_n);
  comparison.wrong_per_tile.resize(ceil_div(args.m, block_m) * tile_columns);
  for (int64_t row = 0; row < args.m; ++row) {
    for (int64_t column = 0; column < args.n; ++column) {
      const float expected = values[row * args.n + column];
      const float magnitude = magnitudes[row * args.n + column];
      const half got = args.c[row * args.ldc + column];
      if (is_right(got, expected, magnitude, args.k, exact)) continue;
      if (comparison.wrong == 0) {
        comparison.first_row = row;
        comparison.first_column = column;
        comparison.got = __half2float(got);
        comparison.expected = expected;
        comparison.bound = exact ? 0 : error_bound(expected, magnitude, args.k);
      }
      ++comparison.wrong;
      ++comparison.wrong_per_tile[row / block_m * tile_columns + column / block_n];
    }
  }
  return comparison;
}

int64_t count_changed(const half* buffer, int64_t count, uint16_t bits,
                      const MatmulArguments& args) {
  int64_t changed = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t offset = buffer + i - args.c;
    const bool inside =
        args.n > 0 && offset >= 0 && offset / args.ldc < args.m && offset % args.ldc < args.n;
    if (!inside && __half_as_ushort(buffer[i]) != bits) ++changed;
  }
  return changed;
}

Status time_interleaved(const std::vector<Contender>&, const TimingOptions&,
                        const std::function<void(int, int)>&, Timing*) {
  return {ExitCode::kNoDevice, "the emulator measures no time; run this on a Hopper GPU"};
}

Status baselines(const MatmulArguments&, const TimingOptions&, std::vector<Contender>* found) {
  found->clear();
  return {};
}

}  // namespace harness
