#include <cuda_status.h>
#include <stream_memory.h>

#include <map>
#include <mutex>
#include <utility>

namespace {

struct Block {
  void* data = nullptr;
  size_t bytes = 0;
};

}  // namespace

Status stream_memory(cudaStream_t stream, size_t bytes, void** data) {
  static std::mutex mutex;
  static std::map<std::pair<int, unsigned long long>, Block> blocks;  // by device and stream
  *data = nullptr;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaError_t error = cudaStreamIsCapturing(stream, &capture);
  if (error != cudaSuccess) return cuda_status(error, "asking whether the stream is captured");
  if (capture != cudaStreamCaptureStatusNone) return {};
  std::pair<int, unsigned long long> key;
  error = cudaGetDevice(&key.first);
  if (error == cudaSuccess) error = cudaStreamGetId(stream, &key.second);
  if (error != cudaSuccess) return cuda_status(error, "asking for the stream's number");

  const std::lock_guard<std::mutex> lock(mutex);
  Block& block = blocks[key];
  if (block.bytes < bytes) {
    // In stream order: launches that still use the old memory come before.
    if (block.data != nullptr) error = cudaFreeAsync(block.data, stream);
    block = {};
    if (error == cudaSuccess) error = cudaMallocAsync(&block.data, bytes, stream);
    if (error == cudaSuccess) error = cudaMemsetAsync(block.data, 0, bytes, stream);
    if (error != cudaSuccess) return cuda_status(error, "allocating memory for the stream");
    block.bytes = bytes;
  }
  *data = block.data;
  return {};
}
