// Multiplies two small matrices of whole numbers with v6 and compares the product with a plain
// loop's. Exit code 0: equal.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cuda_status.h>
#include <matmul.h>

#include <cstdio>
#include <cstdlib>

namespace v6_persistent {  // defined in v6_persistent/kernel.cu
Status matmul(const MatmulArguments& args, cudaStream_t stream);
}

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

// So many elements in memory that host and device can use.
half* allocate(int64_t elements) {
  half* data = nullptr;
  check(cudaMallocManaged(&data, elements * sizeof(half)), "allocating");
  return data;
}

}  // namespace

int main() {
  constexpr int64_t kM = 200, kN = 304, kK = 136;
  half* const a = allocate(kM * kK);
  half* const b = allocate(kN * kK);
  half* const c = allocate(kM * kN);
  for (int64_t i = 0; i < kM * kK; ++i) a[i] = __float2half_rn(static_cast<float>(i % 5) - 2);
  for (int64_t i = 0; i < kN * kK; ++i) b[i] = __float2half_rn(static_cast<float>(i % 7) - 3);

  MatmulArguments args{a, b, c, kM, kN, kK};  // row-major; a is m × k, b is n × k, c is m × n
  args.lda = args.ldb = kK;
  args.ldc = kN;
  const Status status = v6_persistent::matmul(args, nullptr);  // asynchronous
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return static_cast<int>(status.code());
  }
  check(cudaDeviceSynchronize(), "the kernel");

  int wrong = 0;
  for (int64_t row = 0; row < kM; ++row) {
    for (int64_t column = 0; column < kN; ++column) {
      float sum = 0;
      for (int64_t k = 0; k < kK; ++k) {
        sum += __half2float(a[row * kK + k]) * __half2float(b[column * kK + k]);
      }
      wrong += __half2float(c[row * kN + column]) != sum;
    }
  }
  std::printf("%d of %d elements are wrong\n", wrong, static_cast<int>(kM * kN));
  return wrong == 0 ? 0 : 1;
}
