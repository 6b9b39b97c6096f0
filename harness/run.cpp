#include <harness/run.h>
#include <tensor_map.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace harness {

namespace {

// A line on a terminal's standard error that says how far long work has come; nothing elsewhere.
class Progress {
 public:
  void say(const std::string& text) {
    if (!is_terminal_) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
  }
  ~Progress() { say(""); }

 private:
  const bool is_terminal_ = isatty(STDERR_FILENO) != 0;
};

}  // namespace

int fail(const std::string& program, const Status& status) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", program.c_str(), status.message().c_str());
  return static_cast<int>(status.code());
}

std::string problem_name(const ProblemSize& size) {
  return std::to_string(size.m) + "x" + std::to_string(size.n) + "x" + std::to_string(size.k);
}

Status run_problem(const std::vector<Version>& versions, const ProblemSize& size, DataKind data,
                   uint64_t seed, bool check_only, const TimingOptions& timing,
                   ProblemResult* result, bool* all_right, int max_blocks) {
  Progress progress;
  result->size = size;
  result->contenders.clear();
  for (const Version& version : versions)
    result->contenders.push_back({version.name, true, {}, "", {}});

  // Limits first: they are checked on the host, before any memory is asked for on the device.
  MatmulArguments sizes_only;
  sizes_only.m = size.m;
  sizes_only.n = size.n;
  sizes_only.k = size.k;
  sizes_only.lda = size.lda == 0 ? size.k : size.lda;
  sizes_only.ldb = size.ldb == 0 ? size.k : size.ldb;
  sizes_only.ldc = size.ldc == 0 ? size.n : size.ldc;
  sizes_only.a = sizes_only.b = reinterpret_cast<const half*>(uintptr_t{256});  // any aligned one
  Status status = check_sizes(sizes_only);
  for (const auto& [rows, leading] :
       {std::make_pair(size.m, sizes_only.lda), std::make_pair(size.n, sizes_only.ldb),
        std::make_pair(size.m, sizes_only.ldc)}) {
    constexpr int64_t kElementLimit = int64_t{1} << 60;
    if (status.ok() && leading > 0 && rows + 4 > kElementLimit / leading) {
      status = {ExitCode::kUsage,
                std::to_string(rows) + " rows of " + std::to_string(leading) +
                    " elements are beyond every memory; choose a smaller problem"};
    }
  }
  const bool trivial = is_trivial(sizes_only);
  if (status.ok() && !trivial) status = check_tensor_map(matrix_a(sizes_only), 64, 64);
  if (status.ok() && !trivial) status = check_tensor_map(matrix_b(sizes_only), 64, 64);
  if (!status.ok()) return status;

  constexpr double kQuick = 4e9;  // multiply-adds; some seconds in the emulator
  const double work =
      static_cast<double>(size.m) * static_cast<double>(size.n) * static_cast<double>(size.k);
  if (!measures_time() && work > kQuick) {
    std::fprintf(stderr, "the emulator needs minutes or more for %s; 512x512x512 takes a second\n",
                 problem_name(size).c_str());
  }

  Problem problem(size);
  std::vector<DataKind> kinds = {DataKind::kInts, DataKind::kNormal};
  if (data != DataKind::kInts && data != DataKind::kNormal) kinds.push_back(data);
  for (const DataKind kind : kinds) {
    progress.say(problem_name(size) + ": reference for " + name_of(kind) + " data");
    problem.generate(kind, seed);
    for (size_t i = 0; i < versions.size(); ++i) {
      progress.say(problem_name(size) + ": checking " + versions[i].name + " on " + name_of(kind) +
                   " data");
      if (result->contenders[i].seen.hazards > 0) continue;  // one report is enough
      const auto matmul = versions[i].matmul;
      observe();
      Problem::Verdict verdict = problem.check(
          [=](MatmulArguments args) {
            args.max_blocks = max_blocks;
            return matmul(args, nullptr);
          },
          versions[i].shape);
      const Observation seen = observe();
      const bool stopped = seen.hazards > 0;
      if (!result->contenders[i].seen.hazards) result->contenders[i].seen = seen;
      if (stopped) verdict = {{}, "the emulator stopped it; its report stands above\n"};
      if (!verdict.status.ok()) {
        const Status named{verdict.status.code(),
                           std::string(versions[i].name) + ": " + verdict.status.message()};
        if (named.code() != ExitCode::kUsage || versions.size() == 1) return named;
        // A limit of this version alone: the others go on.
        if (result->contenders[i].checked) {
          progress.say("");
          std::fprintf(stderr, "%s\n", named.message().c_str());
        }
        result->contenders[i].checked = std::nullopt;
        continue;
      }
      if (verdict.right()) continue;
      *all_right = false;
      result->contenders[i].checked = false;
      progress.say("");
      std::fprintf(stderr, "%s is wrong at %s, %s data, seed %llu:\n%s", versions[i].name,
                   problem_name(size).c_str(), name_of(kind), static_cast<unsigned long long>(seed),
                   verdict.fault.c_str());
    }
  }
  if (check_only || trivial || !measures_time()) return {};

  problem.generate(data, seed);
  std::vector<Contender> contenders;
  std::vector<size_t> rows;  // of the result, for each contender
  MatmulArguments args = problem.arguments();
  args.max_blocks = max_blocks;
  for (size_t i = 0; i < versions.size(); ++i) {
    if (!result->contenders[i].checked.value_or(false)) continue;
    const auto matmul = versions[i].matmul;
    contenders.push_back({versions[i].name, [matmul, args] { return matmul(args, nullptr); }});
    rows.push_back(i);
  }
  progress.say(problem_name(size) + ": choosing a cuBLAS algorithm");
  std::vector<Contender> others;
  status = baselines(args, timing, &others);
  if (!status.ok()) return status;
  for (Contender& baseline : others) {
    rows.push_back(result->contenders.size());
    result->contenders.push_back({baseline.name, std::nullopt, {}, "", {}});
    contenders.push_back(std::move(baseline));
  }
  Timing times;
  status = time_interleaved(
      contenders, timing,
      [&](int done, int all) {
        progress.say(problem_name(size) + ": timed " + std::to_string(done) + " of " +
                     std::to_string(all) + " launches");
      },
      &times);
  if (!status.ok()) return status;
  for (size_t i = 0; i < rows.size(); ++i) {
    result->contenders[rows[i]].rounds_ms = times.rounds_ms[i];
  }
  result->throttled = times.throttled;

  // Once more as it was timed: on this data, with whatever the launches before have left behind.
  for (size_t i = 0; i < versions.size(); ++i) {
    if (!result->contenders[i].checked.value_or(false)) continue;
    const auto matmul = versions[i].matmul;
    const Problem::Verdict verdict = problem.check(
        [=](MatmulArguments arguments) {
          arguments.max_blocks = max_blocks;
          return matmul(arguments, nullptr);
        },
        versions[i].shape);
    if (!verdict.status.ok()) return verdict.status;
    if (verdict.right()) continue;
    *all_right = false;
    result->contenders[i].checked = false;
    result->contenders[i].rounds_ms.clear();
    std::fprintf(stderr, "%s was right before it was timed and wrong after:\n%s", versions[i].name,
                 verdict.fault.c_str());
  }
  choose_cublas(result);
  return {};
}

int run_problems(const std::string& program, const std::vector<Version>& versions,
                 const CompareOptions& options,
                 const std::function<std::string(const ProblemResult&)>& table) {
  Results results;
  results.data = options.data;
  results.seed = options.seed;
  results.timing = options.timing;
  Status status = open_device(options.device, &results.device);
  if (!status.ok()) return fail(program, status);
  std::fputs(describe_setup(results).c_str(), stdout);

  bool all_right = true;
  for (const ProblemSize& size : options.problems) {
    ProblemResult problem;
    status = run_problem(versions, size, options.data, options.seed, options.check_only,
                         options.timing, &problem, &all_right);
    if (!status.ok()) return fail(program, status);
    std::fputs(table(problem).c_str(), stdout);
    std::fflush(stdout);
    results.problems.push_back(std::move(problem));
  }
  if (!measures_time() && all_right) {
    std::printf("\nAll %zu versions are right at all %zu sizes, and no hazard was found.\n",
                versions.size(), options.problems.size());
  }
  status = finish_device();
  if (!status.ok()) return fail(program, status);
  if (!options.json.empty()) {
    status = write_json(results, options.json);
    if (!status.ok()) return fail(program, status);
    std::printf("\nwritten to %s\n", options.json.c_str());
  }
  if (!all_right) std::printf("\nAt least one version computed something wrong; see above.\n");
  return static_cast<int>(all_right ? ExitCode::kOk : ExitCode::kWrongResult);
}

int run_driver(const Version& version, int argc, const char* const* argv) {
  DriverOptions options;
  bool done = false;
  Status status = parse_driver(version.name, argc, argv, &options, &done);
  if (!status.ok() || done) return status.ok() ? 0 : fail(version.name, status);
  Results results;
  results.data = options.data;
  results.seed = options.seed;
  results.max_blocks = options.max_blocks;
  results.timing = options.timing;
  status = open_device(options.device, &results.device);
  if (!status.ok()) return fail(version.name, status);

  bool all_right = true;
  results.problems.resize(1);
  ProblemResult& problem = results.problems[0];
  status = run_problem({version}, options.size, options.data, options.seed, options.check_only,
                       options.timing, &problem, &all_right, options.max_blocks);
  if (status.ok()) status = finish_device();
  if (!status.ok()) return fail(version.name, status);

  std::printf("%s %s %s:", version.name, problem_name(options.size).c_str(), name_of(options.data));
  if (options.max_blocks > 0) std::printf(" at most %d blocks,", options.max_blocks);
  const ContenderResult& own = problem.contenders[0];
  if (!own.rounds_ms.empty()) {
    const double ms = median(own.rounds_ms);
    std::printf(" %.4f ms, %.1f TFLOP/s,", ms, tflops(options.size, ms));
    const ContenderResult* const cublas = find(problem, kCublas);
    if (cublas != nullptr) {
      std::printf(" %.3f x cuBLAS (%.4f ms),", *ratio(own, *cublas), median(cublas->rounds_ms));
    }
  }
  if (!measures_time()) {
    const Observation& seen = own.seen;
    std::printf(
        " %llu hazards, %.1f KB in and %.1f KB out by TMA, %llu WGMMAs, %llu waits of which "
        "%llu blocked, up to %d stages in flight,",
        static_cast<unsigned long long>(seen.hazards),
        static_cast<double>(seen.tma_load_bytes) / 1024,
        static_cast<double>(seen.tma_store_bytes) / 1024,
        static_cast<unsigned long long>(seen.wgmmas), static_cast<unsigned long long>(seen.waits),
        static_cast<unsigned long long>(seen.waits_blocked), seen.stages_in_flight);
  }
  std::printf(" %s\n", all_right ? "checked" : "WRONG");
  if (!options.json.empty()) {
    status = write_json(results, options.json);
    if (!status.ok()) return fail(version.name, status);
  }
  return static_cast<int>(all_right ? ExitCode::kOk : ExitCode::kWrongResult);
}

}  // namespace harness
