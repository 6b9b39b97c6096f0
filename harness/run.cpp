// The run of a problem, step by step, and the programs made of it.
#include <harness/interrupt.h>
#include <harness/median.h>
#include <harness/output_file.h>
#include <harness/program.h>
#include <harness/run.h>
#include <launch.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <new>
#include <utility>

namespace harness {

namespace {

// A line on a terminal's standard error that says how far long work has come; nothing elsewhere.
class Progress {
 public:
  explicit Progress(std::string problem) : problem_(std::move(problem)) {}
  ~Progress() { clear(); }

  void say(const std::string& text) { write(problem_ + ": " + text); }
  void clear() { write(""); }

 private:
  void write(const std::string& text) {
    if (!is_terminal_) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
  }

  const std::string problem_;
  const bool is_terminal_ = isatty(STDERR_FILENO) != 0;
};

void warn_of_long_run(const ProblemSize& size) {
  constexpr double kQuick = 4e9;  // multiply-adds; some seconds in the emulator
  const double work =
      static_cast<double>(size.m) * static_cast<double>(size.n) * static_cast<double>(size.k);
  if (measures_time() || work <= kQuick) return;
  std::fprintf(stderr, "the emulator needs minutes or more for %s; 512x512x512 takes a second\n",
               problem_name(size).c_str());
}

// The steps of one problem; the result grows with each.
class Run {
 public:
  Run(const std::vector<Version>& versions, const RunOptions& options, const ProblemSize& size,
      ProblemResult* result)
      : versions_(versions),
        options_(options),
        problem_(size),
        result_(result),
        progress_(problem_name(size)) {
    for (const Version& version : versions) {
      result->contenders.emplace_back();
      result->contenders.back().name = version.name;
      result->contenders.back().checked = true;
    }
  }

  Status check_versions();
  Status time_versions();
  Status check_again();

 private:
  bool passed(size_t version) const { return result_->contenders[version].checked == true; }

  // Where there are several, the sentence says which.
  Status named(size_t version, const Status& status) const {
    if (versions_.size() == 1) return status;
    return {status.code(), std::string(versions_[version].name) + ": " + status.message()};
  }

  Status call(size_t version, MatmulArguments args) const {
    args.max_blocks = options_.max_blocks;
    return versions_[version].matmul(args, nullptr);
  }

  // Runs it once. Not ok: it would not run. What is wrong with its result goes to standard error,
  // below `heading`.
  Status check(size_t version, const std::string& heading);

  const std::vector<Version>& versions_;
  const RunOptions& options_;
  Problem problem_;
  ProblemResult* const result_;
  Progress progress_;
};

Status Run::check(size_t version, const std::string& heading) {
  ContenderResult& row = result_->contenders[version];
  observe();
  latest_grid() = {0, 0};
  Problem::Verdict verdict = problem_.check(
      [&](const MatmulArguments& args) { return call(version, args); }, versions_[version].shape);
  row.seen = observe();
  row.grid = latest_grid();
  if (row.seen.hazards > 0) verdict = {{}, "the emulator stopped it; its report stands above\n"};
  if (verdict.right()) return {};
  if (!verdict.status.ok()) return verdict.status;
  row.checked = false;
  progress_.clear();
  std::fprintf(stderr, "%s%s:\n%s", row.name.c_str(), heading.c_str(), verdict.fault.c_str());
  return {};
}

Status Run::check_versions() {
  // tools/counters.py counts on this order.
  std::vector<DataKind> kinds = {DataKind::kInts, DataKind::kNormal};
  if (options_.data != DataKind::kInts && options_.data != DataKind::kNormal) {
    kinds.push_back(options_.data);
  }
  for (const DataKind kind : kinds) {
    const std::string data = std::string(name_of(kind)) + " data";
    progress_.say("reference for " + data);
    problem_.generate(kind, options_.seed);
    for (size_t i = 0; i < versions_.size(); ++i) {
      ContenderResult& row = result_->contenders[i];
      if (!row.refusal.empty() || row.seen.hazards > 0) continue;  // one report is enough
      if (interrupted()) {
        for (ContenderResult& each : result_->contenders) {
          if (each.checked == true) each.checked = std::nullopt;  // not on every kind of data
        }
        return {ExitCode::kInterrupted, "interrupted; what is not checked to its end has a '-'"};
      }
      progress_.say("checking " + row.name + " on " + data);
      const Status status = check(i, " is wrong at " + problem_name(result_->size) + ", " + data +
                                         ", seed " + std::to_string(options_.seed));
      if (status.ok()) continue;
      if (status.code() != ExitCode::kUsage || versions_.size() == 1) return named(i, status);
      row.refusal = status.message();  // a limit of this version alone
      row.checked = std::nullopt;
    }
  }
  return {};
}

Status Run::time_versions() {
  problem_.generate(options_.data, options_.seed);
  std::vector<Contender> contenders;
  std::vector<size_t> rows;  // of the result, for each contender
  const MatmulArguments args = problem_.arguments();
  for (size_t i = 0; i < versions_.size(); ++i) {
    if (!passed(i)) continue;
    contenders.push_back({versions_[i].name, [this, i, args] { return call(i, args); }});
    rows.push_back(i);
  }
  progress_.say("choosing a cuBLAS algorithm");
  std::vector<Contender> others;
  Status status = baselines(args, options_.timing, &others);
  if (!status.ok()) return status;
  for (Contender& baseline : others) {
    result_->contenders.emplace_back();
    result_->contenders.back().name = baseline.name;
    result_->contenders.back().refusal = baseline.refusal;
    if (!baseline.refusal.empty()) continue;
    rows.push_back(result_->contenders.size() - 1);
    contenders.push_back(std::move(baseline));
  }
  Timing times;
  status = time_interleaved(
      contenders, options_.timing,
      [&](int done, int all) {
        progress_.say("timed " + std::to_string(done) + " of " + std::to_string(all) + " launches");
      },
      &times);
  if (!status.ok()) return status;
  for (size_t i = 0; i < rows.size(); ++i) {
    result_->contenders[rows[i]].rounds_ms = times.rounds_ms[i];
    result_->contenders[rows[i]].late = times.late[i];
  }
  result_->throttled = times.throttled;
  choose_cublas(result_);
  return {};
}

// As it was timed: on this data, with whatever the launches before have left behind.
Status Run::check_again() {
  for (size_t i = 0; i < versions_.size(); ++i) {
    if (!passed(i)) continue;
    const Status status = check(i, " was right before it was timed and wrong after");
    if (!status.ok()) return named(i, status);
    if (!passed(i)) result_->contenders[i].rounds_ms.clear();
  }
  return {};
}

// What comes before the first problem: everything that can be refused is refused now.
Status prepare(const RunOptions& options, Results* results) {
  results->command = options.command;
  results->data = options.data;
  results->seed = options.seed;
  results->max_blocks = options.max_blocks;
  results->timing = options.timing;
  Status status;
  for (const ProblemSize& size : options.problems) {
    if (status.ok()) status = check_limits(size);
  }
  if (status.ok() && !options.json.empty()) status = check_writable(options.json, "--json");
  if (status.ok() && !options.device.trace.empty()) {
    status = check_writable(options.device.trace, "--trace");
  }
  if (status.ok() && !options.device.watch.empty()) {
    status = check_writable(options.device.watch, "--watch");
  }
  if (status.ok()) status = open_device(options.device, &results->device);
  if (status.ok() && !measures_time()) catch_interrupt();
  return status;
}

void say_without_limit(const ProblemResult& problem, int max_blocks) {
  const std::string names = names_of_unlimited(problem, max_blocks);
  if (names.empty()) return;
  std::fprintf(stderr, "--max-blocks %d has no effect on %s: each tile has a block of its own\n",
               max_blocks, names.c_str());
}

// Runs the problems one after the other, prints each, and files all results so far: what comes
// later cannot lose them.
Status run_all(const std::vector<Version>& versions, const RunOptions& options, Results* results,
               const std::function<void(const ProblemResult&)>& print) {
  for (const ProblemSize& size : options.problems) {
    ProblemResult problem;
    Status status = run_problem(versions, size, options, &problem);
    if (status.ok() || status.code() == ExitCode::kInterrupted) print(problem);
    std::fflush(stdout);
    if (!status.ok()) return status;
    if (results->problems.empty() && !options.max_blocks_is_default) {
      say_without_limit(problem, options.max_blocks);
    }
    results->problems.push_back(std::move(problem));
    if (!options.json.empty()) status = write_file(options.json, json_of(*results), "--json");
    if (!status.ok()) return status;
  }
  return finish_device();
}

}  // namespace

Status run_problem(const std::vector<Version>& versions, const ProblemSize& size,
                   const RunOptions& options, ProblemResult* result) {
  *result = {};
  result->size = size;
  Status status = check_limits(size);
  if (!status.ok()) return status;
  warn_of_long_run(size);
  try {
    Run run(versions, options, size, result);
    status = run.check_versions();
    if (!measures_time() || options.check_only || is_trivial(sizes_of(size))) return status;
    if (status.ok()) status = run.time_versions();
    if (status.ok()) status = run.check_again();
    return status;
  } catch (const std::bad_alloc&) {
    return {ExitCode::kCudaError,
            problem_name(size) + " does not fit into the host's memory; choose a smaller problem"};
  }
}

int run_problems(const std::string& program, const std::vector<Version>& versions,
                 const RunOptions& options,
                 const std::function<std::string(const ProblemResult&)>& table) {
  Results results;
  Status status = prepare(options, &results);
  if (!status.ok()) return fail(program, status);
  std::fputs(describe_setup(results).c_str(), stdout);
  status = run_all(versions, options, &results, [&](const ProblemResult& problem) {
    std::fputs(table(problem).c_str(), stdout);
  });
  if (!status.ok()) return fail(program, status);
  size_t checked = 0;
  bool right = true;
  for (const ProblemResult& problem : results.problems) {
    right = right && all_right(problem);
    for (const ContenderResult& each : problem.contenders) checked += each.checked == true;
  }
  if (!measures_time() && checked == versions.size() * results.problems.size()) {
    std::printf("\nAll %zu versions are right at all %zu sizes, and no hazard was found.\n",
                versions.size(), results.problems.size());
  }
  if (!options.json.empty()) std::printf("\nwritten to %s\n", options.json.c_str());
  if (!right) std::printf("\nAt least one version computed something wrong; see above.\n");
  return static_cast<int>(right ? ExitCode::kOk : ExitCode::kWrongResult);
}

namespace {

// A driver's line.
void print_line(const RunOptions& options, const ProblemResult& problem) {
  const ContenderResult& own = problem.contenders[0];
  std::printf("%s %s %s:", own.name.c_str(), problem_name(problem.size).c_str(),
              name_of(options.data));
  if (own.grid.tiles_per_block > 1 || (own.blocks() > 0 && !options.max_blocks_is_default)) {
    const int64_t tiles = own.grid.tiles_per_block;
    std::printf(" %" PRId64 " block%s of %s%" PRId64 " tile%s,", own.blocks(),
                own.blocks() > 1 ? "s" : "", tiles > 1 ? "up to " : "", tiles,
                tiles > 1 ? "s" : "");
  }
  if (!own.rounds_ms.empty()) {
    const double ms = median(own.rounds_ms);
    std::printf(" %.4f ms, %.1f TFLOP/s,", ms, tflops(problem.size, ms));
    const ContenderResult* const cublas = find(problem, kCublas);
    if (cublas != nullptr) {
      std::printf(" %.3f x cuBLAS (%.4f ms),", *ratio(own, *cublas), median(cublas->rounds_ms));
    }
  }
  if (!measures_time()) {
    const Observation& seen = own.seen;
    std::printf(" %" PRIu64 " hazards, %.1f KB in and %.1f KB out by TMA, %" PRIu64
                " WGMMAs, %" PRIu64 " waits of which %" PRIu64
                " blocked, up to %d stages in flight,",
                seen.hazards, static_cast<double>(seen.tma_load_bytes) / 1024,
                static_cast<double>(seen.tma_store_bytes) / 1024, seen.wgmmas, seen.waits,
                seen.waits_blocked, seen.stages_in_flight);
  }
  std::printf(" %s\n", own.checked == true    ? "checked"
                       : own.checked == false ? "WRONG"
                                              : "not checked to its end");
  std::fputs(format_notes(problem).c_str(), stderr);
}

}  // namespace

int run_driver(const Version& version, int argc, const char* const* argv) {
  return run_program(version.name, [&] {
    RunOptions options;
    bool done = false;
    Status status = parse_driver(version.name, argc, argv, &options, &done);
    if (!status.ok() || done) return status.ok() ? 0 : fail(version.name, status);
    Results results;
    status = prepare(options, &results);
    if (status.ok()) {
      status = run_all({version}, options, &results,
                       [&](const ProblemResult& problem) { print_line(options, problem); });
    }
    if (!status.ok()) return fail(version.name, status);
    return static_cast<int>(all_right(results.problems[0]) ? ExitCode::kOk
                                                           : ExitCode::kWrongResult);
  });
}

}  // namespace harness
