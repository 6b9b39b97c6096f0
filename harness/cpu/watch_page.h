// The page that plays a run (./run watch).
#pragma once

#include <emulator.h>
#include <status.h>

#include <string>

namespace harness {

// The delays that one of kDelays (device.h) names, and the schedule that goes with them.
void set_delays(const std::string& name, emulator::Options* options);

struct WatchPage {
  std::string title;  // what was run
  std::string delays;  // a name of kDelays
  std::string change;  // what is wrong in the kernel, in words and code; empty: nothing
};

// Writes what the emulator has kept of the latest launch as one HTML file that needs nothing else.
// `option` is the one that named the file. kUsage, with a sentence, if that cannot be.
Status write_watch_page(const WatchPage& page, const std::string& path, const std::string& option);

}  // namespace harness
