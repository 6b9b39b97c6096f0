// Device memory through which the blocks of a launch speak to each other.
#pragma once

#include <cuda_runtime.h>
#include <status.h>

#include <cstddef>
#include <vector>

struct StreamAllocation {
  void* data = nullptr;
  size_t bytes = 0;
};

// What one launch has of it. It belongs to the stream of the current device: launches in a stream
// follow each other, so that two in flight never share any. It is kept for the next launch until
// the process ends. While the stream is captured into a graph it belongs to the graph instead,
// whose own nodes allocate it before the launch and free it behind. (CUDA runs such a graph only
// once at a time: cudaGraphInstantiate refuses it a second time.)
class StreamMemory {
 public:
  explicit StreamMemory(cudaStream_t stream) : stream_(stream) {}
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory();  // after the launch

  // `*data` becomes at least `bytes`, all zero; every kernel leaves them so. Once for a launch.
  Status zeroed(size_t bytes, void** data);

  // The same for a kernel that can do without: null while the stream is captured.
  Status zeroed_if_kept(size_t bytes, void** data);

  // The same, but what it holds is left as it is, also by kernels: who reads it has written it.
  Status scratch(size_t bytes, void** data);

  // What zeroed() has kept for a stream, for tests; null and 0 if nothing.
  static StreamAllocation kept_zeroed(cudaStream_t stream);

 private:
  struct Pool;
  Status find_captured(bool* captured);
  Status get(Pool& pool, size_t bytes, void** data);

  const cudaStream_t stream_;
  std::vector<void*> of_graph_;
};
