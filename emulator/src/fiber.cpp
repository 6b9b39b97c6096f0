#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define EMULATOR_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATOR_ADDRESS_SANITIZER
#endif
#endif

#ifdef EMULATOR_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulator {
namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// Enough for unoptimised kernels and for the composition of reports; only touched pages cost
// memory.
constexpr size_t kStackBytes = 128 * 1024;
// Each is two mappings, of which Linux gives a process 65530.
constexpr size_t kGuardedStacks = 8192;

size_t page_size() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// The sanitizer is told of each switch: before it, where the next stack lies; after it, that the
// switch is complete.
void before_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
                   [[maybe_unused]] size_t size) {
#ifdef EMULATOR_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(fake_stack, bottom, size);
#endif
}

void after_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** bottom,
                  [[maybe_unused]] size_t* size) {
#ifdef EMULATOR_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fake_stack, bottom, size);
#endif
}

// A fiber of a stopped kernel is never resumed; what it left on its stack is no longer guarded.
void forget_stack([[maybe_unused]] const Stack& stack) {
#ifdef EMULATOR_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(stack.bottom(), stack.usable_size());
#endif
}

}  // namespace

Stack::Stack(bool guarded) : size_(kStackBytes + page_size()) {
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const bool failed =
      memory == MAP_FAILED || (guarded && mprotect(memory, page_size(), PROT_NONE) != 0);
  if (failed) {
    std::perror("emulator: no memory for the stack of a CUDA thread");
    std::exit(4);
  }
  base_ = static_cast<char*>(memory);
}

Stack::Stack(Stack&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), size_(other.size_) {}

Stack::~Stack() {
  if (base_ != nullptr) munmap(base_, size_);
}

const char* Stack::bottom() const { return base_ + page_size(); }
size_t Stack::usable_size() const { return size_ - page_size(); }

StackPool& StackPool::of_this_thread() {
  static thread_local StackPool pool;
  return pool;
}

Stack& StackPool::at(size_t index) {
  while (stacks_.size() <= index) stacks_.emplace_back(stacks_.size() < kGuardedStacks);
  return stacks_[index];
}

void Fiber::prepare(Stack& stack, Entry entry, void* argument) {
  stack_ = &stack;
  entry_ = entry;
  argument_ = argument;
  forget_stack(stack);
  inside_ = make_fcontext(stack.top(), stack.usable_size(), trampoline);
  inside_fake_stack_ = nullptr;
}

void Fiber::trampoline(transfer_t transfer) {
  auto* const fiber = static_cast<Fiber*>(transfer.data);
  fiber->outside_ = transfer.fctx;
  after_switch(nullptr, &fiber->outside_bottom_, &fiber->outside_size_);
  fiber->entry_(fiber->argument_);
  std::abort();
}

void Fiber::resume() {
  before_switch(&outside_fake_stack_, stack_->bottom(), stack_->usable_size());
  inside_ = jump_fcontext(inside_, this).fctx;
  after_switch(outside_fake_stack_, nullptr, nullptr);
}

void Fiber::suspend() {
  before_switch(&inside_fake_stack_, outside_bottom_, outside_size_);
  outside_ = jump_fcontext(outside_, nullptr).fctx;
  after_switch(inside_fake_stack_, &outside_bottom_, &outside_size_);
}

// (The sanitizer forbids to read what lies between variables.)
#ifdef EMULATOR_ADDRESS_SANITIZER
__attribute__((no_sanitize("address")))
#endif
uint64_t
Fiber::state() const {
  uint64_t hash = 0;
  const auto* const top = reinterpret_cast<const uint64_t*>(stack_->top());
  for (auto* word = static_cast<const uint64_t*>(inside_); word < top; ++word) {
    hash = (hash ^ *word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace emulator
