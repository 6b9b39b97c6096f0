// What the command line of the shape tests says, beside GoogleTest's own options.
#pragma once

#include <cstdint>
#include <string>

namespace shapes {

struct Options {
  std::string program;  // as it was called
  uint64_t seed = 1;
  int index = -1;  // of the one case to be run; -1: all
  int count = 0;  // random calls of each version; 0: about 300 of all versions together
};

const Options& options();

}  // namespace shapes
