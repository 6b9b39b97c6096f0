// cuBLAS, asked both ways. Nothing here is tuned to make it slow: 32 MiB of workspace, its own
// choices.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <harness/device.h>
#include <harness/gpu/cublas.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace harness {

namespace {

Status cublas_status(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return {ExitCode::kCudaError, std::string(what) + " failed: " + cublasGetStatusName(status) +
                                    " (" + cublasGetStatusString(status) + ")"};
}

// One handle with its workspace, for the life of the program. (A cublasHandle_t is a
// cublasLtHandle_t as well.)
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

const Cublas& cublas() {
  static const Cublas* const instance = new Cublas;  // outlives the CUDA context's own teardown
  return *instance;
}

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
  if (!cublas().status.ok()) return cublas().status;
  if (std::max({args.lda, args.ldb, args.ldc}) > std::numeric_limits<int>::max()) {
    return {ExitCode::kUsage, "cublasGemmEx takes leading dimensions up to 2147483647"};
  }
  // cuBLAS is column-major: it sees Cᵀ (n × m) = B · Aᵀ, where row-major B is a transposed matrix.
  const float alpha = 1, beta = 0;
  return cublas_status(
      cublasGemmEx(cublas().handle, CUBLAS_OP_T, CUBLAS_OP_N, static_cast<int>(args.n),
                   static_cast<int>(args.m), static_cast<int>(args.k), &alpha, args.b, CUDA_R_16F,
                   static_cast<int>(args.ldb), args.a, CUDA_R_16F, static_cast<int>(args.lda),
                   &beta, args.c, CUDA_R_16F, static_cast<int>(args.ldc), CUBLAS_COMPUTE_32F,
                   CUBLAS_GEMM_DEFAULT),
      "cublasGemmEx");
}

// What all algorithms for a problem share.
struct CublasLtMatmul::Plan {
  MatmulArguments args;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms;

  ~Plan() {
    if (operation != nullptr) cublasLtMatmulDescDestroy(operation);
    for (const cublasLtMatrixLayout_t layout : {a, b, c}) {
      if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
    }
  }

  // As for cublasGemmEx: column-major Cᵀ = B · Aᵀ, cublasLt's first operand is our B.
  cublasStatus_t create() {
    cublasStatus_t status = cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const cublasOperation_t transpose = CUBLAS_OP_T;
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transpose,
                                              sizeof(transpose));
    }
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = cublasLtMatrixLayoutCreate(&b, CUDA_R_16F, args.k, args.n, args.ldb);
    }
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = cublasLtMatrixLayoutCreate(&a, CUDA_R_16F, args.k, args.m, args.lda);
    }
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = cublasLtMatrixLayoutCreate(&c, CUDA_R_16F, args.n, args.m, args.ldc);
    }
    return status;
  }
};

Status CublasLtMatmul::find(const MatmulArguments& args, int most,
                            std::vector<CublasLtMatmul>* found) {
  found->clear();
  if (!cublas().status.ok()) return cublas().status;
  const auto plan = std::make_shared<Plan>();
  plan->args = args;
  cublasStatus_t status = plan->create();
  cublasLtMatmulPreference_t preference = nullptr;
  if (status == CUBLAS_STATUS_SUCCESS) status = cublasLtMatmulPreferenceCreate(&preference);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &Cublas::kWorkspaceBytes,
        sizeof(Cublas::kWorkspaceBytes));
  }
  int count = 0;
  plan->algorithms.resize(most);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasLtMatmulAlgoGetHeuristic(reinterpret_cast<cublasLtHandle_t>(cublas().handle),
                                            plan->operation, plan->b, plan->a, plan->c, plan->c,
                                            preference, most, plan->algorithms.data(), &count);
  }
  if (preference != nullptr) cublasLtMatmulPreferenceDestroy(preference);
  for (int i = 0; i < count; ++i) {
    CublasLtMatmul matmul;
    matmul.plan_ = plan;
    matmul.algorithm_ = i;
    found->push_back(std::move(matmul));
  }
  return cublas_status(status, "asking cublasLt for algorithms");
}

Status CublasLtMatmul::operator()() const {
  const float alpha = 1, beta = 0;
  const MatmulArguments& args = plan_->args;
  return cublas_status(
      cublasLtMatmul(reinterpret_cast<cublasLtHandle_t>(cublas().handle), plan_->operation, &alpha,
                     args.b, plan_->b, args.a, plan_->a, &beta, args.c, plan_->c, args.c, plan_->c,
                     &plan_->algorithms[algorithm_].algo, cublas().workspace.data(),
                     Cublas::kWorkspaceBytes, nullptr),
      "cublasLtMatmul");
}

}  // namespace harness
