#include "global_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "machine.h"
#include "report.h"

namespace emulator {

Actor actor(const Thread& thread, const char* instruction, SourceLine where) {
  const Block& block = *thread.block;
  const int64_t number =
      thread.cluster().index * static_cast<int64_t>(thread.cluster().blocks.size()) + block.rank;
  return {block.index, number, thread.warp->index, thread.lane, thread.role, instruction, where};
}

// --- GlobalWrites ---

void GlobalWrites::add(Cluster& cluster, const void* address, Action action) {
  const uint64_t number = ++issued_;
  writes_.push_back({number, address, std::move(action)});
  cluster.scheduler.after_delay(Unit::kStores, [this, number, address] {
    // Those to one address stay in order.
    for (size_t i = 0; i < writes_.size() && writes_[i].number <= number;) {
      writes_[i].address == address ? run(i) : void(++i);
    }
  });
}

void GlobalWrites::run(size_t index) {
  const Action action = std::move(writes_[index].action);
  writes_.erase(writes_.begin() + static_cast<std::ptrdiff_t>(index));
  action();
}

void GlobalWrites::flush() {
  while (!writes_.empty()) run(0);
}

void GlobalWrites::flush(const void* address) {
  for (size_t i = 0; i < writes_.size();) {
    writes_[i].address == address ? run(i) : void(++i);
  }
}

// --- AccessHistory ---

AccessHistory::Page& AccessHistory::page(uintptr_t number) {
  if (latest_page_ != nullptr && latest_page_number_ == number) return *latest_page_;
  std::unique_ptr<Page>& found = pages_[number];
  if (found == nullptr) {
    found = std::make_unique<Page>();
    first_page_ = std::min(first_page_, number);
    last_page_ = std::max(last_page_, number);
  }
  latest_page_number_ = number;
  latest_page_ = found.get();
  return *found;
}

AccessHistory::Number AccessHistory::number_of(const GlobalAccess& access) {
  // A warp's lanes make the same access again and again.
  std::vector<Number>& recent = recent_[access.component];
  for (const Number number : recent) {
    const GlobalAccess& known = accesses_[number];
    const bool same = known.kind == access.kind && known.value == access.value &&
                      known.who.where.line == access.who.where.line &&
                      known.who.where.file == access.who.where.file;
    if (same) return number;
  }
  constexpr size_t kMost = 8;
  if (recent.size() == kMost) recent.erase(recent.begin());
  recent.push_back(static_cast<Number>(accesses_.size()));
  accesses_.push_back(access);
  return recent.back();
}

AccessHistory::Number AccessHistory::with_read(Number list, Number access) {
  for (Number i = list; i != 0; i = reads_[i].next) {
    if (reads_[i].access == access) return list;
  }
  Number& found = lists_[uint64_t{list} << 32 | access];
  if (found == 0) {
    found = static_cast<Number>(reads_.size());
    reads_.push_back({access, list});
  }
  return found;
}

// The access among these that collides with a new one.
const GlobalAccess* AccessHistory::unordered(Number write, Number reads, const GlobalAccess& access,
                                             const Counts& known) const {
  const auto collides = [&](const GlobalAccess& earlier) {
    return earlier.who.block_number != access.who.block_number &&
           !(earlier.is_atomic() && access.is_atomic()) && known[earlier.component] < earlier.value;
  };
  if (write != 0 && collides(accesses_[write])) return &accesses_[write];
  if (!access.is_write()) return nullptr;
  for (Number i = reads; i != 0; i = reads_[i].next) {
    if (collides(accesses_[reads_[i].access])) return &accesses_[reads_[i].access];
  }
  return nullptr;
}

std::optional<AccessHistory::Race> AccessHistory::note(const void* address, size_t bytes,
                                                       const GlobalAccess& access,
                                                       const Counts& known) {
  const Number number = number_of(access);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(address) / kUnit;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(address) + bytes + kUnit - 1) / kUnit;
  for (uintptr_t unit = begin; unit < end; ++unit) {
    Page& of_unit = page(unit / kPageUnits);
    Number& write = of_unit.writes[unit % kPageUnits];
    Number& reads = of_unit.reads[unit % kPageUnits];
    if (write == number) continue;
    if ((write | reads) != 0) {
      if (const GlobalAccess* earlier = unordered(write, reads, access, known)) {
        return Race{*earlier, access, reinterpret_cast<const void*>(unit * kUnit)};
      }
    }
    if (access.is_write()) {
      write = number;
      reads = 0;
    } else {
      reads = with_read(reads, number);
    }
  }
  return std::nullopt;
}

std::optional<AccessHistory::Race> AccessHistory::absorb(AccessHistory&& later) {
  const Counts nothing;
  std::vector<Number> numbers(later.accesses_.size());
  for (size_t i = 1; i < numbers.size(); ++i) {
    numbers[i] = static_cast<Number>(accesses_.size());
    accesses_.push_back(later.accesses_[i]);
  }
  // The race at the lowest address: the order of pages is not the same everywhere.
  std::optional<Race> found;
  for (auto& [page_number, page_of_later] : later.pages_) {
    Page& into = page(page_number);
    for (size_t i = 0; i < kPageUnits; ++i) {
      const Number write = page_of_later->writes[i];
      const Number reads = page_of_later->reads[i];
      if ((write | reads) == 0) continue;
      const auto* const address =
          reinterpret_cast<const void*>((page_number * kPageUnits + i) * kUnit);
      const auto check = [&](const GlobalAccess& access) {
        const GlobalAccess* earlier = unordered(into.writes[i], into.reads[i], access, nothing);
        if (earlier == nullptr || (found && found->address <= address)) return;
        found = Race{*earlier, access, address};
      };
      if (write != 0) check(later.accesses_[write]);
      for (Number r = reads; r != 0; r = later.reads_[r].next) {
        check(later.accesses_[later.reads_[r].access]);
      }
      if (write != 0) {
        into.writes[i] = numbers[write];
        into.reads[i] = 0;
      }
      for (Number r = reads; r != 0; r = later.reads_[r].next) {
        into.reads[i] = with_read(into.reads[i], numbers[later.reads_[r].access]);
      }
    }
  }
  return found;
}

std::optional<GlobalAccess> AccessHistory::unknown_write(const void* address, size_t bytes,
                                                         const Counts& known) const {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(address) / kUnit;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(address) + bytes + kUnit - 1) / kUnit;
  for (uintptr_t unit = begin; unit < end; ++unit) {
    const auto found = pages_.find(unit / kPageUnits);
    if (found == pages_.end()) {
      unit |= kPageUnits - 1;
      continue;
    }
    const GlobalAccess& write = accesses_[found->second->writes[unit % kPageUnits]];
    if (write.value > known[write.component]) return write;
  }
  return std::nullopt;
}

bool AccessHistory::is_untouched(const void* address, size_t bytes) const {
  constexpr size_t kPageBytes = kPageUnits * kUnit;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  return begin / kPageBytes > last_page_ || (begin + bytes - 1) / kPageBytes < first_page_;
}

// Nobody can wait for the end of a store here, so nobody is ever told of it.
void note_tma_store(Thread& thread, const void* address, size_t bytes, bool adds,
                    SourceLine where) {
  if (!options().happens_before) return;
  const Warp& warp = *thread.warp;
  const GlobalAccess access = {adds ? GlobalAccessKind::kTmaUpdate : GlobalAccessKind::kTmaWrite,
                               warp.global.component, UINT32_MAX,
                               actor(thread, "a TMA store", where)};
  if (const auto race =
          thread.cluster().accesses->note(address, bytes, access, warp.clock.grid.seen)) {
    report::data_race(thread, *race, where);
  }
}

namespace {

// A load must know of the writes before it, and TMA of the fence between the proxies, too.
void check_load(Thread& thread, const void* address, size_t bytes, bool by_tma, SourceLine where) {
  if (!options().happens_before || bytes == 0) return;
  const AccessHistory& accesses = *thread.cluster().accesses;
  if (accesses.is_untouched(address, bytes)) return;
  const Warp& warp = *thread.warp;
  const GridClock& clock = warp.clock.grid;
  const auto write = accesses.unknown_write(address, bytes, by_tma ? clock.proxied : clock.seen);
  if (!write) return;
  const GlobalAccess load = {GlobalAccessKind::kRead, warp.global.component, 0,
                             actor(thread, by_tma ? "a TMA load" : "cp.async", where)};
  const bool own = write->who.block_number == load.who.block_number;
  const bool through_tma =
      write->kind == GlobalAccessKind::kTmaWrite || write->kind == GlobalAccessKind::kTmaUpdate;
  if (own && (through_tma || !by_tma)) return;
  if (own || clock.seen[write->component] >= write->value) {
    report::missing_proxy_fence(thread, *write, where);
  }
  report::data_race(thread, {*write, load, address}, where);
}

}  // namespace

void check_tma_load(Thread& thread, const void* address, size_t bytes, SourceLine where) {
  check_load(thread, address, bytes, true, where);
}

void check_cp_async(Thread& thread, const void* address, size_t bytes, SourceLine where) {
  check_load(thread, address, bytes, false, where);
}

void note_access(Thread& thread, GlobalAccessKind kind, const void* address, size_t bytes,
                 const char* instruction, SourceLine where) {
  if (!options().happens_before) return;
  Warp& warp = *thread.warp;
  warp.global.more = true;
  const GlobalAccess access = {kind, warp.global.component, warp.global.told + 1,
                               actor(thread, instruction, where)};
  if (const auto race =
          thread.cluster().accesses->note(address, bytes, access, warp.clock.grid.seen)) {
    report::data_race(thread, *race, where);
  }
}

// --- GlobalMemory ---

Released released(const Thread& thread, Order order) {
  Released result;
  if (releases(order)) {
    result.cluster = thread.cluster().index;
    publish(thread, &result.clock);
  } else {
    result.clock.grid.seen = thread.warp->clock.grid.fenced;
  }
  return result;
}

const GlobalMemory::Location* GlobalMemory::location(const void* address) const {
  const auto found = locations_.find(address);
  return found == locations_.end() ? nullptr : &found->second;
}

uint64_t GlobalMemory::read(Thread& thread, const void* address, size_t bytes, Order order,
                            const char* instruction, SourceLine where) {
  note_access(thread, GlobalAccessKind::kAtomicRead, address, bytes, instruction, where);
  uint64_t value = 0;
  std::memcpy(&value, address, bytes);
  thread.look = {address, value, instruction, where};
  const auto found = locations_.find(address);
  if (found == locations_.end()) return value;
  Location& of_address = found->second;
  if (of_address.value != value) {  // a write that came through no wrapper: nothing is known of it
    of_address = {value, std::nullopt, {}};
    return value;
  }
  Warp& warp = *thread.warp;
  VectorClock& learns = acquires(order) ? warp.clock : warp.global.acquirable;
  if (of_address.released.cluster == thread.cluster().index) {
    learns.join(of_address.released.clock);
  } else {
    learns.grid.join(of_address.released.clock.grid);
  }
  return value;
}

void GlobalMemory::write(const Actor& who, void* address, uint64_t value, size_t bytes,
                         const Released& released, bool is_update) {
  std::memcpy(address, &value, bytes);
  Location& of_address = locations_[address];
  of_address.value = value;
  of_address.writer = who;
  published.join(released.clock.grid.seen);
  if (!is_update) {
    of_address.released = released;
    return;
  }
  Released& all = of_address.released;
  if (released.cluster == -1 || released.cluster == all.cluster) {
    all.clock.join(released.clock);
    return;
  }
  // Agents of two clusters have the same numbers: the later ones stay.
  Released both = released;
  both.clock.grid.join(all.clock.grid);
  all = both;
}

}  // namespace emulator
