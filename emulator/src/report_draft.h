// A report in the making, and the words and sentences that several reports share.
#pragma once

#include <emulator.h>
#include <source_line.h>

#include <cstdint>
#include <sstream>
#include <string>

namespace emulator {

class Block;
class Cluster;
struct Access;
struct Barrier;
struct CallSite;
struct Position;
struct Region;
struct Thread;

namespace report {

class Draft {
 public:
  Draft(Check check, Cluster& cluster);

  // Each adds a line; docs/emulator.md says what the labels mean.
  Draft& what(const std::string& text) { return add("  what:   ", text); }
  Draft& who(const Thread& thread);
  Draft& who(const std::string& text) { return add("  who:    ", text); }
  Draft& at(SourceLine where);
  // The same, and for what `thread` does there now, from where in the kernel, if not from `where`.
  Draft& at(SourceLine where, const Thread& thread);
  Draft& other(SourceLine where);
  // A call in the past, below a label of its own.
  Draft& past(const char* label, const CallSite& site);
  Draft& why(const std::string& text) { return add("  why:    ", text); }
  Draft& fix(const std::string& text) { return add("  fix:    ", text); }
  Draft& line(const std::string& text) { return add("  ", text); }

  // Hands the report to the cluster, unless there is an earlier one: what others find while the
  // kernel stops is a consequence. Throws KernelStopped.
  [[noreturn]] void stop();

 private:
  Draft& add(const char* label, const std::string& text);
  Draft& from(const Position& position);

  Check check_;
  Cluster& cluster_;
  std::ostringstream text_;
};

// The usual beginning: what `thread` did in the line `where`.
Draft by(Check check, const Thread& thread, const std::string& what, SourceLine where);

// --- words ---

template <class Integer>
std::string number(Integer value) {
  return std::to_string(value);
}
std::string hexadecimal(uint64_t value);
// "block (3, 0, 0), rank 1 of its cluster".
std::string block_name(const Block& block);
// "warp 4 (producer)"; in a cluster of several blocks "warp 4 (producer) of block rank 1".
std::string warp_name(const Thread& thread);
// "phase 3 (parity 1) of full[0]".
std::string phase_of(const Barrier& barrier, uint64_t phase);
// "shared bytes 0x0 to 0x2000".
std::string bytes_of(const Region& region);
// What was written there, as far as the source names it: "smem.a[0] (shared bytes 0x0 to 0x2000)".
std::string tile_of(const Region& region);
// "WGMMA 7 of warp group 0".
std::string reader(const Access& read);

// --- sentences ---

constexpr char kBelongsToOthers[] = "what lies beyond belongs to others";
constexpr char kMemoryEndsWithBlock[] = "shared memory ends with its block: ";
constexpr char kOneArrivalAPhase[] =
    "initialise the barrier with the number of arrivals per phase, and let each arrive once per "
    "phase";

}  // namespace report
}  // namespace emulator
