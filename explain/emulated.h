// Small kernels of this program's own, run in the emulator.
#pragma once

#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <emulator.h>
#include <tensor_map.h>

#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace explain {

// Runs one block; what the emulator reports, if it stops the kernel.
template <class... Parameters, class... Arguments>
std::optional<emulator::Report> run_block(void (*kernel)(Parameters...), int threads,
                                          size_t shared_bytes, Arguments... arguments) {
  emulator::Options options;
  options.delay = emulator::Delay::kAtOnce;
  options.print_reports = false;
  options.happens_before = false;  // nothing here is proven to be in order
  emulator::set_options(options);
  cudaLaunchConfig_t config = {};
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  cudaLaunchKernelEx(&config, kernel, arguments...);
  return emulator::last_report();
}

// A packed matrix in global memory whose rows are one K tile (64 fp16) long; all zero.
class TileSource {
 public:
  explicit TileSource(int rows) : rows_(rows), storage_(rows * kColumns + 128) {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data());
    data_ = storage_.data() + (256 - address % 256) % 256 / sizeof(half);
    for (int i = 0; i < rows * kColumns; ++i) set_bits(i / kColumns, i % kColumns, 0);
  }

  void set(int row, int k, int value) {
    data_[row * kColumns + k] = __float2half_rn(static_cast<float>(value));
  }
  void set_bits(int row, int k, uint16_t bits) {
    std::memcpy(&data_[row * kColumns + k], &bits, sizeof(bits));
  }
  // For boxes of all its rows, with the 128-byte swizzle, as every kernel here loads its tiles.
  CUtensorMap map() const {
    CUtensorMap result;
    const Status status =
        make_tensor_map(&result, {"X", data_, rows_, kColumns, kColumns}, rows_, kColumns);
    if (!status.ok()) throw std::runtime_error(status.message());
    return result;
  }

 private:
  static constexpr int kColumns = 64;
  int rows_;
  std::vector<half> storage_;
  half* data_;
};

}  // namespace explain
