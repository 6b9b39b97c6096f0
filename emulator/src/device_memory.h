// What cudaMallocAsync hands out.
#pragma once

namespace emulator {

// Fills all of it with zeros.
void clear_device_memory();

}  // namespace emulator
