#include <CLI/CLI.hpp>
#include <harness/options.h>

#include <cstdio>
#include <map>

namespace harness {

namespace {

const std::map<std::string, DataKind>& data_kinds() {
  static const std::map<std::string, DataKind> kinds = {
      {"uniform", DataKind::kUniform},   {"normal", DataKind::kNormal},
      {"ints", DataKind::kInts},         {"iota", DataKind::kIota},
      {"identity", DataKind::kIdentity}, {"zeros", DataKind::kZeros},
  };
  return kinds;
}

// CLI11's own transformer lists its choices in an order and form of its own; this one reads better.
void add_data_option(CLI::App* app, std::string* data) {
  app->add_option("--data", *data,
                  "values of A and B: uniform ([-0.5, 0.5) / sqrt(K)), normal, ints (-3 to 3, "
                  "checked bit by bit), iota, identity (B), zeros")
      ->check(CLI::IsMember(data_kinds()))
      ->option_text("KIND [uniform]");
}

void add_common_options(CLI::App* app, uint64_t* seed, DeviceOptions* device, TimingOptions* timing,
                        std::string* json) {
  app->add_option("--seed", *seed,
                  "the same seed gives the same matrices, and the same schedule in the emulator")
      ->option_text("N [1]");
  app->add_option("--trace", device->trace,
                  "emulator: write a timeline for Perfetto (ui.perfetto.dev) to this file")
      ->option_text("FILE");
  app->add_option("--device", device->index, "CUDA device")
      ->check(CLI::Range(0, 1023))
      ->option_text("N [0]");
  app->add_option("--rounds", timing->rounds, "timed launches of each contender")
      ->check(CLI::Range(1, 10000))
      ->option_text("N [11]");
  app->add_option("--rest-ms", timing->rest_ms, "pause before each timed launch")
      ->check(CLI::Range(0.0, 10000.0) & CLI::Validator(
                                             [](std::string& text) {
                                               return text.find("nan") == std::string::npos
                                                          ? std::string()
                                                          : std::string("a pause is a number");
                                             },
                                             ""))
      ->option_text("MS [10]");
  app->add_option("--json", *json, "also write the result to this file")->option_text("FILE");
}

// Runs CLI11; its exceptions become a status.
Status parse(CLI::App* app, int argc, const char* const* argv, bool* done) {
  *done = false;
  try {
    app->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app->help().c_str(), stdout);
    *done = true;
  } catch (const CLI::ParseError& error) {
    return {ExitCode::kUsage, std::string(error.what()) + " (see --help)"};
  }
  return {};
}

}  // namespace

const char* name_of(DataKind kind) {
  for (const auto& [name, value] : data_kinds()) {
    if (value == kind) return name.c_str();
  }
  return "unknown";
}

ProblemSize default_problem() {
  return measures_time() ? ProblemSize{4096, 4096, 4096} : ProblemSize{256, 512, 512};
}

std::vector<ProblemSize> default_problems() {
  if (!measures_time()) return {{256, 512, 512}, {200, 300, 136}, {1, 1, 8}};
  return {{8192, 8192, 8192},
          {4096, 4096, 4096},
          {4096, 4096, 14336},
          {2048, 2048, 2048},
          {4000, 5000, 1000}};  // tails in every direction
}

Status parse_problem(const std::string& text, ProblemSize* size) {
  *size = {};
  int used = 0;
  long long m = 0, n = 0, k = 0;
  if (std::sscanf(text.c_str(), "%lldx%lldx%lld%n", &m, &n, &k, &used) != 3 ||
      static_cast<size_t>(used) != text.size()) {
    return {ExitCode::kUsage,
            "'" + text + "' is no problem size; write MxNxK, for example 8192x8192x8192"};
  }
  size->m = m;
  size->n = n;
  size->k = k;
  return {};
}

Status parse_driver(const std::string& version, int argc, const char* const* argv,
                    DriverOptions* options, bool* done) {
  CLI::App app(version +
                   ": C[M,N] = A[M,K] · B[N,K]ᵀ, fp16 in, fp32 accumulate, fp16 out; checked "
                   "against a reference, then timed beside cuBLAS.",
               version);
  std::string data = name_of(options->data);
  ProblemSize& size = options->size;
  const auto with_default = [](const char* letter, int64_t value) {
    return std::string(letter) + " [" + std::to_string(value) + "]";
  };
  app.add_option("--m", size.m, "rows of A and C")->option_text(with_default("M", size.m));
  app.add_option("--n", size.n, "rows of B, columns of C")->option_text(with_default("N", size.n));
  app.add_option("--k", size.k, "columns of A and B")->option_text(with_default("K", size.k));
  app.add_option("--lda", size.lda, "elements from row to row of A")->option_text("N [K]");
  app.add_option("--ldb", size.ldb, "elements from row to row of B")->option_text("N [K]");
  app.add_option("--ldc", size.ldc, "elements from row to row of C")->option_text("N [N]");
  add_data_option(&app, &data);
  add_common_options(&app, &options->seed, &options->device, &options->timing, &options->json);
  app.add_flag("--check-only", options->check_only, "check the result, time nothing");
  app.add_option(
         "--max-blocks", options->max_blocks,
         "at most so many blocks, in versions whose blocks compute many tiles (0: no limit)")
      ->check(CLI::Range(0, 1 << 30))
      ->option_text("N [0]");
  const Status status = parse(&app, argc, argv, done);
  options->data = data_kinds().at(data);
  options->device.seed = options->seed;
  return status;
}

Status parse_compare(int argc, const char* const* argv, CompareOptions* options, bool* done) {
  CLI::App app(
      "Checks every version, then, on a GPU, times all of them and cuBLAS, interleaved; prints one "
      "table per problem.",
      "compare");
  std::string data = name_of(options->data);
  std::vector<std::string> problems;
  app.add_option("--problem", problems,
                 "a problem size, several times if you like; the default is a short list")
      ->option_text("MxNxK ...");
  app.add_option("--versions", options->versions, "the versions to run, as v1 v3; default: all")
      ->option_text("V ...");
  add_data_option(&app, &data);
  add_common_options(&app, &options->seed, &options->device, &options->timing, &options->json);
  app.add_flag("--check-only", options->check_only, "check the results, time nothing");
  Status status = parse(&app, argc, argv, done);
  options->data = data_kinds().at(data);
  options->device.seed = options->seed;
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
