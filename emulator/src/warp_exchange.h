// What the *_sync built-ins of CUDA do: lanes of a warp, named by a mask, wait for each other and
// exchange values. Unlike instructions that whole warps execute (`.aligned`), they may be called in
// different lines.
#pragma once

#include <source_line.h>

#include <cstdint>
#include <list>

namespace emulator {

struct Thread;

class WarpExchange {
 public:
  struct Result {
    uint32_t lanes = 0;  // that take part: all of the mask but those that have left the kernel
    uint64_t values[32] = {};  // what they have brought
  };

  // The calling thread brings `value`, and waits for the other lanes of `mask` to call the same
  // `function` with the same mask.
  Result meet(Thread& thread, const char* function, uint32_t mask, uint64_t value,
              SourceLine where);
  // A lane leaves the kernel: nobody waits for it any more.
  void leave(Thread& thread);

 private:
  struct Call {
    const char* function;
    uint32_t mask;
    bool complete = false;
    uint32_t waiting = 0;
    Result result = {};
  };
  void complete_if_all_came(Thread& thread, Call* call);

  std::list<Call> calls_;
  uint32_t gone_ = 0;
};

}  // namespace emulator
