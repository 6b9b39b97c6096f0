// Makes the golden files on a Hopper GPU: dump_golden FOLDER
#include <harness/device.h>
#include <harness/gpu/cuda_check.h>
#include <matrix_descriptor.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <ptx/wgmma_shapes.cuh>
#include <tensor_map.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "golden.h"
#include "layouts.cuh"

namespace {

constexpr int kBoxLimit = 256 * 64;

__global__ void tma_kernel(const __grid_constant__ CUtensorMap map, golden::Box box,
                           uint16_t* out) {
  uint16_t* const tile = shared_storage<uint16_t[kBoxLimit]>();
  __shared__ MBarrier full;
  ptx::mbarrier_init(&full, 1);
  ptx::fence_mbarrier_init();
  ptx::mbarrier_arrive_expect_tx(&full, box.rows * 128);
  ptx::cp_async_bulk_tensor_2d(tile, &map, box.column, box.row, &full);
  ptx::mbarrier_wait_parity(&full, 0);
  for (int i = 0; i < box.rows * 64; ++i) out[i] = tile[i];
}

// The operands lie in one 64-column tile each, of which the product reads the first 16 columns.
template <int kN>
__global__ void wgmma_kernel(golden::Product product, uint16_t* out) {
  struct Tiles {
    alignas(1024) half a[64 * 64];
    alignas(1024) half b[kN * 64];
  };
  auto& smem = shared_storage<Tiles>();
  for (int i = threadIdx.x; i < kN * 16; i += blockDim.x) {
    const int row = i / 16;
    const int k = i % 16;
    const int offset = row * 64 + ((k / 8) ^ (row % 8)) * 8 + k % 8;
    if (row < 64) smem.a[offset] = __float2half(golden::a_element(product, row, k));
    smem.b[offset] = __float2half(golden::b_element(product, row, k));
  }
  ptx::fence_proxy_async();
  __syncthreads();
  float acc[kN / 2];
  ptx::wgmma_fence();
  if constexpr (kN == 128) {
    ptx::wgmma_m64n128k16(acc, matrix_descriptor(smem.a, 0), matrix_descriptor(smem.b, 0), false);
  } else if constexpr (kN == 256) {
    ptx::wgmma_m64n256k16(acc, matrix_descriptor(smem.a, 0), matrix_descriptor(smem.b, 0), false);
  } else {
    ptx::wgmma_m64nNk16<kN>(acc, matrix_descriptor(smem.a, 0), matrix_descriptor(smem.b, 0), false);
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(acc);
#pragma unroll
  for (int i = 0; i < kN / 2; ++i) {
    out[threadIdx.x * (kN / 2) + i] = static_cast<uint16_t>(acc[i]);
  }
}

void write(const std::string& path, const harness::Buffer& buffer, size_t count) {
  std::vector<uint16_t> values(count);
  CUDA_CHECK(cudaDeviceSynchronize());
  harness::copy(values.data(), buffer.data(), count * 2);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(count * 2));
  file.close();
  if (!file.good()) {
    std::fprintf(stderr, "dump_golden: cannot write %s\n", path.c_str());
    std::exit(static_cast<int>(ExitCode::kUsage));
  }
  std::printf("%s: %zu bytes\n", path.c_str(), count * 2);
}

template <int kN>
void dump_wgmma(const std::string& folder, uint16_t* out, const harness::Buffer& buffer) {
  const int bytes = (64 + kN) * 128;
  CUDA_CHECK(
      cudaFuncSetAttribute(wgmma_kernel<kN>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  for (const auto product : {golden::Product::kPosition, golden::Product::kStep}) {
    wgmma_kernel<kN><<<1, 128, bytes>>>(product, out);
    write(folder + golden::wgmma_file(kN, product), buffer, 128 * kN / 2);
  }
}

// Files that say themselves what they hold.
void dump_layouts(const std::string& folder) {
  for (const golden::Layout& layout : golden::Layouts().run()) {
    const std::string path = folder + golden::layout_file(layout);
    std::ofstream file(path);
    file << nlohmann::json{{"what", layout.what},
                           {"shape", layout.shape},
                           {"values", layout.values}}
         << "\n";
    file.close();
    if (!file.good()) {
      std::fprintf(stderr, "dump_golden: cannot write %s\n", path.c_str());
      std::exit(static_cast<int>(ExitCode::kUsage));
    }
    std::printf("%s: %zu numbers\n", path.c_str(), layout.values.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: dump_golden FOLDER\n");
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  std::vector<uint16_t> matrix(golden::kRows * golden::kPitch, 0xffff);
  for (int row = 0; row < golden::kRows; ++row) {
    for (int column = 0; column < golden::kColumns; ++column) {
      matrix[row * golden::kPitch + column] = golden::tma_element(row, column);
    }
  }
  const harness::Buffer device_matrix(matrix.size() * 2), out(kBoxLimit * 2);
  harness::copy(device_matrix.data(), matrix.data(), matrix.size() * 2);
  auto* const values = static_cast<uint16_t*>(out.data());
  CUDA_CHECK(
      cudaFuncSetAttribute(tma_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBoxLimit * 2));
  for (const golden::Box& box : golden::kBoxes) {
    CUtensorMap map;
    const Status status = make_tensor_map(&map,
                                          {"A", static_cast<const half*>(device_matrix.data()),
                                           golden::kRows, golden::kColumns, golden::kPitch},
                                          box.rows, 64);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      return static_cast<int>(status.code());
    }
    tma_kernel<<<1, 1, kBoxLimit * 2>>>(map, box, values);
    write(folder + golden::tma_file(box), out, box.rows * 64);
  }
  dump_wgmma<128>(folder, values, out);
  dump_wgmma<176>(folder, values, out);
  dump_wgmma<200>(folder, values, out);
  dump_wgmma<256>(folder, values, out);
  dump_layouts(folder);
  return 0;
}
