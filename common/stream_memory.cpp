#include <cuda_status.h>
#include <stream_memory.h>

#include <map>
#include <mutex>
#include <utility>

namespace {

std::mutex mutex;

// Of each stream, named by its device and number.
using Key = std::pair<int, unsigned long long>;
using Pool = std::map<Key, StreamMemory>;

Pool& zeroed() {
  static Pool pool;
  return pool;
}

Pool& scratch() {
  static Pool pool;
  return pool;
}

Status find_key(cudaStream_t stream, Key* key) {
  cudaError_t error = cudaGetDevice(&key->first);
  if (error == cudaSuccess) error = cudaStreamGetId(stream, &key->second);
  return cuda_status(error, "asking for the stream's number");
}

// Makes `*memory` at least `bytes` large. In stream order: launches that still use the old memory
// come before.
cudaError_t grow(StreamMemory* memory, size_t bytes, cudaStream_t stream) {
  if (memory->data != nullptr) {
    const cudaError_t error = cudaFreeAsync(memory->data, stream);
    *memory = {};
    if (error != cudaSuccess) return error;
  }
  const cudaError_t error = cudaMallocAsync(&memory->data, bytes, stream);
  if (error == cudaSuccess) memory->bytes = bytes;
  return error;
}

Status from_pool(Pool& pool, bool set_to_zero, cudaStream_t stream, size_t bytes, void** data) {
  *data = nullptr;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaError_t error = cudaStreamIsCapturing(stream, &capture);
  if (error != cudaSuccess) return cuda_status(error, "asking whether the stream is captured");
  if (capture != cudaStreamCaptureStatusNone) return {};
  Key key;
  const Status status = find_key(stream, &key);
  if (!status.ok()) return status;

  const std::lock_guard<std::mutex> lock(mutex);
  StreamMemory& memory = pool[key];
  if (memory.bytes < bytes) {
    error = grow(&memory, bytes, stream);
    if (error == cudaSuccess && set_to_zero) error = cudaMemsetAsync(memory.data, 0, bytes, stream);
    if (error != cudaSuccess) return cuda_status(error, "allocating memory for the stream");
  }
  *data = memory.data;
  return {};
}

}  // namespace

Status stream_memory(cudaStream_t stream, size_t bytes, void** data) {
  return from_pool(zeroed(), true, stream, bytes, data);
}

Status stream_scratch(cudaStream_t stream, size_t bytes, void** data) {
  return from_pool(scratch(), false, stream, bytes, data);
}

StreamMemory existing_stream_memory(cudaStream_t stream) {
  Key key;
  if (!find_key(stream, &key).ok()) return {};
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = zeroed().find(key);
  return found == zeroed().end() ? StreamMemory{} : found->second;
}
