// The account of a run as JSON, for two readers.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>

#include "trace.h"

namespace emulator {

// For Perfetto, in the Chrome trace format: of several clusters.
void write_timeline(const std::map<int64_t, Trace>& traces, std::ostream& out);

// For the player's page: of one cluster.
void write_recording(const Trace& trace, std::ostream& out);

}  // namespace emulator
