#include "topics.h"

#include <cstdarg>
#include <cstdio>

namespace explain {

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all = {
      {"phases", "mbarrier: arrivals, bytes, phases, and what a wait for a parity does", "phases",
       phases_text, phases_data},
      {"swizzle", "where an element of a K tile lies in shared memory, and in which bank",
       "swizzle", swizzle_text, swizzle_data},
      {"descriptor", "the 64 bits that tell WGMMA where an operand is", "swizzle", descriptor_text,
       descriptor_data},
      {"fragment", "which thread and register hold an element of an accumulator", "fragment",
       fragment_text, fragment_data},
      {"raster", "the order of tiles, and the strips of A and B that a wave needs", "raster",
       raster_text, raster_data},
      {"budget", "registers, shared memory and bytes: how large a tile may be", "budget",
       budget_text, budget_data},
  };
  return all;
}

std::string format(const char* pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof(text), pattern, arguments);
  va_end(arguments);
  return text;
}

}  // namespace explain
