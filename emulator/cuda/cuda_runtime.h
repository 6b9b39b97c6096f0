// Stand-in for the CUDA runtime's header where the CPU emulator is the device: the subset that this
// project uses, for any C++17 host compiler. Device memory is host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <tuple>
#include <utility>

// --- the language ---

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) alignas(n)

struct uint3 {
  unsigned x, y, z;
};

struct uint4 {
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// The scheduler sets these before it lets a thread of a block go on. (__thread rather than
// thread_local says that nothing initialises them at run time: to read one is to read memory.)
extern __thread uint3 threadIdx, blockIdx;
extern __thread dim3 blockDim, gridDim;

// bar.sync 0: a barrier of all threads of the block.
void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE());

// The address of `pointer` in the 32-bit window of the calling block's shared memory.
size_t __cvta_generic_to_shared(const void* pointer);

template <class T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}

// --- the runtime API ---

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorLaunchFailure = 719,
};
using cudaStream_t = struct EmulatorStream*;

inline const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
  }
  return "unknown";
}

inline const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorLaunchFailure:
      return "the emulator stopped the kernel";
  }
  return "unknown error";
}

struct cudaDeviceProp {
  char name[256];
};
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
};

inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

// The emulated chip: an H200's 132 multiprocessors, compute capability 9.0.
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = 132;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "CPU emulator");
  return cudaSuccess;
}

inline cudaError_t cudaMemset2DAsync(void* data, size_t pitch, int value, size_t width,
                                     size_t height, cudaStream_t) {
  for (size_t row = 0; row < height; ++row) {
    std::memset(static_cast<char*>(data) + row * pitch, value, width);
  }
  return cudaSuccess;
}

template <class T>
cudaError_t cudaMallocManaged(T** data, size_t bytes) {
  constexpr size_t kAlignment = 256;
  *data = static_cast<T*>(std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment));
  return *data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

// --- streams: whatever is asked for has been done when the call returns ---

enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone = 0 };
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
inline cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  *id = reinterpret_cast<uintptr_t>(stream);
  return cudaSuccess;
}

// When a check has stopped a kernel, all of this memory is zero again (on a GPU it is gone, and the
// process can use the device no more).
cudaError_t cudaMallocAsync(void** data, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* data, cudaStream_t stream);
inline cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t) {
  std::memset(data, value, bytes);
  return cudaSuccess;
}

// --- the driver ---

enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess = 0 };
enum { cudaEnableDefault = 0 };
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* found);

// --- launches ---

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel*, cudaFuncAttribute, int) {
  return cudaSuccess;
}

enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension = 4 };
struct cudaLaunchAttributeValue {
  struct {
    unsigned x, y, z;
  } clusterDim;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};

namespace emulator {
// So many clusters of a launch run at a time on so many multiprocessors, as far as shared memory,
// threads and blocks go. (How many registers a kernel takes is not known.)
int resident_clusters(const cudaLaunchConfig_t& config, int multiprocessors);
}  // namespace emulator

// As many clusters as fill the emulated chip.
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, Kernel*,
                                           const cudaLaunchConfig_t* config) {
  int multiprocessors = 0;
  const cudaError_t error =
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  *clusters = emulator::resident_clusters(*config, multiprocessors);
  return error;
}

namespace emulator {
// Runs `thread_body` once for every thread of the grid; returns when all have ended, or when a
// check has stopped the kernel.
cudaError_t launch(const cudaLaunchConfig_t& config, const std::function<void()>& thread_body);
}  // namespace emulator

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  const std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
  return emulator::launch(*config, [&] { std::apply(kernel, values); });
}
