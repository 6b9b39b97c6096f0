// TMA of one to three dimensions, with every swizzle, its sums, and copies without a map. Compiled
// twice: for a GPU, and for the emulator.
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <swizzle.h>
#include <tensor_map.h>

#include <vector>

#include "both.h"

namespace {

using both::Shared;

// --- maps: rules ---

TEST(TensorMap, ChecksTensors) {
  alignas(16) static float data[64];
  CUtensorMap map;
  const auto message = [&](GlobalTensor tensor, const int(&box)[3], Swizzle swizzle) {
    return check_tensor_map(tensor, box, swizzle).message();
  };
  const GlobalTensor good = {"X", data, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, {8, 8}, {32}};
  EXPECT_EQ(message(good, {8, 8}, Swizzle::kNone), "");
  EXPECT_EQ(message(good, {8, 8}, Swizzle::k32B), "");
  EXPECT_TRUE(make_tensor_map(&map, good, {8, 8}, Swizzle::k32B).ok());
  EXPECT_NE(message(good, {8, 8}, Swizzle::k64B).find("has 32 bytes; this swizzle is for 64"),
            std::string::npos);
  EXPECT_NE(message(good, {2, 8}, Swizzle::kNone).find("has 8 bytes"), std::string::npos);
  EXPECT_NE(message(good, {8, 257}, Swizzle::kNone).find("257 elements along dimension 1"),
            std::string::npos);
  GlobalTensor bad = good;
  bad.base = &data[1];
  EXPECT_NE(message(bad, {8, 8}, Swizzle::kNone).find("multiple of 16"), std::string::npos);
  bad = good;
  bad.pitch[0] = 40;
  EXPECT_NE(message(bad, {8, 8}, Swizzle::kNone).find("pitch of dimension 1 is 40"),
            std::string::npos);
  bad.pitch[0] = 16;
  EXPECT_NE(message(bad, {8, 8}, Swizzle::kNone).find("less than a row of 32"), std::string::npos);
  bad = good;
  bad.size[1] = 0;
  EXPECT_NE(message(bad, {8, 8}, Swizzle::kNone).find("dimension 1 has 0"), std::string::npos);
  bad = good;
  bad.dimensions = 4;
  EXPECT_NE(message(bad, {8, 8}, Swizzle::kNone).find("4 dimensions"), std::string::npos);
}

// --- loads ---

constexpr int kMostBytes = 16384;

struct OneBox {
  alignas(1024) uint8_t bytes[kMostBytes];
  MBarrier full;
};

__global__ void load_kernel(const __grid_constant__ CUtensorMap map, int dimensions, int x, int y,
                            int z, uint32_t bytes, uint8_t* out) {
  auto& smem = shared_storage<OneBox>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, bytes);
    if (dimensions == 1) ptx::cp_async_bulk_tensor_1d(smem.bytes, &map, x, &smem.full);
    if (dimensions == 2) ptx::cp_async_bulk_tensor_2d(smem.bytes, &map, x, y, &smem.full);
    if (dimensions == 3) ptx::cp_async_bulk_tensor_3d(smem.bytes, &map, x, y, z, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  for (uint32_t i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = smem.bytes[i];
}

// A tensor of consecutive numbers, padded in each dimension.
template <class T>
struct Tensor {
  static constexpr int kSize[3] = {70, 21, 5};
  static constexpr int kPitch[2] = {80, 80 * 23};  // elements
  Shared<T> data{80 * 23 * 6};

  Tensor() {
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<T>(i % 251 + 1);
  }
  GlobalTensor global(CUtensorMapDataType type, int dimensions) const {
    return {"X",
            data.get(),
            type,
            dimensions,
            {kSize[0], kSize[1], kSize[2]},
            {int64_t{kPitch[0]} * int64_t{sizeof(T)}, int64_t{kPitch[1]} * int64_t{sizeof(T)}}};
  }
  bool inside(int x, int y, int z) const {
    return x >= 0 && x < kSize[0] && y >= 0 && y < kSize[1] && z >= 0 && z < kSize[2];
  }
  T at(int x, int y, int z) const { return data[x + y * kPitch[0] + z * kPitch[1]]; }
};

template <class T>
void expect_load(CUtensorMapDataType type, int dimensions, const int (&box)[3], Swizzle swizzle) {
  const Tensor<T> tensor;
  CUtensorMap map;
  const Status status = make_tensor_map(&map, tensor.global(type, dimensions), box, swizzle);
  ASSERT_TRUE(status.ok()) << status.message();
  const int corners[][3] = {{0, 0, 0}, {8, 3, 1}, {64, 16, 4}, {-8, -2, -1}, {80, 0, 0}};
  const uint32_t bytes = static_cast<uint32_t>(box[0] * box[1] * box[2]) * sizeof(T);
  const Shared<uint8_t> out(kMostBytes);
  for (const auto& corner : corners) {
    const int first[3] = {corner[0], dimensions > 1 ? corner[1] : 0,
                          dimensions > 2 ? corner[2] : 0};
    both::run(load_kernel, {}, 32, sizeof(OneBox), map, dimensions, first[0], first[1], first[2],
              bytes, out.get());
    for (int i = 0; i < box[0] * box[1] * box[2]; ++i) {
      const int x = first[0] + i % box[0];
      const int y = first[1] + i / box[0] % box[1];
      const int z = first[2] + i / box[0] / box[1];
      T value;
      std::memcpy(&value, &out[swizzle_offset(swizzle, i * static_cast<uint32_t>(sizeof(T)))],
                  sizeof(T));
      ASSERT_EQ(value, tensor.inside(x, y, z) ? tensor.at(x, y, z) : T{})
          << dimensions << " dimensions, swizzle " << static_cast<int>(swizzle) << ", element " << x
          << " " << y << " " << z;
    }
  }
}

TEST(TmaLoad, OneToThreeDimensions) {
  expect_load<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_UINT16, 1, {64, 1, 1}, Swizzle::kNone);
  expect_load<float>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, {8, 1, 1}, Swizzle::k32B);
  expect_load<float>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, {40, 12, 1}, Swizzle::kNone);
  expect_load<uint8_t>(CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, {48, 9, 1}, Swizzle::kNone);
  expect_load<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_UINT16, 3, {8, 3, 3}, Swizzle::kNone);
  expect_load<float>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, {4, 16, 2}, Swizzle::kNone);
}

TEST(TmaLoad, Swizzles) {
  expect_load<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, {16, 20, 1}, Swizzle::k32B);
  expect_load<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, {32, 20, 1}, Swizzle::k64B);
  expect_load<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, {64, 20, 1}, Swizzle::k128B);
  expect_load<float>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, {16, 33, 1}, Swizzle::k64B);
  expect_load<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_UINT16, 3, {64, 5, 3}, Swizzle::k128B);
}

// The formulas in words of swizzle.h, against what swizzle_offset() computes.
TEST(Swizzle, OffsetsAreAsTheWordsSay) {
  const struct {
    Swizzle mode;
    uint32_t row_bytes, rows_alike, chunks;
  } kModes[] = {{Swizzle::k32B, 32, 4, 2}, {Swizzle::k64B, 64, 2, 4}, {Swizzle::k128B, 128, 1, 8}};
  for (const auto& mode : kModes) {
    EXPECT_EQ(swizzle_row_bytes(mode.mode), mode.row_bytes);
    for (uint32_t row = 0; row < 32; ++row) {
      for (uint32_t chunk = 0; chunk < mode.chunks; ++chunk) {
        const uint32_t other = chunk ^ (row / mode.rows_alike % mode.chunks);
        EXPECT_EQ(swizzle_offset(mode.mode, row * mode.row_bytes + chunk * 16 + 3),
                  row * mode.row_bytes + other * 16 + 3);
      }
    }
  }
  EXPECT_EQ(swizzle_offset(Swizzle::kNone, 999), 999u);
}

// --- stores, and stores that add ---

enum class Way { kStore, kAdd };

__global__ void store_kernel(const __grid_constant__ CUtensorMap map, int dimensions, int x, int y,
                             int z, Way way, const uint8_t* source, uint32_t bytes) {
  auto& smem = shared_storage<OneBox>();
  for (uint32_t i = threadIdx.x; i < bytes; i += blockDim.x) smem.bytes[i] = source[i];
  ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (way == Way::kStore) {
    if (dimensions == 1) ptx::cp_async_bulk_tensor_1d(&map, x, smem.bytes);
    if (dimensions == 2) ptx::cp_async_bulk_tensor_2d(&map, x, y, smem.bytes);
    if (dimensions == 3) ptx::cp_async_bulk_tensor_3d(&map, x, y, z, smem.bytes);
  } else {
    if (dimensions == 1) ptx::cp_reduce_async_bulk_tensor_1d_add(&map, x, smem.bytes);
    if (dimensions == 2) ptx::cp_reduce_async_bulk_tensor_2d_add(&map, x, y, smem.bytes);
    if (dimensions == 3) ptx::cp_reduce_async_bulk_tensor_3d_add(&map, x, y, z, smem.bytes);
  }
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read<0>();
}

// Rows end at a multiple of 16 bytes: what lies beyond in a last unit is another test's.
template <class T>
void expect_store(CUtensorMapDataType type, int dimensions, const int (&box)[3], Swizzle swizzle,
                  Way way) {
  const Tensor<T> before;
  Tensor<T> after;
  GlobalTensor global = after.global(type, dimensions);
  global.size[0] = 64;
  CUtensorMap map;
  const Status status = make_tensor_map(&map, global, box, swizzle);
  ASSERT_TRUE(status.ok()) << status.message();
  const int count = box[0] * box[1] * box[2];
  const Shared<uint8_t> source(kMostBytes);
  const auto sent = [](int i) { return static_cast<T>(i % 97 + 300); };
  for (int i = 0; i < count; ++i) {
    const T value = sent(i);
    std::memcpy(&source[swizzle_offset(swizzle, i * static_cast<uint32_t>(sizeof(T)))], &value,
                sizeof(T));
  }
  const int first[3] = {32, dimensions > 1 ? 10 : 0, dimensions > 2 ? 3 : 0};
  both::run(store_kernel, {}, 64, sizeof(OneBox), map, dimensions, first[0], first[1], first[2],
            way, static_cast<const uint8_t*>(source.get()),
            static_cast<uint32_t>(count) * static_cast<uint32_t>(sizeof(T)));
  for (int i = 0; i < static_cast<int>(after.data.size()); ++i) {
    const int x = i % 80, y = i / 80 % 23, z = i / (80 * 23);
    const int dx = x - first[0], dy = y - first[1], dz = z - first[2];
    const bool inside = x < 64 && y < global.size[1] && z < global.size[2] && dx >= 0 &&
                        dx < box[0] && dy >= 0 && dy < box[1] && dz >= 0 && dz < box[2];
    T expected = before.data[i];
    if (inside) {
      expected = static_cast<T>((way == Way::kAdd ? expected : T{}) +
                                sent(dx + box[0] * (dy + box[1] * dz)));
    }
    ASSERT_EQ(after.data[i], expected) << dimensions << " dimensions, way " << static_cast<int>(way)
                                       << ": " << x << " " << y << " " << z;
  }
}

TEST(TmaStore, OneToThreeDimensions) {
  expect_store<uint16_t>(CU_TENSOR_MAP_DATA_TYPE_UINT16, 1, {64, 1, 1}, Swizzle::kNone,
                         Way::kStore);
  expect_store<float>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, {32, 16, 1}, Swizzle::k128B, Way::kStore);
  expect_store<float>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, {16, 4, 3}, Swizzle::k64B, Way::kStore);
}

TEST(TmaStore, AddsIntegersAndFloats) {
  expect_store<uint32_t>(CU_TENSOR_MAP_DATA_TYPE_UINT32, 1, {64, 1, 1}, Swizzle::kNone, Way::kAdd);
  expect_store<float>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, {32, 16, 1}, Swizzle::k128B, Way::kAdd);
  expect_store<float>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, {8, 4, 3}, Swizzle::kNone, Way::kAdd);
}

// Eight blocks add the same box to one matrix of halves.
TEST(TmaStore, SeveralBlocksAddHalves) {
  const Shared<half> matrix(64 * 64);
  for (int i = 0; i < 64 * 64; ++i) matrix[i] = __float2half_rn(static_cast<float>(i % 50));
  CUtensorMap map;
  const GlobalTensor global = {"X", matrix.get(), CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                               2,   {64, 64},     {128}};
  ASSERT_TRUE(make_tensor_map(&map, global, {64, 64, 1}, Swizzle::kNone).ok());
  const Shared<uint8_t> source(kMostBytes);
  for (int i = 0; i < 64 * 64; ++i) {
    const half value = __float2half_rn(static_cast<float>(i % 7));
    std::memcpy(&source[i * 2], &value, sizeof(value));
  }
  both::run(store_kernel, {8}, 64, sizeof(OneBox), map, 2, 0, 0, 0, Way::kAdd,
            static_cast<const uint8_t*>(source.get()), 64u * 64 * 2);
  for (int i = 0; i < 64 * 64; ++i) {
    ASSERT_EQ(__half2float(matrix[i]), static_cast<float>(i % 50 + 8 * (i % 7))) << i;
  }
}

// --- without a map ---

__global__ void bulk_kernel(const uint8_t* source, uint8_t* destination, uint32_t bytes) {
  auto& smem = shared_storage<OneBox>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&smem.full, bytes);
    ptx::cp_async_bulk(smem.bytes + 48, source, bytes, &smem.full);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(&smem.full, 0);
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk(destination, smem.bytes + 48, bytes);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read<0>();
}

TEST(Bulk, CopiesThereAndBack) {
  const Shared<uint8_t> source(8192), destination(8192);
  for (int i = 0; i < 8192; ++i) source[i] = static_cast<uint8_t>(i % 253 + 1);
  for (const uint32_t bytes : {16u, 208u, 4096u}) {
    std::memset(destination.get(), 0, destination.size());
    both::run(bulk_kernel, {}, 32, sizeof(OneBox), static_cast<const uint8_t*>(source.get() + 16),
              destination.get() + 32, bytes);
    for (uint32_t i = 0; i < 8192; ++i) {
      const bool copied = i >= 32 && i < 32 + bytes;
      ASSERT_EQ(destination[i], copied ? source[i - 16] : 0) << bytes << " bytes: " << i;
    }
  }
}

}  // namespace
