// Device memory through which the blocks of a launch speak to each other.
#pragma once

#include <cuda_runtime.h>
#include <status.h>

#include <cstddef>

// `*data` becomes at least `bytes` of device memory that belong to this stream of the current
// device: launches in a stream follow each other, so that two in flight never share them. All zero
// when they are first handed out, and every kernel leaves them so. Kept until the process ends.
// Null while the stream is captured into a graph, which may later run in several streams at a time.
Status stream_memory(cudaStream_t stream, size_t bytes, void** data);

// The same, but what it holds is left as it is, also by kernels: who reads it must have written it.
Status stream_scratch(cudaStream_t stream, size_t bytes, void** data);

// What the stream has of stream_memory() now, for tests; null and 0 if nothing.
struct StreamMemory {
  void* data = nullptr;
  size_t bytes = 0;
};
StreamMemory existing_stream_memory(cudaStream_t stream);
