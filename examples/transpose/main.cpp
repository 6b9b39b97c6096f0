// transpose [ROWS COLUMNS]: transposes a matrix of whole numbers and compares. Exit code 0: right.
#include <cstdio>
#include <cstdlib>

#include "transpose.h"

int main(int argc, char** argv) {
  const int rows = argc == 3 ? std::atoi(argv[1]) : 200;
  const int columns = argc == 3 ? std::atoi(argv[2]) : 136;
  const size_t count = static_cast<size_t>(rows) * columns;
  half *from = nullptr, *to = nullptr;
  if (cudaMallocManaged(&from, count * sizeof(half)) != cudaSuccess ||
      cudaMallocManaged(&to, count * sizeof(half)) != cudaSuccess) {
    std::fprintf(stderr, "no memory, or no GPU\n");
    return 3;
  }
  for (size_t i = 0; i < count; ++i) from[i] = __float2half_rn(static_cast<float>(i % 2039));
  const Status status = transpose(from, to, rows, columns, nullptr);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return static_cast<int>(status.code());
  }
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::fprintf(stderr, "the kernel failed: %s\n", cudaGetErrorString(error));
    return 3;
  }
  int wrong = 0;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      wrong += __half2float(to[static_cast<size_t>(column) * rows + row]) !=
               __half2float(from[static_cast<size_t>(row) * columns + column]);
    }
  }
  std::printf("%d of %zu elements are wrong\n", wrong, count);
  return wrong == 0 ? 0 : 1;
}
