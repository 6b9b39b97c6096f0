// What a call has to say: nothing, or one sentence and the exit code that belongs to it.
#pragma once

#include <string>
#include <utility>

enum class ExitCode {
  kOk = 0,
  kWrongResult = 1,
  kUsage = 2,  // wrong arguments, or a problem outside the limits
  kNoDevice = 3,  // no GPU, or one that this code does not run on
  kCudaError = 4,  // or no memory left, on the device or on the host
  kInterrupted = 130,  // Ctrl-C, as shells count it
};

class Status {
 public:
  Status() = default;
  Status(ExitCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == ExitCode::kOk; }
  ExitCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  ExitCode code_ = ExitCode::kOk;
  std::string message_;
};
