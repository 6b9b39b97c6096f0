// attention [LENGTH [HEADS [HEAD_DIM]]]: computes attention on made-up data and compares with a
// plain loop in double precision. Exit code 0: no element differs by more than fp16 explains.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "attention.h"

namespace {

half* allocate(size_t count) {
  half* data = nullptr;
  if (cudaMallocManaged(&data, count * sizeof(half)) != cudaSuccess) {
    std::fprintf(stderr, "no memory, or no GPU\n");
    std::exit(3);
  }
  return data;
}

// The largest difference from softmax(Q · Kᵀ / √d) · V.
double largest_error(const AttentionArguments& args) {
  double largest = 0;
  std::vector<double> weights(args.length);
  for (int row = 0; row < args.heads * args.length; ++row) {
    const int first = row / args.length * args.length;  // of this head
    const auto at = [&](const half* matrix, int r, int d) {
      return static_cast<double>(__half2float(matrix[static_cast<size_t>(r) * args.head_dim + d]));
    };
    double sum = 0;
    for (int key = 0; key < args.length; ++key) {
      double score = 0;
      for (int d = 0; d < args.head_dim; ++d)
        score += at(args.q, row, d) * at(args.k, first + key, d);
      sum += weights[key] = std::exp(score / std::sqrt(args.head_dim));
    }
    for (int d = 0; d < args.head_dim; ++d) {
      double expected = 0;
      for (int key = 0; key < args.length; ++key)
        expected += weights[key] * at(args.v, first + key, d);
      const double error = std::fabs(at(args.out, row, d) - expected / sum);
      largest = error > largest || std::isnan(error) ? error : largest;
      if (std::isnan(largest)) return largest;
    }
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) {
  AttentionArguments args = {};
  args.length = argc > 1 ? std::atoi(argv[1]) : 200;
  args.heads = argc > 2 ? std::atoi(argv[2]) : 2;
  args.head_dim = argc > 3 ? std::atoi(argv[3]) : 64;
  const size_t count = static_cast<size_t>(std::max(args.heads * args.length, 1)) * args.head_dim;
  half* const q = allocate(count);
  half* const k = allocate(count);
  half* const v = allocate(count);
  args.out = allocate(count);
  uint32_t state = 1;
  const auto next = [&] {  // -1 … 1
    state = state * 1664525 + 1013904223;
    return __float2half_rn(static_cast<float>(state >> 8) / (1 << 23) - 1);
  };
  for (size_t i = 0; i < count; ++i) {
    q[i] = next();
    k[i] = next();
    v[i] = next();
  }
  args.q = q;
  args.k = k;
  args.v = v;
  const Status status = attention(args, nullptr);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return static_cast<int>(status.code());
  }
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::fprintf(stderr, "the kernel failed: %s\n", cudaGetErrorString(error));
    return 3;
  }
  const double error = largest_error(args);
  std::printf("%d heads of %d × %d: largest error %.5f\n", args.heads, args.length, args.head_dim,
              error);
  return error < 2e-3 ? 0 : 1;
}
