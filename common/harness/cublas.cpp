#include <cublas_v2.h>
#include <harness/cublas.h>
#include <harness/device.h>

namespace harness {

namespace {

Status cublas_status(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return {ExitCode::kCudaError, std::string(what) + " failed: " + cublasGetStatusName(status) +
                                    " (" + cublasGetStatusString(status) + ")"};
}

// One handle with its workspace, for the life of the program.
struct Cublas {
  static constexpr size_t kWorkspaceBytes = size_t{32} << 20;
  cublasHandle_t handle = nullptr;
  Buffer workspace;
  Status status;

  Cublas() : workspace(kWorkspaceBytes) {
    status = cublas_status(cublasCreate(&handle), "cublasCreate");
    if (!status.ok()) return;
    status = cublas_status(cublasSetWorkspace(handle, workspace.data(), kWorkspaceBytes),
                           "cublasSetWorkspace");
  }
};

}  // namespace

std::string cublas_version() {
  int major = 0, minor = 0, patch = 0;
  if (cublasGetProperty(MAJOR_VERSION, &major) != CUBLAS_STATUS_SUCCESS ||
      cublasGetProperty(MINOR_VERSION, &minor) != CUBLAS_STATUS_SUCCESS ||
      cublasGetProperty(PATCH_LEVEL, &patch) != CUBLAS_STATUS_SUCCESS) {
    return "unknown";
  }
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

Status cublas_matmul(const MatmulArguments& args) {
  static const Cublas* const cublas = new Cublas;  // outlives the CUDA context's own teardown
  if (!cublas->status.ok()) return cublas->status;
  // cuBLAS is column-major: it sees Cᵀ (n × m) = B · Aᵀ, where row-major B is a transposed matrix.
  const float alpha = 1, beta = 0;
  return cublas_status(
      cublasGemmEx(cublas->handle, CUBLAS_OP_T, CUBLAS_OP_N, static_cast<int>(args.n),
                   static_cast<int>(args.m), static_cast<int>(args.k), &alpha, args.b, CUDA_R_16F,
                   static_cast<int>(args.ldb), args.a, CUDA_R_16F, static_cast<int>(args.lda),
                   &beta, args.c, CUDA_R_16F, static_cast<int>(args.ldc), CUBLAS_COMPUTE_32F,
                   CUBLAS_GEMM_DEFAULT),
      "cublasGemmEx");
}

}  // namespace harness
