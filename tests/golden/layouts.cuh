// Kernels that let the hardware tell which element lies where: each operand holds its own places as
// numbers, the other one picks them out one by one. dump_golden.cu runs them on a GPU and files
// what they say; a test of the emulator runs them there and compares.
#pragma once

#include <launch.h>
#include <matrix_descriptor.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/mma.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <ptx/wgmma_shapes.cuh>
#include <tensor_map.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace golden {

// What one kernel has said.
struct Layout {
  std::string name;
  std::string what;  // what the numbers are
  std::vector<int> shape;  // of `values`, the last dimension that of neighbours
  std::vector<int> values;
};

__device__ __forceinline__ uint16_t half_bits(int value) {
  return __half_as_ushort(__float2half_rn(static_cast<float>(value)));
}

// --- mma.sync: operand A's slots hold their numbers, one slot of B a 1 ---

__global__ void mma_kernel(int* out) {
  const int lane = threadIdx.x;
  uint32_t a[4];
  for (int i = 0; i < 4; ++i) {
    const int slot = (lane * 4 + i) * 2 + 1;
    a[i] = half_bits(slot) | uint32_t{half_bits(slot + 1)} << 16;
  }
  for (int one = 0; one < 128; ++one) {
    uint32_t b[2] = {0, 0};
    if (one / 4 == lane) b[one / 2 % 2] = uint32_t{half_bits(1)} << one % 2 * 16;
    float d[4] = {0, 0, 0, 0};
    ptx::mma_m16n8k16_f16(d, a, b, d);
    for (int i = 0; i < 4; ++i) out[(one * 32 + lane) * 4 + i] = static_cast<int>(d[i]);
  }
}

// --- ldmatrix: elements hold their numbers ---

template <bool kTransposed>
__global__ void ldmatrix_kernel(int* out) {
  struct Matrices {
    alignas(16) uint16_t elements[32][8];
  };
  auto& smem = shared_storage<Matrices>();
  for (int i = 0; i < 8; ++i) {
    smem.elements[threadIdx.x][i] = static_cast<uint16_t>(threadIdx.x * 8 + i);
  }
  __syncthreads();
  uint32_t matrices[4];
  if (kTransposed) {
    ptx::ldmatrix_m8n8_x4_trans(matrices, smem.elements[threadIdx.x]);
  } else {
    ptx::ldmatrix_m8n8_x4(matrices, smem.elements[threadIdx.x]);
  }
  for (int i = 0; i < 4; ++i) {
    out[(threadIdx.x * 4 + i) * 2] = static_cast<int>(matrices[i] & 0xffff);
    out[(threadIdx.x * 4 + i) * 2 + 1] = static_cast<int>(matrices[i] >> 16);
  }
}

// --- WGMMA ---

constexpr int kCells = 4096;  // of 16 bits, for each operand in shared memory

struct Operands {
  alignas(1024) uint16_t cells[kCells];
  alignas(1024) uint16_t one_hot[64 * 64];
};

// Cells hold their numbers: fp16 holds whole numbers up to 2048 exactly, so in two parts of 6 bits.
__device__ __forceinline__ int part_of(int number, int part) {
  return part == 0 ? number % 64 : number / 64;
}

// Element (row, k) of a K-major tile with the 128-byte swizzle, of which k < 16 is read.
__device__ __forceinline__ int known_place(int row, int k) {
  return row * 64 + ((k / 8) ^ (row % 8)) * 8 + k % 8;
}

__device__ __forceinline__ void prepare(Operands* smem, int part) {
  __syncthreads();
  for (int i = threadIdx.x; i < kCells; i += 128) smem->cells[i] = half_bits(part_of(i, part));
  for (int i = threadIdx.x; i < 64 * 64; i += 128) smem->one_hot[i] = 0;
  __syncthreads();
  if (threadIdx.x < 64) smem->one_hot[known_place(threadIdx.x, threadIdx.x % 16)] = half_bits(1);
  ptx::fence_proxy_async();
  __syncthreads();
}

template <int kN>
__device__ __forceinline__ void add_part(const float (&acc)[kN / 2], int part, int* out) {
  for (int r = 0; r < kN / 2; ++r) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + r / 2 % 2 * 8;
    const int column = r / 4 * 8 + threadIdx.x % 4 * 2 + r % 2;
    const int value = static_cast<int>(acc[r]);
    int& to = out[row * kN + column];
    to = part == 0 ? value : to + 64 * value;
  }
}

// A picks k = row % 16: D[row][n] is the number of the cell that holds (n, row % 16) of B.
template <ptx::Major kMajor>
__global__ void b_kernel(uint32_t leading, uint32_t stride, Swizzle swizzle, int* out) {
  auto& smem = shared_storage<Operands>();
  float acc[32];
  for (int part = 0; part < 2; ++part) {
    prepare(&smem, part);
    ptx::wgmma_fence();
    ptx::wgmma_m64nNk16_f16<64, ptx::Major::kK, kMajor>(
        acc, matrix_descriptor(smem.one_hot, 16, 1024, Swizzle::k128B),
        matrix_descriptor(smem.cells, leading, stride, swizzle), false);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>(acc);
    add_part<64>(acc, part, out);
  }
}

// B picks k = n: D[row][n] is the number of the cell that holds (row, n) of A.
template <ptx::Major kMajor>
__global__ void a_kernel(uint32_t leading, uint32_t stride, Swizzle swizzle, int* out) {
  auto& smem = shared_storage<Operands>();
  float acc[8];
  for (int part = 0; part < 2; ++part) {
    prepare(&smem, part);
    ptx::wgmma_fence();
    ptx::wgmma_m64nNk16_f16<16, kMajor, ptx::Major::kK>(
        acc, matrix_descriptor(smem.cells, leading, stride, swizzle),
        matrix_descriptor(smem.one_hot, 16, 1024, Swizzle::k128B), false);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>(acc);
    add_part<16>(acc, part, out);
  }
}

// The same for an A in registers: its slots are numbered (thread · 4 + register) · 2 + half.
__global__ void fragment_kernel(int* out) {
  auto& smem = shared_storage<Operands>();
  uint32_t a[4];
  float acc[8];
  for (int part = 0; part < 2; ++part) {
    prepare(&smem, part);
    for (int i = 0; i < 4; ++i) {
      const int slot = (static_cast<int>(threadIdx.x) * 4 + i) * 2;
      a[i] = half_bits(part_of(slot, part)) | uint32_t{half_bits(part_of(slot + 1, part))} << 16;
    }
    ptx::wgmma_fence();
    ptx::wgmma_m64nNk16_f16_rs<16, ptx::Major::kK>(
        acc, a, matrix_descriptor(smem.one_hot, 16, 1024, Swizzle::k128B), false);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>(acc);
    add_part<16>(acc, part, out);
  }
}

// --- TMA ---

constexpr int kBoxRows = 40;

__global__ void tma_kernel(const __grid_constant__ CUtensorMap map, int columns, int* out) {
  struct Box {
    alignas(1024) uint16_t elements[kBoxRows * 64];
    MBarrier full;
  };
  auto& smem = shared_storage<Box>();
  const int count = kBoxRows * columns;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, count * 2);
    ptx::cp_async_bulk_tensor_2d(smem.elements, &map, 0, 0, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  for (int i = threadIdx.x; i < count; i += 32) out[i] = smem.elements[i];
}

// --- all of them ---

// Runs every kernel; ends the program if one cannot be run.
class Layouts {
 public:
  std::vector<Layout> run() {
    add("mma_m16n8k16",
        "fragments of mma.sync m16n8k16: for each slot of B ((lane, register, half)) "
        "that alone is 1, each lane's four registers of D; slots of A hold their number, from 1",
        {32, 2, 2, 32, 4}, mma_kernel, 32, 0);
    add("ldmatrix_x4",
        "ldmatrix.x4: for each lane, register and half the element that it receives; "
        "elements of the 32 rows of 8 are numbered",
        {32, 4, 2}, ldmatrix_kernel<false>, 32, 512);
    add("ldmatrix_x4_trans", "ldmatrix.x4.trans: the same", {32, 4, 2}, ldmatrix_kernel<true>, 32,
        512);
    add("wgmma_fragment_a",
        "WGMMA with A in registers: for each element of A (row, k) the slot that "
        "holds it, (thread * 4 + register) * 2 + half",
        {64, 16}, fragment_kernel, 128, sizeof(Operands));
    const struct {
      const char* name;
      Swizzle mode;
    } kModes[] = {{"none", Swizzle::kNone},
                  {"32B", Swizzle::k32B},
                  {"64B", Swizzle::k64B},
                  {"128B", Swizzle::k128B}};
    for (const auto& [name, mode] : kModes) {
      const uint32_t pattern = 8 * swizzle_row_bytes(mode);
      // Patterns one behind the other; of no swizzle, those along K (or the rows) further apart.
      const uint32_t slab = 1024;
      const bool none = mode == Swizzle::kNone;
      const std::string text = std::string(", swizzle ") + name +
                               ": the number of the 16-bit cell of shared memory that holds it";
      const uint32_t k_leading = none ? slab : 16, k_stride = pattern;
      const uint32_t mn_leading = none ? pattern : 2 * pattern;
      const uint32_t mn_stride = none ? 2 * pattern : pattern;
      add(std::string("wgmma_b_k_major_") + name,
          "for each row of D, and n, element (n, row % 16) of a K-major B, leading offset " +
              std::to_string(k_leading) + ", stride offset " + std::to_string(k_stride) + text,
          {64, 64}, b_kernel<ptx::Major::kK>, 128, sizeof(Operands), k_leading, k_stride, mode);
      add(std::string("wgmma_b_mn_major_") + name,
          "for each row of D, and n, element (n, row % 16) of an MN-major B, leading offset " +
              std::to_string(mn_leading) + ", stride offset " + std::to_string(mn_stride) + text,
          {64, 64}, b_kernel<ptx::Major::kMN>, 128, sizeof(Operands), mn_leading, mn_stride, mode);
      add(std::string("wgmma_a_k_major_") + name,
          "element (row, k) of a K-major A, offsets as for B" + text, {64, 16},
          a_kernel<ptx::Major::kK>, 128, sizeof(Operands), k_leading, k_stride, mode);
      add(std::string("wgmma_a_mn_major_") + name,
          "element (row, k) of an MN-major A, offsets as for B" + text, {64, 16},
          a_kernel<ptx::Major::kMN>, 128, sizeof(Operands), mn_leading, mn_stride, mode);
      add_tma(name, mode);
    }
    return layouts_;
  }

 private:
  static constexpr int kMost = 32 * 2 * 2 * 32 * 4;

  static void check(bool well, const std::string& name, const char* why) {
    if (well) return;
    std::fprintf(stderr, "%s: %s\n", name.c_str(), why);
    std::exit(3);
  }

  template <class... Parameters, class... Arguments>
  void add(const std::string& name, const std::string& what, const std::vector<int>& shape,
           void (*kernel)(Parameters...), int threads, size_t bytes, Arguments... arguments) {
    const Status status = launch(kernel, {}, threads, bytes, nullptr, arguments..., out());
    check(status.ok(), name, status.message().c_str());
    const cudaError_t error = cudaDeviceSynchronize();
    check(error == cudaSuccess, name, cudaGetErrorString(error));
    int count = 1;
    for (const int size : shape) count *= size;
    layouts_.push_back({name, what, shape, std::vector<int>(out(), out() + count)});
  }

  void add_tma(const char* mode_name, Swizzle mode) {
    const int columns = mode == Swizzle::kNone ? 64 : static_cast<int>(swizzle_row_bytes(mode)) / 2;
    uint16_t* tensor = nullptr;
    check(cudaMallocManaged(&tensor, kBoxRows * 64 * sizeof(uint16_t)) == cudaSuccess, "tensor",
          "no memory");
    for (int i = 0; i < kBoxRows * columns; ++i) tensor[i] = static_cast<uint16_t>(i);
    CUtensorMap map;
    const GlobalTensor global = {
        "X", tensor, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, {columns, kBoxRows}, {columns * 2}};
    const Status status = make_tensor_map(&map, global, {columns, kBoxRows, 1}, mode);
    check(status.ok(), "map", status.message().c_str());
    add(std::string("tma_swizzle_") + mode_name,
        std::string("what lies in each 16-bit cell after a TMA load of a box whose elements are "
                    "numbered, swizzle ") +
            mode_name,
        {kBoxRows, columns}, tma_kernel, 32, kBoxRows * 128 + 1024, map, columns);
  }

  int* out() {
    if (out_ == nullptr) {
      check(cudaMallocManaged(&out_, kMost * sizeof(int)) == cudaSuccess, "out", "no memory");
    }
    return out_;
  }

  int* out_ = nullptr;
  std::vector<Layout> layouts_;
};

inline std::string layout_file(const Layout& layout) { return "layout_" + layout.name + ".json"; }

}  // namespace golden
