// Host tests run without a driver: nothing encodes tensor maps or launches here, what is tested is
// the checks that come before.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <source_line.h>

cudaError_t cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult*) {
  return cudaErrorInvalidValue;
}

namespace emulator {
cudaError_t launch(const cudaLaunchConfig_t&, const std::function<void()>&) {
  return cudaErrorInvalidValue;
}
int resident_clusters(const cudaLaunchConfig_t&, int multiprocessors) { return multiprocessors; }
void note_global_store(const void*, size_t, SourceLine) {}
void check_rounded(uint32_t, const char*, int) {}  // there are no threads of a kernel
}  // namespace emulator

size_t __cvta_generic_to_shared(const void*) { return 0; }
