// What the zoo and the mutations share: a version run on one problem, and what became of it.
#pragma once

#include <CLI/CLI.hpp>
#include <emulator.h>
#include <harness/problem.h>
#include <harness/versions.h>

#include <cstdio>
#include <map>
#include <optional>
#include <string>

namespace bug_hunt {

// One problem, and the most blocks that persistent versions may use for it.
class Problem {
 public:
  Problem(const harness::ProblemSize& size, int max_blocks)
      : name_(harness::problem_name(size)), problem_(size), max_blocks_(max_blocks) {
    problem_.generate(harness::DataKind::kInts, 11);
  }

  const std::string& name() const { return name_; }

  // What a run ends with: a check's name, "wrong result", "memory not zero" or nothing.
  std::string finding(const harness::Version& version, const emulator::Options& options) {
    emulator::set_options(options);
    const auto verdict = problem_.check(
        [&](MatmulArguments args) {
          args.max_blocks = max_blocks_;
          return version.matmul(args, nullptr);
        },
        version.shape);
    if (const auto& report = emulator::last_report()) return emulator::check_name(report->check);
    if (verdict.right()) return "";
    return verdict.fault.find("stream_memory") == std::string::npos ? "wrong result"
                                                                    : "memory not zero";
  }

 private:
  const std::string name_;
  harness::Problem problem_;
  const int max_blocks_;
};

// More K tiles than any ring has stages, twice around and a bit; tails; several tiles of C, which
// persistent versions compute in one block and store by TMA. Versions that choose their tile get a
// wider one, and two clusters: two pairs of tiles for each.
class HardProblem {
 public:
  std::string finding(const harness::Version& version, const emulator::Options& options) {
    return (harness::is_chosen_by_host(version.shape) ? wide_ : narrow_).finding(version, options);
  }

 private:
  Problem narrow_{{300, 136, 8 * 64 + 56}, 1};
  Problem wide_{{300, 536, 8 * 64 + 56}, 4};
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
