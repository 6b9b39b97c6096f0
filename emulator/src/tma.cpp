#include "tma.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "machine.h"
#include "report.h"
#include "source_text.h"

namespace emulator {
namespace {

constexpr int kMostPieces = 4;
constexpr uint32_t kPattern = 1024;  // the longest period of a swizzle
constexpr uint32_t kChunk = 16;

uint32_t swizzled(SwizzleMode mode, uint32_t offset) {
  return swizzle(mode, offset + kSharedBase) - kSharedBase;
}

// A row of a box: where it lies in the tensor, and which part of it is inside, in elements from the
// row's beginning.
struct BoxRow {
  uint8_t* address;  // of the row's first element, inside or not
  int64_t begin = 0;
  int64_t end = 0;
};

BoxRow row_of(const EncodedMap& map, const Coordinates& first, uint32_t index) {
  int64_t offset = int64_t{first.at[0]} * map.element_bytes;
  bool inside = true;
  for (int i = 1; i < map.rank; ++i) {
    const int64_t coordinate = int64_t{first.at[i]} + index % map.box[i];
    index /= map.box[i];
    inside &= coordinate >= 0 && coordinate < static_cast<int64_t>(map.size[i]);
    offset += coordinate * static_cast<int64_t>(map.pitch[i - 1]);
  }
  BoxRow row = {reinterpret_cast<uint8_t*>(map.base) + offset};
  if (!inside) return row;
  const int64_t begin = std::max<int64_t>(0, -int64_t{first.at[0]});
  const int64_t end =
      std::min<int64_t>(map.box[0], static_cast<int64_t>(map.size[0]) - first.at[0]);
  if (begin >= end) return row;
  row.begin = begin;
  row.end = end;
  return row;
}

template <class T>
void add_numbers(uint8_t* to, const uint8_t* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += sizeof(T)) {
    T sum, addend;
    std::memcpy(&sum, to + i, sizeof(T));
    std::memcpy(&addend, from + i, sizeof(T));
    sum = static_cast<T>(sum + addend);
    std::memcpy(to + i, &sum, sizeof(T));
  }
}

void add_halves(uint8_t* to, const uint8_t* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += sizeof(half)) {
    half sum, addend;
    std::memcpy(&sum, to + i, sizeof(half));
    std::memcpy(&addend, from + i, sizeof(half));
    sum = __float2half_rn(__half2float(sum) + __half2float(addend));
    std::memcpy(to + i, &sum, sizeof(half));
  }
}

bool can_add(const EncodedMap& map) {
  return map.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 ||
         map.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ||
         map.type == CU_TENSOR_MAP_DATA_TYPE_UINT32 || map.type == CU_TENSOR_MAP_DATA_TYPE_INT32 ||
         map.type == CU_TENSOR_MAP_DATA_TYPE_UINT64;
}

void add(const EncodedMap& map, uint8_t* to, const uint8_t* from, size_t bytes) {
  // Clusters may run on several threads of the operating system.
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  switch (map.type) {
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
      return add_halves(to, from, bytes);
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
      return add_numbers<float>(to, from, bytes);
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
      return add_numbers<uint64_t>(to, from, bytes);
    default:
      return add_numbers<uint32_t>(to, from, bytes);
  }
}

// The hardware writes whole units of 16 bytes, also past the end of a row that ends inside one.
void write_box(const EncodedMap& map, const Coordinates& first, const uint8_t* box, bool adds) {
  for (uint32_t i = 0; i < map.box_rows(); ++i) {
    const BoxRow row = row_of(map, first, i);
    if (row.begin == row.end) continue;
    const auto begin = static_cast<uint32_t>(row.begin) * map.element_bytes;
    const auto inside = static_cast<uint32_t>(row.end) * map.element_bytes;
    const uint32_t end = std::min(map.box_pitch(), (inside + kChunk - 1) / kChunk * kChunk);
    const uint8_t* const from = box + i * map.box_pitch() + begin;
    if (adds) {
      add(map, row.address + begin, from, end - begin);
    } else {
      std::memcpy(row.address + begin, from, end - begin);
    }
  }
}

Trace::Box box_at(const EncodedMap& map, const Coordinates& first) {
  return {first.at[0], map.rank > 1 ? first.at[1] : 0, static_cast<int>(map.box[0]),
          map.box_bytes()};
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
  for (const char* function :
       {"cp_async_bulk_tensor_2d_multicast", "cp_async_bulk_tensor_2d", "cp_async_bulk_tensor_1d",
        "cp_async_bulk_tensor_3d", "cp_async_bulk"}) {
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

// What lands: rows of the same length, one behind the other. `land` brings rows first … last - 1.
struct TmaUnit::Rows {
  uint32_t begin;  // in shared memory
  uint32_t count;
  uint32_t bytes;  // of a row
  uint32_t multiple;  // a piece is a multiple of so many rows: whole swizzle patterns
  LoadedBox box;  // the same, for reports
  Trace::Box traced;  // and for the trace
  std::function<void(Block& block, uint32_t first, uint32_t last)> land;
};

struct TmaUnit::Copy {
  Block* block;
  Rows rows;
  Barrier* barrier;
  SourceLine where;
  int traced;
  uint32_t rows_left;
};

// Where a copy's end in shared memory may lie.
void TmaUnit::check_range(Thread& thread, uint32_t begin, uint32_t bytes, SourceLine where) {
  SharedMemory& memory = thread.block->memory;
  if (begin + bytes > memory.size()) report::box_too_large(thread, begin, bytes, where);
  const uint8_t* const address = memory.data() + begin;
  if (const Barrier* barrier = thread.block->barriers.overlapping(address, address + bytes)) {
    report::box_covers_barrier(thread, *barrier, where);
  }
}

TmaUnit::Place TmaUnit::check_place(Thread& thread, const void* shared, const CUtensorMap* map,
                                    int rank, SourceLine where) {
  const SharedMemory& memory = thread.block->memory;
  if (reinterpret_cast<uintptr_t>(map) % alignof(CUtensorMap) != 0) {
    report::misaligned_map(thread, map, where);
  }
  const EncodedMap content = decode_map(map);
  if (content.magic != kEncodedMapMagic) report::not_a_tensor_map(thread, where);
  if (content.rank != rank) report::wrong_rank(thread, content.rank, rank, where);
  if (!memory.contains(shared)) report::not_shared(thread, where);
  const uint32_t begin = memory.offset(shared);
  const uint32_t alignment = std::max(128u, swizzle_period(content.swizzle));
  if (begin % alignment != 0) {
    report::misaligned(thread, "the tile in shared memory", begin, alignment, where);
  }
  check_range(thread, begin, content.box_bytes(), where);
  return {content, begin, begin + content.box_bytes()};
}

// Both ends of a copy without a map.
uint32_t TmaUnit::check_neighbours(Thread& thread, const void* shared, const void* global,
                                   uint32_t bytes, SourceLine where) {
  const SharedMemory& memory = thread.block->memory;
  if (!memory.contains(shared)) report::not_shared(thread, where);
  const uint32_t begin = memory.offset(shared);
  if (begin % kChunk != 0) {
    report::misaligned(thread, "the place in shared memory", begin, kChunk, where);
  }
  if (bytes == 0 || bytes % kChunk != 0) report::bulk_size(thread, bytes, where);
  if (reinterpret_cast<uintptr_t>(global) % kChunk != 0) {
    report::misaligned_global(thread, global, where);
  }
  check_range(thread, begin, bytes, where);
  return begin;
}

// Whoever issues a copy into the place of `box` must know that all earlier accesses are complete.
void TmaUnit::check_hazards(Thread& thread, Block& block, const LoadedBox& box, SourceLine where) {
  if (!options().happens_before) return;
  for (const Region& region : block.memory.regions(box.begin, box.begin + box.bytes())) {
    for (const Access& read : region.reads) {
      if (known(thread, read.component) < read.value) {
        report::overwritten_while_read(thread, block, region, read, box, where);
      }
    }
    if (region.write.kind != AccessKind::kNone &&
        known(thread, region.write.component) < region.write.value) {
      report::overwritten_in_flight(thread, block, region, box, where);
    }
  }
}

void TmaUnit::load(Thread& thread, void* destination, const CUtensorMap* map,
                   const Coordinates& first, MBarrier* full, uint32_t blocks, SourceLine where) {
  const Place place = check_place(thread, destination, map, first.rank, where);
  Rows rows;
  rows.begin = place.begin;
  rows.count = place.map.box_rows();
  rows.bytes = place.map.box_pitch();
  rows.multiple = (kPattern + rows.bytes - 1) / rows.bytes;
  rows.box = {place.begin,       rows.count, place.map.box[0], place.map.element_bytes,
              place.map.swizzle, true};
  rows.traced = box_at(place.map, first);
  rows.land = [place, first](Block& block, uint32_t from, uint32_t to) {
    land_box(block, place, first, from, to);
  };
  start_load(thread, rows, full, blocks, where);
}

void TmaUnit::load_neighbours(Thread& thread, void* destination, const void* source, uint32_t bytes,
                              MBarrier* full, SourceLine where) {
  Rows rows;
  rows.begin = check_neighbours(thread, destination, source, bytes, where);
  rows.count = bytes / kChunk;
  rows.bytes = kChunk;
  rows.multiple = 1;
  rows.box = {rows.begin, 1, bytes, 1};
  rows.traced = {0, 0, 1, bytes};
  rows.land = [source, begin = rows.begin](Block& block, uint32_t from, uint32_t to) {
    std::memcpy(block.memory.data() + begin + from * kChunk,
                static_cast<const uint8_t*>(source) + from * kChunk, (to - from) * kChunk);
  };
  start_load(thread, rows, full, 1u << thread.block->rank, where);
}

void TmaUnit::start_load(Thread& thread, const Rows& rows, MBarrier* full, uint32_t blocks,
                         SourceLine where) {
  Cluster& cluster = thread.cluster();
  Scheduler& scheduler = thread.scheduler();
  const uint32_t end = rows.begin + rows.count * rows.bytes;
  const int64_t bytes = end - rows.begin;
  Barrier& own = thread.block->barriers.find(thread, full, where);
  if (!own.fenced) report::init_not_fenced(thread, own, where);
  latest_load_ = where;
  ++cluster.counts.tma_loads;
  for (const auto& block : cluster.blocks) {
    if ((blocks >> block->rank & 1) == 0) continue;
    Barrier& barrier =
        block.get() == thread.block
            ? own
            : MBarrierTable::find_remote(thread, *block, thread.block->memory.offset(full), where);
    check_hazards(thread, *block, rows.box, where);
    if (barrier.pending == 0 && barrier.issued + bytes > barrier.announced) {
      report::too_few_bytes_expected(thread, barrier, barrier.issued + bytes, barrier.announced,
                                     where, &rows.box);
    }
    Access write;
    write.kind = AccessKind::kTmaLoad;
    write.component = barrier.component;
    write.value = phase_known(barrier.phase);
    write.where = where;
    write.barrier = &barrier;
    write.number = barrier.phase;
    write.box = rows.box;
    block->memory.record_write(rows.begin, end, write);
    block->memory.begin_write(rows.begin, end - rows.begin);
    barrier.bytes_issued(bytes);
    cluster.counts.tma_load_bytes += static_cast<uint64_t>(bytes);
    cluster.counts.max_stages_in_flight =
        std::max(cluster.counts.max_stages_in_flight, block->barriers.stages_in_flight());
    ++block->tma.loads_in_flight_;

    Trace& trace = cluster.trace;
    const int traced = trace.enabled ? trace.load_issued(thread, *block, barrier, rows.traced) : -1;
    auto copy =
        std::make_shared<Copy>(Copy{block.get(), rows, &barrier, where, traced, rows.count});
    const uint32_t pieces = scheduler.by_the_book() ? 1 : 1 + scheduler.random().below(kMostPieces);
    const uint32_t piece = (rows.count / pieces + rows.multiple) / rows.multiple * rows.multiple;
    for (uint32_t first = 0; first < rows.count; first += piece) {
      const uint32_t last = std::min(rows.count, first + piece);
      scheduler.after_delay(Unit::kLoads, [copy, first, last] { land(copy.get(), first, last); });
    }
  }
}

// Rows first … last - 1 arrive.
void TmaUnit::land(Copy* copy, uint32_t first, uint32_t last) {
  const Rows& rows = copy->rows;
  Block& block = *copy->block;
  rows.land(block, first, last);
  const uint32_t bytes = (last - first) * rows.bytes;
  block.memory.end_write(rows.begin + first * rows.bytes, bytes);
  Trace& trace = block.cluster.trace;
  if (trace.enabled) trace.landed(*copy->barrier, copy->traced, bytes);
  copy->barrier->bytes_arrived(bytes);
  copy->rows_left -= last - first;
  if (copy->rows_left > 0) return;
  --block.tma.loads_in_flight_;
}

// Elements outside the tensor arrive as zero.
void TmaUnit::land_box(Block& block, const Place& place, const Coordinates& first, uint32_t from,
                       uint32_t to) {
  const EncodedMap& map = place.map;
  const uint32_t pitch = map.box_pitch();
  uint8_t line[256 * sizeof(uint64_t)];  // the longest row of a box
  for (uint32_t i = from; i < to; ++i) {
    const BoxRow row = row_of(map, first, i);
    if (row.end - row.begin < map.box[0]) std::memset(line, 0, pitch);
    const int64_t skipped = row.begin * map.element_bytes;
    std::memcpy(line + skipped, row.address + skipped,
                static_cast<size_t>(row.end - row.begin) * map.element_bytes);
    const uint32_t offset = place.begin + i * pitch;
    for (uint32_t byte = 0; byte < pitch; byte += kChunk) {
      std::memcpy(block.memory.data() + swizzled(map.swizzle, offset + byte), line + byte, kChunk);
    }
  }
}

void TmaUnit::store(Thread& thread, const CUtensorMap* map, const Coordinates& first,
                    const void* source, bool add, SourceLine where) {
  const Place place = check_place(thread, source, map, first.rank, where);
  if (add && !can_add(place.map)) report::cannot_add(thread, place.map.type, where);
  start_store(thread, place.begin, place.end, place.map.swizzle, box_at(place.map, first), where,
              [place, first, add](const uint8_t* box) { write_box(place.map, first, box, add); });
}

void TmaUnit::store_neighbours(Thread& thread, void* destination, const void* source,
                               uint32_t bytes, SourceLine where) {
  const uint32_t begin = check_neighbours(thread, source, destination, bytes, where);
  start_store(thread, begin, begin + bytes, SwizzleMode::kNone, {0, 0, 1, bytes}, where,
              [destination, bytes](const uint8_t* box) { std::memcpy(destination, box, bytes); });
}

void TmaUnit::start_store(Thread& thread, uint32_t begin, uint32_t end, SwizzleMode mode,
                          const Trace::Box& traced, SourceLine where,
                          std::function<void(const uint8_t*)> write) {
  Cluster& cluster = thread.cluster();
  Scheduler& scheduler = thread.scheduler();
  Block& block = *thread.block;
  BulkProgress& progress = thread.bulk;
  if (progress.component == kNoComponent) progress.component = cluster.new_component();
  const uint64_t number = ++progress.issued;
  progress.read_done.push_back(false);
  progress.latest_store = where;
  for (Region& region : block.memory.regions(begin, end)) {
    const Access& written = region.write;
    if (options().happens_before && written.kind != AccessKind::kNone) {
      if (known(thread, written.component) < written.value) {
        report::stored_before_written(thread, region, where);
      }
      if (written.fenced != kNoComponent && known(thread, written.fenced) < written.value) {
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
  cluster.counts.tma_store_bytes += end - begin;

  struct Box {
    std::vector<uint8_t> bytes;
    int traced = -1;
  };
  auto box = std::make_shared<Box>();
  if (cluster.trace.enabled) box->traced = cluster.trace.store_issued(thread, traced, number);
  auto write_box = [=, &cluster, write = std::move(write)] {
    write(box->bytes.data());
    if (cluster.trace.enabled) cluster.trace.stored(box->traced);
  };
  scheduler.after_delay(
      Unit::kStores, [=, &thread, &block, &scheduler, &cluster, write_box = std::move(write_box)] {
        box->bytes.resize(end - begin);
        for (uint32_t byte = 0; byte < end - begin; byte += kChunk) {
          const uint32_t from = swizzled(mode, begin + byte);
          if (block.memory.is_poisoned(from)) report::stored_poison(thread, from, where);
          std::memcpy(box->bytes.data() + byte, block.memory.data() + from, kChunk);
        }
        thread.bulk.read_done[number - 1] = true;
        if (cluster.trace.enabled) cluster.trace.store_read(box->traced);
        block.tma.advance(thread);
        scheduler.after_delay(Unit::kStores, write_box);
      });
}

void TmaUnit::commit_group(Thread& thread, SourceLine where) {
  BulkProgress& progress = thread.bulk;
  if (progress.committed() == progress.issued) progress.empty_commit = where;
  progress.latest_commit = where;
  progress.groups.push_back(progress.issued);
}

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
