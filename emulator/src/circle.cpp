#include "circle.h"

#include <algorithm>

namespace emulator {
namespace {

constexpr size_t kStates = 64;  // that are remembered: a circle may be a long one
constexpr int kRounds = 2;
// So often a thread may look at the clock while nobody gets anywhere: by then more time has passed
// (Grid::look_at_clock) than the 32 bits of %globaltimer_lo can tell.
constexpr int kClockLooks = 1024;

}  // namespace

void Circle::begin(uint64_t activity) {
  if (activity == activity_) return;
  activity_ = activity;
  states_.clear();
  oldest_ = 0;
  rounds_ = 0;
  clock_looks_ = 0;
}

void Circle::note(uint64_t state, uint64_t activity) {
  begin(activity);
  if (std::find(states_.begin(), states_.end(), state) != states_.end()) {
    ++rounds_;
  } else if (states_.size() < kStates) {
    states_.push_back(state);
  } else {
    states_[oldest_++ % kStates] = state;
  }
}

int Circle::note_clock(uint64_t activity) {
  begin(activity);
  return ++clock_looks_;
}

bool Circle::is_closed(uint64_t activity) const {
  if (activity != activity_) return false;
  return clock_looks_ == 0 ? rounds_ >= kRounds : clock_looks_ > kClockLooks;
}

}  // namespace emulator
