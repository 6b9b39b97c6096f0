// Device memory that a launch needs for itself: taken from a pool and given back in stream order,
// so that launches in flight never share it and none leaves anything behind.
#pragma once

#include <cuda_runtime.h>
#include <matmul.h>
#include <status.h>

#include <cstddef>

// Its memory is free again when the work that the stream holds at the end of the object's life is
// done: the object lives as long as the host function that launches.
class LaunchMemory {
 public:
  LaunchMemory() = default;
  LaunchMemory(const LaunchMemory&) = delete;
  LaunchMemory& operator=(const LaunchMemory&) = delete;
  ~LaunchMemory() {
    if (data_ != nullptr) cudaFreeAsync(data_, stream_);
  }

  // Asynchronous; all bytes zero. May be captured in a graph.
  Status allocate_zeroed(size_t bytes, cudaStream_t stream) {
    cudaMemPool_t pool;
    Status status = pool_of_device(&pool);
    if (!status.ok()) return status;
    stream_ = stream;
    status = cuda_status(cudaMallocFromPoolAsync(&data_, bytes, pool, stream),
                         "allocating memory for the launch");
    if (!status.ok()) return status;
    return cuda_status(cudaMemsetAsync(data_, 0, bytes, stream), "clearing memory of the launch");
  }

  template <class T>
  T* data() const {
    return static_cast<T*>(data_);
  }

 private:
  // A pool of this project's own for each device, which keeps what it once has: the default pool
  // gives its memory back whenever the device is idle, and the next launch pays for it.
  static Status pool_of_device(cudaMemPool_t* pool);

  void* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};
