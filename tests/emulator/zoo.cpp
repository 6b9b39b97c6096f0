// The bug zoo: versions with one bug each. Those of zoo.txt must be found on every seed, and for
// what they are. Those of the other lists stand for what people do: is it found by the first run
// that somebody makes, and are rewrites that are legal left alone? Prints tables, one report, or
// the names of all checks.
//   zoo [--seeds N]
//   zoo --first-run [--timing-alone] [--seeds N]
//   zoo [--list NAME] --show N [--seed S] [--delays KIND] [--trace FILE] [--watch FILE]
//   zoo --checks
#include <harness/options.h>

#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "bug_hunt.h"
#include "shown_run.h"
#include "zoo_switch.h"

namespace zoo {

int bug = -1;

namespace {

struct Bug {
  std::string list;
  std::string version;
  std::string name;
  std::vector<std::string> expected;  // empty: it is no bug
  std::string change;  // for the eye: lines of the kernel, before and after
};

const std::vector<Bug> kBugs = {
#include "zoo_bugs.inc"
};

// The bugs of one list: numbers first … last - 1 of kBugs.
struct List {
  std::string name;
  int first;
  int last;

  int size() const { return last - first; }
};

std::vector<List> lists() {
  std::vector<List> found;
  for (int i = 0; i < static_cast<int>(kBugs.size()); ++i) {
    const std::string& name = kBugs[static_cast<size_t>(i)].list;
    if (found.empty() || found.back().name != name) found.push_back({name, i, i});
    found.back().last = i + 1;
  }
  return found;
}

const Bug& bug_of(int number) { return kBugs[static_cast<size_t>(number)]; }

// make_zoo.py has seen to it that there is one of this name.
const harness::Version& version_of(const Bug& chosen) {
  size_t i = 0;
  while (chosen.version != harness::versions().at(i).name) ++i;
  return harness::versions()[i];
}

bool is_expected(const Bug& chosen, const std::string& finding) {
  for (const std::string& expected : chosen.expected) {
    if (finding.rfind(expected, 0) == 0) return true;
  }
  return false;
}

int print_checks() {
  for (int check = 0; check < emulator::kChecks; ++check) {
    std::puts(emulator::check_name(static_cast<emulator::Check>(check)));
  }
  return 0;
}

// What `./run vN` runs unless told otherwise, then what else `./run compare` does.
class FirstRun {
 public:
  explicit FirstRun(bool happens_before = true) : happens_before_(happens_before) {
    const int max_blocks = harness::default_max_blocks();
    problems_.emplace_back(harness::default_problem(), max_blocks);
    for (const harness::ProblemSize& size : harness::default_problems()) {
      if (harness::problem_name(size) == problems_[0].name()) continue;
      problems_.emplace_back(size, max_blocks);
    }
  }

  struct Result {
    std::string finding;  // what a user sees: empty if nothing
    size_t problem = 0;  // in which it was found: 0 is the driver's
  };

  Result run(const harness::Version& version, emulator::Options options) {
    options.happens_before = happens_before_;
    Result result;
    for (; result.problem < problems_.size() && result.finding.empty(); ++result.problem) {
      result.finding = problems_[result.problem].finding(version, options);
    }
    --result.problem;
    return result;
  }

  // What each bug is found for is only asked where all that finds it is on.
  bool is_found(const Bug& chosen, const std::string& finding) const {
    return happens_before_ ? is_expected(chosen, finding)
                           : !chosen.expected.empty() && !finding.empty();
  }

  std::string names() const {
    std::string text;
    for (const auto& problem : problems_) text += (text.empty() ? "" : ", ") + problem.name();
    return text;
  }

 private:
  const bool happens_before_;
  std::deque<bug_hunt::Problem> problems_;
};

int show(int number, const bug_hunt::ShownRun& shown, bool in_first_run) {
  const Bug& chosen = bug_of(number);
  bug = number;
  const harness::Version& version = version_of(chosen);
  const auto find = [&](const emulator::Options& options) {
    return in_first_run ? FirstRun().run(version, options).finding
                        : bug_hunt::HardProblem().finding(version, options);
  };
  return bug_hunt::show_run({chosen.version + ": " + chosen.name, chosen.change}, shown,
                            bug_hunt::quiet(shown.seed), find);
}

int find_all(const List& list, int seeds) {
  bug_hunt::HardProblem problem;
  std::printf("| number | version | bug | found | as |\n|---|---|---|---|---|\n");
  bool all_found = true;
  for (bug = list.first; bug < list.last; ++bug) {
    const Bug& each = bug_of(bug);
    bug_hunt::Tally findings;
    int found = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      const std::string finding =
          problem.finding(version_of(each), bug_hunt::quiet(static_cast<uint64_t>(seed)));
      ++findings[finding.empty() ? "nothing" : finding];
      found += is_expected(each, finding);
    }
    std::printf("| %2d | %-19s | %-62s | %3d/%d | %s |\n", bug - list.first, each.version.c_str(),
                each.name.c_str(), found, seeds, bug_hunt::text_of(findings).c_str());
    all_found = all_found && found == seeds;
  }
  if (!all_found) std::printf("\nSome bugs are not found, or not for what they are.\n");
  return all_found ? 0 : 1;
}

// What became of a list, or of several.
struct Count {
  int bugs = 0;
  int by_driver = 0;  // seed 1, the driver's problem
  int by_compare = 0;  // seed 1, all problems
  int by_some_seed = 0;
  int runs = 0;  // that find something
  std::vector<std::string> failures;  // sentences

  void add(const Count& more) {
    bugs += more.bugs;
    by_driver += more.by_driver;
    by_compare += more.by_compare;
    by_some_seed += more.by_some_seed;
    runs += more.runs;
    failures.insert(failures.end(), more.failures.begin(), more.failures.end());
  }
};

// Runs one list and prints its table.
Count first_runs_of(const List& list, FirstRun* run, int seeds) {
  std::printf(
      "%s\n| number | version | what is changed | seed 1 | found | as "
      "|\n|---|---|---|---|---|---|\n",
      list.name.c_str());
  Count count;
  for (bug = list.first; bug < list.last; ++bug) {
    const Bug& each = bug_of(bug);
    bug_hunt::Tally findings;
    int found = 0;
    const char* first = "no";
    for (int seed = 1; seed <= seeds; ++seed) {
      const auto result = run->run(version_of(each), bug_hunt::quiet(static_cast<uint64_t>(seed)));
      ++findings[result.finding.empty() ? "nothing" : result.finding];
      const bool expected = run->is_found(each, result.finding);
      found += expected;
      if (seed > 1 || !expected) continue;
      ++count.by_compare;
      count.by_driver += result.problem == 0;
      first = result.problem == 0 ? "yes" : "compare";
    }
    ++count.bugs;
    count.by_some_seed += found > 0;
    count.runs += found;
    const std::string as = bug_hunt::text_of(findings);
    std::printf("| %3d | %-20s | %-74s | %-7s | %2d/%d | %s |\n", bug - list.first,
                each.version.c_str(), each.name.c_str(), first, found, seeds, as.c_str());
    std::fflush(stdout);
    const bool legal = each.expected.empty();
    const int right = legal ? findings["nothing"] : found;
    if (right == seeds) continue;
    count.failures.push_back((legal           ? "false alarm: "
                              : found == 0    ? "not found: "
                              : *first == 'n' ? "not on seed 1: "
                                              : "not on every seed: ") +
                             each.version + ": " + each.name + " (" + as + ")");
  }
  bug = -1;
  std::printf("\n");
  return count;
}

void print_share(const std::string& name, const Count& count, int seeds) {
  std::printf("%-16s %4d", name.c_str(), count.bugs);
  for (const int part : {count.by_driver, count.by_compare, count.by_some_seed}) {
    std::printf("  %4d (%5.1f %%)", part, 100.0 * part / count.bugs);
  }
  std::printf("  %5.1f %%\n", 100.0 * count.runs / count.bugs / seeds);
}

int find_in_first_run(int seeds, bool happens_before) {
  constexpr double kShareOnSeed1 = 0.99;
  FirstRun run(happens_before);
  std::vector<std::pair<std::string, Count>> counts;
  Count all, legal;
  for (const List& list : lists()) {
    const Count count = first_runs_of(list, &run, seeds);
    if (bug_of(list.first).expected.empty()) {
      legal.add(count);
    } else {
      counts.emplace_back(list.name, count);
      all.add(count);
    }
  }
  for (const Count& count : {all, legal}) {
    for (const std::string& failure : count.failures) std::printf("%s\n", failure.c_str());
  }
  std::printf(
      "\nfirst run: at most %d blocks; M x N x K = %s, of which ./run vN takes the first%s\n",
      harness::default_max_blocks(), run.names().c_str(), happens_before ? "" : "; timing alone");
  std::printf("%-16s bugs   ./run vN seed 1  compare seed 1  on one of %d  of all runs\n", "list",
              seeds);
  for (const auto& [name, count] : counts) print_share(name, count, seeds);
  print_share("all", all, seeds);
  std::printf("\n%d legal rewrites; false alarms on one of %d seeds: %zu\n", legal.bugs, seeds,
              legal.failures.size());
  const bool good = all.by_compare >= kShareOnSeed1 * all.bugs && all.by_some_seed == all.bugs &&
                    legal.failures.empty();
  return good ? 0 : 1;
}

}  // namespace
}  // namespace zoo

int main(int argc, char** argv) {
  CLI::App app("Finds the bugs of tests/emulator/zoo.txt in copies of the kernels.", "zoo");
  int seeds = 0, shown = -1;
  bool checks = false, first_run = false, timing_alone = false;
  bug_hunt::ShownRun run;
  zoo::List list = zoo::lists()[0];
  app.add_option("--seeds", seeds, "schedules that each bug is looked for in")
      ->check(CLI::Range(1, 10000))
      ->option_text("N [20; 10 with --first-run]");
  app.add_flag("--first-run", first_run,
               "all lists, on the problems that ./run vN and ./run compare take by default: which "
               "bugs does the first seed find?");
  app.add_flag("--timing-alone", timing_alone,
               "with --first-run: without the account of who has been told what; counts whatever "
               "is found");
  app.add_option_function<std::string>(
         "--list",
         [&](const std::string& name) {
           for (const zoo::List& each : zoo::lists()) {
             if (each.name == name) list = each;
           }
         },
         "the list of --show, with the problems of --first-run")
      ->check([](const std::string& name) {
        std::string known;
        for (const zoo::List& each : zoo::lists()) {
          if (each.name == name) return std::string();
          known += " " + each.name;
        }
        return "there is no list '" + name + "'; there are:" + known;
      })
      ->option_text("NAME [zoo]");
  app.add_option("--show", shown, "print the report of bug N instead")->option_text("N");
  bug_hunt::add_options(&app, &run);
  app.add_flag("--checks", checks, "print the name of every check instead, one a line");
  if (const auto code = bug_hunt::parse(&app, argc, argv)) return *code;
  if (checks) return zoo::print_checks();
  if (app.count("--show") > 0) {
    if (shown < 0 || shown >= list.size()) {
      std::fprintf(stderr, "zoo: --show %d: the list %s has bugs 0 to %d\n", shown,
                   list.name.c_str(), list.size() - 1);
      return 2;
    }
    return zoo::show(list.first + shown, run, app.count("--list") > 0);
  }
  if (first_run) return zoo::find_in_first_run(seeds > 0 ? seeds : 10, !timing_alone);
  return zoo::find_all(list, seeds > 0 ? seeds : 20);
}
