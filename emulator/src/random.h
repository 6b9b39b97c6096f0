// The one source of chance in a run. A cluster's numbers depend on the seed and on the cluster's
// index alone, so that reports do not depend on how clusters are spread over threads.
#pragma once

#include <split_mix.h>

#include <cstdint>

namespace emulator {

class Random {
 public:
  // Every seed is as good as any other, 0 included.
  Random(uint64_t seed, uint64_t stream) : state_(split_mix(split_mix(seed) + stream)) {}

  uint64_t next() { return split_mix(state_ += 0x9e3779b97f4a7c15); }
  // Uniform in 0 … limit - 1.
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>((next() >> 32) * limit >> 32); }

 private:
  uint64_t state_;
};

}  // namespace emulator
