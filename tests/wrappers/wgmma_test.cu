// WGMMA on fp16 and bf16, on operands that lie in every way that a descriptor can name, and on an A
// in registers. Compiled twice: for a GPU, and for the emulator.
#include <matrix_descriptor.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <ptx/wgmma_shapes.cuh>

#include <cstring>
#include <string>

#include "both.h"

namespace {

using both::Shared;
using ptx::Major;

constexpr int kDepth = 64;  // elements along K: four WGMMAs

// Where a test puts an operand of so many rows (M or N), 64 elements along K.
template <Swizzle kSwizzle, Major kMajor, int kRows>
struct Layout {
  static constexpr uint32_t kRowBytes = 16u << static_cast<int>(kSwizzle);  // of the pattern
  static constexpr uint32_t kWide = kRowBytes / 2;  // elements
  static constexpr uint32_t kSlabs =
      kMajor == Major::kK ? kDepth / kWide : (kRows + kWide - 1) / kWide;
  static constexpr uint32_t kSlabBytes = (kMajor == Major::kK ? kRows : kDepth) * kRowBytes;
  static constexpr uint32_t kBytes = kSlabs * kSlabBytes;
  // Without a swizzle, a slab is a column of 8 × 8 elements, 128 bytes each, in either case.
  static constexpr uint32_t kPattern = 8 * kRowBytes;

  static __host__ __device__ uint32_t byte_of(uint32_t row, uint32_t k) {
    const uint32_t slow = kMajor == Major::kK ? row : k;
    const uint32_t fast = kMajor == Major::kK ? k : row;
    const uint32_t in_slab = slow * kRowBytes + fast % kWide * 2;
    const uint32_t chunk = in_slab / 16 % (kRowBytes / 16);
    const uint32_t turned = chunk ^ (in_slab / 128 % (kRowBytes / 16));
    return fast / kWide * kSlabBytes + slow * kRowBytes + turned * 16 + in_slab % 16;
  }

  // Of the 16 elements along K from k on.
  static __device__ uint64_t descriptor(const uint8_t* tile, uint32_t k) {
    if (kMajor == Major::kMN) {
      const uint8_t* const start = tile + k * kRowBytes;
      return kSwizzle == Swizzle::kNone ? matrix_descriptor(start, kPattern, kSlabBytes, kSwizzle)
                                        : matrix_descriptor(start, kSlabBytes, kPattern, kSwizzle);
    }
    const uint8_t* const start = tile + k / kWide * kSlabBytes + k % kWide * 2;
    return matrix_descriptor(start, kSwizzle == Swizzle::kNone ? kSlabBytes : 16, kPattern,
                             kSwizzle);
  }
};

__device__ __forceinline__ uint16_t bits_of(float value, bool bf16) {
  if (!bf16) return __half_as_ushort(__float2half_rn(value));
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);  // exact for small whole numbers
}

template <class Place>
__device__ void fill(uint8_t* tile, const float* values, int rows, bool bf16) {
  for (int i = threadIdx.x; i < rows * kDepth; i += 128) {
    const uint16_t bits = bits_of(values[i], bf16);
    memcpy(tile + Place::byte_of(i / kDepth, i % kDepth), &bits, sizeof(bits));
  }
}

// The thread's part of D, to a row-major matrix.
template <int kN>
__device__ void store(const float (&acc)[kN / 2], float* d) {
  for (int r = 0; r < kN / 2; ++r) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + r / 2 % 2 * 8;
    d[row * kN + r / 4 * 8 + threadIdx.x % 4 * 2 + r % 2] = acc[r];
  }
}

template <int kBytesA, int kBytesB>
struct Tiles {
  alignas(1024) uint8_t a[kBytesA];
  alignas(1024) uint8_t b[kBytesB];
};

template <int kN, bool kBf16, Swizzle kSwizzle, Major kMajorA, Major kMajorB>
__global__ void shared_kernel(const float* a, const float* b, bool accumulate, float* d) {
  using A = Layout<kSwizzle, kMajorA, 64>;
  using B = Layout<kSwizzle, kMajorB, kN>;
  auto& smem = shared_storage<Tiles<A::kBytes, B::kBytes>>();
  fill<A>(smem.a, a, 64, kBf16);
  fill<B>(smem.b, b, kN, kBf16);
  ptx::fence_proxy_async();
  __syncthreads();
  float acc[kN / 2];
  for (float& value : acc) value = 1000;
  ptx::wgmma_fence();
#pragma unroll
  for (int k = 0; k < kDepth; k += 16) {
    const uint64_t left = A::descriptor(smem.a, k), right = B::descriptor(smem.b, k);
    if (kBf16) {
      ptx::wgmma_m64nNk16_bf16<kN, kMajorA, kMajorB>(acc, left, right, accumulate || k > 0);
    } else {
      ptx::wgmma_m64nNk16_f16<kN, kMajorA, kMajorB>(acc, left, right, accumulate || k > 0);
    }
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(acc);
  store<kN>(acc, d);
}

template <int kN, bool kBf16, Major kMajorB>
__global__ void fragment_kernel(const float* a, const float* b, bool accumulate, float* d) {
  using B = Layout<Swizzle::k128B, kMajorB, kN>;
  auto& smem = shared_storage<Tiles<16, B::kBytes>>();
  fill<B>(smem.b, b, kN, kBf16);
  uint32_t fragments[kDepth / 16][4];
  for (int step = 0; step < kDepth / 16; ++step) {
    for (int i = 0; i < 4; ++i) {
      const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i % 2 * 8;
      const int k = step * 16 + threadIdx.x % 4 * 2 + i / 2 * 8;
      fragments[step][i] = bits_of(a[row * kDepth + k], kBf16) |
                           uint32_t{bits_of(a[row * kDepth + k + 1], kBf16)} << 16;
    }
  }
  ptx::fence_proxy_async();
  __syncthreads();
  float acc[kN / 2];
  for (float& value : acc) value = 1000;
  ptx::wgmma_fence();
#pragma unroll
  for (int step = 0; step < kDepth / 16; ++step) {
    const uint64_t right = B::descriptor(smem.b, step * 16);
    if (kBf16) {
      ptx::wgmma_m64nNk16_bf16_rs<kN, kMajorB>(acc, fragments[step], right, accumulate || step > 0);
    } else {
      ptx::wgmma_m64nNk16_f16_rs<kN, kMajorB>(acc, fragments[step], right, accumulate || step > 0);
    }
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(acc);
  store<kN>(acc, d);
}

template <int kN, class Launch>
void expect_product(const char* what, Launch launch_kernel) {
  const Shared<float> a(64 * kDepth), b(kN * kDepth), d(64 * kN);
  for (int i = 0; i < 64 * kDepth; ++i) a[i] = both::small_integer(i);
  for (int i = 0; i < kN * kDepth; ++i) b[i] = both::small_integer(3 * i + i / 64 + 1);
  for (const bool accumulate : {false, true}) {
    launch_kernel(static_cast<const float*>(a.get()), static_cast<const float*>(b.get()),
                  accumulate, d.get());
    for (int row = 0; row < 64; ++row) {
      for (int column = 0; column < kN; ++column) {
        float expected = accumulate ? 1000 : 0;
        for (int k = 0; k < kDepth; ++k) expected += a[row * kDepth + k] * b[column * kDepth + k];
        ASSERT_EQ(d[row * kN + column], expected)
            << what << ", n " << kN << ": row " << row << ", column " << column;
      }
    }
  }
}

template <int kN, bool kBf16, Swizzle kSwizzle, Major kMajorA, Major kMajorB>
void expect_shared() {
  const std::string what = std::string(kBf16 ? "bf16" : "f16") + ", swizzle " +
                           std::to_string(static_cast<int>(kSwizzle)) + ", majors " +
                           std::to_string(static_cast<int>(kMajorA)) +
                           std::to_string(static_cast<int>(kMajorB));
  expect_product<kN>(what.c_str(), [](auto... arguments) {
    using A = Layout<kSwizzle, kMajorA, 64>;
    using B = Layout<kSwizzle, kMajorB, kN>;
    const size_t bytes = sizeof(Tiles<A::kBytes, B::kBytes>);
    both::run(shared_kernel<kN, kBf16, kSwizzle, kMajorA, kMajorB>, {}, 128, bytes, arguments...);
  });
}

template <int kN, Swizzle kSwizzle>
void expect_every_major() {
  expect_shared<kN, false, kSwizzle, Major::kK, Major::kK>();
  expect_shared<kN, false, kSwizzle, Major::kK, Major::kMN>();
  expect_shared<kN, false, kSwizzle, Major::kMN, Major::kK>();
  expect_shared<kN, false, kSwizzle, Major::kMN, Major::kMN>();
}

TEST(WgmmaLayouts, NoSwizzle) { expect_every_major<64, Swizzle::kNone>(); }
TEST(WgmmaLayouts, Swizzle32B) { expect_every_major<64, Swizzle::k32B>(); }
TEST(WgmmaLayouts, Swizzle64B) { expect_every_major<64, Swizzle::k64B>(); }
TEST(WgmmaLayouts, Swizzle128B) { expect_every_major<64, Swizzle::k128B>(); }

TEST(WgmmaLayouts, WidthsThatEndInsideAPattern) {
  expect_shared<40, false, Swizzle::k128B, Major::kK, Major::kMN>();
  expect_shared<8, false, Swizzle::k64B, Major::kK, Major::kMN>();
  expect_shared<136, false, Swizzle::k128B, Major::kMN, Major::kMN>();
  expect_shared<256, false, Swizzle::k128B, Major::kK, Major::kMN>();
}

TEST(WgmmaLayouts, Bf16) {
  expect_shared<64, true, Swizzle::k128B, Major::kK, Major::kK>();
  expect_shared<24, true, Swizzle::k32B, Major::kMN, Major::kK>();
  expect_shared<128, true, Swizzle::k128B, Major::kK, Major::kMN>();
}

template <int kN, bool kBf16, Major kMajorB>
void expect_fragment() {
  expect_product<kN>(kBf16 ? "bf16, A in registers" : "f16, A in registers", [](auto... arguments) {
    const size_t bytes = sizeof(Tiles<16, Layout<Swizzle::k128B, kMajorB, kN>::kBytes>);
    both::run(fragment_kernel<kN, kBf16, kMajorB>, {}, 128, bytes, arguments...);
  });
}

TEST(WgmmaFragments, AInRegisters) {
  expect_fragment<8, false, Major::kK>();
  expect_fragment<64, false, Major::kMN>();
  expect_fragment<128, false, Major::kMN>();
  expect_fragment<200, false, Major::kK>();
  expect_fragment<64, true, Major::kK>();
  expect_fragment<128, true, Major::kMN>();
}

}  // namespace
