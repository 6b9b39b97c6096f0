#include "device_memory.h"

#include <cuda_runtime.h>

#include <iterator>
#include <map>
#include <mutex>
#include <vector>

namespace {

struct Allocations {
  std::mutex mutex;
  std::map<void*, std::vector<unsigned char>> bytes;  // by where they begin
};

Allocations& allocations() {
  static Allocations instance;
  return instance;
}

}  // namespace

cudaError_t cudaMallocAsync(void** data, size_t bytes, cudaStream_t) {
  std::vector<unsigned char> memory(bytes);
  *data = memory.data();
  Allocations& all = allocations();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.bytes.emplace(*data, std::move(memory));
  return cudaSuccess;
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t) {
  Allocations& all = allocations();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.bytes.erase(data) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}

namespace emulator {

void clear_device_memory() {
  Allocations& all = allocations();
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (auto& [data, memory] : all.bytes) memory.assign(memory.size(), 0);
}

DeviceMemory device_memory_at(const void* address) {
  Allocations& all = allocations();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto after = all.bytes.upper_bound(const_cast<void*>(address));
  if (after == all.bytes.begin()) return {};
  const auto& memory = std::prev(after)->second;
  const auto* const byte = static_cast<const unsigned char*>(address);
  if (byte >= memory.data() + memory.size()) return {};
  return {memory.data(), memory.size()};
}

}  // namespace emulator
