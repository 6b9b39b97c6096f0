// A kernel that would hang for ever must end, and say who waited for what. Built with
// BOUNDED_WAITS; the kernel's death takes the CUDA context with it, so this is a program without a
// test framework.
#include <cuda_runtime.h>
#include <ptx/mbarrier.cuh>
#include <unistd.h>

#include <cstdio>
#include <string>

constexpr int kInitLine = __LINE__ + 6;
constexpr int kWaitLine = kInitLine + 2;
__global__ void hanging_kernel() {
  __shared__ MBarrier empty[4];
  __shared__ MBarrier full[3];
  for (int stage = 0; stage < 4; ++stage) ptx::mbarrier_init(&empty[stage], 1);
  for (int stage = 0; stage < 3; ++stage) ptx::mbarrier_init(&full[stage], 7);
  ptx::fence_mbarrier_init();
  if (blockIdx.x == 1 && threadIdx.x == 0) ptx::mbarrier_wait_parity(&full[2], 0);
}

int main() {
  // printf of a kernel goes to standard output when the device is synchronised: catch it in a file.
  std::FILE* const file = std::tmpfile();
  const int console = dup(STDOUT_FILENO);
  dup2(fileno(file), STDOUT_FILENO);
  hanging_kernel<<<2, 1>>>();
  const cudaError_t error = cudaDeviceSynchronize();
  std::fflush(stdout);
  dup2(console, STDOUT_FILENO);
  std::rewind(file);
  std::string said;
  for (int letter; (letter = std::fgetc(file)) != EOF;) said += static_cast<char>(letter);
  std::printf("%s%s\n", said.c_str(), cudaGetErrorName(error));
  int failed = error == cudaSuccess;
  for (const std::string& part :
       {"bounded_wait_test.cu:" + std::to_string(kWaitLine), std::string("block (1, 0, 0)"),
        std::string("warp 0"), std::string("lane 0"), std::string("parity 0"),
        std::string("stage 2"), "line " + std::to_string(kInitLine), std::string("7 arrivals")}) {
    if (said.find(part) == std::string::npos) {
      std::printf("the message lacks \"%s\"\n", part.c_str());
      failed = 1;
    }
  }
  std::printf(failed ? "FAILED\n" : "passed\n");
  return failed;
}
