// setmaxnreg: how the registers of a multiprocessor are shared out among warp groups.
#pragma once

#include <source_line.h>

#include <utility>
#include <vector>

namespace emulator {

struct Thread;

// What warp groups of one block give back, and wait for.
class RegisterPool {
 public:
  // Of a block of so many threads, each of which gets as many as fit.
  explicit RegisterPool(int threads);

  void decrease(Thread& thread, int registers, SourceLine where);
  void increase(Thread& thread, int registers, SourceLine where);

  // Per thread of a warp group; and that nobody owns.
  int registers(int group) const { return groups_[static_cast<size_t>(group)].registers; }
  int free() const { return free_; }

 private:
  struct Group {
    int registers = 0;  // per thread
    int lanes = 0;  // that have joined the current call
    std::vector<Thread*> waiting;
  };
  void change(Thread& thread, int registers, SourceLine where, bool increase);
  void grant();

  std::vector<Group> groups_;
  std::vector<std::pair<int, int>> wanted_;  // group, registers
  int free_ = 0;
};

}  // namespace emulator
