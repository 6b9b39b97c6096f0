// CUDA's error codes as a Status.
#pragma once

#include <cuda_runtime.h>
#include <status.h>

#include <string>

// The status of a CUDA call: `what` was being done.
inline Status cuda_status(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return {};
  return {ExitCode::kCudaError, std::string(what) + " failed: " + cudaGetErrorName(error) + " (" +
                                    cudaGetErrorString(error) + ")"};
}
