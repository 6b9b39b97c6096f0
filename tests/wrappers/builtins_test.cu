// Built-in functions of CUDA that everyday kernels call: the emulator has them, and they do there
// what they do on a GPU. Compiled twice, for either.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <launch.h>
#include <ptx/warpgroup.cuh>
#include <shared_storage.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

namespace {

constexpr unsigned kAll = 0xffffffff;

// Numbers that host and kernel see.
template <class T>
T* shared_numbers(size_t count) {
  T* numbers = nullptr;
  if (cudaMallocManaged(&numbers, count * sizeof(T)) != cudaSuccess) std::abort();
  std::memset(static_cast<void*>(numbers), 0, count * sizeof(T));
  return numbers;
}

template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), int blocks, int threads, size_t shared_bytes,
         Arguments... arguments) {
  const Status status = launch(kernel, {blocks, 1}, threads, shared_bytes, nullptr, arguments...);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// --- shuffles ---

enum class Shuffle { kIndex, kUp, kDown, kXor };
constexpr int kShuffles = 4;
constexpr int kOperands = 32;
constexpr int kWidths[] = {1, 2, 4, 8, 16, 32};

template <class T>
__device__ T shuffle(Shuffle kind, T value, int operand, int width) {
  switch (kind) {
    case Shuffle::kIndex:
      return __shfl_sync(kAll, value, operand, width);
    case Shuffle::kUp:
      return __shfl_up_sync(kAll, value, operand, width);
    case Shuffle::kDown:
      return __shfl_down_sync(kAll, value, operand, width);
    case Shuffle::kXor:
      break;
  }
  return __shfl_xor_sync(kAll, value, operand, width);
}

// Whose value each lane receives, for every operand.
__global__ void shuffle_kernel(int kind, int width, int* from, bool* alike) {
  const int lane = threadIdx.x % warpSize;
  for (int operand = 0; operand < kOperands; ++operand) {
    const auto how = static_cast<Shuffle>(kind);
    const int received = shuffle(how, lane, operand, width);
    from[operand * 32 + lane] = received;
    const half2 pair = shuffle(how, __floats2half2_rn(lane, -lane), operand, width);
    alike[operand * 32 + lane] =
        shuffle(how, static_cast<float>(lane), operand, width) == received &&
        shuffle(how, (1ull << 40) + lane, operand, width) == (1ull << 40) + received &&
        shuffle(how, 0.5 * lane, operand, width) == 0.5 * received &&
        __high2float(pair) == -received;
  }
}

// CUDA C++ Programming Guide, "Warp Shuffle Functions".
int sender(Shuffle kind, int lane, int operand, int width) {
  const int group = lane / width * width;
  switch (kind) {
    case Shuffle::kIndex:
      return group + operand % width;
    case Shuffle::kUp:
      return lane - operand < group ? lane : lane - operand;
    case Shuffle::kDown:
      return lane + operand >= group + width ? lane : lane + operand;
    case Shuffle::kXor:
      break;
  }
  return (lane ^ operand) >= group + width ? lane : lane ^ operand;
}

TEST(Builtins, ShufflesOfAllKindsAndWidths) {
  int* const from = shared_numbers<int>(kOperands * 32);
  bool* const alike = shared_numbers<bool>(kOperands * 32);
  for (int kind = 0; kind < kShuffles; ++kind) {
    for (const int width : kWidths) {
      run(shuffle_kernel, 1, 32, 0, kind, width, from, alike);
      for (int i = 0; i < kOperands * 32; ++i) {
        ASSERT_EQ(from[i], sender(static_cast<Shuffle>(kind), i % 32, i / 32, width))
            << "kind " << kind << ", operand " << i / 32 << ", width " << width;
        ASSERT_TRUE(alike[i]) << "kind " << kind << ", operand " << i / 32;
      }
    }
  }
}

// Lanes in two branches: each group exchanges by itself, the last lanes have left before.
__global__ void group_kernel(int* sums) {
  const int lane = threadIdx.x;
  if (lane >= 28) return;
  if (lane < 16) {
    int sum = lane;
    for (int step = 8; step > 0; step /= 2) sum += __shfl_down_sync(0x0000ffff, sum, step, 16);
    sums[lane] = __shfl_sync(0x0000ffff, sum, 0);
  } else {
    const int next = __shfl_down_sync(0x0fff0000, lane, 1);
    sums[lane] = __shfl_sync(0x0fff0000, next, 20);
  }
  __syncwarp(0x0fffffff);
  sums[32 + lane] = sums[27 - lane];
}

TEST(Builtins, LanesOfAMask) {
  int* const sums = shared_numbers<int>(64);
  run(group_kernel, 1, 32, 0, sums);
  for (int lane = 0; lane < 28; ++lane) {
    EXPECT_EQ(sums[lane], lane < 16 ? 120 : 21);
    EXPECT_EQ(sums[32 + lane], 27 - lane < 16 ? 120 : 21);
  }
}

__global__ void vote_kernel(unsigned* votes) {
  const int lane = threadIdx.x % 32;
  unsigned* const own = votes + threadIdx.x * 6;
  own[0] = __ballot_sync(kAll, lane % 3 == 0);
  own[1] = __any_sync(kAll, lane == 31);
  own[2] = __any_sync(kAll, 0);
  own[3] = __all_sync(kAll, lane < 32);
  own[4] = __all_sync(kAll, lane != 5);
  own[5] = kAll;
  for (int round = 0; round < 20; ++round) {  // two groups, each of which votes by itself
    own[5] &= lane < 8 ? __ballot_sync(0xff, lane & 1) : __ballot_sync(0xffffff00, 1);
  }
}

TEST(Builtins, Votes) {
  unsigned* const votes = shared_numbers<unsigned>(64 * 6);
  run(vote_kernel, 1, 64, 0, votes);
  for (int thread = 0; thread < 64; ++thread) {
    const unsigned expected[] = {0x49249249, 1, 0, 1, 0, thread % 32 < 8 ? 0xaau : 0xffffff00};
    for (int i = 0; i < 6; ++i) EXPECT_EQ(votes[thread * 6 + i], expected[i]) << i;
  }
}

// --- barriers ---

struct Counts {
  int counts[128];
  float sum;
};

// Rounds of writing and reading: a warp's by __syncwarp, a block's by bar.sync 0.
__global__ void barrier_kernel(int* errors) {
  auto& smem = shared_storage<Counts>();
  for (int round = 0; round < 20; ++round) {
    smem.counts[threadIdx.x] = round;
    __syncwarp();
    if (smem.counts[threadIdx.x ^ 31] != round) atomicAdd(errors, 1);
    __syncwarp();
    smem.counts[threadIdx.x] = -round;
    ptx::bar_sync(0, 128);
    if (smem.counts[127 - threadIdx.x] != -round) atomicAdd(errors, 1);
    ptx::bar_sync(0, 128);
  }
}

TEST(Builtins, Barriers) {
  int* const errors = shared_numbers<int>(1);
  run(barrier_kernel, 1, 128, sizeof(Counts), errors);
  EXPECT_EQ(*errors, 0);
}

// --- atomics ---

struct Sums {
  int added, subtracted, least, most;
  unsigned anded, ored, xored, exchanged;
  unsigned long long wide;
  float real;
  float shared;
  int lock, locked;
};

__global__ void atomic_kernel(Sums* sums, int* tickets) {
  auto& smem = shared_storage<Counts>();
  if (threadIdx.x == 0) smem.sum = 0;
  __syncthreads();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  tickets[atomicAdd(&sums->added, 1)] = i;
  atomicSub(&sums->subtracted, 2);
  atomicMin(&sums->least, -i);
  atomicMax(&sums->most, i);
  atomicAnd(&sums->anded, ~(1u << i % 32));
  atomicOr(&sums->ored, 1u << i % 32);
  atomicXor(&sums->xored, 1u << i % 3);
  atomicExch(&sums->exchanged, 7u);
  atomicAdd(&sums->wide, 1ull << 33);
  atomicAdd(&sums->real, 0.5f);
  atomicAdd(&smem.sum, 1.0f);
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(&sums->shared, smem.sum);
  while (atomicCAS(&sums->lock, 0, 1) != 0) __nanosleep(20);
  __threadfence();
  ++*const_cast<volatile int*>(&sums->locked);
  __threadfence();
  atomicExch(&sums->lock, 0);
}

TEST(Builtins, Atomics) {
  constexpr int kBlocks = 4, kThreads = 96, kAllThreads = kBlocks * kThreads;
  Sums* const sums = shared_numbers<Sums>(1);
  int* const tickets = shared_numbers<int>(kAllThreads);
  sums->anded = kAll;
  run(atomic_kernel, kBlocks, kThreads, sizeof(Counts), sums, tickets);
  EXPECT_EQ(sums->added, kAllThreads);
  EXPECT_EQ(sums->subtracted, -2 * kAllThreads);
  EXPECT_EQ(sums->least, 1 - kAllThreads);
  EXPECT_EQ(sums->most, kAllThreads - 1);
  EXPECT_EQ(sums->anded, 0u);
  EXPECT_EQ(sums->ored, kAll);
  EXPECT_EQ(sums->xored, 0u);  // each bit an even number of times
  EXPECT_EQ(sums->exchanged, 7u);
  EXPECT_EQ(sums->wide, uint64_t{kAllThreads} << 33);
  EXPECT_EQ(sums->real, kAllThreads / 2);
  EXPECT_EQ(sums->shared, kAllThreads);
  EXPECT_EQ(sums->locked, kBlocks);
  std::sort(tickets, tickets + kAllThreads);
  for (int i = 0; i < kAllThreads; ++i) EXPECT_EQ(tickets[i], i);
}

// --- fp16 ---

constexpr int kResults = 16;

__global__ void half_kernel(const uint16_t* numbers, int count, uint16_t* results) {
  const int i = static_cast<int>(blockIdx.x), j = static_cast<int>(threadIdx.x);
  if (j >= count) return;
  const half x = __ushort_as_half(numbers[i]), y = __ushort_as_half(numbers[j]);
  const half z = __ushort_as_half(numbers[(i + j) % count]);
  uint16_t* const own = results + (i * count + j) * kResults;
  half zero = 0.0f;
  half sum = x;
  sum += y;
  const half2 both = __halves2half2(x, y) * __half2half2(y);
  own[0] = __half_as_ushort(__hadd(x, y));
  own[1] = __half_as_ushort(x - y);
  own[2] = __half_as_ushort(x * y);
  own[3] = __half_as_ushort(x / y);
  own[4] = __half_as_ushort(__hfma(x, y, z));
  own[5] = __half_as_ushort(__hmax(x, y));
  own[6] = __half_as_ushort(__hmin(x, y));
  own[7] = __half_as_ushort(-x);
  own[8] = __half_as_ushort(__habs(x));
  own[9] = static_cast<uint16_t>((x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 |
                                 (x > y) << 4 | (x >= y) << 5 | __hne(x, y) << 6 |
                                 __hisnan(x) << 7 | (__hisinf(x) + 1) << 8);
  own[10] = __half_as_ushort(sum);
  own[11] = __half_as_ushort(__low2half(both));
  own[12] = __half_as_ushort(__high2half(both));
  own[13] = __half_as_ushort(__low2half(
      __hfma2(__halves2half2(x, zero), __halves2half2(y, zero), __halves2half2(z, zero))));
  own[14] = __half_as_ushort(half(static_cast<float>(x) * 0.3f));
  own[15] = __half_as_ushort(__high2half(__hadd2(__float2half2_rn(1.5f), __halves2half2(x, y))));
}

double value_of(uint16_t bits) { return __half2float(__ushort_as_half(bits)); }

// The nearest fp16 number, ties to even; from the definition.
uint16_t nearest(double value) {
  if (std::isnan(value)) return 0x7fff;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int lowest = std::max(exponent - 11, -24);  // the weight of the last bit is 2^lowest
  const double units = std::nearbyint(std::ldexp(magnitude, -lowest));
  const double rounded = std::ldexp(units, lowest);
  if (rounded < std::ldexp(1, -14)) return sign | static_cast<uint16_t>(std::ldexp(rounded, 24));
  std::frexp(rounded, &exponent);
  return sign | static_cast<uint16_t>((exponent + 14) << 10) |
         static_cast<uint16_t>(std::ldexp(rounded, 11 - exponent) - 1024);
}

bool same(uint16_t x, uint16_t y) {
  return x == y || (std::isnan(value_of(x)) && std::isnan(value_of(y)));
}

TEST(Builtins, HalfArithmetic) {
  const std::vector<uint16_t> numbers = {
      0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x1234, 0x3555, 0x3800, 0x3bff,
      0x3c00, 0x3c01, 0xbc00, 0xbc03, 0x4248, 0x4900, 0x5640, 0x5bff, 0x6400, 0x6401, 0xe7ff,
      0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x2e66, 0xae66, 0x1001, 0x7800, 0x0555};
  const int count = static_cast<int>(numbers.size());
  uint16_t* const in = shared_numbers<uint16_t>(numbers.size());
  std::copy(numbers.begin(), numbers.end(), in);
  uint16_t* const out = shared_numbers<uint16_t>(numbers.size() * numbers.size() * kResults);
  run(half_kernel, count, 32, 0, static_cast<const uint16_t*>(in), count, out);
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      const double x = value_of(in[i]), y = value_of(in[j]), z = value_of(in[(i + j) % count]);
      const bool x_is_nan = std::isnan(x), y_is_nan = std::isnan(y);
      const bool unequal = x < y || x > y;
      const int compared = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x > y) << 4 |
                           (x >= y) << 5 | unequal << 6 | x_is_nan << 7 |
                           (std::isinf(x) ? x > 0 ? 2 : 0 : 1) << 8;
      const uint16_t fused = nearest(std::fma(x, y, z));
      const double scaled = static_cast<double>(static_cast<float>(x) * 0.3f);
      const uint16_t expected[kResults] = {nearest(x + y),
                                           nearest(x - y),
                                           nearest(x * y),
                                           nearest(x / y),
                                           fused,
                                           nearest(x_is_nan   ? y
                                                   : y_is_nan ? x
                                                              : std::max(x, y)),
                                           nearest(x_is_nan   ? y
                                                   : y_is_nan ? x
                                                              : std::min(x, y)),
                                           static_cast<uint16_t>(in[i] ^ 0x8000),
                                           static_cast<uint16_t>(in[i] & 0x7fff),
                                           static_cast<uint16_t>(compared),
                                           nearest(x + y),
                                           nearest(x * y),
                                           nearest(y * y),
                                           fused,
                                           nearest(scaled),
                                           nearest(1.5 + y)};
      for (int k = 0; k < kResults; ++k) {
        const uint16_t found = out[(i * count + j) * kResults + k];
        const bool zeros = (k == 5 || k == 6) && x == 0 && y == 0;  // either sign
        const bool right = k == 9 ? found == expected[k] : same(found, expected[k]);
        EXPECT_TRUE(right || zeros) << "result " << k << " of " << x << ", " << y << ", " << z
                                    << ": " << std::hex << found << ", not " << expected[k];
      }
    }
  }
}

// --- numbers ---

__global__ void number_kernel(const float* x, float* reals, int* integers) {
  reals[0] = fmaxf(x[0], x[1]);
  reals[1] = fminf(x[0], x[1]);
  reals[2] = fmaxf(x[2], x[1]);  // NaN and a number
  reals[3] = __expf(x[3]);
  reals[4] = exp2f(x[3]);
  reals[5] = __logf(x[4]);
  reals[6] = rsqrtf(x[4]);
  reals[7] = __fdividef(x[0], x[4]);
  reals[8] = __frcp_rn(x[4]);
  reals[9] = __fmaf_rn(x[0], x[1], x[4]);
  reals[10] = __saturatef(x[0]);
  reals[11] = __saturatef(x[1]);
  reals[12] = __uint_as_float(0x40490fdb);
  reals[13] = __ldg(&x[4]) + max(x[0], x[1]) + min(x[0], x[1]);
  const float2 pair = __half22float2(__float22half2_rn(make_float2(x[0], x[1])));
  reals[14] = pair.x + pair.y;
  reals[15] = static_cast<float>(__float2half(x[3]) + half(1));
  reals[16] = half(1 + 0x1p-11 + 0x1p-40);  // a double: rounded once
  integers[0] = __popc(0xf0f0u);
  integers[1] = __clz(1 << 20);
  integers[2] = __clz(0);
  integers[3] = __ffs(0x18);
  integers[4] = static_cast<int>(__umulhi(0x80000000u, 6u));
  integers[5] = __mulhi(-3, 1 << 30);
  integers[6] = __float_as_int(1.0f);
  integers[7] = __float2int_rn(2.5f) * 100 + __float2int_rz(-2.5f) * 10;
  integers[8] = max(3, -4) + min(3, -4);
  integers[9] = warpSize;
  const long long before = clock64();
  integers[10] = clock64() - before >= 0;
}

TEST(Builtins, Numbers) {
  float* const x = shared_numbers<float>(5);
  float* const reals = shared_numbers<float>(17);
  int* const integers = shared_numbers<int>(11);
  const float values[] = {2, -3.5f, std::numeric_limits<float>::quiet_NaN(), 1.25f, 5};
  std::copy(values, values + 5, x);
  run(number_kernel, 1, 1 * 32, 0, static_cast<const float*>(x), reals, integers);
  const double expected[] = {2,
                             -3.5,
                             -3.5,
                             std::exp(1.25),
                             std::exp2(1.25),
                             std::log(5),
                             1 / std::sqrt(5),
                             0.4,
                             0.2,
                             -2,
                             1,
                             0,
                             M_PI,
                             3.5,
                             -1.5,
                             2.25,
                             1 + 0x1p-10};
  for (int i = 0; i < 17; ++i) EXPECT_NEAR(reals[i], expected[i], 2e-6) << i;
  const int whole[] = {8, 11, 32, 4, 3, -1, 0x3f800000, 180, -1, 32, 1};
  for (int i = 0; i < 11; ++i) EXPECT_EQ(integers[i], whole[i]) << i;
}

}  // namespace
