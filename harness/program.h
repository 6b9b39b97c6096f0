// What every program's main() does around its work: whatever goes wrong ends in one sentence and an
// exit code (common/status.h).
#pragma once

#include <status.h>

#include <functional>
#include <string>

namespace harness {

// Runs `body`, which returns an exit code. An exception ends in kCudaError (4); standard output
// that is closed, or cannot be written to its end (a full disk), is no success either.
int run_program(const std::string& program, const std::function<int()>& body);

// Prints "program: sentence" to standard error; returns the exit code.
int fail(const std::string& program, const Status& status);

}  // namespace harness
