// What cudaMallocAsync hands out.
#pragma once

#include <cstddef>

namespace emulator {

// Fills all of it with zeros.
void clear_device_memory();

// The piece of it in which an address lies; null and 0 if it lies in none.
struct DeviceMemory {
  const unsigned char* data = nullptr;
  size_t bytes = 0;
};
DeviceMemory device_memory_at(const void* address);

}  // namespace emulator
