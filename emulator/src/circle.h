// A thread that goes round in circles: it comes back to where it was, with everything as it was, so
// that it will do so for ever unless somebody else does something. A loop that counts its rounds,
// or looks at the clock, is none: it may end by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace emulator {

class Circle {
 public:
  // The thread is suspended with this content of its registers and stack. `activity` has changed
  // if anybody has got anywhere since.
  void note(uint64_t state, uint64_t activity);
  // The thread has looked at the clock. Returns how often it has since anybody got anywhere.
  int note_clock(uint64_t activity);
  // True if it has come round more than once since anybody got anywhere.
  bool is_closed(uint64_t activity) const;

 private:
  void begin(uint64_t activity);

  uint64_t activity_ = 0;
  std::vector<uint64_t> states_;
  size_t oldest_ = 0;
  int rounds_ = 0;
  int clock_looks_ = 0;
};

}  // namespace emulator
