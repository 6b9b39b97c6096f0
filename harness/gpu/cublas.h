// cuBLAS, the measure of all versions.
#pragma once

#include <matmul.h>
#include <status.h>

#include <memory>
#include <string>
#include <vector>

namespace harness {

std::string cublas_version();

// C = A · Bᵀ by cublasGemmEx (fp16, accumulated in fp32) with a 32 MiB workspace, on the default
// stream. The first call creates the library's handle.
Status cublas_matmul(const MatmulArguments& args);

// The same by cublasLt, with one of the algorithms that its heuristic names.
class CublasLtMatmul {
 public:
  // Asks the heuristic for its best `most` algorithms for this problem (workspace 32 MiB).
  static Status find(const MatmulArguments& args, int most, std::vector<CublasLtMatmul>* found);
  Status operator()() const;

 private:
  struct Plan;
  std::shared_ptr<const Plan> plan_;
  int algorithm_ = 0;
};

}  // namespace harness
