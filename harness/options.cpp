// Command lines, by CLI11; a new option of all programs belongs into add_common_options.
#include <CLI/CLI.hpp>
#include <harness/options.h>

#include <charconv>
#include <cstdio>
#include <iterator>
#include <limits>
#include <sstream>
#include <system_error>
#include <type_traits>

namespace harness {

namespace {

// Sizes have limits of their own, whose sentences say more (check_limits).
constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

// A number as std::from_chars takes it: no blanks, no plus sign, nothing behind it.
template <class T>
Status parse_number(const std::string& text, T low, T high, T* value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  if (error == std::errc::invalid_argument || stop != end) {
    return {ExitCode::kUsage, "'" + text + "' is no " + (std::is_integral_v<T> ? "whole " : "") +
                                  "number; write it in digits alone"};
  }
  if (error == std::errc() && *value >= low && *value <= high) return {};
  std::ostringstream sentence;
  sentence << text << " is out of range; it may be " << low << " to " << high;
  return {ExitCode::kUsage, sentence.str()};
}

template <class T>
CLI::Option* add_number(CLI::App* app, const std::string& name, T* value, T low, T high,
                        const std::string& description) {
  const auto parse = [=](const std::string& text) {
    const Status status = parse_number(text, low, high, value);
    if (!status.ok()) throw CLI::ValidationError(name, status.message());
  };
  return app->add_option_function<std::string>(name, parse, description);
}

void add_size(CLI::App* app, const std::string& name, int64_t* value, const std::string& meaning,
              const std::string& shown) {
  add_number(app, name, value, kLowest, kHighest, meaning)->option_text(shown);
}

// An empty name is a variable that is not set, say.
void add_file(CLI::App* app, const std::string& name, std::string* path,
              const std::string& description) {
  app->add_option(name, *path, description)
      ->check(CLI::Validator(
          [](const std::string& text) {
            return text.empty() ? std::string("the file's name is empty") : std::string();
          },
          ""))
      ->option_text("FILE");
}

void add_common_options(CLI::App* app, RunOptions* options) {
  app->add_option_function<std::string>(
         "--data",
         [=](const std::string& name) {
           for (size_t kind = 0; kind < std::size(kDataKinds); ++kind) {
             if (name == kDataKinds[kind]) options->data = static_cast<DataKind>(kind);
           }
         },
         "values of A and B: uniform ([-0.5, 0.5) / sqrt(K)), normal, ints (-3 to 3, checked bit "
         "by "
         "bit), iota, identity (B), zeros")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kDataKinds), std::end(kDataKinds))))
      ->option_text("KIND [uniform]");
  add_number<uint64_t>(
      app, "--seed", &options->seed, 0, std::numeric_limits<uint64_t>::max(),
      "the same seed gives the same matrices, and the same schedule in the emulator")
      ->option_text("N [1]");
  app->add_option(
         "--delays", options->device.delays,
         "emulator: when copies and WGMMAs take place after their issue: mixed (drawn for "
         "each), at-once, short, long, idle (not before all wait), textbook (always alike, "
         "whatever the seed)")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kDelays), std::end(kDelays))))
      ->option_text("KIND [mixed]");
  add_file(app, "--trace", &options->device.trace,
           "emulator: write a timeline for Perfetto (ui.perfetto.dev) to this file");
  add_number(app, "--trace-blocks", &options->device.trace_blocks, 1, 1 << 30,
             "so many blocks are in it, and those of a report")
      ->option_text("N [1]");
  add_number(app, "--device", &options->device.index, 0, 1023, "CUDA device")->option_text("N [0]");
  add_number(app, "--max-blocks", &options->max_blocks, 0, 1 << 30,
             "at most so many blocks, in versions whose blocks compute many tiles (0: no limit)")
      ->option_text("N [" + std::to_string(options->max_blocks) + "]");
  add_number(app, "--rounds", &options->timing.rounds, 1, 10000, "timed launches of each contender")
      ->option_text("N [11]");
  add_number(app, "--rest-ms", &options->timing.rest_ms, 0.0, 10000.0,
             "pause before each timed launch")
      ->option_text("MS [10]");
  add_file(app, "--json", &options->json, "also write the result to this file");
  app->add_flag("--check-only", options->check_only, "check the result, time nothing");
}

// Runs CLI11; its exceptions become a status.
Status parse(CLI::App* app, int argc, const char* const* argv, RunOptions* options, bool* done) {
  *done = false;
  try {
    app->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app->help().c_str(), stdout);
    *done = true;
  } catch (const CLI::ParseError& error) {
    return {ExitCode::kUsage, std::string(error.what()) + " (see --help)"};
  }
  options->command = {app->get_name()};
  options->command.insert(options->command.end(), argv + 1, argv + argc);
  options->device.seed = options->seed;
  options->max_blocks_is_default = app->count("--max-blocks") == 0;
  return {};
}

}  // namespace

ProblemSize default_problem() {
  return measures_time() ? ProblemSize{4096, 4096, 4096} : ProblemSize{300, 536, 568};
}

std::vector<ProblemSize> default_problems() {
  // Tails everywhere; then C that TMA cannot store; then more groups than one in both directions.
  if (!measures_time()) return {default_problem(), {1, 1, 8}, {2100, 300, 8}, {40, 1100, 72}};
  return {{8192, 8192, 8192},
          {4096, 4096, 4096},
          {4096, 4096, 14336},
          {2048, 2048, 2048},
          {4000, 5000, 1000}};  // tails in every direction
}

int default_max_blocks() { return measures_time() ? 0 : 2; }

Status parse_problem(const std::string& text, ProblemSize* size) {
  *size = {};
  const size_t first = text.find('x');
  const size_t second = first == std::string::npos ? first : text.find('x', first + 1);
  if (second != std::string::npos &&
      parse_number(text.substr(0, first), kLowest, kHighest, &size->m).ok() &&
      parse_number(text.substr(first + 1, second - first - 1), kLowest, kHighest, &size->n).ok() &&
      parse_number(text.substr(second + 1), kLowest, kHighest, &size->k).ok()) {
    return {};
  }
  return {ExitCode::kUsage,
          "'" + text + "' is no problem size; write MxNxK, for example 8192x8192x8192"};
}

Status parse_driver(const std::string& version, int argc, const char* const* argv,
                    RunOptions* options, bool* done) {
  CLI::App app(version +
                   ": C[M,N] = A[M,K] · B[N,K]ᵀ, fp16 in, fp32 accumulate, fp16 out; checked "
                   "against a reference, then timed beside cuBLAS.",
               version);
  ProblemSize size = default_problem();
  const auto with_default = [](const char* letter, int64_t value) {
    return std::string(letter) + " [" + std::to_string(value) + "]";
  };
  add_size(&app, "--m", &size.m, "rows of A and C", with_default("M", size.m));
  add_size(&app, "--n", &size.n, "rows of B, columns of C", with_default("N", size.n));
  add_size(&app, "--k", &size.k, "columns of A and B", with_default("K", size.k));
  add_size(&app, "--lda", &size.lda, "elements from row to row of A", "N [K]");
  add_size(&app, "--ldb", &size.ldb, "elements from row to row of B", "N [K]");
  add_size(&app, "--ldc", &size.ldc, "elements from row to row of C", "N [N]");
  add_file(&app, "--watch", &options->device.watch,
           "emulator: write a page that plays the run, for a browser, to this file");
  add_common_options(&app, options);
  const Status status = parse(&app, argc, argv, options, done);
  options->problems = {size};
  options->device.title = version + ", " + problem_name(size);
  return status;
}

Status parse_compare(int argc, const char* const* argv, RunOptions* options, bool* done) {
  CLI::App app(
      "Checks every version, then, on a GPU, times all of them and cuBLAS, interleaved; prints one "
      "table per problem.",
      "compare");
  std::vector<std::string> problems;
  app.add_option("--problem", problems,
                 "a problem size, several times if you like; the default is a short list")
      ->option_text("MxNxK ...");
  app.add_option("--versions", options->versions, "the versions to run, as v1 v3; default: all")
      ->option_text("V ...");
  add_common_options(&app, options);
  Status status = parse(&app, argc, argv, options, done);
  for (size_t i = 0; i < problems.size() && status.ok(); ++i) {
    ProblemSize size;
    status = parse_problem(problems[i], &size);
    options->problems.push_back(size);
  }
  options->problems_are_default = problems.empty();
  if (problems.empty()) options->problems = default_problems();
  return status;
}

}  // namespace harness
