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
constexpr uint32_t kChunk = 16;

// A thread's part of a tile: registers 4j and 4j + 1 lie at 8j in `upper`, 4j + 2 and 4j + 3 at 8j
// in `lower`. PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16".
template <class Float>
struct Fragment {
  Float* upper;
  Float* lower;

  Fragment(Float* tile, int thread, int columns)
      : upper(tile + (thread / 32 * 16 + thread % 32 / 4) * columns + thread % 4 * 2),
        lower(upper + 8 * columns) {}
};

// Registers to tile. The registers need not exist any more, as those of a function that has
// returned: their memory, the thread's stack, does.
__attribute__((no_sanitize("address"))) void save(const float* registers, int thread, int columns,
                                                  float* tile) {
  const Fragment<float> to(tile, thread, columns);
  for (int i = 0; i < columns / 2; i += 4) {
    to.upper[2 * i] = registers[i];
    to.upper[2 * i + 1] = registers[i + 1];
    to.lower[2 * i] = registers[i + 2];
    to.lower[2 * i + 1] = registers[i + 3];
  }
}

// Tile to registers.
void load(const float* tile, int thread, int columns, float* registers) {
  const Fragment<const float> from(tile, thread, columns);
  for (int i = 0; i < columns / 2; i += 4) {
    std::memcpy(registers + i, from.upper + 2 * i, 2 * sizeof(float));
    std::memcpy(registers + i + 2, from.lower + 2 * i, 2 * sizeof(float));
  }
}

// A's registers need not exist any more, either.
__attribute__((no_sanitize("address"))) void read_fragment(const uint32_t* registers,
                                                           uint32_t* values) {
  for (int i = 0; i < 4; ++i) values[i] = static_cast<const volatile uint32_t*>(registers)[i];
}

// The first register that differs from its place in the tile.
std::optional<int> first_difference(const float* registers, int thread, int columns,
                                    const float* tile) {
  const Fragment<const float> other(tile, thread, columns);
  for (int i = 0; i < columns / 2; ++i) {
    const float* const row = i & 2 ? other.lower : other.upper;
    if (std::memcmp(registers + i, row + i / 4 * 8 + i % 2, sizeof(float)) != 0) return i;
  }
  return {};
}

// Copies the calling thread's stack, from the frame of the caller of this function up.
__attribute__((noinline, no_sanitize("address"))) void save_stack(const Thread& thread,
                                                                  StackSnapshot* snapshot) {
  const auto* const begin = static_cast<const char*>(__builtin_frame_address(0));
  const size_t size = static_cast<size_t>(thread.fiber.stack_top() - begin);
  snapshot->begin = begin;
  snapshot->bytes.resize(size);
  // Not memcpy: a sanitizer would find the guards between variables. (Frames are aligned to 16.)
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    const uint64_t word = *reinterpret_cast<const volatile uint64_t*>(begin + i);
    std::memcpy(&snapshot->bytes[i], &word, sizeof(word));
  }
}

uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

}  // namespace

TensorCore::TensorCore(Block& block, int warp_group, Component component)
    : block_(block), warp_group_(warp_group), component_(component) {}

void TensorCore::fence(Thread& thread, SourceLine where) {
  thread.warp->join(thread, "wgmma.fence", where);
  WgmmaProgress& progress = thread.wgmma;
  progress.fenced = true;
  progress.at_fence = {};
  if (progress.new_accumulators || progress.lends_fragments) {
    save_stack(thread, &progress.at_fence);
  }
  progress.new_accumulators = progress.accumulators.empty();
  const int index = thread.index % kWarpGroupThreads;
  for (size_t i = 0; i < progress.accumulators.size(); ++i) {
    const Accumulator& accumulator = progress.accumulators[i];
    Tile& tile = tiles_[i];
    if (accumulator.in_flight || tile.columns != accumulator.columns) continue;
    save(accumulator.registers, index, accumulator.columns, tile.values.data());
  }
}

TensorCore::Tile& TensorCore::tile_of(Thread& thread, float* registers, int columns, int* index,
                                      bool* first, SourceLine where) {
  auto& accumulators = thread.wgmma.accumulators;
  size_t i = accumulators.size();
  for (size_t other = 0; other < accumulators.size(); ++other) {
    const Accumulator& known = accumulators[other];
    if (known.registers == registers) i = other;
    if (!known.in_flight || (known.registers == registers && known.columns == columns)) continue;
    if (known.registers < registers + columns / 2 &&
        registers < known.registers + known.columns / 2) {
      report::accumulators_overlap(thread, known, columns, where);
    }
  }
  *first = i == accumulators.size() || accumulators[i].columns != columns;
  if (i == accumulators.size()) accumulators.emplace_back();
  if (*first) {
    accumulators[i] = {registers, columns};
    thread.wgmma.new_accumulators = true;
  }
  if (tiles_.size() <= i) tiles_.resize(i + 1);
  Tile& tile = tiles_[i];
  if (tile.columns != columns) {
    tile.columns = columns;
    tile.values.resize(static_cast<size_t>(kRows) * columns);
  }
  *index = static_cast<int>(i);
  return tile;
}

// The thread's own accesses to the registers must come before a fence, and the fence before the
// WGMMA. The tile holds what they held at the latest fence, or when they were handed back.
void TensorCore::check_fence(Thread& thread, const Accumulator& accumulator, const Tile& tile,
                             bool accumulate, bool first, SourceLine where) {
  const WgmmaProgress& progress = thread.wgmma;
  const float* const registers = accumulator.registers;
  if (!first) {
    const auto changed = first_difference(registers, thread.index % kWarpGroupThreads,
                                          accumulator.columns, tile.values.data());
    // Without accumulation, results are overwritten that were handed back to be read.
    if (!progress.fenced && (changed || !accumulate)) {
      report::missing_wgmma_fence(thread, first, where);
    }
    if (changed) report::written_after_wgmma_fence(thread, *changed, where);
    return;
  }
  if (!progress.fenced) report::missing_wgmma_fence(thread, first, where);
  // Memory that nobody has set yet may have belonged to others at the fence.
  if (!accumulate || progress.at_fence.begin == nullptr) return;
  const auto* const begin = reinterpret_cast<const char*>(registers);
  const auto size = static_cast<ptrdiff_t>(progress.at_fence.bytes.size());
  const ptrdiff_t offset = begin - progress.at_fence.begin;
  if (offset < 0 || offset + accumulator.columns / 2 * ptrdiff_t{sizeof(float)} > size) return;
  for (int i = 0; i < accumulator.columns / 2; ++i) {
    const char* const before = &progress.at_fence.bytes[static_cast<size_t>(offset)] + i * 4;
    if (std::memcmp(before, registers + i, sizeof(float)) != 0) {
      report::written_after_wgmma_fence(thread, i, where);
    }
  }
}

// What the thread hands over to be added to must be its own.
void TensorCore::check_values(Thread& thread, const Accumulator& accumulator, SourceLine where) {
  const float* const registers = accumulator.registers;
  const int count = accumulator.columns / 2;
  bool numbers = true;
  for (int i = 0; i < count; ++i) numbers &= registers[i] == registers[i];
  if (numbers) return;
  for (int i = 0; i < count; ++i) {
    const uint32_t bits = bits_of(registers[i]);
    if (is_stack_poison(bits)) report::accumulator_not_set(thread, i, where);
    if (RegisterPoison::is_nan(bits)) check_use(thread, bits, where);
  }
}

// The registers become the WGMMA's: their values move to the tile, poison stays.
void TensorCore::hand_over(Thread& thread, Accumulator* accumulator, Tile* tile, bool accumulate,
                           bool first, SourceLine where) {
  const int index = thread.index % kWarpGroupThreads;
  const int columns = accumulator->columns;
  float* const registers = accumulator->registers;
  check_fence(thread, *accumulator, *tile, accumulate, first, where);
  if (accumulate) {
    save(registers, index, columns, tile->values.data());
    check_values(thread, *accumulator, where);
  }
  accumulator->poison = RegisterPoison(thread.index, thread.wgmma.issued);
  accumulator->poison.fill(registers, columns / 2);
  accumulator->in_flight = true;
}

void TensorCore::hand_back(Thread& thread, Accumulator* accumulator, const Tile& tile,
                           SourceLine where) {
  const int columns = accumulator->columns;
  float* const registers = accumulator->registers;
  if (const auto touched = accumulator->poison.first_changed(registers, columns / 2)) {
    report::accumulator_touched(thread, *touched, accumulator->latest, where);
  }
  load(tile.values.data(), thread.index % kWarpGroupThreads, columns, registers);
  accumulator->in_flight = false;
  thread.wgmma.fenced = false;
}

void check_use(Thread& thread, uint32_t bits, SourceLine where) {
  if (is_stack_poison(bits)) report::value_not_set(thread, where);
  for (const bool in_flight : {true, false}) {
    // A finite value may be one by chance, when no WGMMA owns the registers.
    if (!in_flight && !RegisterPoison::is_nan(bits)) return;
    for (const Accumulator& accumulator : thread.wgmma.accumulators) {
      if (accumulator.in_flight != in_flight) continue;
      const auto found = accumulator.poison.find(bits, accumulator.columns / 2);
      if (found) report::accumulator_read(thread, *found, accumulator, where);
    }
  }
}

void TensorCore::check_descriptor(Thread& thread, const Operand& operand, char name,
                                  SourceLine where) {
  if (operand.has_base_offset()) {
    report::descriptor_base_offset(thread, name, operand.base_offset, where);
  }
  for (const Operand::Range& range : operand.ranges()) {
    if (range.begin < kSharedBase || range.end - kSharedBase > block_.memory.size()) {
      report::descriptor_out_of_memory(thread, name, operand.start, range, where);
    }
  }
  if (operand.leaves_pattern()) report::descriptor_off_the_pattern(thread, name, operand, where);
  if (operand.has_wrong_strides()) report::descriptor_strides(thread, name, operand, where);
}

// The calling warp must know that what the operand's rows hold has arrived; its reads are recorded,
// so that whoever overwrites them must know that they are complete.
void TensorCore::check_hazards(Thread& thread, const Operand& operand, char name, uint64_t number,
                               SourceLine where) {
  Access read;
  read.kind = AccessKind::kWgmma;
  read.component = component_;
  read.value = static_cast<uint32_t>(number);
  read.where = where;
  read.number = number;
  read.warp_group = warp_group_;
  Access previous;
  std::optional<uint32_t> previous_end;
  for (const Operand::Range& range : operand.ranges()) {
    for (Region& region :
         block_.memory.regions(range.begin - kSharedBase, range.end - kSharedBase)) {
      check_region(thread, operand, name, region, number, where);
      // Half a tile that is there and half that is not, or two tiles of different phases.
      const Access& write = region.write;
      const bool loaded =
          write.kind == AccessKind::kTmaLoad || previous.kind == AccessKind::kTmaLoad;
      if (previous_end && loaded &&
          (previous.component != write.component || previous.number != write.number)) {
        Region before = region;
        before.write = previous;
        before.end = *previous_end;
        before.begin = std::min(previous.box.begin, before.end);
        report::descriptor_across_tiles(thread, name, before, region, where);
      }
      previous = write;
      previous_end = region.end;
      Trace& trace = block_.cluster.trace;
      if (trace.enabled) trace.wgmma_reads(*this, number, write);
      SharedMemory::record_read(&region, read);
    }
  }
}

void TensorCore::check_region(Thread& thread, const Operand& operand, char name,
                              const Region& region, uint64_t number, SourceLine where) {
  const Access& write = region.write;
  if (write.box.has_map && write.box.swizzle != operand.mode) {
    report::swizzles_differ(thread, name, operand.mode, region, where);
  }
  if (!options().happens_before || write.kind == AccessKind::kNone) return;
  if (known(thread, write.component) < write.value) {
    // Loads whose own phase has ended without them count in the next one, for which nothing is
    // announced: the announcement is at fault, not the wait.
    const Barrier* const full = write.barrier;
    const bool unannounced =
        full != nullptr && write.number == full->phase && full->phase > 0 && full->announced == 0;
    if (unannounced) {
      report::too_few_bytes_expected(thread, *full, full->issued, 0, write.where);
    }
    report::read_before_full(thread, region, name, number, where);
  }
  if (write.fenced != kNoComponent && known(thread, write.fenced) < write.value) {
    report::missing_proxy_fence(thread, region, where);
  }
}

// A's elements are the registers', from now on: they are read when the WGMMA runs.
void TensorCore::lend_fragment(Thread& thread, const uint32_t* registers, Operation* operation,
                               uint64_t number, SourceLine where) {
  WgmmaProgress& progress = thread.wgmma;
  LentFragment lent = {registers, {}, number, where};
  read_fragment(registers, lent.values);
  check_fragments(thread, where);
  const auto& at_fence = progress.at_fence;
  const auto size = static_cast<ptrdiff_t>(at_fence.bytes.size());
  const ptrdiff_t offset = reinterpret_cast<const char*>(registers) - at_fence.begin;
  if (at_fence.begin != nullptr && offset >= 0 && offset + ptrdiff_t{sizeof(lent.values)} <= size &&
      std::memcmp(&at_fence.bytes[static_cast<size_t>(offset)], lent.values, sizeof(lent.values)) !=
          0) {
    report::fragment_written_after_fence(thread, number, where);
  }
  progress.lends_fragments = true;
  progress.fragments.push_back(lent);
  operation->a_elements.resize(kRows * kProductDepth);
  const int index = thread.index % kWarpGroupThreads;
  for (int i = 0; i < 4; ++i) {
    const int row = index / 32 * 16 + index % 32 / 4 + i % 2 * 8;
    const int k = index % 4 * 2 + i / 2 * 8;
    std::memcpy(&operation->a_elements[row * kProductDepth + k], &lent.values[i], sizeof(uint32_t));
  }
}

// What the thread has lent must not have changed.
void TensorCore::check_fragments(Thread& thread, SourceLine where) {
  for (const LentFragment& lent : thread.wgmma.fragments) {
    uint32_t now[4];
    read_fragment(lent.registers, now);
    for (int i = 0; i < 4; ++i) {
      if (now[i] != lent.values[i]) report::fragment_touched(thread, i, lent, where);
    }
  }
}

// Fragments of WGMMAs that have completed are the thread's own again.
void TensorCore::take_back_fragments(Thread& thread, uint64_t completed, SourceLine where) {
  check_fragments(thread, where);
  auto& fragments = thread.wgmma.fragments;
  const auto done = [&](const LentFragment& lent) { return lent.number <= completed; };
  fragments.erase(std::remove_if(fragments.begin(), fragments.end(), done), fragments.end());
}

void TensorCore::issue(Thread& thread, float* registers, const uint32_t* fragment,
                       const WgmmaOperands& operands, SourceLine where) {
  const bool last_lane = thread.warp->join(thread, "wgmma.mma_async", where);
  const int columns = operands.columns;
  WgmmaProgress& progress = thread.wgmma;
  int index;
  bool first;
  Tile& tile = tile_of(thread, registers, columns, &index, &first, where);
  Accumulator& accumulator = progress.accumulators[index];
  if (!accumulator.in_flight) {
    hand_over(thread, &accumulator, &tile, operands.accumulate, first, where);
  }
  const uint64_t number = ++progress.issued;
  accumulator.latest = number;
  const Operand a(operands.a, operands.has(kWgmmaAMnMajor), kRows);
  const Operand b(operands.b, operands.has(kWgmmaBMnMajor), columns);
  if (number > completed_ + operations_.size()) {
    if (!operands.has(kWgmmaAInRegisters)) check_descriptor(thread, a, 'A', where);
    check_descriptor(thread, b, 'B', where);
    Operation operation;
    operation.operands = operands;
    operation.tile = index;
    operation.where = where;
    operations_.push_back(std::move(operation));
  }
  Operation& operation = operations_[number - completed_ - 1];
  if (!(operation.operands == operands) || operation.tile != index ||
      operation.where.line != where.line) {
    report::operands_differ(thread, number, operation.where, where);
  }
  if (operands.has(kWgmmaAInRegisters)) lend_fragment(thread, fragment, &operation, number, where);
  if (last_lane) {
    if (!operands.has(kWgmmaAInRegisters)) check_hazards(thread, a, 'A', number, where);
    check_hazards(thread, b, 'B', number, where);
  }
  if (++operation.lanes < kWarpGroupThreads) return;
  operation.issued = true;
  Trace& trace = block_.cluster.trace;
  if (trace.enabled) trace.wgmma_issued(*this, number, where);
  schedule_front();
}

void TensorCore::schedule_front() {
  if (front_scheduled_ || operations_.empty() || !operations_.front().issued) return;
  front_scheduled_ = true;
  Trace& trace = block_.cluster.trace;
  if (trace.enabled) trace.wgmma_starts(*this, completed_ + 1);
  const double work = operations_.front().operands.columns / 128.0;
  block_.cluster.scheduler.after_delay(
      Unit::kTensorCores, [this] { run_front(); }, work);
}

void TensorCore::read_operand(const Operation& operation, const Operand& operand, char name,
                              uint16_t* elements) {
  operand.for_each_chunk([&](uint32_t element, uint32_t step, uint32_t address) {
    const uint32_t offset = address - kSharedBase;
    if (block_.memory.is_poisoned(offset)) {
      report::read_poison(block_, warp_group_, name, offset, block_.memory.is_in_flight(offset),
                          operation.where);
    }
    if (step == 1) {
      std::memcpy(elements + element, block_.memory.data() + offset, kChunk);
      return;
    }
    uint16_t chunk[kChunk / sizeof(uint16_t)];
    std::memcpy(chunk, block_.memory.data() + offset, kChunk);
    for (const uint16_t value : chunk) {
      elements[element] = value;
      element += step;
    }
  });
}

void TensorCore::run_front() {
  const Operation& operation = operations_.front();
  const WgmmaOperands& operands = operation.operands;
  alignas(64) static thread_local uint16_t a[kRows * kProductDepth];
  alignas(64) static thread_local uint16_t b[256 * kProductDepth];
  if (operands.has(kWgmmaAInRegisters)) {
    std::memcpy(a, operation.a_elements.data(), sizeof(a));
  } else {
    read_operand(operation, Operand(operands.a, operands.has(kWgmmaAMnMajor), kRows), 'A', a);
  }
  read_operand(operation, Operand(operands.b, operands.has(kWgmmaBMnMajor), operands.columns), 'B',
               b);
  multiply_m64k16(tiles_[operation.tile].values.data(), a, b, operands.columns, operands.accumulate,
                  operands.has(kWgmmaBf16));
  operations_.pop_front();
  ++completed_;
  front_scheduled_ = false;
  Cluster& cluster = block_.cluster;
  ++cluster.counts.wgmmas;
  if (cluster.trace.enabled) cluster.trace.wgmma_ends(*this, completed_);
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
  take_back_fragments(thread, progress.target, where);
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
