// The PyTorch operator hopper_ladder::matmul around one version of the ladder. Built by
// hopper_ladder.py, with LADDER_VERSION as the name of the version's directory.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <matmul.h>
#include <torch/library.h>

namespace LADDER_VERSION {  // defined in LADDER_VERSION/kernel.cu
Status matmul(const MatmulArguments& args, cudaStream_t stream);
}

namespace {

void check_dtype(const char* name, const at::Tensor& matrix) {
  TORCH_CHECK_TYPE(matrix.scalar_type() == at::kHalf, name, ": the dtype is ", matrix.scalar_type(),
                   "; the ladder multiplies fp16: pass ", name, ".half()");
}

void check_rows(const char* name, const at::Tensor& matrix) {
  TORCH_CHECK_VALUE(matrix.size(1) <= 1 || matrix.stride(1) == 1, name,
                    ": the elements of a row are ", matrix.stride(1),
                    " apart; TMA needs them side by side (stride 1): pass ", name, ".contiguous()");
}

// The distance between rows. The stride of a single row means nothing in PyTorch, and TMA never
// uses it: any that TMA accepts will do.
int64_t leading_dimension(const at::Tensor& matrix) {
  return matrix.size(0) > 1 ? matrix.stride(0) : ceil_div(matrix.size(1), 8) * 8;
}

const half* elements(const at::Tensor& matrix) {
  return reinterpret_cast<const half*>(matrix.const_data_ptr<at::Half>());
}

at::Tensor matmul(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK_VALUE(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(1), "A is ", a.sizes(),
                    ", B is ", b.sizes(), "; the product is A · Bᵀ: pass [M, K] and [N, K]");
  check_dtype("A", a);
  check_dtype("B", b);
  TORCH_CHECK_VALUE(a.is_cuda() && b.device() == a.device(), "A is on ", a.device(), ", B on ",
                    b.device(), "; this operator runs on a Hopper GPU: move both to the same one");
  check_rows("A", a);
  check_rows("B", b);
  const c10::cuda::CUDAGuard guard(a.device());
  at::Tensor c = at::empty({a.size(0), b.size(0)}, a.options());
  MatmulArguments args;
  args.a = elements(a);
  args.b = elements(b);
  args.c = reinterpret_cast<half*>(c.mutable_data_ptr<at::Half>());
  args.m = a.size(0);
  args.n = b.size(0);
  args.k = a.size(1);
  args.lda = leading_dimension(a);
  args.ldb = leading_dimension(b);
  args.ldc = args.n;
  const Status status = LADDER_VERSION::matmul(args, c10::cuda::getCurrentCUDAStream());
  TORCH_CHECK_VALUE(status.code() != ExitCode::kUsage, status.message());
  TORCH_CHECK(status.ok(), status.message());
  return c;
}

}  // namespace

TORCH_LIBRARY(hopper_ladder, library) {
  // A compiler may not hand over other strides than the program has: not all of them are readable.
  library.def("matmul(Tensor a, Tensor b) -> Tensor",
              {at::Tag::pt2_compliant_tag, at::Tag::needs_exact_strides});
  library.impl("matmul", c10::DispatchKey::CUDA, TORCH_FN(matmul));
  library.impl("matmul", c10::DispatchKey::CPU, TORCH_FN(matmul));  // refuses, in a sentence
}
