// Who knows what to be complete. Only asynchronous agents have a component: each counts its own
// operations, and a clock holds, for each agent, up to which operation its owner has been told that
// they are complete. Threads carry clocks; barriers hand them on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emulator {

// The number of a component; one cluster has one set of them.
using Component = int;
constexpr Component kNoComponent = -1;

class VectorClock {
 public:
  uint32_t operator[](Component component) const {
    return static_cast<size_t>(component) < values_.size() ? values_[component] : 0;
  }

  // Learns that the operations of `component` up to `value` are complete.
  void learn(Component component, uint32_t value) {
    if (values_.size() <= static_cast<size_t>(component)) values_.resize(component + 1);
    values_[component] = std::max(values_[component], value);
  }

  // Learns all that `other` knows.
  void join(const VectorClock& other) {
    if (values_.size() < other.values_.size()) values_.resize(other.values_.size());
    for (size_t i = 0; i < other.values_.size(); ++i) {
      values_[i] = std::max(values_[i], other.values_[i]);
    }
  }

  void clear() { values_.clear(); }

 private:
  std::vector<uint32_t> values_;
};

}  // namespace emulator
