// The checks that all versions share: one sentence for each limit that a problem breaks.
#include <cuda_status.h>
#include <matmul.h>

#include <string>

namespace {

std::string value(const char* name, int64_t number) {
  return std::string(name) + " = " + std::to_string(number);
}

Status check_size(const char* name, int64_t size) {
  if (size >= 0 && size < int64_t{1} << 31) return {};
  return {ExitCode::kUsage, value(name, size) + " is out of range; sizes are 0 to 2147483647"};
}

Status check_leading_dimension(const char* matrix, const char* name, int64_t leading,
                               const char* columns_name, int64_t columns) {
  if (leading >= columns) return {};
  return {ExitCode::kUsage, std::string(matrix) + ": " + value(name, leading) +
                                " is less than the row length " + value(columns_name, columns) +
                                "; pass " + name + " >= " + columns_name};
}

Status check_device() {
  int device = 0, major = 0, minor = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  }
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  }
  if (error != cudaSuccess) {
    return {ExitCode::kNoDevice, std::string("no CUDA device can be used (") +
                                     cudaGetErrorString(error) +
                                     "); this code needs a Hopper GPU (compute capability 9.0)"};
  }
  if (major == 9 && minor == 0) return {};
  cudaDeviceProp properties = {};
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) properties.name[0] = '\0';
  return {ExitCode::kNoDevice, std::string(properties.name) + " has compute capability " +
                                   std::to_string(major) + "." + std::to_string(minor) +
                                   "; sm_90a code runs on Hopper (9.0) alone, on no other GPU, "
                                   "newer ones included"};
}

}  // namespace

Status check_sizes(const MatmulArguments& args) {
  Status status = check_size("m", args.m);
  if (status.ok()) status = check_size("n", args.n);
  if (status.ok()) status = check_size("k", args.k);
  if (status.ok()) status = check_leading_dimension("A", "lda", args.lda, "k", args.k);
  if (status.ok()) status = check_leading_dimension("B", "ldb", args.ldb, "k", args.k);
  if (status.ok()) status = check_leading_dimension("C", "ldc", args.ldc, "n", args.n);
  if (status.ok() && args.max_blocks < 0) {
    return {ExitCode::kUsage, value("max_blocks", args.max_blocks) +
                                  " is negative; pass a number of blocks, or 0 for no limit"};
  }
  // 2^40 bytes, as TMA has for A and B.
  constexpr int64_t kLeadingDimensionLimit = (int64_t{1} << 40) / sizeof(half);
  if (status.ok() && args.ldc >= kLeadingDimensionLimit) {
    return {ExitCode::kUsage, "C: " + value("ldc", args.ldc) +
                                  " makes a row pitch of 2^40 bytes or more; pass a smaller ldc"};
  }
  return status;
}

Status check_arguments(const MatmulArguments& args) {
  const Status status = check_sizes(args);
  if (!status.ok() || args.m == 0 || args.n == 0) return status;
  if (args.c == nullptr) {
    return {ExitCode::kUsage, "C: the pointer is null; pass device memory for m × n elements"};
  }
  if (reinterpret_cast<uintptr_t>(args.c) % sizeof(half) != 0) {
    return {ExitCode::kUsage, "C: the address is odd; fp16 elements need 2-byte alignment"};
  }
  return check_device();
}

Status clear_result(const MatmulArguments& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return {};
  return cuda_status(
      cudaMemset2DAsync(args.c, args.ldc * sizeof(half), 0, args.n * sizeof(half), args.m, stream),
      "setting C to zero");
}
