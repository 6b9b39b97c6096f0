// cuBLAS, the measure of all versions.
#pragma once

#include <matmul.h>
#include <status.h>

#include <string>

namespace harness {

std::string cublas_version();

// C = A · Bᵀ by cublasGemmEx (fp16, accumulated in fp32) with a 32 MiB workspace, on the default
// stream. The first call creates the library's handle.
Status cublas_matmul(const MatmulArguments& args);

}  // namespace harness
