#include <cuda_status.h>
#include <stream_memory.h>

#include <map>
#include <mutex>
#include <utility>

namespace {

std::mutex mutex;

using Key = std::pair<int, unsigned long long>;  // device, stream's number

std::map<Key, StreamMemory>& all() {
  static std::map<Key, StreamMemory> memory;
  return memory;
}

Status find_key(cudaStream_t stream, Key* key) {
  cudaError_t error = cudaGetDevice(&key->first);
  if (error == cudaSuccess) error = cudaStreamGetId(stream, &key->second);
  return cuda_status(error, "asking for the stream's number");
}

}  // namespace

Status stream_memory(cudaStream_t stream, size_t bytes, void** data) {
  *data = nullptr;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaError_t error = cudaStreamIsCapturing(stream, &capture);
  if (error != cudaSuccess) return cuda_status(error, "asking whether the stream is captured");
  if (capture != cudaStreamCaptureStatusNone) return {};
  Key key;
  const Status status = find_key(stream, &key);
  if (!status.ok()) return status;

  const std::lock_guard<std::mutex> lock(mutex);
  StreamMemory& memory = all()[key];
  if (memory.bytes < bytes) {
    // In stream order: launches that still use the old memory come before.
    if (memory.data != nullptr) error = cudaFreeAsync(memory.data, stream);
    memory = {};
    if (error == cudaSuccess) error = cudaMallocAsync(&memory.data, bytes, stream);
    if (error == cudaSuccess) error = cudaMemsetAsync(memory.data, 0, bytes, stream);
    if (error != cudaSuccess) return cuda_status(error, "allocating memory for the stream");
    memory.bytes = bytes;
  }
  *data = memory.data;
  return {};
}

StreamMemory existing_stream_memory(cudaStream_t stream) {
  Key key;
  if (!find_key(stream, &key).ok()) return {};
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = all().find(key);
  return found == all().end() ? StreamMemory{} : found->second;
}
