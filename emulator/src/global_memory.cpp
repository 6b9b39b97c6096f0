#include "global_memory.h"

#include <utility>

#include "machine.h"

namespace emulator {

Actor actor(const Thread& thread, const char* instruction, SourceLine where) {
  return {thread.block->index, thread.warp->index, thread.lane, thread.role, instruction, where};
}

// --- GlobalWrites ---

void GlobalWrites::add(Cluster& cluster, const void* address, Action action) {
  const uint64_t number = ++issued_;
  writes_.push_back({number, address, std::move(action)});
  cluster.scheduler.after_delay([this, number, address] {
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

// --- GlobalMemory ---

const GlobalMemory::Write* GlobalMemory::latest_write(const void* address) const {
  const auto found = writes_.find(address);
  return found == writes_.end() ? nullptr : &found->second;
}

uint32_t GlobalMemory::read(Thread& thread, const uint32_t* address, Order, const char* instruction,
                            SourceLine where) {
  thread.look = {address, *address, instruction, where};
  return *address;
}

void GlobalMemory::write(const Actor& who, uint32_t* address, uint32_t, uint32_t after) {
  *address = after;
  writes_[address] = {who, after};
}

}  // namespace emulator
