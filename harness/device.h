// All that drivers, tests and tools ask of a device: memory, data, a reference, a comparison, time.
// Two implementations, chosen at build time: gpu/device.cu and cpu/device.cpp
// beside this file. Calls return when their work is done, unless they say otherwise.
#pragma once

#include <harness/random.h>
#include <matmul.h>
#include <status.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace harness {

// --- the device ---

struct DeviceInfo {
  std::string name;
  std::string uuid;  // which specimen; empty: not known
  int sms = 0;
  double power_limit_w = 0;  // 0: not known
  int clock_max_mhz = 0;  // 0: not known
  std::string driver;
  std::string cuda;
  std::string cublas;
};

struct DeviceOptions {
  int index = 0;
  uint64_t seed = 1;  // of the emulator's schedule; a GPU has its own
  // Of the emulator:
  std::string delays = "mixed";  // a name of kDelays: when asynchronous operations take place
  std::string trace;  // a file for the timeline; empty: none
  int trace_blocks = 1;  // so many blocks are in it
  std::string watch;  // a file for the page that plays the run; empty: none
  std::string title;  // of that page
};

// When an asynchronous operation takes place after its issue (emulator::Delay).
constexpr const char* kDelays[] = {"mixed", "at-once", "short", "long", "idle", "textbook"};

// Selects the device for the calling thread. kNoDevice, with a sentence, if there is none or if it
// cannot run sm_90a code.
Status open_device(const DeviceOptions& options, DeviceInfo* info);

// When all is done: writes the timeline and the page, if they were asked for.
Status finish_device();

// True for a GPU. The emulator counts instead (Observation).
bool measures_time();

// Waits for all work; a CUDA error that has been pending since an earlier call shows here.
Status synchronize();

// --- memory and data ---

// Device memory, freed with the object. Running out of it ends the program with one sentence (exit
// code 4), as every CUDA error does that is not the user's; on the host it is std::bad_alloc, of
// which run_problem (run.h) makes the same.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t bytes);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

// Sets `count` fp16 elements to the bit pattern `bits`.
void fill(half* data, int64_t count, uint16_t bits);

// Fills a row-major matrix with element(kind, seed, row, column, scale) of harness/random.h.
void generate(half* data, int64_t rows, int64_t columns, int64_t leading_dimension, DataKind kind,
              uint64_t seed, float scale);

// Copies between host and device memory, either way.
void copy(void* to, const void* from, size_t bytes);

// --- reference and comparison ---

// What A · Bᵀ is: the values, and Σ|a·b| of each, by which rounding errors are bounded. Both are
// m × n, packed, in device memory.
void compute_reference(const MatmulArguments& args, float* values, float* magnitudes);

struct Comparison {
  int64_t wrong = 0;
  int64_t first_row = 0;  // of the first wrong element in row-major order, if there is one
  int64_t first_column = 0;
  float got = 0;
  float expected = 0;
  float bound = 0;
  std::vector<int64_t> wrong_per_tile;  // row-major over tiles of block_m × block_n
};

// Judges every element of args.c against the reference (harness/judge.h).
Comparison compare(const MatmulArguments& args, const float* values, const float* magnitudes,
                   bool exact, int block_m, int block_n);

// How many of the `count` elements from `buffer` on, those of args.c aside, differ from `bits`.
int64_t count_changed(const half* buffer, int64_t count, uint16_t bits,
                      const MatmulArguments& args);

// --- what happened ---

// What the emulator saw in the launches since it was last asked; all zero on a GPU.
struct Observation {
  uint64_t hazards = 0;  // kernels that a check has stopped
  uint64_t tma_load_bytes = 0;
  uint64_t tma_store_bytes = 0;
  uint64_t wgmmas = 0;
  uint64_t waits = 0;  // by warps, on mbarriers
  uint64_t waits_blocked = 0;  // of these, those that had to wait
  int stages_in_flight = 0;  // most that one block had TMA fill at a time
};
Observation observe();

// --- time ---

// Something to be timed: starts its work on the default stream.
struct Contender {
  std::string name;
  std::function<Status()> launch;
  std::string refusal = "";  // of a baseline that cannot run this problem: why
};

struct TimingOptions {
  int rounds = 11;
  double rest_ms = 10;
};

struct Timing {
  std::vector<std::vector<double>> rounds_ms;  // [contender][round]
  std::vector<int> late;  // [contender]: rounds in which even the last attempt began late
  bool throttled = false;  // heat or a fault slowed the GPU down meanwhile
};

// Times the contenders round by round, in rotating order, each launch after the same rest and an L2
// flush. A sample is late where the GPU had nothing left to do before the launch reached it, so
// that the host's latency is in the time; it is taken again a few times, then counted as late.
// `progress` is told how many launches of how many are done.
Status time_interleaved(const std::vector<Contender>& contenders, const TimingOptions& options,
                        const std::function<void(int, int)>& progress, Timing* timing);

// What versions are measured against. On the GPU: cuBLAS by cublasGemmEx (kGemmEx), by the fastest
// of the algorithms that cublasLt's heuristic names (kLt; found by a few trials), and the
// WGMMA-only ceiling (kCeiling, which computes nothing). Each has run once; one that refused says
// why in its `refusal`, and is not to be timed. In the emulator: nothing.
inline constexpr const char* kGemmEx = "cublas_gemm_ex";
inline constexpr const char* kLt = "cublas_lt";
inline constexpr const char* kCeiling = "wgmma_ceiling";
Status baselines(const MatmulArguments& args, const TimingOptions& options,
                 std::vector<Contender>* found);

}  // namespace harness
