// harness/device.h on a Hopper GPU.
#include <cuda_status.h>
#include <globaltimer.cuh>
#include <harness/device.h>
#include <harness/gpu/ceiling.h>
#include <harness/gpu/cublas.h>
#include <harness/gpu/cuda_check.h>
#include <harness/gpu/nvml.h>
#include <harness/judge.h>
#include <harness/median.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

namespace harness {

namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

Status open_device(const DeviceOptions& options, DeviceInfo* info) {
  const int index = options.index;
  if (!options.trace.empty()) {
    return {ExitCode::kUsage, "--trace is of the emulator; add --backend emulator"};
  }
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    return {ExitCode::kNoDevice,
            std::string("no CUDA device can be used") +
                (error == cudaSuccess ? "" : std::string(" (") + cudaGetErrorString(error) + ")") +
                "; this program needs a Hopper GPU (compute capability 9.0)"};
  }
  if (index < 0 || index >= count) {
    return {ExitCode::kUsage, "there is no device " + std::to_string(index) +
                                  "; devices are numbered from 0 to " + std::to_string(count - 1)};
  }
  cudaDeviceProp properties = {};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  if (properties.major != 9 || properties.minor != 0) {
    return {ExitCode::kNoDevice,
            "device " + std::to_string(index) + ", " + properties.name +
                ", has compute capability " + std::to_string(properties.major) + "." +
                std::to_string(properties.minor) +
                "; sm_90a code runs on Hopper (9.0) alone, on no other GPU, newer ones included"};
  }
  CUDA_CHECK(cudaSetDevice(index));
  int runtime = 0;
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  info->name = properties.name;
  info->sms = properties.multiProcessorCount;
  info->cuda = version_text(runtime);
  info->cublas = cublas_version();
  char bus_id[32];
  CUDA_CHECK(cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), index));
  const Nvml& nvml = Nvml::open(bus_id);
  info->power_limit_w = nvml.power_limit_w();
  info->clock_max_mhz = nvml.clock_max_mhz();
  info->driver = nvml.driver();
  info->uuid = nvml.uuid();
  return {};
}

Status finish_device() { return {}; }

bool measures_time() { return true; }

Observation observe() { return {}; }

Status synchronize() { return cuda_status(cudaDeviceSynchronize(), "running the kernel"); }

Buffer::Buffer(size_t bytes) {
  const cudaError_t error = cudaMalloc(&data_, bytes);
  if (error == cudaErrorMemoryAllocation) {
    std::fprintf(stderr,
                 "out of GPU memory: %.1f GB more are needed; choose a smaller problem, or free "
                 "memory on the device\n",
                 static_cast<double>(bytes) / 1e9);
    std::exit(static_cast<int>(ExitCode::kCudaError));
  }
  CUDA_CHECK(error);
}
Buffer::Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  return *this;
}
Buffer::~Buffer() { cudaFree(data_); }  // an error would show at the next checked call

void copy(void* to, const void* from, size_t bytes) {
  CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}

namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 65536;

// Enough blocks for `count` elements in a grid-stride loop.
unsigned blocks_for(int64_t count) {
  return static_cast<unsigned>(std::clamp<int64_t>(ceil_div(count, kThreads), 1, kMostBlocks));
}

__device__ int64_t first_index() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ int64_t index_stride() { return int64_t{gridDim.x} * blockDim.x; }

__global__ void fill_kernel(half* data, int64_t count, half value) {
  for (int64_t i = first_index(); i < count; i += index_stride()) data[i] = value;
}

__global__ void generate_kernel(half* data, int64_t rows, int64_t columns,
                                int64_t leading_dimension, DataKind kind, uint64_t seed,
                                float scale) {
  for (int64_t i = first_index(); i < rows * columns; i += index_stride()) {
    const int64_t row = i / columns;
    const int64_t column = i % columns;
    data[row * leading_dimension + column] = element(kind, seed, row, column, scale);
  }
}

// Simple on purpose, and independent of everything that it checks: plain loads, fp32 FMAs. A block
// of 16 × 16 threads computes 64 × 64 elements; each thread adds runs of 32 products in fp32 and
// the runs in fp64.
constexpr int kReferenceTile = 64;
constexpr int kReferenceRun = 32;

__global__ void __launch_bounds__(256)
    reference_kernel(MatmulArguments args, float* values, float* magnitudes) {
  __shared__ float a[kReferenceRun][kReferenceTile + 1];
  __shared__ float b[kReferenceRun][kReferenceTile + 1];
  const int64_t tile_rows = ceil_div(args.m, kReferenceTile);
  const int64_t row = blockIdx.x % tile_rows * kReferenceTile;
  const int64_t column = blockIdx.x / tile_rows * kReferenceTile;
  const int ty = threadIdx.x / 16;
  const int tx = threadIdx.x % 16;
  double sum[4][4] = {};
  double magnitude[4][4] = {};
  for (int64_t k = 0; k < args.k; k += kReferenceRun) {
    __syncthreads();
    for (int i = threadIdx.x; i < kReferenceTile * kReferenceRun; i += blockDim.x) {
      const int r = i / kReferenceRun;
      const int kk = i % kReferenceRun;
      const bool k_inside = k + kk < args.k;
      const bool a_inside = k_inside && row + r < args.m;
      const bool b_inside = k_inside && column + r < args.n;
      a[kk][r] = a_inside ? __half2float(args.a[(row + r) * args.lda + k + kk]) : 0.0f;
      b[kk][r] = b_inside ? __half2float(args.b[(column + r) * args.ldb + k + kk]) : 0.0f;
    }
    __syncthreads();
    float run[4][4] = {};
    float run_magnitude[4][4] = {};
    for (int kk = 0; kk < kReferenceRun; ++kk) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float x = a[kk][ty + 16 * i];
          const float y = b[kk][tx + 16 * j];
          run[i][j] = fmaf(x, y, run[i][j]);
          run_magnitude[i][j] = fmaf(fabsf(x), fabsf(y), run_magnitude[i][j]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        sum[i][j] += run[i][j];
        magnitude[i][j] += run_magnitude[i][j];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int64_t r = row + ty + 16 * i;
      const int64_t c = column + tx + 16 * j;
      if (r >= args.m || c >= args.n) continue;
      values[r * args.n + c] = static_cast<float>(sum[i][j]);
      magnitudes[r * args.n + c] = static_cast<float>(magnitude[i][j]);
    }
  }
}

struct ComparisonCounters {
  unsigned long long wrong;
  unsigned long long first;  // index of the first wrong element, m · n if there is none
};

__global__ void compare_kernel(MatmulArguments args, const float* values, const float* magnitudes,
                               bool exact, int block_m, int block_n, ComparisonCounters* counters,
                               unsigned long long* wrong_per_tile) {
  const int64_t tile_columns = ceil_div(args.n, block_n);
  for (int64_t i = first_index(); i < args.m * args.n; i += index_stride()) {
    const int64_t row = i / args.n;
    const int64_t column = i % args.n;
    const half got = args.c[row * args.ldc + column];
    if (is_right(got, values[i], magnitudes[i], args.k, exact)) continue;
    atomicAdd(&counters->wrong, 1ull);
    atomicMin(&counters->first, static_cast<unsigned long long>(i));
    atomicAdd(&wrong_per_tile[row / block_m * tile_columns + column / block_n], 1ull);
  }
}

__global__ void count_changed_kernel(const half* buffer, int64_t count, uint16_t bits,
                                     MatmulArguments args, unsigned long long* changed) {
  for (int64_t i = first_index(); i < count; i += index_stride()) {
    const int64_t offset = buffer + i - args.c;
    const bool inside =
        args.n > 0 && offset >= 0 && offset / args.ldc < args.m && offset % args.ldc < args.n;
    if (!inside && __half_as_ushort(buffer[i]) != bits) atomicAdd(changed, 1ull);
  }
}

// Keeps the GPU busy for about this long.
__global__ void delay_kernel(uint64_t nanoseconds) {
  const uint64_t start = globaltimer();
  while (globaltimer() - start < nanoseconds) {
  }
}

void finish_launch() {
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace

void fill(half* data, int64_t count, uint16_t bits) {
  fill_kernel<<<blocks_for(count), kThreads>>>(data, count, __ushort_as_half(bits));
  finish_launch();
}

void generate(half* data, int64_t rows, int64_t columns, int64_t leading_dimension, DataKind kind,
              uint64_t seed, float scale) {
  if (rows == 0 || columns == 0) return;
  generate_kernel<<<blocks_for(rows * columns), kThreads>>>(data, rows, columns, leading_dimension,
                                                            kind, seed, scale);
  finish_launch();
}

void compute_reference(const MatmulArguments& args, float* values, float* magnitudes) {
  if (args.m == 0 || args.n == 0) return;
  const int64_t tiles = ceil_div(args.m, kReferenceTile) * ceil_div(args.n, kReferenceTile);
  reference_kernel<<<static_cast<unsigned>(tiles), 256>>>(args, values, magnitudes);
  finish_launch();
}

Comparison compare(const MatmulArguments& args, const float* values, const float* magnitudes,
                   bool exact, int block_m, int block_n) {
  Comparison comparison;
  const int64_t tiles = ceil_div(args.m, block_m) * ceil_div(args.n, block_n);
  comparison.wrong_per_tile.resize(tiles);
  if (tiles == 0) return comparison;
  const auto elements = static_cast<unsigned long long>(args.m * args.n);
  ComparisonCounters counters{0, elements};
  const Buffer device_counters(sizeof(counters));
  const Buffer device_tiles(tiles * sizeof(unsigned long long));
  copy(device_counters.data(), &counters, sizeof(counters));
  CUDA_CHECK(cudaMemset(device_tiles.data(), 0, tiles * sizeof(unsigned long long)));
  compare_kernel<<<blocks_for(args.m * args.n), kThreads>>>(
      args, values, magnitudes, exact, block_m, block_n,
      static_cast<ComparisonCounters*>(device_counters.data()),
      static_cast<unsigned long long*>(device_tiles.data()));
  finish_launch();
  copy(&counters, device_counters.data(), sizeof(counters));
  comparison.wrong = static_cast<int64_t>(counters.wrong);
  if (comparison.wrong == 0) return comparison;
  copy(comparison.wrong_per_tile.data(), device_tiles.data(), tiles * sizeof(int64_t));
  const auto first = static_cast<int64_t>(counters.first);
  comparison.first_row = first / args.n;
  comparison.first_column = first % args.n;
  half got;
  float magnitude;
  copy(&got, args.c + comparison.first_row * args.ldc + comparison.first_column, sizeof(got));
  copy(&comparison.expected, values + first, sizeof(float));
  copy(&magnitude, magnitudes + first, sizeof(float));
  comparison.got = __half2float(got);
  comparison.bound = exact ? 0 : error_bound(comparison.expected, magnitude, args.k);
  return comparison;
}

int64_t count_changed(const half* buffer, int64_t count, uint16_t bits,
                      const MatmulArguments& args) {
  unsigned long long changed = 0;
  const Buffer device_changed(sizeof(changed));
  copy(device_changed.data(), &changed, sizeof(changed));
  count_changed_kernel<<<blocks_for(count), kThreads>>>(
      buffer, count, bits, args, static_cast<unsigned long long*>(device_changed.data()));
  finish_launch();
  copy(&changed, device_changed.data(), sizeof(changed));
  return static_cast<int64_t>(changed);
}

Status time_interleaved(const std::vector<Contender>& contenders, const TimingOptions& options,
                        const std::function<void(int, int)>& progress, Timing* timing) {
  constexpr size_t kFlushBytes = size_t{256} << 20;  // several times the L2
  constexpr uint64_t kDelayNanoseconds = 100'000;
  constexpr int kMostAttempts = 4;
  const Buffer flush(kFlushBytes);
  cudaEvent_t start, stop;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  const int count = static_cast<int>(contenders.size());
  timing->rounds_ms.assign(count, {});
  timing->late.assign(count, 0);
  timing->throttled = false;
  Status status;
  // Round -1 loads modules and plans; it is not counted. Rounds begin at another contender each,
  // and odd ones go backwards, so that nobody always follows the same neighbour.
  for (int round = -1; round < options.rounds && status.ok(); ++round) {
    for (int i = 0; i < count && status.ok(); ++i) {
      const int step = round % 2 == 1 ? count - 1 - i : i;
      const int contender = (step + std::max(round, 0)) % count;
      // After a rest the first launch is late; a busy GPU hides that. Where it was not busy for
      // long enough, the sample is taken again.
      uint64_t delay = kDelayNanoseconds;
      bool late = true;
      for (int attempt = 0; late && attempt < kMostAttempts && status.ok(); ++attempt, delay *= 2) {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(options.rest_ms));
        CUDA_CHECK(cudaMemsetAsync(flush.data(), round & 1, kFlushBytes));
        delay_kernel<<<1, 1>>>(delay);
        CUDA_CHECK(cudaEventRecord(start));
        status = contenders[contender].launch();
        CUDA_CHECK(cudaEventRecord(stop));
        const cudaError_t begun = cudaEventQuery(start);
        late = begun != cudaErrorNotReady;
        if (begun == cudaErrorNotReady) cudaGetLastError();  // it is no error
        if (status.ok()) status = cuda_status(cudaEventSynchronize(stop), "running the kernel");
      }
      if (!status.ok()) {
        status = {status.code(), contenders[contender].name + ": " + status.message()};
      }
      if (!status.ok() || round < 0) continue;
      if (late) ++timing->late[contender];
      timing->throttled = timing->throttled || Nvml::current().is_throttled();
      float ms = 0;
      CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
      timing->rounds_ms[contender].push_back(ms);
      if (progress) progress(round * count + i + 1, options.rounds * count);
    }
  }
  CUDA_CHECK(cudaEventDestroy(start));
  CUDA_CHECK(cudaEventDestroy(stop));
  return status;
}

namespace {

// Runs it once, outside of any timing.
Status try_once(const Contender& contender) {
  const Status status = contender.launch();
  return status.ok() ? synchronize() : status;
}

// The fastest of the algorithms that cublasLt's heuristic names and that run.
Contender best_cublas_lt(const MatmulArguments& args, const TimingOptions& options) {
  constexpr int kMostAlgorithms = 8;
  constexpr int kTrials = 3;
  std::vector<CublasLtMatmul> algorithms;
  Status status = CublasLtMatmul::find(args, kMostAlgorithms, &algorithms);
  if (status.ok() && algorithms.empty()) {
    status = {ExitCode::kUsage, "cublasLt's heuristic names no algorithm"};
  }
  std::vector<Contender> candidates;
  for (const CublasLtMatmul& algorithm : algorithms) {
    const Contender candidate{kLt, algorithm, ""};
    const Status tried = try_once(candidate);
    if (tried.ok()) candidates.push_back(candidate);
    if (!tried.ok()) status = tried;
  }
  if (candidates.empty()) return {kLt, nullptr, status.message()};
  Timing timing;
  TimingOptions trials = options;
  trials.rounds = kTrials;
  status = time_interleaved(candidates, trials, nullptr, &timing);
  if (!status.ok()) return {kLt, nullptr, status.message()};
  size_t best = 0;
  for (size_t i = 1; i < candidates.size(); ++i) {
    if (median(timing.rounds_ms[i]) < median(timing.rounds_ms[best])) best = i;
  }
  return candidates[best];
}

}  // namespace

Status baselines(const MatmulArguments& args, const TimingOptions& options,
                 std::vector<Contender>* found) {
  int device = 0, sms = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  *found = {{kGemmEx, [args] { return cublas_matmul(args); }, ""},
            best_cublas_lt(args, options),
            {kCeiling, [args, sms] { return wgmma_ceiling(args, sms); }, ""}};
  for (Contender& baseline : *found) {
    if (baseline.refusal.empty()) baseline.refusal = try_once(baseline).message();
  }
  return synchronize();
}

}  // namespace harness
