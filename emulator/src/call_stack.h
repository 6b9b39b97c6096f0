// Where in the kernel a thread is: the call of a wrapper, and who has called the method or helper
// that it is in. Stacks are walked when a report is written, never before.
#pragma once

#include <source_line.h>

#include <string>
#include <vector>

namespace emulator {

struct Thread;

// Return addresses, from the innermost call outwards.
using CallStack = std::vector<const void*>;

// That of the calling fiber.
CallStack capture_call_stack();

// A call of a wrapper. `address` is where it returns to; `body` the latest call in the kernel
// itself, of which it may be one.
struct CallSite {
  SourceLine where = {"", 0};
  SourceLine body = {"", 0};
  const void* address = nullptr;
};

// The same as a reader of the kernel sees it.
struct Position {
  SourceLine where = {"", 0};
  // The lines of the kernel from which `where` is reached, outwards, as far as they are known.
  std::vector<SourceLine> callers;
  // If none is, and `where` is in no line of the kernel's own: its latest one before.
  SourceLine after = {"", 0};
  const std::string* role = nullptr;  // that the kernel's line names
};

// Where a thread is, or was when it left.
Position position_of(const Thread& thread);
// Of a call in the past. The role is that of the line alone.
Position position_of(const CallSite& site);

}  // namespace emulator
