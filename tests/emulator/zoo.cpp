// The bug zoo: versions with one bug each (zoo.txt), each of which must be found on every seed, and
// for what it is. Prints one table, one report, or the names of all checks.
//   zoo [--seeds N]
//   zoo --show N [--seed S]
//   zoo --checks
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bug_hunt.h"
#include "zoo_switch.h"

namespace zoo {

int bug = -1;

namespace {

struct Bug {
  std::string version;
  std::string name;
  std::vector<std::string> expected;
  std::vector<std::string> says;  // in the report
};

const std::vector<Bug> kBugs = {
#include "zoo_bugs.inc"
};

// make_zoo.py has seen to it that there is one of this name.
const harness::Version& version_of(const Bug& chosen) {
  size_t i = 0;
  while (chosen.version != harness::versions().at(i).name) ++i;
  return harness::versions()[i];
}

bool is_expected(const Bug& chosen, const std::string& finding) {
  const auto begins_finding = [&](const std::string& text) { return finding.rfind(text, 0) == 0; };
  const auto is_said = [](const std::string& text) {
    const auto& report = emulator::last_report();
    return report && report->text.find(text) != std::string::npos;
  };
  return std::any_of(chosen.expected.begin(), chosen.expected.end(), begins_finding) &&
         std::all_of(chosen.says.begin(), chosen.says.end(), is_said);
}

int print_checks() {
  for (int check = 0; check < emulator::kChecks; ++check) {
    std::puts(emulator::check_name(static_cast<emulator::Check>(check)));
  }
  return 0;
}

int show(int number, uint64_t seed) {
  const Bug& chosen = kBugs.at(static_cast<size_t>(number));
  bug = number;
  const std::string finding =
      bug_hunt::Problem().finding(version_of(chosen), bug_hunt::quiet(seed));
  std::printf("%s: %s\n", chosen.version.c_str(), chosen.name.c_str());
  if (const auto& report = emulator::last_report()) {
    std::fputs(report->text.c_str(), stdout);
  } else {
    std::puts(finding.empty() ? "nothing was found" : finding.c_str());
  }
  return finding.empty() ? 1 : 0;
}

int find_all(int seeds) {
  bug_hunt::Problem problem;
  std::printf("| number | version | bug | found | as |\n|---|---|---|---|---|\n");
  bool all_found = true;
  for (size_t i = 0; i < kBugs.size(); ++i) {
    bug = static_cast<int>(i);
    bug_hunt::Tally findings;
    int found = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      const std::string finding =
          problem.finding(version_of(kBugs[i]), bug_hunt::quiet(static_cast<uint64_t>(seed)));
      ++findings[finding.empty() ? "nothing" : finding];
      found += is_expected(kBugs[i], finding);
    }
    std::printf("| %2zu | %-19s | %-62s | %3d/%d | %s |\n", i, kBugs[i].version.c_str(),
                kBugs[i].name.c_str(), found, seeds, bug_hunt::text_of(findings).c_str());
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
  bool checks = false;
  uint64_t seed = 1;
  app.add_option("--seeds", seeds, "schedules that each bug is looked for in")
      ->check(CLI::Range(1, 10000))
      ->option_text("N [20]");
  app.add_option("--show", shown, "print the report of bug N instead")
      ->check(CLI::Range(0, static_cast<int>(zoo::kBugs.size()) - 1))
      ->option_text("N");
  app.add_option("--seed", seed, "of the schedule, with --show")->option_text("N [1]");
  app.add_flag("--checks", checks, "print the name of every check instead, one a line");
  if (const auto code = bug_hunt::parse(&app, argc, argv)) return *code;
  if (checks) return zoo::print_checks();
  return shown >= 0 ? zoo::show(shown, seed) : zoo::find_all(seeds);
}
