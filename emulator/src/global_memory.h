// Global memory as clusters share it through the functions of ptx/global.cuh.
#pragma once

#include <cuda_runtime.h>
#include <source_line.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "vector_clock.h"

namespace emulator {

class Cluster;
struct Thread;

// Who has done something, for reports: it may have left since.
struct Actor {
  uint3 block = {0, 0, 0};
  int64_t block_number = 0;  // within the grid
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
  uint64_t value = 0;
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

// --- who may touch what when ---

enum class GlobalAccessKind { kRead, kWrite, kAtomicRead, kAtomicWrite, kTmaWrite, kTmaUpdate };

// A thread's access to memory that several blocks reach. Whoever's clock has reached `value` in the
// warp's component has been told of it.
struct GlobalAccess {
  GlobalAccessKind kind;
  Component component;
  uint32_t value;
  Actor who;

  bool is_write() const {
    return kind != GlobalAccessKind::kRead && kind != GlobalAccessKind::kAtomicRead;
  }
  bool is_atomic() const {
    return kind == GlobalAccessKind::kAtomicRead || kind == GlobalAccessKind::kAtomicWrite ||
           kind == GlobalAccessKind::kTmaUpdate;
  }
};

// A warp's accesses are counted by how often it has told others of what it has done.
struct GlobalAccesses {
  Component component = kNoComponent;
  uint32_t told = 0;
  bool more = false;  // than it has told of
  VectorClock acquirable;  // by a fence, from what relaxed reads have read

  // What it can tell now.
  uint32_t epoch() {
    told += more;
    more = false;
    return told;
  }
};

// The latest accesses to each two bytes of memory.
class AccessHistory {
 public:
  // Two accesses of different blocks to the same bytes that nothing orders.
  struct Race {
    GlobalAccess earlier;
    GlobalAccess later;
    const void* address;
  };

  // Notes an access to `bytes` from `address` on by the calling thread, whose clock is `known`.
  std::optional<Race> note(const void* address, size_t bytes, const GlobalAccess& access,
                           const Counts& known);
  // Notes all accesses of a cluster that has run alone, and knows nothing of others.
  std::optional<Race> absorb(AccessHistory&& later);
  // Any write to these bytes that `known` does not cover.
  std::optional<GlobalAccess> unknown_write(const void* address, size_t bytes,
                                            const Counts& known) const;
  // None of these bytes has been touched, as a quick look tells.
  bool is_untouched(const void* address, size_t bytes) const;

 private:
  static constexpr size_t kUnit = 2;  // bytes
  static constexpr size_t kPageUnits = 128;
  using Number = uint32_t;  // of an access, or of a list of accesses; 0: none

  // Reads are lists: any number of warps may have read since the latest write.
  struct Read {
    Number access;
    Number next;
  };
  struct Page {
    Number writes[kPageUnits] = {};
    Number reads[kPageUnits] = {};
  };

  Page& page(uintptr_t number);
  Number number_of(const GlobalAccess& access);
  Number with_read(Number list, Number access);
  const GlobalAccess* unordered(Number write, Number reads, const GlobalAccess& access,
                                const Counts& known) const;

  std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
  uintptr_t first_page_ = UINTPTR_MAX, last_page_ = 0;
  uintptr_t latest_page_number_ = 0;
  Page* latest_page_ = nullptr;
  std::vector<GlobalAccess> accesses_{1};
  std::vector<Read> reads_{1};
  std::unordered_map<uint64_t, Number> lists_;  // by access and next
  std::unordered_map<Component, std::vector<Number>> recent_;  // of a warp
};

// --- flags and counters ---

enum class Order { kRelaxed, kAcquire, kRelease, kAcquireRelease };
constexpr bool acquires(Order order) {
  return order == Order::kAcquire || order == Order::kAcquireRelease;
}
constexpr bool releases(Order order) {
  return order == Order::kRelease || order == Order::kAcquireRelease;
}

// What a write hands to whoever acquires it.
struct Released {
  int64_t cluster = -1;  // whose agents the clock speaks of
  VectorClock clock;
};
// What a write of this order by the thread would hand on.
Released released(const Thread& thread, Order order);

class GlobalMemory {
 public:
  // A location through which clusters speak to each other.
  struct Location {
    uint64_t value = 0;
    std::optional<Actor> writer;  // the latest that came through a wrapper
    Released released;
  };
  const Location* location(const void* address) const;

  // The calling thread reads 4 or 8 bytes, and learns what that tells it.
  uint64_t read(Thread& thread, const void* address, size_t bytes, Order order,
                const char* instruction, SourceLine where);
  // An update (red, atom) hands on what the value before it did, too.
  void write(const Actor& who, void* address, uint64_t value, size_t bytes,
             const Released& released, bool is_update);

  AccessHistory accesses;
  // How far each warp's accesses have been released to other blocks, by whomever.
  Counts published;

 private:
  std::unordered_map<const void*, Location> locations_;
};

// The calling thread asks TMA to write these bytes, or to add to them; to read them; or copies them
// by cp.async. (Loads are compared with writes before them; later writes are not with loads: of
// those there are too many.)
void note_tma_store(Thread& thread, const void* address, size_t bytes, bool adds, SourceLine where);
void check_tma_load(Thread& thread, const void* address, size_t bytes, SourceLine where);
void check_cp_async(Thread& thread, const void* address, size_t bytes, SourceLine where);
// A weak access by the calling thread to memory that several blocks reach.
void note_access(Thread& thread, GlobalAccessKind kind, const void* address, size_t bytes,
                 const char* instruction, SourceLine where);

}  // namespace emulator
