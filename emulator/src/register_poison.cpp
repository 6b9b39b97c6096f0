#include "register_poison.h"

#include <array>
#include <cstring>

namespace emulator {
namespace {

constexpr int kMostRegisters = 128;  // of one product
constexpr int kValues = 1024;
constexpr uint32_t kIndex = kValues - 1;  // the bits that number the values
constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kQuiet = 0x00400000;  // of a NaN
// What all NaNs here have in common, but for sign and number. fp16's NaNs leave the low 13 bits of
// a float zero.
constexpr uint32_t kNan = 0x7fa6dc00;
// The same of the finite values, from 2^21 on: adding 1 still changes them.
constexpr uint32_t kFinite = 0x4a36dc00;

constexpr std::array<uint32_t, kValues> make_values() {
  std::array<uint32_t, kValues> values = {};
  for (uint32_t i = 0; i < kValues; ++i) {
    const uint32_t mixed = (i + 1) * 0x9e3779b9u;  // its high bits look like chance
    values[i] = (mixed >> 31 ? kNan : kFinite) | (mixed << 1 & kSign) | i;
  }
  return values;
}

constexpr std::array<uint32_t, kValues> kTable = make_values();

}  // namespace

RegisterPoison::RegisterPoison(int thread, uint64_t wgmma)
    : first_(static_cast<int>((static_cast<uint64_t>(thread) * 37 + wgmma * 101) %
                              (kValues - kMostRegisters))) {}

void RegisterPoison::fill(float* registers, int count) const {
  std::memcpy(registers, &kTable[static_cast<size_t>(first_)],
              static_cast<size_t>(count) * sizeof(float));
}

std::optional<int> RegisterPoison::first_changed(const float* registers, int count) const {
  const uint32_t* const values = &kTable[static_cast<size_t>(first_)];
  if (std::memcmp(registers, values, static_cast<size_t>(count) * sizeof(float)) == 0) return {};
  int i = 0;
  while (std::memcmp(registers + i, values + i, sizeof(float)) == 0) ++i;
  return i;
}

std::optional<int> RegisterPoison::find(uint32_t bits, int count) const {
  const int index = static_cast<int>(bits & kIndex);
  if (index < first_ || index >= first_ + count) return {};
  const uint32_t value = kTable[static_cast<size_t>(index)];
  if (is_nan(bits) ? !is_nan(value) : bits != value) return {};
  return index - first_;
}

bool RegisterPoison::is_nan(uint32_t bits) { return (bits & ~(kSign | kQuiet | kIndex)) == kNan; }

}  // namespace emulator
