// The end of a program that CUDA refused something.
#include <harness/gpu/cuda_check.h>
#include <status.h>

#include <cstdio>
#include <cstdlib>

namespace harness {

void check_cuda(cudaError_t error, const char* expression, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fflush(stdout);
  std::fprintf(stderr, "CUDA error: %s: %s\n  from %s\n  at %s:%d\n", cudaGetErrorName(error),
               cudaGetErrorString(error), expression, file, line);
  std::exit(static_cast<int>(ExitCode::kCudaError));
}

}  // namespace harness
