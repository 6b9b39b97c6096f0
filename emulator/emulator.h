// What drivers, tests and tools may ask of the emulator: how to run kernels, what was found, what
// was counted. Kernels know nothing of it.
//
// There is one emulator in a process, and it runs one launch at a time: nobody may launch, or call
// what is below (but for executes()), while a launch runs. The threads of Options::threads are the
// launch's own.
//
// The emulator finds synchronisation errors. It is no model of performance: its clock counts the
// scheduler's turns.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace emulator {

// --- how to run ---

// Which warp runs next.
enum class Schedule {
  kRandom,  // any that can run, at times the same one before all others, for a while that is random
  kRoundRobin,  // each in turn, as far as it gets
};

// When an asynchronous operation (a piece of a TMA copy, a WGMMA) takes place after its issue.
enum class Delay {
  kMixed,  // of the policies below: loads, stores and WGMMAs keep to one each, mostly, for a while
  kAtOnce,  // before another warp runs: nearly as a synchronous machine would
  kShort,  // within 8 turns
  kLong,  // within 64 turns
  kOnlyWhenIdle,  // not before every thread waits for something
  kTextbook,  // always the same for the same operation, for pictures; best with kRoundRobin
};

// A line of source in which a wrapper is called. `file` is the path as the compiler saw it.
struct Site {
  std::string file;
  int line = 0;
};

struct Options {
  uint64_t seed = 1;
  Schedule schedule = Schedule::kRandom;
  Delay delay = Delay::kMixed;
  int threads = 1;  // of the operating system; clusters are spread over them
  bool happens_before = true;  // off: only timing and poison find errors
  bool print_reports = true;  // to standard error
  bool record_calls = false;  // fills executed_calls()
  bool trace = false;  // keeps account for write_trace and write_recording
  int trace_blocks = 1;  // of the clusters of the first so many blocks, and of one with a report
  std::vector<Site> removed;  // calls on these lines do nothing, as if the line were not there
};

void set_options(const Options& options);
const Options& options();

// --- what was found ---

enum class Check {
  kOverwrittenWhileRead,  // WAR
  kReadBeforeFull,  // RAW
  kOverwrittenInFlight,  // WAW
  kReadUninitialised,
  kTooFewBytesExpected,
  kTooManyBytesExpected,
  kTooManyArrivals,
  kArrivalOutOfOrder,
  kBarrierReinitialised,
  kBarrierNotInitialised,
  kInitNotVisible,
  kInitNotFenced,
  kBarrierOverwritten,
  kMissingWgmmaFence,
  kAccumulatorTouched,
  kAccumulatorRead,
  kNotSet,
  kMissingCommit,
  kMissingFinalWait,
  kMissingProxyFence,
  kMissingBulkCommit,
  kStoreBufferReused,
  kStoreNotWaitedFor,
  kMissingCopyCommit,
  kMisaligned,
  kTensorMap,
  kSharedMemorySize,
  kNotShared,
  kDescriptor,
  kSwizzle,
  kLaneDivergence,
  kBlockLeft,
  kLeftInFlight,
  kRegisterBudget,
  kLaunch,
  kLimit,
  kDeadlock,
};

constexpr int kChecks = static_cast<int>(Check::kDeadlock) + 1;  // that is the last

// A few words, e.g. "stage overwritten while it is read (WAR)".
const char* check_name(Check check);

// What stopped a kernel. The same seed reproduces it, whatever the number of threads.
struct Report {
  Check check;
  std::string text;  // several lines: what happened, who, where, why it matters, the way out
  uint64_t seed;
  int64_t cluster;  // the number of the cluster in which it happened
};

// The report of the latest launch, if a check stopped it.
const std::optional<Report>& last_report();

// --- what was counted ---

// Sums over all launches since the last reset; the maximum is one over blocks.
struct Counters {
  uint64_t launches = 0;
  uint64_t blocks = 0;
  uint64_t reports = 0;
  uint64_t tma_loads = 0;
  uint64_t tma_load_bytes = 0;
  uint64_t tma_stores = 0;
  uint64_t tma_store_bytes = 0;
  uint64_t wgmmas = 0;
  uint64_t barrier_waits = 0;  // by warps, on mbarriers
  uint64_t barrier_waits_blocked = 0;  // of these, those that found the phase incomplete
  int max_stages_in_flight = 0;  // mbarriers of one block that waited for bytes at the same time
};

Counters counters();
void reset_counters();

// Which wrapper was called in which line, once each, in the order of first calls; of all launches
// since the last call of clear_executed_calls, if Options::record_calls was set.
struct Call {
  std::string instruction;
  Site site;
};
std::vector<Call> executed_calls();
void clear_executed_calls();

// For kernels: false if this line is switched off (Options::removed); otherwise as if a wrapper
// were called in it. For copies of kernels that make statements without a wrapper call removable,
// too.
bool executes(const char* file, int line);

// --- what happened when ---

// With Options::trace, an account is kept of every wait, arrival, copy and WGMMA of the latest
// launch. Its clock counts turns of the scheduler: order and overlap
// mean something, durations mean nothing.

// A timeline as JSON for Perfetto (ui.perfetto.dev): rows, spans, arrows, counters.
void write_trace(std::ostream& out);
// The same account, event by event, with the source that it names, as JSON for the player of
// `./run watch`: of the cluster with a report if there is one, else of the first.
void write_recording(std::ostream& out);

}  // namespace emulator
