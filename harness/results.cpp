// Tables and the result file. Who reads the file (tools/plot.py, tools/weave.py, and what others
// have written) counts on its fields: add some, and change none.
#include <harness/commit.h>
#include <harness/median.h>
#include <harness/results.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

namespace harness {

namespace {

std::string size_text(const ProblemSize& size) {
  return "M = " + std::to_string(size.m) + ", N = " + std::to_string(size.n) +
         ", K = " + std::to_string(size.k);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

// As std::sprintf, but into a string of the length that it takes.
__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
  std::va_list values, again;
  va_start(values, pattern);
  va_copy(again, values);
  std::string text(std::vsnprintf(nullptr, 0, pattern, values), '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  va_end(values);
  return text;
}

nlohmann::ordered_json or_null(std::optional<double> value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json or_null(int64_t value) {
  return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

nlohmann::ordered_json row_of(const ContenderResult& contender, const ProblemResult& problem) {
  nlohmann::ordered_json row = {{"name", contender.name}};
  if (!contender.api.empty()) row["api"] = contender.api;
  if (!contender.refusal.empty()) row["refusal"] = contender.refusal;
  if (!contender.rounds_ms.empty()) {
    const auto [low, high] =
        std::minmax_element(contender.rounds_ms.begin(), contender.rounds_ms.end());
    const double ms = median(contender.rounds_ms);
    row["ms"] = ms;
    row["ms_min"] = *low;
    row["ms_max"] = *high;
    row["tflops"] = tflops(problem.size, ms);
    const ContenderResult* const baseline = find(problem, kCublas);
    row["ratio_to_cublas"] = or_null(baseline ? ratio(contender, *baseline) : std::nullopt);
    row["late"] = contender.late;
  }
  row["checked"] =
      contender.checked ? nlohmann::ordered_json(*contender.checked) : nlohmann::ordered_json();
  row["blocks"] = or_null(contender.blocks());
  row["clusters"] =
      or_null(contender.grid.cluster > 1 ? contender.blocks() / contender.grid.cluster : 0);
  row["tiles_per_block"] = or_null(contender.blocks() > 0 ? contender.grid.tiles_per_block : 0);
  row["rounds_ms"] = contender.rounds_ms;
  return row;
}

}  // namespace

double tflops(const ProblemSize& size, double ms) {
  return 2.0 * static_cast<double>(size.m) * static_cast<double>(size.n) *
         static_cast<double>(size.k) / (ms * 1e9);
}

std::optional<double> ratio(const ContenderResult& contender, const ContenderResult& baseline) {
  const size_t rounds = std::min(contender.rounds_ms.size(), baseline.rounds_ms.size());
  if (rounds == 0) return std::nullopt;
  std::vector<double> ratios(rounds);
  for (size_t i = 0; i < rounds; ++i) {
    ratios[i] = baseline.rounds_ms[i] / contender.rounds_ms[i];
  }
  return median(ratios);
}

bool all_right(const ProblemResult& problem) {
  for (const ContenderResult& contender : problem.contenders) {
    if (contender.checked == false) return false;
  }
  return true;
}

const ContenderResult* find(const ProblemResult& problem, const std::string& name) {
  for (const ContenderResult& contender : problem.contenders) {
    if (contender.name == name) return &contender;
  }
  return nullptr;
}

void choose_cublas(ProblemResult* problem) {
  ContenderResult* best = nullptr;
  for (ContenderResult& contender : problem->contenders) {
    if (contender.name != kGemmEx && contender.name != kLt) continue;
    if (contender.rounds_ms.empty()) continue;
    if (best == nullptr || median(contender.rounds_ms) < median(best->rounds_ms)) {
      best = &contender;
    }
  }
  if (best == nullptr) return;
  best->api = best->name;
  best->name = kCublas;
}

std::string describe_setup(const Results& results) {
  const DeviceInfo& device = results.device;
  std::string text = device.name + ", " + std::to_string(device.sms) + " SMs";
  if (device.clock_max_mhz > 0) text += ", up to " + std::to_string(device.clock_max_mhz) + " MHz";
  if (device.power_limit_w > 0) text += format(", %.0f W", device.power_limit_w);
  if (!device.driver.empty()) text += ", driver " + device.driver;
  if (!device.cuda.empty()) text += ", CUDA " + device.cuda + ", cuBLAS " + device.cublas;
  const std::string limit =
      results.max_blocks > 0 ? format(", --max-blocks %d", results.max_blocks) : "";
  text += format("\n%s data, %d rounds, %.0f ms rest%s, commit %s\n", name_of(results.data),
                 results.timing.rounds, results.timing.rest_ms, limit.c_str(), kCommit);
  if (!measures_time()) {
    return device.name +
           ": kernels run as C++, races and deadlocks are searched for; it says nothing "
           "of speed\n" +
           name_of(results.data) + " data, seed " + std::to_string(results.seed) + limit +
           ", commit " + kCommit + "\n";
  }
  if (device.name.find("H200") == std::string::npos) {
    text += "The project's figures are from an H200: here, read the ratios, not the TFLOP/s.\n";
  }
  return text;
}

std::string format_table(const ProblemResult& problem, const std::string& against) {
  std::string text = "\n" + size_text(problem.size) + "\n";
  text += format("  %-22s %9s %17s %8s %9s %9s %9s  %s\n", "version", "ms", "min - max", "TFLOP/s",
                 "x cuBLAS", "% ceiling", against.empty() ? "x before" : "x default", "checked");
  const ContenderResult* const baseline = find(problem, kCublas);
  const ContenderResult* const ceiling = find(problem, kCeiling);
  const ContenderResult* before = against.empty() ? nullptr : find(problem, against);
  for (const ContenderResult& contender : problem.contenders) {
    text += format("  %-22s", contender.name.c_str());
    if (contender.rounds_ms.empty()) {
      text += format(" %9s %17s %8s %9s %9s %9s", "-", "-", "-", "-", "-", "-");
    } else {
      const auto [low, high] =
          std::minmax_element(contender.rounds_ms.begin(), contender.rounds_ms.end());
      const double ms = median(contender.rounds_ms);
      text += format(" %9.4f %8.4f-%8.4f %8.1f", ms, *low, *high, tflops(problem.size, ms));
      const auto to_baseline = baseline == nullptr ? std::nullopt : ratio(contender, *baseline);
      text += to_baseline ? format(" %9.3f", *to_baseline) : format(" %9s", "-");
      const auto to_ceiling = ceiling == nullptr ? std::nullopt : ratio(contender, *ceiling);
      text += to_ceiling ? format(" %9.1f", 100 * *to_ceiling) : format(" %9s", "-");
      const auto to_before = before == nullptr ? std::nullopt : ratio(contender, *before);
      text += to_before && contender.checked ? format(" %9.3f", *to_before) : format(" %9s", "-");
    }
    if (contender.checked) {
      text += *contender.checked ? "  yes" : "  WRONG";
      if (against.empty() && !contender.rounds_ms.empty()) before = &contender;
    }
    text += "\n";
  }
  return text + format_notes(problem);
}

std::string ListTable::head() const {
  std::string text = "\n" + title_ + "\n" + format("  %-18s %8s", "times cuBLAS", "TFLOP/s");
  for (const std::string& version : versions_) {
    text += format(" %6s", version.substr(0, version.find('_')).c_str());
  }
  return text + "\n";
}

std::string ListTable::row(const ProblemResult& problem) {
  const ContenderResult* const baseline = find(problem, kCublas);
  std::string text = format("  %-18s", problem_name(problem.size).c_str());
  text += baseline == nullptr ? format(" %8s", "-")
                              : format(" %8.1f", tflops(problem.size, median(baseline->rounds_ms)));
  ++rows_;
  for (size_t i = 0; i < versions_.size(); ++i) {
    const ContenderResult* const version = find(problem, versions_[i]);
    const auto value =
        version == nullptr || baseline == nullptr ? std::nullopt : ratio(*version, *baseline);
    if (value) ratios_[i].push_back(*value);
    const bool wrong = version != nullptr && version->checked == false;
    text += wrong   ? format(" %6s", "WRONG")
            : value ? format(" %6.3f", *value)
                    : format(" %6s", "-");
  }
  return text + "\n" + format_notes(problem);
}

std::string ListTable::means() const {
  std::string text = format("  %-18s %8s", "geometric mean", "");
  for (const std::vector<double>& values : ratios_) {
    double logarithms = 0;
    for (const double value : values) logarithms += std::log(value);
    text += values.size() == rows_ && rows_ > 0
                ? format(" %6.3f", std::exp(logarithms / static_cast<double>(rows_)))
                : format(" %6s", "-");
  }
  return text + "\n";
}

std::string format_notes(const ProblemResult& problem) {
  std::string text;
  for (const ContenderResult& contender : problem.contenders) {
    if (!contender.refusal.empty()) {
      text +=
          "  note: " + contender.name + " does not run this problem: " + contender.refusal + "\n";
    }
  }
  for (const ContenderResult& contender : problem.contenders) {
    if (contender.late == 0) continue;
    text +=
        format("  note: %s: %d of %zu launches came late; their times hold latency of the host.\n",
               contender.name.c_str(), contender.late, contender.rounds_ms.size());
  }
  if (problem.throttled) text += "  The GPU was slowed down by heat or a fault meanwhile.\n";
  return text;
}

std::string names_of_unlimited(const ProblemResult& problem, int max_blocks) {
  std::string names;
  for (const ContenderResult& contender : problem.contenders) {
    const int64_t limit = std::max(max_blocks, contender.grid.cluster);  // a cluster at least
    if (max_blocks == 0 || contender.blocks() <= limit) continue;
    names += (names.empty() ? "" : ", ") + contender.name;
  }
  return names;
}

std::string format_observations(const ProblemResult& problem) {
  std::string text = "\n" + size_text(problem.size) + "\n";
  text += format("  %-22s %7s %7s %11s %9s %10s %7s %7s %7s %6s\n", "version", "checked", "hazards",
                 "tiles/block", "TMA in KB", "TMA out KB", "WGMMAs", "waits", "blocked", "stages");
  for (const ContenderResult& contender : problem.contenders) {
    const Observation& seen = contender.seen;
    text += format("  %-22s %7s %7" PRIu64 " %11" PRId64 " %9.1f %10.1f %7" PRIu64 " %7" PRIu64
                   " %7" PRIu64 " %6d\n",
                   contender.name.c_str(),
                   !contender.checked   ? "-"
                   : *contender.checked ? "yes"
                                        : "WRONG",
                   seen.hazards, contender.blocks() > 0 ? contender.grid.tiles_per_block : 0,
                   static_cast<double>(seen.tma_load_bytes) / 1024,
                   static_cast<double>(seen.tma_store_bytes) / 1024, seen.wgmmas, seen.waits,
                   seen.waits_blocked, seen.stages_in_flight);
  }
  return text + format_notes(problem);
}

std::string json_of(const Results& results) {
  using nlohmann::ordered_json;
  const DeviceInfo& device = results.device;
  ordered_json root = {
      {"schema", 2},
      {"commit", kCommit},
      {"date", today()},
      {"command", results.command},
      {"device",
       {{"name", device.name},
        {"uuid", device.uuid},
        {"sms", device.sms},
        {"power_limit_w", device.power_limit_w},
        {"clock_max_mhz", device.clock_max_mhz},
        {"driver", device.driver},
        {"cuda", device.cuda},
        {"cublas", device.cublas}}},
      {"data", name_of(results.data)},
      {"seed", results.seed},
      {"max_blocks", results.max_blocks},
      {"rounds", results.timing.rounds},
      {"rest_ms", results.timing.rest_ms},
      {"problems", ordered_json::array()},
  };
  for (const ProblemResult& problem : results.problems) {
    const MatmulArguments args = sizes_of(problem.size);
    ordered_json entry = {{"m", args.m},
                          {"n", args.n},
                          {"k", args.k},
                          {"lda", args.lda},
                          {"ldb", args.ldb},
                          {"ldc", args.ldc},
                          {"c_offset", problem.size.c_offset},
                          {"throttled", problem.throttled},
                          {"contenders", ordered_json::array()}};
    for (const ContenderResult& contender : problem.contenders) {
      entry["contenders"].push_back(row_of(contender, problem));
    }
    root["problems"].push_back(std::move(entry));
  }
  return root.dump(1) + "\n";
}

}  // namespace harness
