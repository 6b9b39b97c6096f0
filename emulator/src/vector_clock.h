// Who knows what to be complete. A clock holds, for each of those that count their operations, up
// to which of them its owner has been told that they are complete. Threads carry clocks; barriers
// hand them on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emulator {

// The number of a component; one cluster has one set of them, of its asynchronous agents. Warps
// have another, of the whole grid, for their accesses to memory that several blocks reach.
using Component = int;
constexpr Component kNoComponent = -1;

// One number for each component.
class Counts {
 public:
  uint32_t operator[](Component component) const {
    return static_cast<size_t>(component) < values_.size() ? values_[component] : 0;
  }
  void learn(Component component, uint32_t value) {
    if (values_.size() <= static_cast<size_t>(component)) values_.resize(component + 1);
    values_[component] = std::max(values_[component], value);
  }
  void join(const Counts& other) {
    if (values_.size() < other.values_.size()) values_.resize(other.values_.size());
    for (size_t i = 0; i < other.values_.size(); ++i) {
      values_[i] = std::max(values_[i], other.values_[i]);
    }
  }
  void clear() { values_.clear(); }

 private:
  std::vector<uint32_t> values_;
};

// What is known of accesses by the grid's warps. (Empty where no kernel makes such accesses.)
struct GridClock {
  Counts seen;
  Counts fenced;  // of them, those before a fence.acq_rel.gpu: relaxed writes release these
  Counts proxied;  // those before a fence.proxy.async: copies by TMA come after these

  void join(const GridClock& other) {
    seen.join(other.seen);
    fenced.join(other.fenced);
    proxied.join(other.proxied);
  }
  void clear() {
    seen.clear();
    fenced.clear();
    proxied.clear();
  }
};

class VectorClock {
 public:
  uint32_t operator[](Component component) const { return agents_[component]; }

  // Learns that the operations of `component` up to `value` are complete.
  void learn(Component component, uint32_t value) { agents_.learn(component, value); }

  // Learns all that `other` knows.
  void join(const VectorClock& other) {
    agents_.join(other.agents_);
    grid.join(other.grid);
  }

  void clear() {
    agents_.clear();
    grid.clear();
  }

  GridClock grid;

 private:
  Counts agents_;
};

}  // namespace emulator
