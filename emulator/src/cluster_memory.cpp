// Shared memory of other blocks of the cluster: the loads and stores of ptx/cluster.cuh.
#include <algorithm>
#include <cstring>
#include <ptx/cluster.cuh>

#include "machine.h"
#include "report.h"

namespace emulator {
namespace {

struct Place {
  Block* block;
  uint32_t offset;
  uint8_t* data() const { return block->memory.data() + offset; }
};

// Where the access goes, checked: it is aligned, inside, and the block is there.
Place place_of(Thread& thread, const void* address, uint32_t bytes, uint32_t rank,
               SourceLine where) {
  const SharedMemory& memory = thread.block->memory;
  Cluster& cluster = thread.cluster();
  if (!memory.contains(address, bytes)) report::not_shared(thread, where);
  const uint32_t offset = memory.offset(address);
  if (offset % bytes != 0) report::misaligned(thread, "the address", offset, bytes, where);
  if (rank >= cluster.blocks.size()) report::no_such_rank(thread, rank, where);
  Block& block = *cluster.blocks[rank];
  if (&block == thread.block) return {&block, offset};
  if (!cluster.barrier.has_been_used()) report::block_has_not_begun(thread, block, where);
  if (block.live_threads == 0) report::memory_has_ended(thread, block, where);
  return {&block, offset};
}

// The owner must not leave before it is told that the access is over.
void note_use(Thread& thread, Block& block, SourceLine where) {
  if (&block == thread.block) return;
  GlobalAccesses& accesses = thread.warp->global;
  const RemoteUse use = {accesses.component, accesses.told + 1, thread.block->rank, where};
  const auto known =
      std::find_if(block.remote_uses.begin(), block.remote_uses.end(),
                   [&](const RemoteUse& other) { return other.component == use.component; });
  if (known == block.remote_uses.end()) {
    block.remote_uses.push_back(use);
  } else {
    *known = use;
  }
}

// Against accesses of threads through these functions.
void check_races(Thread& thread, GlobalAccessKind kind, const Place& place, uint32_t bytes,
                 const char* instruction, SourceLine where) {
  if (!options().happens_before) return;
  Warp& warp = *thread.warp;
  warp.global.more = true;
  const GlobalAccess access = {kind, warp.global.component, warp.global.told + 1,
                               actor(thread, instruction, where)};
  if (const auto race = thread.cluster().shared_accesses.note(place.data(), bytes, access,
                                                              warp.clock.grid.seen)) {
    report::shared_data_race(thread, *race, *place.block, place.offset, where);
  }
  note_use(thread, *place.block, where);
}

// Against those of asynchronous units, and stmatrix.
void check_units(Thread& thread, const Place& place, uint32_t bytes, bool writes,
                 SourceLine where) {
  if (!options().happens_before) return;
  for (const Region& region : place.block->memory.regions(place.offset, place.offset + bytes)) {
    const Access& write = region.write;
    if (write.kind != AccessKind::kNone && known(thread, write.component) < write.value) {
      report::touched_in_flight(thread, *place.block, region, where);
    }
    if (!writes) continue;
    for (const Access& read : region.reads) {
      if (known(thread, read.component) < read.value) {
        report::stored_while_read(thread, *place.block, region, read, where);
      }
    }
  }
}

template <class Value>
Value load(const char* instruction, const Value* address, uint32_t rank, SourceLine where) {
  Thread* const thread = enter(instruction, where);
  if (thread == nullptr) return {};
  const Place place = place_of(*thread, address, sizeof(Value), rank, where);
  check_units(*thread, place, sizeof(Value), false, where);
  check_races(*thread, GlobalAccessKind::kRead, place, sizeof(Value), instruction, where);
  Value value;
  std::memcpy(&value, place.data(), sizeof(value));
  thread->scheduler().maybe_yield(*thread);
  return value;
}

template <class Value>
void store(const char* instruction, Value* address, uint32_t rank, const Value& value,
           SourceLine where) {
  Thread* const thread = enter(instruction, where);
  if (thread == nullptr) return;
  const Place place = place_of(*thread, address, sizeof(Value), rank, where);
  check_units(*thread, place, sizeof(Value), true, where);
  check_races(*thread, GlobalAccessKind::kWrite, place, sizeof(Value), instruction, where);
  std::memcpy(place.data(), &value, sizeof(value));
  thread->scheduler().maybe_yield(*thread);
}

}  // namespace
}  // namespace emulator

namespace ptx {

float ld_shared_cluster_f32(const float* address, uint32_t rank, SourceLine where) {
  return emulator::load("ld.shared::cluster", address, rank, where);
}

float4 ld_shared_cluster_v4_f32(const float4* address, uint32_t rank, SourceLine where) {
  return emulator::load("ld.shared::cluster.v4", address, rank, where);
}

void st_shared_cluster_f32(float* address, uint32_t rank, float value, SourceLine where) {
  emulator::store("st.shared::cluster", address, rank, value, where);
}

void st_shared_cluster_v4_f32(float4* address, uint32_t rank, const float4& value,
                              SourceLine where) {
  emulator::store("st.shared::cluster.v4", address, rank, value, where);
}

// As a TMA load of 4 bytes: whoever waits for the barrier is told of it.
void st_async_f32(float* address, uint32_t rank, float value, MBarrier* full, SourceLine where) {
  using namespace emulator;
  Thread* const thread = enter("st.async", where);
  if (thread == nullptr) return;
  constexpr uint32_t kBytes = sizeof(value);
  const Place place = place_of(*thread, address, kBytes, rank, where);
  Block& block = *place.block;
  if (!thread->block->memory.contains(full, sizeof(MBarrier))) report::not_shared(*thread, where);
  Barrier& barrier =
      &block == thread->block
          ? block.barriers.find(*thread, full, where)
          : MBarrierTable::find_remote(*thread, block, thread->block->memory.offset(full), where);
  check_units(*thread, place, kBytes, true, where);
  if (barrier.pending == 0 && barrier.issued + kBytes > barrier.announced) {
    report::too_few_bytes_expected(*thread, barrier, barrier.issued + kBytes, barrier.announced,
                                   where);
  }
  Access write;
  write.kind = AccessKind::kTmaLoad;
  write.component = barrier.component;
  write.value = phase_known(barrier.phase);
  write.where = where;
  write.barrier = &barrier;
  write.number = barrier.phase;
  block.memory.record_write(place.offset, place.offset + kBytes, write);
  barrier.bytes_issued(kBytes);
  std::memset(place.data(), 0xff, kBytes);
  thread->scheduler().after_delay(Unit::kStores, [place, value, &barrier] {
    std::memcpy(place.data(), &value, kBytes);
    barrier.bytes_arrived(kBytes);
  });
  thread->scheduler().maybe_yield(*thread);
}

}  // namespace ptx
