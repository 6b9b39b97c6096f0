#include "cp_async.h"

#include <algorithm>
#include <cstring>

#include "machine.h"
#include "report.h"

namespace emulator {
namespace {

constexpr uint32_t kChunk = 16;
constexpr uint32_t kJoinsOf4 = 3;  // so many of four copies land with the one before
constexpr uint32_t kPoison = 0xff;

}  // namespace

const Thread& CopyUnit::copying_thread(const Block& block, const Access& write) {
  return *std::find_if(block.threads.begin(), block.threads.end(), [&](const Thread& thread) {
    return thread.copies.component == write.component;
  });
}

void CopyUnit::check_place(Thread& thread, const void* destination, const void* source,
                           uint32_t bytes, uint32_t source_bytes, SourceLine where) {
  Block& block = *thread.block;
  SharedMemory& memory = block.memory;
  if (!memory.contains(destination, bytes)) report::not_shared(thread, where);
  const uint32_t offset = memory.offset(destination);
  if (offset % bytes != 0) report::misaligned(thread, "the destination", offset, bytes, where);
  if (reinterpret_cast<uintptr_t>(source) % bytes != 0) {
    report::copy_source_misaligned(thread, source, bytes, where);
  }
  if (source_bytes > bytes) report::copy_source_too_long(thread, source_bytes, bytes, where);
  const uint8_t* const begin = memory.data() + offset;
  if (const Barrier* barrier = block.barriers.overlapping(begin, begin + bytes)) {
    report::box_covers_barrier(thread, *barrier, where);
  }
  if (!options().happens_before) return;
  for (const Region& region : block.memory.regions(offset, offset + bytes)) {
    for (const Access& read : region.reads) {
      if (known(thread, read.component) < read.value) {
        report::copied_while_read(thread, region, read, where);
      }
    }
    const Access& write = region.write;
    if (write.kind != AccessKind::kNone && known(thread, write.component) < write.value) {
      report::copied_in_flight(thread, region, where);
    }
  }
}

void CopyUnit::begin(Block& block, uint32_t offset, uint32_t bytes) {
  SharedMemory& memory = block.memory;
  const uint32_t chunk = offset / kChunk;
  if (bytes == kChunk) {
    memory.begin_write(offset, bytes);
  } else if (under_way_[chunk]++ == 0) {
    // What the chunk holds beside these bytes stays.
    uint8_t others[kChunk];
    std::memcpy(others, memory.data() + chunk * kChunk, kChunk);
    memory.begin_write(chunk * kChunk, kChunk);
    std::memcpy(memory.data() + chunk * kChunk, others, kChunk);
  }
  std::memset(memory.data() + offset, kPoison, bytes);
}

void CopyUnit::copy(Thread& thread, void* destination, const void* source, uint32_t bytes,
                    uint32_t source_bytes, SourceLine where) {
  check_place(thread, destination, source, bytes, source_bytes, where);
  Cluster& cluster = thread.cluster();
  Scheduler& scheduler = thread.scheduler();
  CopyProgress& progress = thread.copies;
  SharedMemory& memory = thread.block->memory;
  if (progress.component == kNoComponent) {
    progress.component = cluster.new_component();
    progress.fenced_component = cluster.new_component();
  }
  const uint64_t number = ++progress.issued;
  progress.done.push_back(false);
  const uint32_t offset = memory.offset(destination);
  Access write;
  write.kind = AccessKind::kCopy;
  write.component = progress.component;
  write.fenced = progress.fenced_component;
  write.value = static_cast<uint32_t>(number);
  write.where = where;
  write.number = number;
  memory.split(offset);
  memory.record_write(offset, offset + bytes, write);
  begin(*thread.block, offset, bytes);

  const CopyProgress::Copy copy = {memory.data() + offset, static_cast<const uint8_t*>(source),
                                   bytes, source_bytes, number};
  const bool joins = scheduler.by_the_book() || scheduler.random().below(4) < kJoinsOf4;
  if (progress.batch != nullptr && joins) {
    progress.batch->copies.push_back(copy);
    return;
  }
  auto batch = std::make_shared<CopyProgress::Batch>();
  batch->copies.push_back(copy);
  progress.batch = batch;
  scheduler.after_delay(Unit::kCopies, [this, &thread, batch] {
    for (const CopyProgress::Copy& each : batch->copies) land(thread, each);
    if (thread.copies.batch == batch) thread.copies.batch = nullptr;
    advance(thread);
  });
}

void CopyUnit::land(Thread& thread, const CopyProgress::Copy& copy) {
  SharedMemory& memory = thread.block->memory;
  const uint32_t offset = memory.offset(copy.destination);
  std::memcpy(copy.destination, copy.source, copy.source_bytes);
  std::memset(copy.destination + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
  const uint32_t chunk = offset / kChunk;
  if (copy.bytes == kChunk) {
    memory.end_write(offset, kChunk);
  } else if (--under_way_[chunk] == 0) {
    under_way_.erase(chunk);
    memory.end_write(chunk * kChunk, kChunk);
  }
  thread.copies.done[copy.number - thread.copies.landed - 1] = true;
}

// Counts what has landed in the order of issue; arrives for the thread, and wakes it.
void CopyUnit::advance(Thread& thread) {
  CopyProgress& progress = thread.copies;
  while (!progress.done.empty() && progress.done.front()) {
    progress.done.pop_front();
    ++progress.landed;
  }
  while (!progress.arrivals.empty() && progress.arrivals.front().target <= progress.landed) {
    const CopyProgress::Arrival arrival = progress.arrivals.front();
    progress.arrivals.erase(progress.arrivals.begin());
    VectorClock knowledge;
    knowledge.learn(progress.component, static_cast<uint32_t>(arrival.target));
    arrival.barrier->arrive(knowledge, 0);
  }
  if (progress.waits && progress.landed >= progress.target) {
    progress.waits = false;
    thread.scheduler().wake(thread);
  }
}

void CopyUnit::commit_group(Thread& thread) {
  CopyProgress& progress = thread.copies;
  progress.groups.push_back(progress.issued);
  progress.committed = progress.issued;
  progress.batch = nullptr;
}

void CopyUnit::wait_for(Thread& thread, uint64_t target, SourceLine where) {
  CopyProgress& progress = thread.copies;
  progress.target = target;
  if (progress.landed < target) {
    progress.waits = true;
    Wait wait;
    wait.kind = WaitKind::kCopies;
    wait.where = where;
    thread.scheduler().block(thread, wait);
  }
  progress.waited = std::max(progress.waited, target);
}

void CopyUnit::wait_group(Thread& thread, int pending, SourceLine where) {
  CopyProgress& progress = thread.copies;
  if (pending == 0 && progress.committed < progress.issued) {
    report::missing_copy_commit(thread, progress.issued - progress.committed, where);
  }
  auto& groups = progress.groups;
  if (groups.size() <= static_cast<size_t>(pending)) return;
  wait_for(thread, *(groups.end() - 1 - pending), where);
  groups.erase(groups.begin(), groups.end() - pending);
}

void CopyUnit::wait_all(Thread& thread, SourceLine where) {
  thread.copies.committed = thread.copies.issued;
  thread.copies.batch = nullptr;
  wait_for(thread, thread.copies.issued, where);
}

void CopyUnit::arrive_when_landed(Thread& thread, MBarrier* address, SourceLine where) {
  CopyProgress& progress = thread.copies;
  Barrier& barrier = thread.block->barriers.find_for_arrival(thread, address, where);
  progress.arrivals.push_back({&barrier, progress.issued, where});
  progress.batch = nullptr;
  advance(thread);
}

}  // namespace emulator
