// The host's part of the hello programs: a matrix, its tensor map, one block.
#pragma once

#include <launch.h>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <shared_storage.cuh>
#include <tensor_map.h>

#include <cstdio>

// Launches `kernel` with one block of so many threads and a map of a matrix of `rows` × 64
// elements, which the kernel loads as one box; value(row, column) is what an element holds. What
// main returns.
template <class SharedStorage, class Value>
int hello(void (*kernel)(CUtensorMap), int threads, int rows, Value value) {
  half* matrix = nullptr;
  Status status = cuda_status(cudaMallocManaged(&matrix, rows * 64 * sizeof(half)), "allocating");
  for (int i = 0; status.ok() && i < rows * 64; ++i) {
    matrix[i] = __float2half_rn(static_cast<float>(value(i / 64, i % 64)));
  }
  CUtensorMap map;
  if (status.ok()) status = make_tensor_map(&map, {"A", matrix, rows, 64, 64}, rows, 64);
  if (status.ok()) {
    status = launch(kernel, Grid{}, threads, sizeof(SharedStorage), nullptr, map);
  }
  if (status.ok()) status = cuda_status(cudaDeviceSynchronize(), "running the kernel");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return static_cast<int>(status.code());
}
