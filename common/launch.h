// The launch of a kernel, the same for every version.
#pragma once

#include <cuda_runtime.h>
#include <matmul.h>
#include <status.h>

#include <cstdint>
#include <string>

// The number of blocks in each direction; 64 bits, so that products and large sizes are exact until
// they are checked.
struct Grid {
  int64_t x = 1;
  int64_t y = 1;
};

// Checks the grid against the hardware's limits.
inline Status check_grid(const Grid& grid) {
  constexpr int64_t kLimitX = 2147483647;
  constexpr int64_t kLimitY = 65535;
  if (grid.x <= kLimitX && grid.y <= kLimitY) return {};
  if (grid.x > kLimitX) {
    return {ExitCode::kUsage, "C: " + std::to_string(grid.x) +
                                  " tiles along the grid's x; a launch takes 2147483647: split the "
                                  "problem"};
  }
  return {ExitCode::kUsage, "C: " + std::to_string(grid.y) +
                                " tile columns (n is too large); a 2-D grid takes 65535: split the "
                                "problem along n, or use a version with a 1-D grid (v4 and later)"};
}

// How many blocks a persistent kernel with one block per multiprocessor should have for `tiles`
// tiles: the fewest that need no more rounds than a full chip does, so that every round but the
// last is full and the last nearly so; at most `max_blocks`, if that is not 0.
inline Status persistent_blocks(int64_t tiles, int max_blocks, int64_t* blocks) {
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  }
  if (error != cudaSuccess) return cuda_status(error, "asking for the number of multiprocessors");
  const int64_t most = max_blocks > 0 && max_blocks < sms ? max_blocks : sms;
  *blocks = ceil_div(tiles, ceil_div(tiles, most));
  return {};
}

// Launches `kernel` with `shared_bytes` of dynamic shared memory. Asynchronous; the status tells
// whether the launch was accepted.
template <class... Parameters, class... Arguments>
Status launch(void (*kernel)(Parameters...), Grid grid, int threads, size_t shared_bytes,
              cudaStream_t stream, Arguments... arguments) {
  Status status = check_grid(grid);
  if (!status.ok()) return status;
  status = cuda_status(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(shared_bytes)),
                       "reserving shared memory for the kernel");
  if (!status.ok()) return status;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  return cuda_status(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...),
                     "launching the kernel");
}
