// The bug zoo: versions with one bug each (zoo.txt), each of which must be found on every seed, and
// for what it is. Prints one table, or one report.
//   zoo [--seeds N]
//   zoo --show N [--seed S]
#include <CLI/CLI.hpp>
#include <emulator.h>
#include <harness/problem.h>
#include <harness/versions.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "zoo_switch.h"

namespace zoo {

int bug = -1;

namespace {

struct Bug {
  std::string version;
  std::string name;
  std::vector<std::string> expected;
};

std::vector<Bug> read_bugs(const std::string& path) {
  const std::string expect = "  expect: ", separator = " | ";
  std::vector<Bug> bugs;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("bug ", 0) == 0) {
      const size_t colon = line.find(": ");
      bugs.push_back({line.substr(4, colon - 4), line.substr(colon + 2), {}});
    } else if (line.rfind(expect, 0) == 0) {
      line.erase(0, expect.size());
      for (size_t end; (end = line.find(separator)) != std::string::npos;) {
        bugs.back().expected.push_back(line.substr(0, end));
        line.erase(0, end + separator.size());
      }
      bugs.back().expected.push_back(line);
    }
  }
  return bugs;
}

const harness::Version* find_version(const std::string& name) {
  for (const harness::Version& version : harness::versions()) {
    if (name == version.name) return &version;
  }
  return nullptr;
}

// More K tiles than any ring has stages, twice around and a bit; tails; several tiles of C, which
// persistent versions compute in one block and store by TMA.
constexpr harness::ProblemSize kSize = {300, 136, 8 * 64 + 56};

// What a run with this bug and seed ends with: a check's name, "wrong result" or nothing.
std::string finding(const harness::Version& version, harness::Problem* problem, uint64_t seed) {
  emulator::Options options;
  options.seed = seed;
  options.print_reports = false;
  emulator::set_options(options);
  const auto verdict = problem->check(
      [&](MatmulArguments args) {
        args.max_blocks = 1;
        return version.matmul(args, nullptr);
      },
      version.shape);
  if (const auto& report = emulator::last_report()) return emulator::check_name(report->check);
  return verdict.right() ? "" : "wrong result";
}

bool is_expected(const Bug& bug, const std::string& found) {
  for (const std::string& expected : bug.expected) {
    if (found.rfind(expected, 0) == 0) return true;
  }
  return false;
}

int run(int seeds, int shown, uint64_t seed) {
  const std::vector<Bug> bugs = read_bugs(ZOO);
  if (bugs.empty()) {
    std::fprintf(stderr, "zoo: cannot read " ZOO "\n");
    return 2;
  }
  harness::Problem problem(kSize);
  problem.generate(harness::DataKind::kInts, 11);
  if (shown >= 0) {
    const Bug& chosen = bugs.at(static_cast<size_t>(shown));
    bug = shown;
    finding(*find_version(chosen.version), &problem, seed);
    std::printf("%s: %s\n", chosen.version.c_str(), chosen.name.c_str());
    if (const auto& report = emulator::last_report()) std::fputs(report->text.c_str(), stdout);
    return 0;
  }
  std::printf("| number | version | bug | found | as |\n|---|---|---|---|---|\n");
  bool all_found = true;
  for (size_t i = 0; i < bugs.size(); ++i) {
    const harness::Version* const version = find_version(bugs[i].version);
    if (version == nullptr) continue;  // of a build with fewer versions
    bug = static_cast<int>(i);
    std::map<std::string, int> findings;
    int found = 0;
    for (int s = 1; s <= seeds; ++s) {
      const std::string how = finding(*version, &problem, static_cast<uint64_t>(s));
      ++findings[how];
      found += is_expected(bugs[i], how);
    }
    std::string how_often;
    for (const auto& [name, count] : findings) {
      how_often += (how_often.empty() ? "" : ", ") + (name.empty() ? "nothing" : name) + " " +
                   std::to_string(count);
    }
    std::printf("| %2zu | %-19s | %-62s | %3d/%d | %s |\n", i, bugs[i].version.c_str(),
                bugs[i].name.c_str(), found, seeds, how_often.c_str());
    all_found = all_found && found == seeds;
  }
  if (!all_found) std::printf("\nSome bugs are not found, or not for what they are.\n");
  return all_found ? 0 : 1;
}

}  // namespace
}  // namespace zoo

int main(int argc, char** argv) {
  CLI::App app("Finds the bugs of tests/emulator/zoo.txt in copies of the kernels.", "zoo");
  int seeds = 20, shown = -1;
  uint64_t seed = 1;
  app.add_option("--seeds", seeds, "schedules that each bug is looked for in")
      ->check(CLI::Range(1, 10000))
      ->option_text("N [20]");
  app.add_option("--show", shown, "print the report of bug N instead")
      ->check(CLI::Range(0, static_cast<int>(zoo::read_bugs(ZOO).size()) - 1))
      ->option_text("N");
  app.add_option("--seed", seed, "of the schedule, with --show")->option_text("N [1]");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "zoo: %s (see --help)\n", error.what());
    return 2;
  }
  return zoo::run(seeds, shown, seed);
}
