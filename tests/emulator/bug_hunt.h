// What the zoo and the mutations share: a version run on one problem, and what became of it.
#pragma once

#include <CLI/CLI.hpp>
#include <emulator.h>
#include <harness/problem.h>
#include <harness/versions.h>
#include <stream_memory.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>

namespace bug_hunt {

// Memory that the blocks of a launch share must be zero between launches.
inline bool stream_memory_is_zero() {
  const StreamAllocation memory = StreamMemory::kept_zeroed(nullptr);
  const auto* const bytes = static_cast<const char*>(memory.data);
  return std::all_of(bytes, bytes + memory.bytes, [](char byte) { return byte == 0; });
}

class Problem {
 public:
  Problem() : problem_(kSize), wide_(kWideSize) {
    problem_.generate(harness::DataKind::kInts, 11);
    wide_.generate(harness::DataKind::kInts, 11);
  }

  // What a run ends with: a check's name, "wrong result", "memory not zero" or nothing.
  std::string finding(const harness::Version& version, const emulator::Options& options) {
    const bool wide = harness::is_chosen_by_host(version.shape);
    emulator::set_options(options);
    const auto verdict = (wide ? wide_ : problem_)
                             .check(
                                 [&](MatmulArguments args) {
                                   args.max_blocks = wide ? 4 : 1;
                                   return version.matmul(args, nullptr);
                                 },
                                 version.shape);
    const bool zero = stream_memory_is_zero();
    if (!zero) clear_stream_memory();
    if (const auto& report = emulator::last_report()) return emulator::check_name(report->check);
    if (!verdict.right()) return "wrong result";
    return zero ? "" : "memory not zero";
  }

 private:
  static void clear_stream_memory() {
    const StreamAllocation memory = StreamMemory::kept_zeroed(nullptr);
    std::memset(memory.data, 0, memory.bytes);
  }

  // More K tiles than any ring has stages, twice around and a bit; tails; several tiles of C, which
  // persistent versions compute in one block and store by TMA.
  static constexpr harness::ProblemSize kSize = {300, 136, 8 * 64 + 56};
  // The same for versions that choose their tile, and two clusters: two pairs of tiles for each.
  static constexpr harness::ProblemSize kWideSize = {300, 536, 8 * 64 + 56};

  harness::Problem problem_, wide_;
};

inline emulator::Options quiet(uint64_t seed) {
  emulator::Options options;
  options.seed = seed;
  options.print_reports = false;
  return options;
}

// How often each finding came.
using Tally = std::map<std::string, int>;

// "deadlock 3, wrong result 17".
inline std::string text_of(const Tally& tally) {
  std::string text;
  for (const auto& [finding, count] : tally) {
    text += (text.empty() ? "" : ", ") + finding + " " + std::to_string(count);
  }
  return text;
}

// The exit code, if the words ask for help or are wrong.
inline std::optional<int> parse(CLI::App* app, int argc, char** argv) {
  try {
    app->parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app->exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s (see --help)\n", app->get_name().c_str(), error.what());
    return 2;
  }
  return std::nullopt;
}

}  // namespace bug_hunt
