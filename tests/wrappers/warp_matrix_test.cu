// cp.async, ldmatrix and mma.sync do what their comments say. Compiled twice: for a GPU, and for
// the emulator.
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/mma.cuh>
#include <ptx/warpgroup.cuh>

#include <cstring>
#include <vector>

#include "ampere_kernel.cuh"
#include "both.h"

namespace {

using both::Shared;

// --- cp.async ---

struct Pieces {
  alignas(16) uint8_t bytes[64];
};

// Thread 0 copies `source_bytes` of kBytes bytes to the middle of what it has filled with 7s.
template <int kBytes>
__global__ void copy_kernel(const uint8_t* source, uint32_t source_bytes, uint8_t* out) {
  auto& smem = shared_storage<Pieces>();
  if (threadIdx.x != 0) return;
  for (int i = 0; i < 64; ++i) smem.bytes[i] = 7;
  if (source_bytes == kBytes) {
    ptx::cp_async_ca<kBytes>(&smem.bytes[16], source);
  } else {
    ptx::cp_async_ca<kBytes>(&smem.bytes[16], source, source_bytes);
  }
  ptx::cp_async_commit_group();
  ptx::cp_async_wait_group<0>();
  for (int i = 0; i < 64; ++i) out[i] = smem.bytes[i];
}

template <int kBytes>
void expect_copy() {
  const Shared<uint8_t> source(16), out(64);
  for (int i = 0; i < 16; ++i) source[i] = static_cast<uint8_t>(100 + i);
  for (const uint32_t source_bytes : {0, 1, 3, kBytes - 2, kBytes}) {
    both::run(copy_kernel<kBytes>, {}, 32, sizeof(Pieces), source.get(), source_bytes, out.get());
    for (uint32_t i = 0; i < 64; ++i) {
      const bool copied = i >= 16 && i < 16 + kBytes;
      const int value = i - 16 < source_bytes ? static_cast<int>(100 + i - 16) : 0;
      ASSERT_EQ(out[i], copied ? value : 7)
          << kBytes << " bytes, " << source_bytes << " of the source: byte " << i;
    }
  }
}

TEST(CpAsync, CopiesAndFillsWithZero) {
  expect_copy<4>();
  expect_copy<8>();
  expect_copy<16>();
}

struct WithBarrier {
  alignas(16) uint4 values[32];
  MBarrier full;
};

// Warp 0 copies, warp 1 waits at an mbarrier for what it has copied.
__global__ void copy_and_arrive_kernel(const uint4* source, uint32_t* out) {
  auto& smem = shared_storage<WithBarrier>();
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&smem.full, 32);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    ptx::cp_async_cg(&smem.values[lane], &source[lane]);
    ptx::cp_async_mbarrier_arrive_noinc(&smem.full);
  } else {
    ptx::mbarrier_wait_parity(&smem.full, 0);
    uint32_t matrices[4];
    ptx::ldmatrix_m8n8_x4(matrices, &smem.values[lane]);
    for (int i = 0; i < 4; ++i) out[lane * 4 + i] = matrices[i];
  }
}

TEST(CpAsync, ArrivesAtAnMBarrierOnceCopiesHaveLanded) {
  const Shared<uint4> source(32);
  for (unsigned i = 0; i < 32; ++i) source[i] = {4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3};
  const Shared<uint32_t> out(128);
  both::run(copy_and_arrive_kernel, {}, 64, sizeof(WithBarrier), source.get(), out.get());
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      ASSERT_EQ(out[lane * 4 + i], (8 * i + lane / 4) * 4 + lane % 4) << lane << " " << i;
    }
  }
}

// --- ldmatrix ---

struct FourMatrices {
  alignas(16) uint16_t elements[4][8][8];
};

__device__ __forceinline__ void load(uint32_t (&out)[4], int count, bool transposed,
                                     const void* row) {
  uint32_t two[2] = {};
  if (count == 1 && transposed) ptx::ldmatrix_m8n8_x1_trans(out[0], row);
  if (count == 1 && !transposed) ptx::ldmatrix_m8n8_x1(out[0], row);
  if (count == 2 && transposed) ptx::ldmatrix_m8n8_x2_trans(two, row);
  if (count == 2 && !transposed) ptx::ldmatrix_m8n8_x2(two, row);
  if (count == 4 && transposed) ptx::ldmatrix_m8n8_x4_trans(out, row);
  if (count == 4 && !transposed) ptx::ldmatrix_m8n8_x4(out, row);
  if (count == 2) {
    out[0] = two[0];
    out[1] = two[1];
  }
}

__global__ void ldmatrix_kernel(int count, bool transposed, uint32_t* out) {
  auto& smem = shared_storage<FourMatrices>();
  for (int i = threadIdx.x; i < 256; i += 32) {
    smem.elements[i / 64][i / 8 % 8][i % 8] = static_cast<uint16_t>(i);
  }
  __syncthreads();
  uint32_t matrices[4] = {};
  load(matrices, count, transposed, smem.elements[threadIdx.x / 8][threadIdx.x % 8]);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = matrices[i];
}

TEST(Ldmatrix, HandsOutRowsOrColumns) {
  const Shared<uint32_t> out(128);
  for (const int count : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      both::run(ldmatrix_kernel, {}, 32, sizeof(FourMatrices), count, transposed, out.get());
      for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < count; ++i) {
          const int first = lane / 4, second = lane % 4 * 2;
          const int lower = i * 64 + (transposed ? second * 8 + first : first * 8 + second);
          const int upper = lower + (transposed ? 8 : 1);
          ASSERT_EQ(out[lane * 4 + i], static_cast<uint32_t>(lower | upper << 16))
              << "x" << count << (transposed ? ".trans" : "") << ", lane " << lane << ", " << i;
        }
      }
    }
  }
}

// --- mma.sync ---

// A and B as 16-bit patterns, row by row (B by columns), straight into the fragments.
__global__ void mma_kernel(const uint16_t* a, const uint16_t* b, const float* c, bool bf16,
                           float* d) {
  const int group = threadIdx.x / 4;
  const int pair = threadIdx.x % 4 * 2;
  const auto word = [](const uint16_t* two) { return two[0] | uint32_t{two[1]} << 16; };
  uint32_t left[4], right[2];
  for (int i = 0; i < 4; ++i) left[i] = word(a + (group + i % 2 * 8) * 16 + pair + i / 2 * 8);
  for (int i = 0; i < 2; ++i) right[i] = word(b + group * 16 + pair + i * 8);
  float sum[4];
  const auto index = [&](int i) { return (group + i / 2 * 8) * 8 + pair + i % 2; };
  for (int i = 0; i < 4; ++i) sum[i] = c[index(i)];
  if (bf16) {
    ptx::mma_m16n8k16_bf16(sum, left, right, sum);
  } else {
    ptx::mma_m16n8k16_f16(sum, left, right, sum);
  }
  for (int i = 0; i < 4; ++i) d[index(i)] = sum[i];
}

uint16_t bits_of(float value, bool bf16) {
  if (!bf16) return __half_as_ushort(__float2half_rn(value));
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);  // exact for small whole numbers
}

TEST(Mma, M16N8K16) {
  const Shared<uint16_t> a(16 * 16), b(8 * 16);
  const Shared<float> c(16 * 8), d(16 * 8);
  for (const bool bf16 : {false, true}) {
    for (int i = 0; i < 16 * 16; ++i) a[i] = bits_of(both::small_integer(i), bf16);
    for (int i = 0; i < 8 * 16; ++i) b[i] = bits_of(both::small_integer(3 * i + 1), bf16);
    for (int i = 0; i < 16 * 8; ++i) c[i] = static_cast<float>(1000 * i);
    both::run(mma_kernel, {}, 32, 0, a.get(), b.get(), c.get(), bf16, d.get());
    for (int row = 0; row < 16; ++row) {
      for (int column = 0; column < 8; ++column) {
        float expected = c[row * 8 + column];
        for (int k = 0; k < 16; ++k) {
          expected +=
              both::small_integer(row * 16 + k) * both::small_integer(3 * (column * 16 + k) + 1);
        }
        ASSERT_EQ(d[row * 8 + column], expected) << row << " " << column << " bf16 " << bf16;
      }
    }
  }
}

// --- all three ---

TEST(Ampere, ARingOfStagesMultiplies) {
  for (const int k : {8, 32, 40, 96, 200}) {
    const Shared<half> a(64 * k), b(64 * k);
    const Shared<float> c(64 * 64);
    for (int i = 0; i < 64 * k; ++i) a[i] = __float2half_rn(both::small_integer(i));
    for (int i = 0; i < 64 * k; ++i) b[i] = __float2half_rn(both::small_integer(5 * i + 2));
    both::run(ampere::kernel<ampere::Bug::kNone>, {}, ampere::kThreads, sizeof(ampere::Stages),
              static_cast<const half*>(a.get()), static_cast<const half*>(b.get()), c.get(), k);
    for (int row = 0; row < 64; ++row) {
      for (int column = 0; column < 64; ++column) {
        float expected = 0;
        for (int i = 0; i < k; ++i) {
          expected += __half2float(a[row * k + i]) * __half2float(b[column * k + i]);
        }
        ASSERT_EQ(c[row * 64 + column], expected) << "k " << k << ": " << row << " " << column;
      }
    }
  }
}

}  // namespace
