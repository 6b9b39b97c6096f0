// What accumulator registers hold while a WGMMA owns them: values that show wherever they go.
#pragma once

#include <cstdint>
#include <optional>

namespace emulator {

// Half of the values are signalling NaNs, which all arithmetic changes (it makes them quiet) and
// which all arithmetic carries on. The others are finite, of either sign and beyond the range of
// fp16: comparisons (a ReLU, a clamp) tell them apart, and leave a NaN as it is. Neighbours differ,
// and so do threads and WGMMAs, so that each register meets all kinds.
class RegisterPoison {
 public:
  RegisterPoison() = default;
  // That of the thread `thread` of a block, from its WGMMA `wgmma` on.
  RegisterPoison(int thread, uint64_t wgmma);

  void fill(float* registers, int count) const;
  // The first register that does not hold it any more.
  std::optional<int> first_changed(const float* registers, int count) const;
  // The register that holds `bits`, or held the NaN that they come from.
  std::optional<int> find(uint32_t bits, int count) const;

  // True for every NaN that was made here, and what arithmetic makes of it. (A NaN that comes out
  // of fp16 data has other bits.)
  static bool is_nan(uint32_t bits);

 private:
  int first_ = 0;  // in the table of all values
};

// What a fresh stack holds: a signalling NaN of another kind.
constexpr uint32_t kStackPoison = 0x7fa5a5a5;

// True for a float that nobody has set, and for the NaN that arithmetic makes of it.
constexpr bool is_stack_poison(uint32_t bits) {
  constexpr uint32_t kSignAndQuiet = 0x80400000;
  return (bits & ~kSignAndQuiet) == kStackPoison;
}

}  // namespace emulator
