// For CUDA errors that are nobody's input: one clear line, exit code 4.
#pragma once

#include <cuda_runtime.h>

namespace harness {

// Ends the program if `error` is one: what was called, the error's name and text, and where.
void check_cuda(cudaError_t error, const char* expression, const char* file, int line);

}  // namespace harness

#define CUDA_CHECK(expression) ::harness::check_cuda((expression), #expression, __FILE__, __LINE__)
