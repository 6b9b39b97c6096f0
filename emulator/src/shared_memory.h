// A block's shared memory, and what happens-before must know of it: which bytes who has written and
// read last.
#pragma once

#include <source_line.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "encoded_map.h"
#include "vector_clock.h"

namespace emulator {

// Where dynamic shared memory begins in the 32-bit window. A real block has some bytes before it,
// too; a multiple of 1024, since the swizzle works on addresses.
constexpr uint32_t kSharedBase = 0x400;
constexpr size_t kSharedLimit = 227 * 1024;

struct Barrier;

enum class AccessKind { kNone, kTmaLoad, kStoreMatrix, kWgmma, kTmaStore, kCopy, kLoadMatrix };

// Where a TMA load puts its box, and how.
struct LoadedBox {
  uint32_t begin = 0;
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t element_bytes = 0;
  SwizzleMode swizzle = SwizzleMode::kNone;
  bool has_map = false;  // else nobody has said how its chunks lie

  uint32_t bytes() const { return rows * columns * element_bytes; }
};

// One access by an asynchronous agent. Whoever's clock has reached `value` in `component` has been
// told that it is complete.
struct Access {
  AccessKind kind = AccessKind::kNone;
  Component component = kNoComponent;
  uint32_t value = 0;
  SourceLine where = {"", 0};
  const Barrier* barrier = nullptr;  // kTmaLoad: the one that it signals
  uint64_t number = 0;  // kTmaLoad: the phase; kStoreMatrix: earlier writes already fenced;
                        // others: counted from 1
  int warp_group = 0;  // kWgmma
  LoadedBox box = {};  // kTmaLoad
  Component fenced = kNoComponent;  // kStoreMatrix, kCopy: complete for the asynchronous proxy, too
};

// A run of bytes that were written and read alike.
struct Region {
  uint32_t begin = 0;
  uint32_t end = 0;
  Access write;
  std::vector<Access> reads;  // since the write, at most one per component: the latest
};

class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes);

  uint8_t* data() { return data_; }
  uint32_t size() const { return size_; }
  // All of the `bytes` from `pointer` on lie in it.
  bool contains(const void* pointer, size_t bytes = 1) const;
  uint32_t offset(const void* pointer) const;

  // --- poison ---

  // Bytes that nobody has written, or that a copy in flight will write, hold 0xff. (NaN, as fp16;
  // since data may be NaN too, a state per 16 bytes tells them apart.)
  void begin_write(uint32_t offset, uint32_t bytes);
  void end_write(uint32_t offset, uint32_t bytes);
  // True if the aligned 16 bytes at `offset` must not be read yet.
  bool is_poisoned(uint32_t offset) const;
  bool is_in_flight(uint32_t offset) const { return chunks_[offset / kChunk] == kInFlight; }

  // --- the history of accesses ---

  // The regions that make up [begin, end), cut to fit.
  struct Range {
    Region* first;
    Region* last;
    Region* begin() const { return first; }
    Region* end() const { return last; }
  };
  Range regions(uint32_t begin, uint32_t end);
  // Makes [begin, end) one region, just written.
  void record_write(uint32_t begin, uint32_t end, const Access& write);
  static void record_read(Region* region, const Access& read);
  // Cuts what lies around `offset` into regions of 16 bytes at once, where it is one region: small
  // writes would cut it one by one, and each time move all that follows.
  void split(uint32_t offset);

 private:
  static constexpr uint32_t kChunk = 16;
  static constexpr uint8_t kUntouched = 0, kInFlight = 1, kWritten = 2;

  size_t cut(uint32_t offset);  // the index of the region that begins here
  void merge_with_next(size_t index);

  std::unique_ptr<uint8_t[]> memory_;
  uint8_t* data_;
  uint32_t size_;
  std::vector<uint8_t> chunks_;
  std::vector<Region> regions_;  // in order, without gaps
};

}  // namespace emulator
