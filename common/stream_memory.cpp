#include <cuda_status.h>
#include <stream_memory.h>

#include <map>
#include <mutex>
#include <utility>

// One allocation of each stream, named by its device and number.
struct StreamMemory::Pool {
  using Key = std::pair<int, unsigned long long>;

  static Status find_key(cudaStream_t stream, Key* key) {
    cudaError_t error = cudaGetDevice(&key->first);
    if (error == cudaSuccess) error = cudaStreamGetId(stream, &key->second);
    return cuda_status(error, "asking for the stream's number");
  }

  static Pool& zeroed() {
    static Pool pool(true);
    return pool;
  }
  static Pool& scratch() {
    static Pool pool(false);
    return pool;
  }

  explicit Pool(bool is_zeroed) : is_zeroed(is_zeroed) {}

  cudaError_t allocate(cudaStream_t stream, size_t bytes, void** data) const {
    cudaError_t error = cudaMallocAsync(data, bytes, stream);
    if (error == cudaSuccess && is_zeroed) error = cudaMemsetAsync(*data, 0, bytes, stream);
    return error;
  }

  const bool is_zeroed;
  std::mutex mutex;
  std::map<Key, StreamAllocation> allocations;
};

Status StreamMemory::find_captured(bool* captured) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream_, &capture);
  *captured = capture != cudaStreamCaptureStatusNone;
  return cuda_status(error, "asking whether the stream is captured");
}

Status StreamMemory::get(Pool& pool, size_t bytes, void** data) {
  *data = nullptr;
  bool captured = false;
  Status status = find_captured(&captured);
  if (!status.ok()) return status;
  if (captured) {
    const cudaError_t error = pool.allocate(stream_, bytes, data);
    if (*data != nullptr) of_graph_.push_back(*data);
    return cuda_status(error, "allocating memory for the graph");
  }
  Pool::Key key;
  status = Pool::find_key(stream_, &key);
  if (!status.ok()) return status;

  const std::lock_guard<std::mutex> lock(pool.mutex);
  StreamAllocation& kept = pool.allocations[key];
  if (kept.bytes < bytes) {
    // In stream order: launches that still use the old memory come before.
    cudaError_t error = cudaSuccess;
    if (kept.data != nullptr) error = cudaFreeAsync(kept.data, stream_);
    kept = {};
    if (error == cudaSuccess) error = pool.allocate(stream_, bytes, &kept.data);
    if (error != cudaSuccess) return cuda_status(error, "allocating memory for the stream");
    kept.bytes = bytes;
  }
  *data = kept.data;
  return {};
}

StreamMemory::~StreamMemory() {
  for (void* const data : of_graph_) cudaFreeAsync(data, stream_);
}

Status StreamMemory::zeroed(size_t bytes, void** data) { return get(Pool::zeroed(), bytes, data); }

Status StreamMemory::zeroed_if_kept(size_t bytes, void** data) {
  *data = nullptr;
  bool captured = false;
  const Status status = find_captured(&captured);
  return status.ok() && !captured ? zeroed(bytes, data) : status;
}

Status StreamMemory::scratch(size_t bytes, void** data) {
  return get(Pool::scratch(), bytes, data);
}

StreamAllocation StreamMemory::kept_zeroed(cudaStream_t stream) {
  Pool::Key key;
  if (!Pool::find_key(stream, &key).ok()) return {};
  Pool& pool = Pool::zeroed();
  const std::lock_guard<std::mutex> lock(pool.mutex);
  const auto found = pool.allocations.find(key);
  return found == pool.allocations.end() ? StreamAllocation{} : found->second;
}
