// The one source of chance in a run. A cluster's numbers depend on the seed and on the cluster's
// index alone, so that reports do not depend on how clusters are spread over threads.
#pragma once

#include <cstdint>

namespace emulator {

class Random {
 public:
  Random(uint64_t seed, uint64_t stream) : state_(mix(mix(seed) + stream)) {}

  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15); }
  // Uniform in 0 … limit - 1.
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>((next() >> 32) * limit >> 32); }

 private:
  // SplitMix64: every seed is as good as any other, 0 included.
  static uint64_t mix(uint64_t value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
  }

  uint64_t state_;
};

}  // namespace emulator
