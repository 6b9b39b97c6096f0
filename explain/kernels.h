// What the versions' own host code asks for: their matmul() is called, and the launch at its end is
// written down instead of made.
#pragma once

#include <rasterization.h>
#include <status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topics.h"

namespace explain {

struct Recorded {
  int64_t grid_x = 0;
  int64_t grid_y = 0;
  int threads = 0;
  int cluster = 1;
  int64_t shared_bytes = 0;
  std::optional<Rasterization> raster;  // that the kernel is given
};

// A version on one problem. `name`: "v4" or "v4_two_consumers".
Status recorded_launch(const std::string& name, const Question& question, Recorded* launch);

// The full name; kUsage if there is none such.
Status full_name(const std::string& name, std::string* full);
std::vector<std::string> version_names();

}  // namespace explain
