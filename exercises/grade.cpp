// The verdict on an answer.
#include <exercises/grade.h>
#include <harness/problem.h>
#include <harness/versions.h>

#include <algorithm>
#include <sstream>

namespace exercises {
namespace {

using emulator::Delay;
using emulator::Schedule;

struct Case {
  harness::ProblemSize size;
  int max_blocks;  // for versions whose blocks stay for many tiles; 0: as many as a GPU has
};

// Small ones first, whose reports are short. Each ring goes round more than twice; tails lie on
// both sides and in K; C can be stored by TMA, or cannot; a block has one tile, or several.
const std::vector<Case> kCases = {
    {{128, 128, 64}, 0},     {{130, 257, 72}, 0},
    {{200, 136, 128}, 0},    {{64, 512, 192}, 1},
    {{256, 128, 256}, 0},    {{300, 136, 8 * 64 + 56}, 1},
    {{300, 536, 9 * 64}, 2}, {{260, 1100, 72, 0, 0, 1101}, 4},
};
constexpr int kSeeds = 10;  // in each case: two of each policy of delays

emulator::Options schedule(uint64_t seed) {
  emulator::Options options;
  options.seed = seed;
  options.print_reports = false;
  options.delay = static_cast<Delay>((seed - 1) % 5);
  options.schedule = seed % 3 == 0 ? Schedule::kRoundRobin : Schedule::kRandom;
  return options;
}

harness::TileShape shape_of(const std::string& version) {
#define SHAPE_OF(name, block_m, block_n, warpgroups, stages) \
  if (version == #name) return {block_m, block_n, warpgroups};
  FOR_EACH_VERSION(SHAPE_OF)
#undef SHAPE_OF
  return {0, 0, 1};
}

// The report without its last line, which says how a driver would find it again.
std::string text_of(const emulator::Report& report) {
  return report.text.substr(0, report.text.find("  again:"));
}

// What one run ends in; "right" if nothing was found.
Verdict run(const Answer& answer, const Case& problem_case, harness::Problem* problem) {
  const auto outcome = problem->check(
      [&](MatmulArguments args) {
        args.max_blocks = problem_case.max_blocks;
        return answer.matmul(args, nullptr);
      },
      shape_of(answer.version));
  if (const auto& report = emulator::last_report()) return {"hazard", text_of(*report)};
  if (!outcome.status.ok()) return {"wrong", "  " + outcome.status.message() + "\n"};
  if (!outcome.fault.empty()) {
    const bool empty = outcome.fault.find(" = nan") != std::string::npos;
    return {"wrong", outcome.fault + (empty ? "  nan: C was filled with it before; nobody has "
                                              "stored a result there\n"
                                            : "")};
  }
  return {"right", ""};
}

// What is missing after all runs, as far as right results do not show it.
std::string missing(const Answer& answer, const emulator::Counters& seen) {
  if (seen.max_stages_in_flight < answer.stages) {
    return "  the results are right, but only " + std::to_string(seen.max_stages_in_flight) +
           " stage was being filled at a time: the ring has room for " +
           std::to_string(answer.stages) + "\n";
  }
  if (answer.stores_by_tma && seen.tma_store_bytes == 0) {
    return "  the results are right, but TMA has stored none of them\n";
  }
  return "";
}

}  // namespace

std::vector<Answer>& answers() {
  static std::vector<Answer> all;
  return all;
}

Verdict grade(const Answer& answer) {
  if (answer.fault != nullptr) {
    const std::string fault = answer.fault();
    if (!fault.empty()) return {"wrong", "  " + fault + "\n"};
  }
  emulator::reset_counters();
  int runs = 0;
  for (const Case& problem_case : kCases) {
    harness::Problem problem(problem_case.size);
    problem.generate(harness::DataKind::kInts, 7);
    for (uint64_t seed = 1; seed <= kSeeds; ++seed, ++runs) {
      emulator::set_options(schedule(seed));
      Verdict verdict = run(answer, problem_case, &problem);
      if (verdict.word == "right") continue;
      std::ostringstream text;
      text << "  in run " << runs + 1 << " of " << kCases.size() * kSeeds
           << ": M = " << problem_case.size.m << ", N = " << problem_case.size.n
           << ", K = " << problem_case.size.k << "\n"
           << verdict.text;
      return {verdict.word, text.str()};
    }
  }
  const std::string lack = missing(answer, emulator::counters());
  if (!lack.empty()) return {"wrong", lack};
  return {"right", "  " + std::to_string(runs) + " runs (" + std::to_string(kCases.size()) +
                       " shapes, " + std::to_string(kSeeds) +
                       " schedules): right every time, and no hazard\n"};
}

}  // namespace exercises
