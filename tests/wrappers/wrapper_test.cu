// Each wrapper does on the GPU what its comment says; a new wrapper needs a test here.
#include <globaltimer.cuh>
#include <gtest/gtest.h>
#include <harness/device.h>
#include <harness/gpu/cuda_check.h>
#include <launch.h>
#include <matrix_descriptor.cuh>
#include <ptx/cluster.cuh>
#include <ptx/global.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <ptx/warpgroup.cuh>
#include <ptx/wgmma.cuh>
#include <ptx/wgmma_shapes.cuh>
#include <stage_fragment.cuh>
#include <store_accumulator.cuh>
#include <tensor_map.h>

#include <algorithm>
#include <vector>

namespace {

using harness::Buffer;

template <class T>
std::vector<T> to_host(const Buffer& buffer, size_t count) {
  std::vector<T> values(count);
  CUDA_CHECK(cudaDeviceSynchronize());
  harness::copy(values.data(), buffer.data(), count * sizeof(T));
  return values;
}

template <class T>
T* pointer(const Buffer& buffer) {
  return static_cast<T*>(buffer.data());
}

// --- mbarrier ---

__global__ void phases_kernel(int* seen) {
  __shared__ MBarrier barrier;
  ptx::mbarrier_init(&barrier, 2);
  ptx::fence_mbarrier_init();
  seen[0] = ptx::mbarrier_try_wait_parity(&barrier, 1);  // fresh: "the phase before" has completed
  seen[1] = ptx::mbarrier_try_wait_parity(&barrier, 0);
  ptx::mbarrier_arrive(&barrier);
  seen[2] = ptx::mbarrier_try_wait_parity(&barrier, 0);  // 1 of 2 arrivals
  ptx::mbarrier_arrive(&barrier);
  seen[3] = ptx::mbarrier_try_wait_parity(&barrier, 0);  // phase 0 completed
  seen[4] = ptx::mbarrier_try_wait_parity(&barrier, 1);  // phase 1 has not
  ptx::mbarrier_arrive(&barrier);
  ptx::mbarrier_arrive(&barrier);
  ptx::mbarrier_wait_parity(&barrier, 1);
  seen[5] = ptx::mbarrier_try_wait_parity(&barrier, 0);  // in phase 2 now
}

TEST(MBarrier, PhasesAndParities) {
  const Buffer seen(6 * sizeof(int));
  phases_kernel<<<1, 1>>>(pointer<int>(seen));
  EXPECT_EQ(to_host<int>(seen, 6), (std::vector<int>{1, 0, 0, 1, 0, 0}));
}

// --- TMA ---

__global__ void tma_kernel(const __grid_constant__ CUtensorMap map, int column, int row, int rows,
                           half* out, int* early) {
  half* const tile = shared_storage<half[256 * 64]>();
  __shared__ MBarrier full;
  for (int i = 0; i < rows * 64; ++i) tile[i] = __float2half(-1);
  ptx::mbarrier_init(&full, 1);
  ptx::fence_mbarrier_init();
  ptx::fence_proxy_async();  // the -1s come before the copy
  ptx::mbarrier_arrive_expect_tx(&full, rows * 128);  // the whole box, tails included
  *early = ptx::mbarrier_try_wait_parity(&full, 1);
  ptx::cp_async_bulk_tensor_2d(tile, &map, column, row, &full);
  ptx::mbarrier_wait_parity(&full, 0);
  for (int i = 0; i < rows * 64; ++i) out[i] = tile[i];
}

// The element of a tile that TMA wrote with the 128-byte swizzle: 16-byte units of a row of 128
// bytes change places by the row's number modulo 8.
half unswizzled(const std::vector<half>& tile, int row, int column) {
  return tile[row * 64 + ((column / 8) ^ (row % 8)) * 8 + column % 8];
}

TEST(Tma, BoxesArriveSwizzledWithZerosOutside) {
  constexpr int kRows = 100, kColumns = 90, kPitch = 96;
  const Buffer matrix(kRows * kPitch * sizeof(half));
  std::vector<half> values(kRows * kPitch, __float2half(-7));
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      values[row * kPitch + column] = __float2half(static_cast<float>((row * 31 + column) % 2000));
    }
  }
  harness::copy(matrix.data(), values.data(), values.size() * sizeof(half));
  const Buffer out(256 * 64 * sizeof(half)), early(sizeof(int));
  CUDA_CHECK(cudaFuncSetAttribute(tma_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768));
  for (const int box_rows : {64, 128, 256}) {
    CUtensorMap map;
    const Status status =
        make_tensor_map(&map, {"A", pointer<half>(matrix), kRows, kColumns, kPitch}, box_rows, 64);
    ASSERT_TRUE(status.ok()) << status.message();
    for (const int row : {0, 64}) {
      for (const int column : {0, 64, 128}) {
        tma_kernel<<<1, 1, 32768>>>(map, column, row, box_rows, pointer<half>(out),
                                    pointer<int>(early));
        const auto tile = to_host<half>(out, box_rows * 64);
        EXPECT_EQ(to_host<int>(early, 1)[0], 1);
        for (int r = 0; r < box_rows; ++r) {
          for (int c = 0; c < 64; ++c) {
            const bool inside = row + r < kRows && column + c < kColumns;
            const float expected = inside ? (((row + r) * 31 + column + c) % 2000) : 0.0f;
            ASSERT_EQ(__half2float(unswizzled(tile, r, c)), expected)
                << row + r << " " << column + c;
          }
        }
      }
    }
  }
}

__global__ void tma_store_kernel(const __grid_constant__ CUtensorMap map, int column, int row) {
  half* const tile = shared_storage<half[64 * 64]>();
  for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) {
    *swizzled(tile, i / 64, i % 64) = __float2half(static_cast<float>(i % 2000));
  }
  ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk_tensor_2d(&map, column, row, tile);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read<0>();
}

// Rows end where the matrix does, columns at the next multiple of 8 elements: the reason for
// make_store_map's rule.
TEST(Tma, StoresClipRowsButWriteWholeUnitsOf16Bytes) {
  constexpr int kRows = 100, kPitch = 96, kCanary = -7;
  const Buffer matrix(kRows * 2 * kPitch * sizeof(half));
  for (const int columns : {90, 88, 81}) {
    std::vector<half> values(kRows * 2 * kPitch, __float2half(kCanary));
    harness::copy(matrix.data(), values.data(), values.size() * sizeof(half));
    CUtensorMap map;
    ASSERT_TRUE(
        make_tensor_map(&map, {"C", pointer<half>(matrix), kRows, columns, kPitch}, 64, 64).ok());
    tma_store_kernel<<<1, 128, 64 * 64 * sizeof(half)>>>(map, 64, 64);
    values = to_host<half>(matrix, values.size());
    for (int row = 0; row < 2 * kRows; ++row) {
      for (int column = 0; column < kPitch; ++column) {
        const bool written =
            row >= 64 && row < kRows && column >= 64 && column < (columns + 7) / 8 * 8;
        const int i = (row - 64) * 64 + column - 64;
        ASSERT_EQ(__half2float(values[row * kPitch + column]), written ? i % 2000 : kCanary)
            << columns << " columns: row " << row << ", column " << column;
      }
    }
  }
}

// --- WGMMA ---

// One product of 64 × 16 by kN × 16, from tiles that are written swizzled by hand.
template <int kN>
__global__ void wgmma_kernel(const half* a, const half* b, float* d, bool accumulate) {
  struct Tiles {
    alignas(1024) half a[64 * 64];
    alignas(1024) half b[kN * 64];
  };
  auto& smem = shared_storage<Tiles>();
  auto swizzled = [](int row, int column) {
    return row * 64 + ((column / 8) ^ (row % 8)) * 8 + column % 8;
  };
  for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) smem.a[swizzled(i / 64, i % 64)] = a[i];
  for (int i = threadIdx.x; i < kN * 64; i += blockDim.x) smem.b[swizzled(i / 64, i % 64)] = b[i];
  ptx::fence_proxy_async();
  __syncthreads();
  float acc[kN / 2];
  for (int i = 0; i < kN / 2; ++i) acc[i] = 1000;
  ptx::wgmma_fence();
#pragma unroll
  for (int kk = 0; kk < 64; kk += 16) {
    if constexpr (kN == 128) {
      ptx::wgmma_m64n128k16(acc, matrix_descriptor(smem.a, kk), matrix_descriptor(smem.b, kk),
                            accumulate || kk > 0);
    } else if constexpr (kN == 256) {
      ptx::wgmma_m64n256k16(acc, matrix_descriptor(smem.a, kk), matrix_descriptor(smem.b, kk),
                            accumulate || kk > 0);
    } else {  // as v8 names its operands, too
      const uint64_t a_tile = matrix_descriptor(smem.a, 0), b_tile = matrix_descriptor(smem.b, 0);
      ptx::wgmma_m64nNk16<kN>(acc, advance_descriptor(a_tile, kk * sizeof(half)),
                              advance_descriptor(b_tile, kk * sizeof(half)), accumulate || kk > 0);
    }
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(acc);
#pragma unroll
  for (int i = 0; i < kN / 2; ++i) d[threadIdx.x * (kN / 2) + i] = acc[i];
}

template <int kN>
void test_wgmma() {
  std::vector<half> a(64 * 64), b(kN * 64);
  for (int i = 0; i < 64 * 64; ++i) a[i] = __float2half(static_cast<float>(i * 7 % 11 - 5));
  for (int i = 0; i < kN * 64; ++i) b[i] = __float2half(static_cast<float>(i * 5 % 13 - 6));
  const Buffer device_a(a.size() * sizeof(half)), device_b(b.size() * sizeof(half));
  const Buffer device_d(128 * kN / 2 * sizeof(float));
  harness::copy(device_a.data(), a.data(), a.size() * sizeof(half));
  harness::copy(device_b.data(), b.data(), b.size() * sizeof(half));
  const int bytes = (64 + kN) * 128;
  CUDA_CHECK(
      cudaFuncSetAttribute(wgmma_kernel<kN>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  for (const bool accumulate : {false, true}) {
    wgmma_kernel<kN><<<1, 128, bytes>>>(pointer<half>(device_a), pointer<half>(device_b),
                                        pointer<float>(device_d), accumulate);
    const auto d = to_host<float>(device_d, 128 * kN / 2);
    for (int thread = 0; thread < 128; ++thread) {
      for (int i = 0; i < kN / 2; ++i) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
        const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
        float expected = accumulate ? 1000.0f : 0.0f;
        for (int k = 0; k < 64; ++k) {
          expected += __half2float(a[row * 64 + k]) * __half2float(b[column * 64 + k]);
        }
        ASSERT_EQ(d[thread * (kN / 2) + i], expected) << "row " << row << " column " << column;
      }
    }
  }
}

TEST(Wgmma, M64N128K16) { test_wgmma<128>(); }
TEST(Wgmma, M64N256K16) { test_wgmma<256>(); }
TEST(Wgmma, OtherWidths) {
  test_wgmma<8>();
  test_wgmma<176>();
  test_wgmma<184>();
  test_wgmma<200>();
  test_wgmma<248>();
}

// --- global memory that blocks share, and time ---

struct Shared {
  uint32_t counted, taken, flag;
  int message;
};

__global__ void counters_kernel(Shared* shared, uint32_t* tickets) {
  ptx::red_add_relaxed_gpu(&shared->counted, 2);
  tickets[blockIdx.x] = ptx::atom_add_acq_rel_gpu(&shared->taken, 1);
}

TEST(Global, CountersOfAllBlocks) {
  constexpr int kBlocks = 1000;
  const Buffer shared(sizeof(Shared)), tickets(kBlocks * sizeof(uint32_t));
  CUDA_CHECK(cudaMemset(shared.data(), 0, sizeof(Shared)));
  counters_kernel<<<kBlocks, 1>>>(pointer<Shared>(shared), pointer<uint32_t>(tickets));
  auto seen = to_host<uint32_t>(tickets, kBlocks);
  std::sort(seen.begin(), seen.end());
  for (uint32_t i = 0; i < kBlocks; ++i) ASSERT_EQ(seen[i], i);
  EXPECT_EQ(to_host<Shared>(shared, 1)[0].counted, 2u * kBlocks);
}

// Block 0 leaves a message and raises the flag; the others wait, each in its own way, and read it.
__global__ void message_kernel(Shared* shared, int* received, uint32_t* waited) {
  if (blockIdx.x == 0) {
    const uint32_t begin = ptx::globaltimer_lo();
    while (ptx::globaltimer_lo() - begin < 50000) ptx::nanosleep(1000);
    *waited = ptx::globaltimer_lo() - begin;
    shared->message = 42;
    ptx::st_release_gpu(&shared->flag, 1);
    return;
  }
  if (blockIdx.x == 1) {
    while (ptx::ld_relaxed_gpu(&shared->flag) == 0) ptx::nanosleep(64);
  }
  while (ptx::ld_acquire_gpu(&shared->flag) == 0) ptx::nanosleep(64);
  received[blockIdx.x] = *const_cast<volatile int*>(&shared->message);
}

TEST(Global, WhatWasWrittenBeforeTheReleaseIsSeenAfterTheAcquire) {
  const Buffer shared(sizeof(Shared)), received(8 * sizeof(int)), waited(sizeof(uint32_t));
  for (int repeat = 0; repeat < 20; ++repeat) {
    CUDA_CHECK(cudaMemset(shared.data(), 0, sizeof(Shared)));
    CUDA_CHECK(cudaMemset(received.data(), 0, 8 * sizeof(int)));
    message_kernel<<<8, 1>>>(pointer<Shared>(shared), pointer<int>(received),
                             pointer<uint32_t>(waited));
    EXPECT_EQ(to_host<int>(received, 8), (std::vector<int>{0, 42, 42, 42, 42, 42, 42, 42}));
    const uint32_t nanoseconds = to_host<uint32_t>(waited, 1)[0];
    EXPECT_GE(nanoseconds, 50000u);
    EXPECT_LT(nanoseconds, 10000000u);
  }
}

// Sixteen bytes at a time, and four; the last block to arrive adds up what all have left.
__global__ void add_up_kernel(float4* partial, Shared* shared, float* sum, bool relaxed) {
  __shared__ bool is_last;
  const float value = blockIdx.x + 1;
  ptx::st_global_v4_f32(&partial[blockIdx.x * 32 + threadIdx.x],
                        make_float4(value, 2 * value, 3 * value, threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 0) {
    if (relaxed) ptx::fence_acq_rel_gpu();
    is_last = (relaxed ? ptx::atom_add_relaxed_gpu(&shared->taken, 1)
                       : ptx::atom_add_acq_rel_gpu(&shared->taken, 1)) == gridDim.x - 1;
    if (relaxed) ptx::fence_acq_rel_gpu();
  }
  __syncthreads();
  if (!is_last) return;
  float own = 0;
  for (int i = 0; i < static_cast<int>(gridDim.x); ++i) {
    const float4 part = ptx::ld_global_v4_f32(&partial[i * 32 + threadIdx.x]);
    own += part.x + part.y + part.z + part.w - ptx::ld_global_f32(&partial[i * 32 + threadIdx.x].w);
  }
  ptx::st_global_f32(&sum[threadIdx.x], own);
  if (threadIdx.x == 0) ptx::st_relaxed_gpu(&shared->taken, 0);
}

TEST(Global, TheLastBlockAddsUp) {
  constexpr int kBlocks = 200;
  const Buffer partial(kBlocks * 32 * sizeof(float4)), shared(sizeof(Shared)),
      sum(32 * sizeof(float));
  CUDA_CHECK(cudaMemset(shared.data(), 0, sizeof(Shared)));
  for (int repeat = 0; repeat < 20; ++repeat) {
    CUDA_CHECK(cudaMemset(partial.data(), 0, kBlocks * 32 * sizeof(float4)));
    add_up_kernel<<<kBlocks, 32>>>(pointer<float4>(partial), pointer<Shared>(shared),
                                   pointer<float>(sum), repeat % 2 == 0);
    for (const float value : to_host<float>(sum, 32)) EXPECT_EQ(value, 6 * kBlocks * 201 / 2);
    EXPECT_EQ(to_host<Shared>(shared, 1)[0].taken, 0u);
  }
}

// A sum behind a lock, one without, and a count that is released.
__global__ void lock_kernel(Shared* shared, float* sums) {
  if (threadIdx.x != 0) return;
  while (ptx::atom_cas_acquire_gpu(&shared->taken, 0, 1) != 0) ptx::nanosleep(20);
  ptx::st_global_f32(&sums[0], ptx::ld_global_f32(&sums[0]) + 1);
  ptx::st_release_gpu(&shared->taken, 0);
  ptx::red_add_relaxed_gpu(&sums[1], 0.5f);
  ptx::red_add_release_gpu(&shared->counted, 1);
  ptx::fence_proxy_async_global();
}

TEST(Global, Locks) {
  constexpr int kBlocks = 100;
  const Buffer shared(sizeof(Shared)), sums(2 * sizeof(float));
  CUDA_CHECK(cudaMemset(shared.data(), 0, sizeof(Shared)));
  CUDA_CHECK(cudaMemset(sums.data(), 0, 2 * sizeof(float)));
  lock_kernel<<<kBlocks, 32>>>(pointer<Shared>(shared), pointer<float>(sums));
  EXPECT_EQ(to_host<float>(sums, 2), (std::vector<float>{kBlocks, kBlocks / 2}));
  EXPECT_EQ(to_host<Shared>(shared, 1)[0].counted, 1u * kBlocks);
}

// --- shared memory of other blocks ---

__global__ void __cluster_dims__(4) remote_kernel(float* received) {
  __shared__ alignas(16) float letters[4 * 32 * 4];
  __shared__ float bottle[32];
  __shared__ MBarrier arrived;
  const uint32_t rank = ptx::cluster_ctarank(), next = (rank + 1) % 4;
  const int thread = threadIdx.x;
  if (thread == 0) {
    ptx::mbarrier_init(&arrived, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&arrived, sizeof(bottle));
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  for (uint32_t block = 0; block < 4; ++block) {  // to each its share of this block
    float* const place = &letters[(rank * 32 + thread) * 4];
    ptx::st_shared_cluster_v4_f32(reinterpret_cast<float4*>(place), block,
                                  make_float4(rank, thread, block, 0));
    ptx::st_shared_cluster_f32(place + 3, block, 1);
  }
  ptx::st_async_f32(&bottle[thread], next, 1000 * rank + thread, &arrived);
  ptx::mbarrier_wait_parity_cluster(&arrived, 0);
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  float sum = bottle[thread];
  for (int i = 0; i < 4; ++i) {
    const float* const place = &letters[(i * 32 + thread) * 4];
    const float4 letter =
        ptx::ld_shared_cluster_v4_f32(reinterpret_cast<const float4*>(place), next);
    sum += letter.x + letter.y + 100 * letter.z + ptx::ld_shared_cluster_f32(place + 3, next);
  }
  received[rank * 32 + thread] = sum;
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

TEST(Cluster, SharedMemoryOfOtherBlocks) {
  const Buffer received(4 * 32 * sizeof(float));
  remote_kernel<<<4, 32>>>(pointer<float>(received));
  const auto sums = to_host<float>(received, 4 * 32);
  for (int rank = 0; rank < 4; ++rank) {
    for (int thread = 0; thread < 32; ++thread) {
      const int bottle = 1000 * ((rank + 3) % 4) + thread;
      const int letters = 6 + 4 * thread + 4 * 100 * ((rank + 1) % 4) + 4;
      EXPECT_EQ(sums[rank * 32 + thread], bottle + letters) << rank << " " << thread;
    }
  }
}

// --- the epilogue ---

__global__ void store_kernel(OutputMatrix c, int row, int column) {
  float acc[64];
  for (int i = 0; i < 64; ++i) {
    const int r = row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
    acc[i] = r * 64 + column + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
  }
  store_accumulator(acc, c, row, column);
}

TEST(StoreAccumulator, EveryShapeAndAlignment) {
  constexpr int64_t kPitchLimit = 140, kElements = 80 * kPitchLimit;
  const Buffer buffer(kElements * sizeof(half));
  for (const int rows : {1, 7, 8, 9, 63, 64}) {
    for (const int columns : {1, 2, 31, 120, 121, 127, 128}) {
      for (const int pitch : {130, 131, 136}) {
        for (const int offset : {2, 3, 8}) {
          harness::fill(pointer<half>(buffer), kElements, 0x7fff);
          store_kernel<<<1, 128>>>({pointer<half>(buffer) + offset, rows, columns, pitch}, 0, 0);
          const auto values = to_host<half>(buffer, kElements);
          for (int i = 0; i < kElements; ++i) {
            const int row = (i - offset) / pitch;
            const int column = (i - offset) % pitch;
            if (i >= offset && row < rows && column < columns) {
              const float expected = __half2float(__float2half_rn(row * 64 + column));
              ASSERT_EQ(__half2float(values[i]), expected) << row << " " << column;
            } else {
              ASSERT_EQ(__half_as_ushort(values[i]), 0x7fff) << rows << " " << columns << " " << i;
            }
          }
        }
      }
    }
  }
}

// --- warps, clusters ---

__global__ void elect_kernel(int* elected) {
  if (ptx::elect_sync()) atomicAdd(&elected[threadIdx.x / 32], 1);
}

TEST(Warp, OneLaneIsElected) {
  const Buffer elected(4 * sizeof(int));
  CUDA_CHECK(cudaMemset(elected.data(), 0, 4 * sizeof(int)));
  elect_kernel<<<1, 128>>>(pointer<int>(elected));
  EXPECT_EQ(to_host<int>(elected, 4), (std::vector<int>{1, 1, 1, 1}));
}

__global__ void shfl_kernel(int* received) {
  received[threadIdx.x] = ptx::shfl_sync_idx(static_cast<int>(threadIdx.x) - 40, 5);
}

TEST(Warp, OneLanesValueInAllLanes) {
  const Buffer received(64 * sizeof(int));
  shfl_kernel<<<1, 64>>>(pointer<int>(received));
  const auto values = to_host<int>(received, 64);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(values[i], i / 32 * 32 + 5 - 40);
}

__global__ void stmatrix_kernel(half* out) {
  __shared__ alignas(16) half tile[4 * 8 * 8];  // four matrices, one behind the other
  const int lane = threadIdx.x;
  half2 pairs[4];
  for (int i = 0; i < 4; ++i) {
    const int first = i * 64 + lane / 4 * 8 + lane % 4 * 2;
    pairs[i] = __floats2half2_rn(first, first + 1);
  }
  ptx::stmatrix_m8n8_x4(&tile[lane * 8], pairs[0], pairs[1], pairs[2], pairs[3]);
  __syncwarp();
  for (int i = lane; i < 4 * 8 * 8; i += 32) out[i] = tile[i];
}

TEST(Warp, StmatrixWritesFourMatricesByRows) {
  const Buffer out(256 * sizeof(half));
  stmatrix_kernel<<<1, 32>>>(pointer<half>(out));
  const auto values = to_host<half>(out, 256);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(__half2float(values[i]), i);
}

// Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; the second of each pair comes late,
// with a value that the first reads behind the barrier.
__global__ void bar_sync_kernel(int* seen) {
  __shared__ volatile int written[2];
  if (threadIdx.x < 2) written[threadIdx.x] = 0;
  __syncthreads();
  const int pair = threadIdx.x / 64;
  if (threadIdx.x % 64 >= 32) {
    const uint64_t start = globaltimer();
    while (globaltimer() - start < 20'000u * (pair + 1)) {
    }
    if (threadIdx.x % 32 == 0) written[pair] = 10 + pair;
  }
  __syncwarp();
  ptx::bar_sync(1 + pair, 64);
  if (threadIdx.x % 64 == 0) seen[pair] = written[pair];
}

TEST(Block, NamedBarriersHoldThoseWhoNameThem) {
  const Buffer seen(2 * sizeof(int));
  bar_sync_kernel<<<1, 128>>>(pointer<int>(seen));
  EXPECT_EQ(to_host<int>(seen, 2), (std::vector<int>{10, 11}));
}

// Three warp groups with 168 registers a thread. What two of them ask for more, the third has to
// give away: if it did not, they would wait for ever.
__global__ void __launch_bounds__(384, 1) setmaxnreg_kernel(int* out) {
  if (threadIdx.x < 128) {
    ptx::setmaxnreg_dec<40>();
  } else {
    ptx::setmaxnreg_inc<232>();
  }
  out[threadIdx.x] = threadIdx.x * 3;
}

TEST(Warpgroup, RegistersChangeHands) {
  const Buffer out(384 * sizeof(int));
  setmaxnreg_kernel<<<1, 384>>>(pointer<int>(out));
  const auto values = to_host<int>(out, 384);
  for (int i = 0; i < 384; ++i) ASSERT_EQ(values[i], i * 3);
}

__global__ void cluster_kernel(int* before, int* ranks) {
  before[blockIdx.x] = 1;
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  const uint32_t peer = blockIdx.x ^ 1;
  ranks[blockIdx.x] = ptx::cluster_ctarank() + 10 * static_cast<volatile int*>(before)[peer];
}

TEST(Cluster, RanksAndBarrier) {
  const Buffer before(8 * sizeof(int)), ranks(8 * sizeof(int));
  CUDA_CHECK(cudaMemset(before.data(), 0, 8 * sizeof(int)));
  ASSERT_TRUE(
      launch(cluster_kernel, {8, 1, 2}, 64, 0, nullptr, pointer<int>(before), pointer<int>(ranks))
          .ok());
  EXPECT_EQ(to_host<int>(ranks, 8), (std::vector<int>{10, 11, 10, 11, 10, 11, 10, 11}));
}

// Two threads of block 0 arrive at the barrier of block `target`, which counts two arrivals.
__global__ void arrive_cluster_kernel(uint32_t target, int* seen) {
  __shared__ MBarrier barrier;
  const uint32_t rank = ptx::cluster_ctarank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 2);
    ptx::fence_mbarrier_init();
  }
  __syncwarp();
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (rank == 0 && threadIdx.x < 2) ptx::mbarrier_arrive_cluster(&barrier, target);
  __syncwarp();
  if (rank == target) ptx::mbarrier_wait_parity_cluster(&barrier, 0);
  __syncwarp();
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (threadIdx.x > 0) return;
  seen[2 * rank] = ptx::mbarrier_try_wait_parity(&barrier, 0);  // phase 0 has completed
  seen[2 * rank + 1] = ptx::mbarrier_try_wait_parity(&barrier, 1);  // it has not
}

TEST(Cluster, ArrivalsCountInTheBlockThatIsNamed) {
  const Buffer seen(4 * sizeof(int));
  for (const uint32_t target : {0u, 1u}) {
    ASSERT_TRUE(
        launch(arrive_cluster_kernel, {2, 1, 2}, 32, 0, nullptr, target, pointer<int>(seen)).ok());
    EXPECT_EQ(to_host<int>(seen, 4),
              target == 0 ? (std::vector<int>{1, 0, 0, 1}) : (std::vector<int>{0, 1, 1, 0}));
  }
}

// Block 0 sends one box of 64 rows, from row 64 on, into the `blocks` of its cluster.
__global__ void multicast_kernel(const __grid_constant__ CUtensorMap map, uint16_t blocks,
                                 half* out) {
  half* const tile = shared_storage<half[64 * 64]>();
  __shared__ MBarrier full;
  const uint32_t rank = ptx::cluster_ctarank();
  for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) tile[i] = __float2half(-1);
  ptx::fence_proxy_async();  // the -1s come before the copy
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&full, blocks >> rank & 1 ? 64 * 128 : 0);
  }
  __syncwarp();
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (rank == 0 && threadIdx.x == 0) {
    ptx::cp_async_bulk_tensor_2d_multicast(tile, &map, 0, 64, &full, blocks);
  }
  __syncwarp();
  ptx::mbarrier_wait_parity_cluster(&full, 0);
  __syncwarp();
  ptx::barrier_cluster_arrive();  // all copies have arrived, wherever they went
  ptx::barrier_cluster_wait();
  for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) out[rank * 64 * 64 + i] = tile[i];
}

TEST(Cluster, MulticastArrivesInTheBlocksThatAreNamed) {
  std::vector<half> values(128 * 64);
  for (int i = 0; i < 128 * 64; ++i) values[i] = __float2half(static_cast<float>(i * 7 % 2039));
  const Buffer matrix(values.size() * sizeof(half)), out(2 * 64 * 64 * sizeof(half));
  harness::copy(matrix.data(), values.data(), values.size() * sizeof(half));
  CUtensorMap map;
  ASSERT_TRUE(make_tensor_map(&map, {"A", pointer<half>(matrix), 128, 64, 64}, 64, 64).ok());
  for (const uint16_t blocks : {0b01, 0b10, 0b11}) {
    ASSERT_TRUE(launch(multicast_kernel, {2, 1, 2}, 128, 64 * 64 * sizeof(half), nullptr, map,
                       blocks, pointer<half>(out))
                    .ok());
    const auto both = to_host<half>(out, 2 * 64 * 64);
    for (int rank = 0; rank < 2; ++rank) {
      const std::vector<half> tile(both.begin() + rank * 64 * 64,
                                   both.begin() + (rank + 1) * 64 * 64);
      for (int row = 0; row < 64; ++row) {
        for (int column = 0; column < 64; ++column) {
          const float sent = __half2float(values[(64 + row) * 64 + column]);
          ASSERT_EQ(__half2float(unswizzled(tile, row, column)), blocks >> rank & 1 ? sent : -1)
              << "blocks " << blocks << ", block " << rank << ", row " << row;
        }
      }
    }
  }
}

}  // namespace
