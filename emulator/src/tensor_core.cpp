#include "tensor_core.h"

#include <algorithm>
#include <cstring>

#include "encoded_map.h"
#include "machine.h"
#include "matrix_product.h"
#include "report.h"

namespace emulator {
namespace {

constexpr int kRows = 64;  // of every product
constexpr int kDepth = 16;  // elements along K
constexpr uint32_t kRowBytes = 128;  // of an operand tile
constexpr uint32_t kPatternRows = 8;
constexpr uint32_t kChunk = 16;
constexpr uint32_t kPoison = 0xffffffff;  // what registers hold while a WGMMA owns them

// PTX ISA, "Matrix Descriptor Format".
struct Descriptor {
  uint32_t start;
  uint32_t stride;
  uint32_t base_offset;
  uint32_t layout;

  explicit Descriptor(uint64_t bits)
      : start(static_cast<uint32_t>(bits & 0x3fff) << 4),
        stride(static_cast<uint32_t>(bits >> 32 & 0x3fff) << 4),
        base_offset(static_cast<uint32_t>(bits >> 49 & 7)),
        layout(static_cast<uint32_t>(bits >> 62)) {}

  // The bytes of shared memory that hold the operand's rows, as an offset.
  uint32_t begin() const { return start / kRowBytes * kRowBytes - kSharedBase; }
  uint32_t end(int rows) const {
    return begin() + (static_cast<uint32_t>(rows) - 1) / kPatternRows * stride +
           kPatternRows * kRowBytes;
  }
};

// Calls visit(register, row, column) for every second register of a thread: pairs are neighbours.
// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16".
template <class Visit>
void for_each_pair(int thread, int columns, Visit visit) {
  const int row = thread / 32 * 16 + thread % 32 / 4;
  const int column = thread % 4 * 2;
  for (int j = 0; j < columns / 8; ++j) {
    visit(4 * j, row, column + 8 * j);
    visit(4 * j + 2, row + 8, column + 8 * j);
  }
}

}  // namespace

TensorCore::TensorCore(Block& block, int warp_group, Component component)
    : block_(block), warp_group_(warp_group), component_(component) {}

void TensorCore::fence(Thread& thread, SourceLine where) {
  thread.warp->join(thread, "wgmma.fence", where);
  thread.wgmma.fenced = true;
}

TensorCore::Tile& TensorCore::tile_of(Thread& thread, float* registers, int columns, int* index,
                                      bool* first) {
  auto& accumulators = thread.wgmma.accumulators;
  size_t i = 0;
  while (i < accumulators.size() && accumulators[i].registers != registers) ++i;
  *first = i == accumulators.size();
  if (*first) accumulators.push_back({registers, columns, 0, false});
  if (tiles_.size() <= i) tiles_.resize(i + 1);
  Tile& tile = tiles_[i];
  if (tile.columns != columns) {
    tile.columns = columns;
    tile.values.resize(static_cast<size_t>(kRows) * columns);
  }
  *index = static_cast<int>(i);
  return tile;
}

// The registers become the WGMMA's: their values move to the tile, poison stays.
void TensorCore::hand_over(Thread& thread, Accumulator* accumulator, Tile* tile, bool accumulate,
                           bool first, SourceLine where) {
  const int index = thread.index % kWarpGroupThreads;
  const int columns = accumulator->columns;
  float* const registers = accumulator->registers;
  if (!thread.wgmma.fenced) {
    // Without accumulation, results are overwritten that were handed back to be read.
    bool touched = first || !accumulate;
    if (!touched) {
      for_each_pair(index, columns, [&](int pair, int row, int column) {
        touched |= std::memcmp(&tile->values[row * columns + column], registers + pair,
                               2 * sizeof(float)) != 0;
      });
    }
    if (touched) report::missing_wgmma_fence(thread, first, where);
  }
  if (accumulate) {
    for_each_pair(index, columns, [&](int pair, int row, int column) {
      std::memcpy(&tile->values[row * columns + column], registers + pair, 2 * sizeof(float));
    });
  }
  std::memset(registers, 0xff, columns / 2 * sizeof(float));
  accumulator->in_flight = true;
}

void TensorCore::hand_back(Thread& thread, Accumulator* accumulator, const Tile& tile,
                           SourceLine where) {
  const int columns = accumulator->columns;
  float* const registers = accumulator->registers;
  uint32_t untouched = kPoison;
  for (int i = 0; i < columns / 2; ++i) {
    uint32_t bits;
    std::memcpy(&bits, registers + i, sizeof(bits));
    untouched &= bits;
  }
  if (untouched != kPoison) {
    int touched = 0;
    for (uint32_t bits = kPoison; bits == kPoison; ++touched) {
      std::memcpy(&bits, registers + touched, sizeof(bits));
    }
    report::accumulator_touched(thread, touched - 1, accumulator->latest, where);
  }
  for_each_pair(thread.index % kWarpGroupThreads, columns, [&](int pair, int row, int column) {
    std::memcpy(registers + pair, &tile.values[row * columns + column], 2 * sizeof(float));
  });
  accumulator->in_flight = false;
  thread.wgmma.fenced = false;
}

void TensorCore::check_descriptor(Thread& thread, uint64_t bits, int rows, char operand,
                                  SourceLine where) {
  const Descriptor descriptor(bits);
  if (descriptor.layout != 1 || descriptor.base_offset != 0) {
    report::descriptor_layout(thread, operand, descriptor.layout, descriptor.base_offset, where);
  }
  if (descriptor.start < kSharedBase || descriptor.begin() >= block_.memory.size() ||
      descriptor.end(rows) > block_.memory.size()) {
    report::descriptor_out_of_memory(thread, operand, descriptor.start, where);
  }
  const bool begins_a_row = descriptor.start % (kPatternRows * kRowBytes) < kRowBytes;
  const bool ends_in_row = descriptor.start % kRowBytes + kDepth * 2 <= kRowBytes;
  if (!begins_a_row || !ends_in_row) {
    report::descriptor_off_the_pattern(thread, operand, descriptor.start, where);
  }
}

// The calling warp must know that what the operand's rows hold has arrived; its reads are recorded,
// so that whoever overwrites them must know that they are complete.
void TensorCore::check_hazards(Thread& thread, uint64_t bits, int rows, char operand,
                               uint64_t number, SourceLine where) {
  const Descriptor descriptor(bits);
  Access read;
  read.kind = AccessKind::kWgmma;
  read.component = component_;
  read.value = static_cast<uint32_t>(number);
  read.where = where;
  read.number = number;
  read.warp_group = warp_group_;
  const SharedMemory::Range regions =
      block_.memory.regions(descriptor.begin(), descriptor.end(rows));
  const Region* previous = nullptr;
  for (Region& region : regions) {
    const Access& write = region.write;
    if (options().happens_before && write.kind != AccessKind::kNone) {
      if (known(thread, write.component) < write.value) {
        // Loads whose own phase has ended without them count in the next one, for which nothing is
        // announced: the announcement is at fault, not the wait.
        const Barrier* const full = write.barrier;
        const bool unannounced = full != nullptr && write.number == full->phase &&
                                 full->phase > 0 && full->announced == 0;
        if (unannounced) report::no_bytes_expected(*full);
        report::read_before_full(thread, region, operand, number, where);
      }
      if (write.kind == AccessKind::kStoreMatrix && known(thread, write.fenced) < write.value) {
        report::missing_proxy_fence(thread, region, where);
      }
    }
    // Half a tile that is there and half that is not, or two tiles of different phases.
    const bool loaded = write.kind == AccessKind::kTmaLoad;
    if (previous != nullptr && (loaded || previous->write.kind == AccessKind::kTmaLoad) &&
        (previous->write.component != write.component || previous->write.number != write.number)) {
      report::descriptor_across_tiles(thread, operand, *previous, region, where);
    }
    previous = &region;
    SharedMemory::record_read(&region, read);
  }
}

void TensorCore::issue(Thread& thread, float* registers, int columns, uint64_t a, uint64_t b,
                       bool accumulate, SourceLine where) {
  const bool last_lane = thread.warp->join(thread, "wgmma.mma_async", where);
  WgmmaProgress& progress = thread.wgmma;
  int index;
  bool first;
  Tile& tile = tile_of(thread, registers, columns, &index, &first);
  Accumulator& accumulator = progress.accumulators[index];
  if (!accumulator.in_flight) hand_over(thread, &accumulator, &tile, accumulate, first, where);
  const uint64_t number = ++progress.issued;
  accumulator.latest = number;
  if (number > completed_ + operations_.size()) {
    check_descriptor(thread, a, kRows, 'A', where);
    check_descriptor(thread, b, columns, 'B', where);
    operations_.push_back({a, b, columns, index, accumulate, where});
  }
  Operation& operation = operations_[number - completed_ - 1];
  if (operation.a != a || operation.b != b || operation.columns != columns ||
      operation.accumulate != accumulate || operation.tile != index ||
      operation.where.line != where.line) {
    report::operands_differ(thread, number, operation.where, where);
  }
  if (last_lane) {
    check_hazards(thread, a, kRows, 'A', number, where);
    check_hazards(thread, b, columns, 'B', number, where);
  }
  if (++operation.lanes < kWarpGroupThreads) return;
  operation.issued = true;
  schedule_front();
}

void TensorCore::schedule_front() {
  if (front_scheduled_ || operations_.empty() || !operations_.front().issued) return;
  front_scheduled_ = true;
  front_since_ = block_.cluster.scheduler.now();
  block_.cluster.scheduler.after_delay([this] { run_front(); });
}

void TensorCore::read_operand(const Operation& operation, uint64_t bits, int rows, char operand,
                              uint16_t* elements) {
  const Descriptor descriptor(bits);
  for (int row = 0; row < rows; ++row) {
    const uint32_t address = descriptor.start +
                             static_cast<uint32_t>(row) / kPatternRows * descriptor.stride +
                             static_cast<uint32_t>(row) % kPatternRows * kRowBytes;
    for (uint32_t byte = 0; byte < kDepth * 2; byte += kChunk) {
      const uint32_t offset = swizzle_128b(address + byte) - kSharedBase;
      if (block_.memory.is_poisoned(offset)) {
        report::read_poison(block_, warp_group_, operand, offset,
                            block_.memory.is_in_flight(offset), operation.where);
      }
      std::memcpy(elements + row * kDepth + byte / 2, block_.memory.data() + offset, kChunk);
    }
  }
}

void TensorCore::run_front() {
  const Operation& operation = operations_.front();
  alignas(64) static thread_local uint16_t a[kRows * kDepth];
  alignas(64) static thread_local uint16_t b[256 * kDepth];
  read_operand(operation, operation.a, kRows, 'A', a);
  read_operand(operation, operation.b, operation.columns, 'B', b);
  multiply_m64k16(tiles_[operation.tile].values.data(), a, b, operation.columns,
                  operation.accumulate);
  operations_.pop_front();
  ++completed_;
  front_scheduled_ = false;
  Cluster& cluster = block_.cluster;
  ++cluster.counts.wgmmas;
  if (cluster.trace.enabled) {
    cluster.trace.span(block_, Trace::kTensorCoreRow + warp_group_,
                       "WGMMA " + std::to_string(completed_), front_since_,
                       cluster.scheduler.now());
  }
  const auto done = [&](Thread* thread) {
    if (thread->wgmma.target > completed_) return false;
    cluster.scheduler.wake(*thread);
    return true;
  };
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), done), waiting_.end());
  schedule_front();
}

void TensorCore::commit(Thread& thread, SourceLine where) {
  thread.warp->join(thread, "wgmma.commit_group", where);
  thread.wgmma.groups.push_back(thread.wgmma.issued);
  thread.wgmma.committed = thread.wgmma.issued;
}

void TensorCore::wait(Thread& thread, int pending, SourceLine where) {
  thread.warp->join(thread, "wgmma.wait_group", where);
  WgmmaProgress& progress = thread.wgmma;
  if (pending == 0 && progress.committed < progress.issued) {
    report::missing_commit(thread, progress.issued - progress.committed, where);
  }
  const auto newest = static_cast<size_t>(pending);
  if (progress.groups.size() <= newest) return;
  progress.target = *(progress.groups.end() - 1 - pending);
  if (completed_ < progress.target) {
    waiting_.push_back(&thread);
    Wait wait;
    wait.kind = WaitKind::kWgmma;
    wait.where = where;
    thread.scheduler().block(thread, wait);
  }
  progress.retired = std::max(progress.retired, progress.target);
  progress.groups.erase(progress.groups.begin(), progress.groups.end() - pending);
  for (size_t i = 0; i < progress.accumulators.size(); ++i) {
    Accumulator& accumulator = progress.accumulators[i];
    if (accumulator.in_flight && accumulator.latest <= progress.target) {
      hand_back(thread, &accumulator, tiles_[i], where);
    }
  }
}

void TensorCore::check_leaving(Thread& thread) {
  for (const Accumulator& accumulator : thread.wgmma.accumulators) {
    if (accumulator.in_flight) report::missing_final_wait(thread, accumulator.latest);
  }
}

}  // namespace emulator
