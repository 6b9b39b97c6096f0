// Is every synchronising line load-bearing? Switches off, one at a time, each line of each
// kernel.cu that synchronises or copies, and runs the version on many seeds: each must be caught,
// by a report or by a wrong result, unless the list of legal removals has it. Prints one table.
//   mutations [--seeds N] [version …]
#include <CLI/CLI.hpp>
#include <emulator.h>
#include <harness/problem.h>
#include <harness/versions.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using emulator::Site;
using harness::Problem;
using harness::Version;

// A line that may go: `text` is part of it or of the line before, comments included.
struct LegalRemoval {
  std::string version;
  std::string text;
  std::string reason;
};

// Lines of "version | part of the line | reason"; # begins a comment.
std::vector<LegalRemoval> read_legal_removals(const std::string& path) {
  std::vector<LegalRemoval> removals;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t first = line.find(" | ");
    const size_t second = line.find(" | ", first + 3);
    if (second == std::string::npos) continue;
    removals.push_back({line.substr(0, first), line.substr(first + 3, second - first - 3),
                        line.substr(second + 3)});
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

// Lines of a kernel that call a wrapper, as the text says.
std::vector<Site> lines_with_wrappers(const std::string& path) {
  const std::regex call(
      R"(ptx::(?!cluster_ctarank)\w+(<\w+>)?\(|__syncthreads\(|\w+_acquire\(\);)");
  std::vector<Site> sites;
  std::ifstream file(path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (std::regex_search(line.substr(0, line.find("//")), call)) sites.push_back({path, number});
  }
  return sites;
}

// More K tiles than any ring has stages, twice around and a bit; tails; several tiles of C, which
// persistent versions compute in one block and store by TMA.
constexpr harness::ProblemSize kSize = {300, 136, 8 * 64 + 56};

class Mutations {
 public:
  Mutations(const Version& version, int seeds, const std::vector<LegalRemoval>& legal)
      : version_(version), seeds_(seeds), legal_(legal), problem_(kSize) {
    problem_.generate(harness::DataKind::kInts, 11);
  }

  // Prints a row per line. True if each is caught on each seed, or is legal.
  bool run() {
    bool all_as_expected = true;
    for (const Site& site : synchronising_lines()) all_as_expected &= run_without(site);
    for (const Site& site : lines_with_wrappers(kernel_)) {
      if (was_executed(site)) continue;
      std::printf("| %-19s | %4d | %-72.72s | never executed |\n", version_.name, site.line,
                  line_of(site).c_str());
      all_as_expected = false;
    }
    return all_as_expected;
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
    emulator::set_options(options);
    emulator::clear_executed_calls();
    problem_.check(
        [&](MatmulArguments args) {
          args.max_blocks = 1;
          return version_.matmul(args, nullptr);
        },
        version_.shape);
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
    emulator::Options options;
    options.removed = {site};
    options.print_reports = false;
    std::map<std::string, int> findings;
    int caught = 0;
    for (int seed = 1; seed <= seeds_; ++seed) {
      options.seed = static_cast<uint64_t>(seed);
      emulator::set_options(options);
      const Problem::Verdict verdict = problem_.check(
          [&](MatmulArguments args) {
            args.max_blocks = 1;
            return version_.matmul(args, nullptr);
          },
          version_.shape);
      if (const auto& report = emulator::last_report()) {
        ++findings[emulator::check_name(report->check)];
      } else if (!verdict.right()) {
        ++findings["wrong result"];
      } else {
        continue;
      }
      ++caught;
    }
    const std::string line = line_of(site);
    const LegalRemoval* const legal = find_legal(line_of(site, -1) + "\n" + line);
    std::string finding;
    for (const auto& [name, count] : findings) {
      finding += (finding.empty() ? "" : ", ") + name + " " + std::to_string(count);
    }
    const bool as_expected = legal == nullptr ? caught == seeds_ : caught == 0;
    if (legal != nullptr) finding += "legal: " + legal->reason;
    std::printf("| %-19s | %4d | %-72.72s | %3d/%d | %s%s |\n", version_.name, site.line,
                line.c_str(), caught, seeds_, as_expected ? "" : "UNEXPECTED ", finding.c_str());
    return as_expected;
  }

  const LegalRemoval* find_legal(const std::string& lines) const {
    for (const LegalRemoval& removal : legal_) {
      const bool same_version = removal.version == version_.name;
      if (same_version && lines.find(removal.text) != std::string::npos) return &removal;
    }
    return nullptr;
  }

  const Version version_;
  const int seeds_;
  const std::vector<LegalRemoval>& legal_;
  Problem problem_;
  std::string kernel_;  // the path of kernel.cu
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Removes every synchronising line of the kernels in turn; each must be noticed.",
               "mutate");
  int seeds = 20;
  std::vector<std::string> names;
  app.add_option("--seeds", seeds, "schedules that each removal is tried in")
      ->check(CLI::Range(1, 10000))
      ->option_text("N [20]");
  app.add_option("versions", names, "as v2 or v2_pipelined; default: all")->option_text("V ...");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "mutate: %s (see --help)\n", error.what());
    return 2;
  }
  std::set<std::string> chosen;
  for (const std::string& name : names) {
    const size_t before = chosen.size();
    for (const Version& version : harness::versions()) {
      const std::string full = version.name;
      if (full == name || full.rfind(name + "_", 0) == 0) chosen.insert(full);
    }
    if (chosen.size() == before) {
      std::fprintf(stderr, "mutate: there is no version '%s'; say v1, v2, …\n", name.c_str());
      return 2;
    }
  }
  const auto legal = read_legal_removals(LEGAL_REMOVALS);
  if (legal.empty()) {
    std::fprintf(stderr, "mutations: cannot read " LEGAL_REMOVALS "\n");
    return 2;
  }
  std::printf("| version | line | removed | caught | how |\n|---|---|---|---|---|\n");
  bool all_as_expected = true;
  for (const Version& version : harness::versions()) {
    if (!chosen.empty() && chosen.count(version.name) == 0) continue;
    all_as_expected &= Mutations(version, seeds, legal).run();
  }
  std::printf(all_as_expected ? "\nEvery removal was noticed on every seed, or is legal.\n"
                              : "\nSome lines are not as expected.\n");
  return all_as_expected ? 0 : 1;
}
