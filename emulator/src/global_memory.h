// Global memory as clusters share it through the functions of ptx/global.cuh.
#pragma once

#include <cuda_runtime.h>
#include <source_line.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>

namespace emulator {

class Cluster;
struct Thread;

// Who has done something, for reports: it may have left since.
struct Actor {
  uint3 block = {0, 0, 0};
  int warp = 0;
  int lane = 0;
  const std::string* role = nullptr;
  const char* instruction = "";
  SourceLine where = {"", 0};
};
Actor actor(const Thread& thread, const char* instruction, SourceLine where);

// A thread's latest look at global memory.
struct Look {
  const void* address = nullptr;
  uint32_t value = 0;
  const char* instruction = "";
  SourceLine where = {"", 0};
};

// Writes of a cluster that others do not see yet: those that nothing orders, and that return
// nothing, take place some time after their issue.
class GlobalWrites {
 public:
  using Action = std::function<void()>;

  void add(Cluster& cluster, const void* address, Action action);
  // All take place; or those at one address, before anybody of the cluster touches it again.
  void flush();
  void flush(const void* address);

 private:
  struct Write {
    uint64_t number;
    const void* address;
    Action action;
  };
  void run(size_t index);

  uint64_t issued_ = 0;
  std::deque<Write> writes_;
};

enum class Order { kRelaxed, kAcquire, kRelease, kAcquireRelease };

// Locations through which clusters speak to each other.
class GlobalMemory {
 public:
  // The latest write to a location that went through a wrapper; null if there was none.
  struct Write {
    Actor who;
    uint32_t value = 0;
  };
  const Write* latest_write(const void* address) const;

  uint32_t read(Thread& thread, const uint32_t* address, Order order, const char* instruction,
                SourceLine where);
  // Takes the value from `before` to `after`.
  void write(const Actor& who, uint32_t* address, uint32_t before, uint32_t after);

 private:
  std::unordered_map<const void*, Write> writes_;
};

}  // namespace emulator
