// Where in the source a wrapper was called. As a defaulted argument, `SourceLine where =
// SourceLine::current()` names the caller's line, so that reports can quote it.
#pragma once

#include <cuda_runtime.h>

struct SourceLine {
  const char* file;
  int line;

  static constexpr __host__ __device__ SourceLine current(const char* file = __builtin_FILE(),
                                                          int line = __builtin_LINE()) {
    return {file, line};
  }
};
