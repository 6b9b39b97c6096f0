#include <harness/commit.h>
#include <harness/options.h>
#include <harness/results.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
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

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[160];
  std::snprintf(text, sizeof(text), pattern, values...);
  return text;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

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
  text += format("\n%s data, %d rounds, %.0f ms rest, commit %s\n", name_of(results.data),
                 results.timing.rounds, results.timing.rest_ms, kCommit);
  if (!measures_time()) {
    return device.name +
           ": kernels run as C++, races and deadlocks are searched for; it says nothing "
           "of speed\n" +
           name_of(results.data) + " data, seed " + std::to_string(results.seed) + ", commit " +
           kCommit + "\n";
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
  if (problem.throttled) text += "  The GPU was slowed down by heat or a fault meanwhile.\n";
  return text;
}

std::string format_observations(const ProblemResult& problem) {
  std::string text = "\n" + size_text(problem.size) + "\n";
  text += format("  %-22s %8s %8s %11s %11s %8s %8s %8s %8s\n", "version", "checked", "hazards",
                 "TMA in KB", "TMA out KB", "WGMMAs", "waits", "blocked", "stages");
  for (const ContenderResult& contender : problem.contenders) {
    const Observation& seen = contender.seen;
    text += format(
        "  %-22s %8s %8llu %11.1f %11.1f %8llu %8llu %8llu %8d\n", contender.name.c_str(),
        !contender.checked   ? "-"
        : *contender.checked ? "yes"
                             : "WRONG",
        static_cast<unsigned long long>(seen.hazards),
        static_cast<double>(seen.tma_load_bytes) / 1024,
        static_cast<double>(seen.tma_store_bytes) / 1024,
        static_cast<unsigned long long>(seen.wgmmas), static_cast<unsigned long long>(seen.waits),
        static_cast<unsigned long long>(seen.waits_blocked), seen.stages_in_flight);
  }
  return text;
}

Status write_json(const Results& results, const std::string& path) {
  using nlohmann::ordered_json;
  const DeviceInfo& device = results.device;
  ordered_json root = {
      {"schema", 1},
      {"commit", kCommit},
      {"date", today()},
      {"device",
       {{"name", device.name},
        {"sms", device.sms},
        {"power_limit_w", device.power_limit_w},
        {"clock_max_mhz", device.clock_max_mhz},
        {"driver", device.driver},
        {"cuda", device.cuda},
        {"cublas", device.cublas}}},
      {"data", name_of(results.data)},
      {"rounds", results.timing.rounds},
      {"rest_ms", results.timing.rest_ms},
      {"problems", ordered_json::array()},
  };
  if (results.max_blocks > 0) root["max_blocks"] = results.max_blocks;
  for (const ProblemResult& problem : results.problems) {
    ordered_json entry = {{"m", problem.size.m},
                          {"n", problem.size.n},
                          {"k", problem.size.k},
                          {"throttled", problem.throttled},
                          {"contenders", ordered_json::array()}};
    const ContenderResult* const baseline = find(problem, kCublas);
    for (const ContenderResult& contender : problem.contenders) {
      ordered_json row = {{"name", contender.name}};
      if (!contender.api.empty()) row["api"] = contender.api;
      if (!contender.rounds_ms.empty()) {
        const auto [low, high] =
            std::minmax_element(contender.rounds_ms.begin(), contender.rounds_ms.end());
        const double ms = median(contender.rounds_ms);
        row["ms"] = ms;
        row["ms_min"] = *low;
        row["ms_max"] = *high;
        row["tflops"] = tflops(problem.size, ms);
        if (baseline != nullptr) row["ratio_to_cublas"] = ratio(contender, *baseline).value_or(0);
      }
      row["checked"] = contender.checked ? ordered_json(*contender.checked) : ordered_json();
      row["rounds_ms"] = contender.rounds_ms;
      entry["contenders"].push_back(std::move(row));
    }
    root["problems"].push_back(std::move(entry));
  }
  std::ofstream file(path);
  file << root.dump(1) << "\n";
  file.close();
  if (file.good()) return {};
  return {ExitCode::kUsage, "cannot write " + path + "; choose another file for --json"};
}

}  // namespace harness
