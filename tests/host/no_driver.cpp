// Host tests run without a driver: nothing encodes tensor maps or launches here, what is tested is
// the checks that come before.
#include <cuda_runtime.h>

cudaError_t cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult*) {
  return cudaErrorInvalidValue;
}

namespace emulator {
cudaError_t launch(const cudaLaunchConfig_t&, const std::function<void()>&) {
  return cudaErrorInvalidValue;
}
}  // namespace emulator

size_t __cvta_generic_to_shared(const void*) { return 0; }
