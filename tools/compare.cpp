// Checks and times every version and cuBLAS on a list of problems; --help says more.
#include <harness/program.h>
#include <harness/run.h>
#include <harness/versions.h>

namespace harness {
namespace {

// True if `name` ("v2" or "v2_pipelined") means this version.
bool means(const std::string& name, const Version& version) {
  const std::string full = version.name;
  return full == name || full.rfind(name + "_", 0) == 0;
}

int run_compare(int argc, char** argv) {
  const std::string program = "compare";
  RunOptions options;
  bool done = false;
  const Status status = parse_compare(argc, argv, &options, &done);
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
  return run_problems(program, chosen, options, [](const ProblemResult& problem) {
    return measures_time() ? format_table(problem) : format_observations(problem);
  });
}

}  // namespace
}  // namespace harness

int main(int argc, char** argv) {
  return harness::run_program("compare", [&] { return harness::run_compare(argc, argv); });
}
