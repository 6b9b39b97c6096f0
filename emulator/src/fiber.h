// Fibers: one stack and one flow of control for each CUDA thread, switched by Boost.Context.
//
// The switch is Boost's fcontext, from its namespace detail. The public boost::context::fiber above
// it was tried: it unwinds a fiber that is not at its end by an exception, on a stack that
// AddressSanitizer has not been told of, and that and the making of fibers slow every test down.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace emulator {

// A stack with a page below it that no one may touch, if it is guarded, so that an overflow ends
// the program where it happens.
class Stack {
 public:
  explicit Stack(bool guarded);
  Stack(Stack&& other) noexcept;
  Stack& operator=(Stack&&) = delete;
  ~Stack();

  char* top() const { return base_ + size_; }
  const char* bottom() const;
  size_t usable_size() const;

 private:
  char* base_;
  size_t size_;
};

// Stacks for the fibers of one operating-system thread. They are kept from launch to launch: the
// number of memory mappings of a process is limited. For that reason the first are guarded, not all
// (all run the same kernel).
class StackPool {
 public:
  static StackPool& of_this_thread();
  Stack& at(size_t index);

 private:
  std::deque<Stack> stacks_;  // fibers keep references
};

// No exception may leave `entry`: that ends the program. A fiber that is never resumed again, as
// those of a kernel that a check has stopped, is left as it is: what it holds on its stack is not
// destroyed. So a kernel had better own no memory there, and no wrapper that waits does.
class Fiber {
 public:
  using Entry = void (*)(void* argument);

  // The next resume() calls entry(argument) on `stack`. `entry` may not return: it suspends last.
  void prepare(Stack& stack, Entry entry, void* argument);
  // Runs the fiber until it suspends.
  void resume();
  // Returns to who resumed this fiber; called by the fiber itself.
  void suspend();
  // Of a suspended fiber: a number that stands for all that its stack holds, registers included.
  uint64_t state() const;

 private:
  static void trampoline(boost::context::detail::transfer_t transfer);

  boost::context::detail::fcontext_t inside_ = nullptr;
  boost::context::detail::fcontext_t outside_ = nullptr;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  Stack* stack_ = nullptr;
  // What AddressSanitizer must know to follow the switch; unused without it.
  void* inside_fake_stack_ = nullptr;
  void* outside_fake_stack_ = nullptr;
  const void* outside_bottom_ = nullptr;
  size_t outside_size_ = 0;
};

}  // namespace emulator
