// Is every synchronising line load-bearing? Switches off, one at a time, each line of each
// kernel.cu that synchronises or copies, and runs the version on many seeds: each must be caught,
// by a report or by a wrong result, unless the list of legal removals has it. Prints one table.
//   mutate [--seeds N] [--legal FILE] [version …]
//   mutate VERSION --line N [--seed S] [--delays KIND] [--trace FILE] [--watch FILE]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "bug_hunt.h"
#include "shown_run.h"

namespace {

using emulator::Site;
using harness::Version;

// Ends the program, with exit code 2.
[[noreturn]] void die(const std::string& sentence) {
  std::fprintf(stderr, "mutate: %s\n", sentence.c_str());
  std::exit(2);
}

// Versions of this name, which is "v2" or "v2_pipelined".
std::vector<Version> versions_called(const std::string& name) {
  std::vector<Version> found;
  for (const Version& version : harness::versions()) {
    const std::string full = version.name;
    if (full == name || full.rfind(name + "_", 0) == 0) found.push_back(version);
  }
  return found;
}

// A line that may go: `text` is part of it or of the line before, comments included.
struct LegalRemoval {
  std::string place;  // "legal_removals.txt:2"
  std::string version;
  std::string text;
  std::string reason;
  int uses = 0;
};

// Lines of "version | part of the line | reason"; # begins a comment.
std::vector<LegalRemoval> read_legal_removals(const std::string& path) {
  std::vector<LegalRemoval> removals;
  std::ifstream file(path);
  if (!file) die("cannot read " + path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::string place = path + ":" + std::to_string(number);
    const size_t first = line.find(" | ");
    const size_t second = first == std::string::npos ? first : line.find(" | ", first + 3);
    if (second == std::string::npos) {
      die(place + ": a line is 'version | part of the line | reason', this is '" + line + "'");
    }
    const std::string version = line.substr(0, first);
    const auto found = versions_called(version);
    if (found.size() != 1 || found[0].name != version) {
      die(place + ": there is no version '" + version + "'; name it as its folder");
    }
    removals.push_back(
        {place, version, line.substr(first + 3, second - first - 3), line.substr(second + 3)});
  }
  return removals;
}

std::string line_of(const Site& site, int offset = 0) {
  std::ifstream file(site.file);
  std::string line;
  for (int i = 0; i < site.line + offset; ++i) std::getline(file, line);
  line.erase(0, line.find_first_not_of(' '));
  return line;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// A line of a kernel that calls a wrapper, or waits in a method, as the text says.
bool calls_wrapper(const std::string& line) {
  const std::string code = line.substr(0, line.find("//"));
  return contains(code, "__syncthreads(") || contains(code, "_acquire();") ||
         (contains(code, "ptx::") && !contains(code, "ptx::cluster_ctarank("));
}

std::vector<Site> lines_with_wrappers(const std::string& path) {
  std::vector<Site> sites;
  std::ifstream file(path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (calls_wrapper(line)) sites.push_back({path, number});
  }
  return sites;
}

class Mutations {
 public:
  // Counts in `legal` what it uses.
  Mutations(const Version& version, int seeds, std::vector<LegalRemoval>* legal)
      : version_(version), seeds_(seeds), legal_(legal) {}

  // Prints a row per line. True if each is caught on each seed, or is legal, and if each of the
  // version's legal removals is there.
  bool run() {
    bool all_as_expected = true;
    for (const Site& site : synchronising_lines()) all_as_expected &= run_without(site);
    for (const Site& site : lines_with_wrappers(kernel_)) {
      if (was_executed(site)) continue;
      std::printf("| %-19s | %4d | %-72.72s | never executed |\n", version_.name, site.line,
                  line_of(site).c_str());
      all_as_expected = false;
    }
    for (const LegalRemoval& removal : *legal_) {
      if (removal.version != version_.name || removal.uses > 0) continue;
      std::fprintf(stderr,
                   "mutate: %s: no line of %s that a run executes has '%s'; strike it out\n",
                   removal.place.c_str(), version_.name, removal.text.c_str());
      all_as_expected = false;
    }
    return all_as_expected;
  }

  // Runs the version once without what is in a line, and shows that run. Returns the exit code.
  int show_without(int line, const bug_hunt::ShownRun& shown) {
    std::string known;
    for (const Site& site : synchronising_lines()) {
      if (site.line == line) {
        emulator::Options options = bug_hunt::quiet(shown.seed);
        options.removed = {site};
        emulator::clear_executed_calls();
        const std::string number = std::to_string(line);
        return bug_hunt::show_run(
            {version_.name + (": without line " + number), "- " + number + "  " + line_of(site)},
            shown, options,
            [&](const emulator::Options& run) { return problem_.finding(version_, run); });
      }
      known += (known.empty() ? "" : ", ") + std::to_string(site.line);
    }
    die("--line " + std::to_string(line) + ": no wrapper is called there; in " + version_.name +
        " choose one of " + known);
  }

 private:
  // Wrappers are called in headers, too, which several versions share.
  bool is_kernel(const std::string& file) const {
    return file.find(std::string("/") + version_.name + "/kernel.cu") != std::string::npos;
  }

  static bool was_executed(const Site& site) {
    constexpr int kLinesOfACall = 3;  // compilers name the first or the last of them
    for (const emulator::Call& call : emulator::executed_calls()) {
      if (call.site.file != site.file) continue;
      if (call.site.line >= site.line && call.site.line < site.line + kLinesOfACall) return true;
    }
    return false;
  }

  // The lines are those that a run executes, so none is forgotten and none is guessed from text.
  std::vector<Site> synchronising_lines() {
    emulator::Options options;
    options.record_calls = true;
    emulator::clear_executed_calls();
    problem_.finding(version_, options);
    const std::set<std::string> others = {"shared_storage", "wgmma.mma_async"};
    std::vector<Site> sites;
    for (const emulator::Call& call : emulator::executed_calls()) {
      const auto same = [&](const Site& site) { return site.line == call.site.line; };
      if (others.count(call.instruction) > 0 || !is_kernel(call.site.file)) continue;
      kernel_ = call.site.file;
      if (std::none_of(sites.begin(), sites.end(), same)) sites.push_back(call.site);
    }
    std::sort(sites.begin(), sites.end(),
              [](const Site& a, const Site& b) { return a.line < b.line; });
    return sites;
  }

  bool run_without(const Site& site) {
    bug_hunt::Tally findings;
    int caught = 0;
    for (int seed = 1; seed <= seeds_; ++seed) {
      emulator::Options options = bug_hunt::quiet(static_cast<uint64_t>(seed));
      options.removed = {site};
      const std::string finding = problem_.finding(version_, options);
      if (finding.empty()) continue;
      ++findings[finding];
      ++caught;
    }
    const std::string line = line_of(site);
    const LegalRemoval* const legal = use_legal(line_of(site, -1) + "\n" + line);
    const bool as_expected = legal == nullptr ? caught == seeds_ : caught == 0;
    std::string how = bug_hunt::text_of(findings);
    if (legal != nullptr) how += "legal: " + legal->reason;
    std::printf("| %-19s | %4d | %-72.72s | %3d/%d | %s%s |\n", version_.name, site.line,
                line.c_str(), caught, seeds_, as_expected ? "" : "UNEXPECTED ", how.c_str());
    return as_expected;
  }

  const LegalRemoval* use_legal(const std::string& lines) {
    for (LegalRemoval& removal : *legal_) {
      const bool same_version = removal.version == version_.name;
      if (!same_version || lines.find(removal.text) == std::string::npos) continue;
      ++removal.uses;
      return &removal;
    }
    return nullptr;
  }

  const Version version_;
  const int seeds_;
  std::vector<LegalRemoval>* const legal_;
  bug_hunt::HardProblem problem_;
  std::string kernel_;  // the path of kernel.cu
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Removes every synchronising line of the kernels in turn; each must be noticed.",
               "mutate");
  int seeds = 20;
  std::string legal_path = LEGAL_REMOVALS;
  std::vector<std::string> names;
  app.add_option("--seeds", seeds, "schedules that each removal is tried in")
      ->check(CLI::Range(1, 10000))
      ->option_text("N [20]");
  app.add_option("--legal", legal_path, "another list of lines that may go")->option_text("FILE");
  int line = 0;
  bug_hunt::ShownRun shown;
  app.add_option("--line", line, "remove this line alone, of one version, and show one run")
      ->option_text("N");
  bug_hunt::add_options(&app, &shown);
  app.add_option("versions", names, "as v2 or v2_pipelined; default: all")->option_text("V ...");
  if (const auto code = bug_hunt::parse(&app, argc, argv)) return *code;
  std::set<std::string> chosen;
  for (const std::string& name : names) {
    const auto found = versions_called(name);
    if (found.empty()) die("there is no version '" + name + "'; say v1, v2, …");
    for (const Version& version : found) chosen.insert(version.name);
  }
  auto legal = read_legal_removals(legal_path);
  if (app.count("--line") > 0) {
    if (names.size() != 1) die("--line is of one version; say which, as in: mutate v3 --line 78");
    return Mutations(versions_called(names[0])[0], 1, &legal).show_without(line, shown);
  }
  std::printf("| version | line | removed | caught | how |\n|---|---|---|---|---|\n");
  bool all_as_expected = true;
  for (const Version& version : harness::versions()) {
    if (!chosen.empty() && chosen.count(version.name) == 0) continue;
    all_as_expected &= Mutations(version, seeds, &legal).run();
  }
  std::printf(all_as_expected ? "\nEvery removal was noticed on every seed, or is legal.\n"
                              : "\nSome lines are not as expected.\n");
  return all_as_expected ? 0 : 1;
}
