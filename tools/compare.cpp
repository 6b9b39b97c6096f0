// Checks and times every version and cuBLAS on a list of problems; --help says more.
#include <harness/program.h>
#include <harness/run.h>
#include <harness/versions.h>

#include <optional>
#include <string>
#include <vector>

namespace harness {
namespace {

// True if `name` ("v2" or "v2_pipelined") means this version.
bool means(const std::string& name, const Version& version) {
  const std::string full = version.name;
  return full == name || full.rfind(name + "_", 0) == 0;
}

// Prints the default problems of a GPU, which come list by list, as one table for each list.
class ListPrinter {
 public:
  explicit ListPrinter(const std::vector<Version>& chosen) {
    for (const Version& version : chosen) names_.emplace_back(version.name);
  }

  std::string operator()(const ProblemResult& problem) {
    const ProblemList& list = problem_lists()[list_];
    std::string text;
    if (row_ == 0) {
      table_.emplace(std::string(list.name) + ": " + list.meaning, names_);
      text += table_->head();
    }
    text += table_->row(problem);
    if (++row_ == list.problems.size()) {
      text += table_->means();
      row_ = 0;
      ++list_;
    }
    return text;
  }

 private:
  std::vector<std::string> names_;
  std::optional<ListTable> table_;
  size_t list_ = 0;
  size_t row_ = 0;  // of the list
};

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
  ListPrinter lists(chosen);
  return run_problems(program, chosen, options, [&](const ProblemResult& problem) {
    if (!measures_time()) return format_observations(problem);
    return options.problems_are_default ? lists(problem) : format_table(problem);
  });
}

}  // namespace
}  // namespace harness

int main(int argc, char** argv) {
  return harness::run_program("compare", [&] { return harness::run_compare(argc, argv); });
}
