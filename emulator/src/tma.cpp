#include "tma.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "machine.h"
#include "report.h"
#include "source_text.h"

namespace emulator {
namespace {

constexpr int kMostPieces = 4;
constexpr int kRowsOfAPiece = 8;  // a piece is a multiple of so many: whole swizzle patterns
constexpr uint32_t kChunk = 16;

uint32_t swizzled(const EncodedMap& map, uint32_t offset) {
  if (!map.swizzled) return offset;
  return swizzle_128b(offset + kSharedBase) - kSharedBase;
}

// The part of a box's row that lies inside the tensor, in elements from the row's beginning.
struct Inside {
  int64_t begin = 0;
  int64_t end = 0;
};

Inside inside(const EncodedMap& map, int64_t column, int64_t row) {
  if (row < 0 || row >= static_cast<int64_t>(map.rows)) return {};
  const int64_t begin = std::max<int64_t>(0, -column);
  const int64_t end =
      std::min<int64_t>(map.box_columns, static_cast<int64_t>(map.columns) - column);
  return begin < end ? Inside{begin, end} : Inside{};
}

uint8_t* global_address(const EncodedMap& map, int64_t column, int64_t row) {
  return reinterpret_cast<uint8_t*>(map.base) + row * static_cast<int64_t>(map.pitch) + column * 2;
}

// Puts a stage's number where the source has an index: "smem.a[stage]" becomes "smem.a[2]".
std::string with_index(const std::string& expression, const Barrier& barrier) {
  const size_t open = expression.find('[');
  const size_t close = expression.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return expression;
  if (!barrier_is_indexed(barrier.initialised)) return expression;
  return expression.substr(0, open + 1) + std::to_string(barrier.index) + expression.substr(close);
}

}  // namespace

std::string copy_name(SourceLine where, const Barrier& barrier) {
  // The longer name first: the shorter one might be found on a line above.
  for (const char* function : {"cp_async_bulk_tensor_2d_multicast", "cp_async_bulk_tensor_2d"}) {
    std::string destination = first_argument(where, function);
    // &smem.b[stage][offset]: a place inside smem.b[stage].
    if (destination.rfind('&', 0) == 0)
      destination = destination.substr(1, destination.rfind('[') - 1);
    // A local variable's name would tell nothing.
    if (destination.find('.') != std::string::npos) return with_index(destination, barrier);
  }
  return "the tile of " + barrier.name();
}

// A box and where it lies in shared memory.
struct TmaUnit::Place {
  EncodedMap map;
  uint32_t begin;
  uint32_t end;
};

struct TmaUnit::Copy {
  Block* block;
  Place place;
  int column;
  int row;
  Barrier* barrier;  // of loads
  SourceLine where;
  uint64_t issued_at;
  int rows_left;
};

TmaUnit::Place TmaUnit::check_place(Thread& thread, const void* shared, const CUtensorMap* map,
                                    SourceLine where) {
  const SharedMemory& memory = thread.block->memory;
  if (reinterpret_cast<uintptr_t>(map) % alignof(CUtensorMap) != 0) {
    report::misaligned_map(thread, map, where);
  }
  const EncodedMap content = decode_map(map);
  if (content.magic != kEncodedMapMagic) report::not_a_tensor_map(thread, where);
  if (!memory.contains(shared)) report::not_shared(thread, where);
  const uint32_t begin = memory.offset(shared);
  const uint32_t alignment = content.swizzled ? 1024 : 128;
  if (begin % alignment != 0) {
    report::misaligned(thread, "the tile in shared memory", begin, alignment, where);
  }
  const uint32_t end = begin + content.box_bytes();
  if (end > memory.size()) report::box_too_large(thread, begin, content.box_bytes(), where);
  if (const Barrier* barrier = thread.block->barriers.overlapping(
          thread.block->memory.data() + begin, thread.block->memory.data() + end)) {
    report::box_covers_barrier(thread, *barrier, where);
  }
  return {content, begin, end};
}

// Whoever issues a copy to `place` in `block` must know that all earlier accesses are complete.
void TmaUnit::check_hazards(Thread& thread, const Barrier& own, Block& block,
                            const Barrier& signalled, const Place& place, SourceLine where) {
  if (!options().happens_before) return;
  for (const Region& region : block.memory.regions(place.begin, place.end)) {
    for (const Access& read : region.reads) {
      if (known(thread, read.component) < read.value) {
        report::overwritten_while_read(thread, own, block, signalled, region, read, where);
      }
    }
    if (region.write.kind != AccessKind::kNone &&
        known(thread, region.write.component) < region.write.value) {
      report::overwritten_in_flight(thread, own, block, region, where);
    }
  }
}

void TmaUnit::load(Thread& thread, void* destination, const CUtensorMap* map, int column, int row,
                   MBarrier* full, uint32_t blocks, SourceLine where) {
  Cluster& cluster = thread.cluster();
  Scheduler& scheduler = thread.scheduler();
  const Place place = check_place(thread, destination, map, where);
  const int64_t bytes = place.map.box_bytes();
  Barrier& own = thread.block->barriers.find(thread, full, where);
  ++cluster.counts.tma_loads;
  for (const auto& block : cluster.blocks) {
    if ((blocks >> block->rank & 1) == 0) continue;
    Barrier& barrier =
        block.get() == thread.block
            ? own
            : MBarrierTable::find_remote(thread, *block, thread.block->memory.offset(full), where);
    if (thread.warp->clock[barrier.fence] == 0) report::init_not_fenced(thread, barrier, where);
    check_hazards(thread, own, *block, barrier, place, where);
    if (barrier.pending == 0 && barrier.issued + bytes > barrier.announced) {
      report::too_few_bytes_expected(thread, barrier, barrier.issued + bytes, barrier.announced,
                                     where);
    }
    Access write;
    write.kind = AccessKind::kTmaLoad;
    write.component = barrier.component;
    write.value = phase_known(barrier.phase);
    write.where = where;
    write.barrier = &barrier;
    write.number = barrier.phase;
    block->memory.record_write(place.begin, place.end, write);
    block->memory.begin_write(place.begin, place.end - place.begin);
    barrier.bytes_issued(thread, bytes);
    cluster.counts.tma_load_bytes += static_cast<uint64_t>(bytes);
    cluster.counts.max_stages_in_flight =
        std::max(cluster.counts.max_stages_in_flight, block->barriers.stages_in_flight());

    const int rows = static_cast<int>(place.map.box_rows);
    auto copy = std::make_shared<Copy>(
        Copy{block.get(), place, column, row, &barrier, where, scheduler.now(), rows});
    const int pieces = 1 + static_cast<int>(scheduler.random().below(kMostPieces));
    const int piece = (rows / pieces + kRowsOfAPiece) / kRowsOfAPiece * kRowsOfAPiece;
    for (int first = 0; first < rows; first += piece) {
      const int last = std::min(rows, first + piece);
      scheduler.after_delay([copy, first, last] {
        copy->block->tma.land(*copy, first, last);
        copy->rows_left -= last - first;
        if (copy->rows_left > 0) return;
        Cluster& of_block = copy->block->cluster;
        if (of_block.trace.enabled) {
          of_block.trace.span(*copy->block, Trace::kTmaRow, copy_name(copy->where, *copy->barrier),
                              copy->issued_at, of_block.scheduler.now());
        }
      });
    }
  }
}

// Rows first … last - 1 of the box arrive, elements outside the tensor as zero.
void TmaUnit::land(const Copy& copy, int first, int last) {
  const EncodedMap& map = copy.place.map;
  SharedMemory& memory = copy.block->memory;
  const uint32_t pitch = map.box_pitch();
  uint8_t line[512];  // the longest row of a box: 256 elements
  for (int row = first; row < last; ++row) {
    const Inside part = inside(map, copy.column, int64_t{copy.row} + row);
    if (part.end - part.begin < map.box_columns) std::memset(line, 0, pitch);
    if (part.begin < part.end) {
      std::memcpy(line + part.begin * 2,
                  global_address(map, copy.column + part.begin, int64_t{copy.row} + row),
                  static_cast<size_t>(part.end - part.begin) * 2);
    }
    const uint32_t offset = copy.place.begin + static_cast<uint32_t>(row) * pitch;
    for (uint32_t byte = 0; byte < pitch; byte += kChunk) {
      std::memcpy(memory.data() + swizzled(map, offset + byte), line + byte, kChunk);
    }
  }
  const uint32_t bytes = static_cast<uint32_t>(last - first) * pitch;
  memory.end_write(copy.place.begin + static_cast<uint32_t>(first) * pitch, bytes);
  copy.barrier->bytes_arrived(bytes);
}

void TmaUnit::store(Thread& thread, const CUtensorMap* map, int column, int row, const void* source,
                    SourceLine where) {
  Cluster& cluster = thread.cluster();
  Scheduler& scheduler = thread.scheduler();
  Block& block = *thread.block;
  BulkProgress& progress = thread.bulk;
  const Place place = check_place(thread, source, map, where);
  if (progress.component == kNoComponent) progress.component = cluster.new_component();
  const uint64_t number = ++progress.issued;
  progress.read_done.push_back(false);
  for (Region& region : block.memory.regions(place.begin, place.end)) {
    const Access& write = region.write;
    if (options().happens_before && write.kind != AccessKind::kNone) {
      if (known(thread, write.component) < write.value) {
        report::stored_before_written(thread, region, where);
      }
      if (write.kind == AccessKind::kStoreMatrix && known(thread, write.fenced) < write.value) {
        report::missing_proxy_fence(thread, region, where);
      }
    }
    Access read;
    read.kind = AccessKind::kTmaStore;
    read.component = progress.component;
    read.value = static_cast<uint32_t>(number);
    read.where = where;
    read.number = number;
    SharedMemory::record_read(&region, read);
  }
  ++cluster.counts.tma_stores;
  cluster.counts.tma_store_bytes += place.map.box_bytes();

  struct Box {
    std::vector<uint8_t> bytes;
    uint64_t issued_at;
  };
  auto box = std::make_shared<Box>(Box{{}, scheduler.now()});
  auto write_box = [=, &thread, &cluster] {
    const EncodedMap& content = place.map;
    for (uint32_t i = 0; i < content.box_rows; ++i) {
      const Inside part = inside(content, column, int64_t{row} + i);
      if (part.begin == part.end) continue;
      // The hardware writes whole units of 16 bytes, also past the end of a row that ends inside
      // one.
      constexpr uint32_t kUnit = 8;  // elements
      const uint32_t end = std::min(content.box_columns,
                                    (static_cast<uint32_t>(part.end) + kUnit - 1) / kUnit * kUnit);
      std::memcpy(global_address(content, column + part.begin, int64_t{row} + i),
                  box->bytes.data() + i * content.box_pitch() + part.begin * 2,
                  static_cast<size_t>(end - part.begin) * 2);
    }
    if (cluster.trace.enabled) {
      cluster.trace.span(*thread.block, Trace::kTmaRow, "store " + std::to_string(number),
                         box->issued_at, cluster.scheduler.now());
    }
  };
  scheduler.after_delay([=, &thread, &block, &scheduler] {
    const EncodedMap& content = place.map;
    box->bytes.resize(content.box_bytes());
    for (uint32_t byte = 0; byte < content.box_bytes(); byte += kChunk) {
      const uint32_t from = swizzled(content, place.begin + byte);
      if (block.memory.is_poisoned(from)) report::stored_poison(thread, from, where);
      std::memcpy(box->bytes.data() + byte, block.memory.data() + from, kChunk);
    }
    thread.bulk.read_done[number - 1] = true;
    block.tma.advance(thread);
    scheduler.after_delay(write_box);
  });
}

void TmaUnit::commit_group(Thread& thread) { thread.bulk.groups.push_back(thread.bulk.issued); }

// Counts what is complete in the order of issue, and wakes the thread if it waits for that.
void TmaUnit::advance(Thread& thread) {
  BulkProgress& progress = thread.bulk;
  while (progress.read < progress.issued && progress.read_done[progress.read]) ++progress.read;
  if (progress.waits && progress.read >= progress.target) {
    progress.waits = false;
    thread.scheduler().wake(thread);
  }
}

void TmaUnit::wait_group_read(Thread& thread, int pending, SourceLine where) {
  BulkProgress& progress = thread.bulk;
  const auto newest = static_cast<size_t>(pending);
  if (progress.groups.size() <= newest) return;
  progress.target = progress.groups[progress.groups.size() - 1 - newest];
  if (progress.read < progress.target) {
    progress.waits = true;
    Wait wait;
    wait.kind = WaitKind::kBulkGroup;
    wait.where = where;
    thread.scheduler().block(thread, wait);
  }
  progress.waited = std::max(progress.waited, progress.target);
}

}  // namespace emulator
