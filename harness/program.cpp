// The frame of every program.
#include <fcntl.h>
#include <harness/program.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace harness {

namespace {

int run_caught(const std::string& program, const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    return fail(program, {ExitCode::kCudaError,
                          std::string("an exception ended the program: ") + error.what()});
  }
}

}  // namespace

int fail(const std::string& program, const Status& status) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", program.c_str(), status.message().c_str());
  return static_cast<int>(status.code());
}

int run_program(const std::string& program, const std::function<int()>& body) {
  if (fcntl(STDOUT_FILENO, F_GETFD) == -1) {  // the next file to be opened would take its place
    return fail(program, {ExitCode::kUsage,
                          "standard output is closed; send it somewhere, for "
                          "example to /dev/null"});
  }
  const int code = run_caught(program, body);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const int lost = fail(program, {ExitCode::kUsage,
                                  "standard output could not be written to its "
                                  "end; is the disk full?"});
  return code == 0 ? lost : code;
}

}  // namespace harness
