// Checks and times every version and cuBLAS on a list of problems; --help says more.
#include <harness/run.h>

#include <cstdio>
#include <utility>

namespace harness {
namespace {

// True if `name` ("v2" or "v2_pipelined") means this version.
bool means(const std::string& name, const Version& version) {
  const std::string full = version.name;
  return full == name || full.rfind(name + "_", 0) == 0;
}

int run_compare(int argc, char** argv) {
  const std::string program = "compare";
  CompareOptions options;
  bool done = false;
  Status status = parse_compare(argc, argv, &options, &done);
  if (!status.ok() || done) return status.ok() ? 0 : fail(program, status);
  std::vector<Version> chosen;
  for (const Version& version : versions()) {
    bool wanted = options.versions.empty();
    for (const std::string& name : options.versions) wanted = wanted || means(name, version);
    if (wanted) chosen.push_back(version);
  }
  for (const std::string& name : options.versions) {
    bool known = false;
    for (const Version& version : chosen) known = known || means(name, version);
    if (!known) {
      return fail(program, {ExitCode::kUsage, "there is no version '" + name + "'; say v1, v2, …"});
    }
  }
  Results results;
  results.data = options.data;
  results.seed = options.seed;
  results.timing = options.timing;
  status = open_device(options.device, &results.device);
  if (!status.ok()) return fail(program, status);
  std::fputs(describe_setup(results).c_str(), stdout);

  bool all_right = true;
  for (const ProblemSize& size : options.problems) {
    ProblemResult problem;
    status = run_problem(chosen, size, options.data, options.seed, options.check_only,
                         options.timing, &problem, &all_right);
    if (!status.ok()) return fail(program, status);
    std::fputs((measures_time() ? format_table(problem) : format_observations(problem)).c_str(),
               stdout);
    std::fflush(stdout);
    results.problems.push_back(std::move(problem));
  }
  if (!measures_time() && all_right) {
    std::printf("\nAll %zu versions are right at all %zu sizes, and no hazard was found.\n",
                chosen.size(), options.problems.size());
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

}  // namespace
}  // namespace harness

int main(int argc, char** argv) { return harness::run_compare(argc, argv); }
