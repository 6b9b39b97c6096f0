// What the driver's management library says of a GPU. It is loaded at run time, since it comes with
// the driver and not with the toolkit; where it is missing, everything is "not known".
#pragma once

#include <string>

namespace harness {

class Nvml {
 public:
  // Looks the GPU up by its PCI bus id; later calls of current() speak of it.
  static const Nvml& open(const char* pci_bus_id);
  static const Nvml& current();

  double power_limit_w() const;  // 0: not known
  int clock_max_mhz() const;  // 0: not known
  std::string driver() const;  // empty: not known
  std::string uuid() const;  // of this specimen; empty: not known

  // True if heat or a hardware fault slows the GPU down right now. The power limit, by which large
  // products are always slowed down on this class of GPU, does not count.
  bool is_throttled() const;

 private:
  // Calls a function of the library; false if it is not there, or fails.
  template <class... Arguments>
  bool call(const char* function, Arguments... arguments) const;

  void* library_ = nullptr;
  void* device_ = nullptr;  // nvmlDevice_t
};

}  // namespace harness
