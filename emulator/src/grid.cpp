#include "grid.h"

#include <algorithm>
#include <utility>

#include "machine.h"
#include "report.h"

namespace emulator {
namespace {

constexpr uint64_t kGridStream = UINT64_MAX;  // of chance: clusters have theirs by their indices
constexpr uint64_t kNanosecondsPerTurn = 1000;
constexpr size_t kWantedAtFirst = 4;
// Who goes round in circles is found by that. A loop that changes something in each round, and so
// might end by itself, is given so many of its cluster's turns.
constexpr uint64_t kMostIdleTurns = 1 << 21;
// When nobody gets anywhere, time flies after so many looks at the clock, but in steps that are
// small against the range of its 32 bits.
constexpr int kLooksBeforeTimeFlies = 32;
constexpr uint64_t kLargestStep = 1 << 24;

bool is_stuck(const Thread& thread, uint64_t activity) {
  if (thread.state == Thread::State::kDone) return true;
  const bool blocked = thread.state == Thread::State::kBlocked;
  if (blocked && thread.wait.kind == WaitKind::kTry) return thread.scheduler().tries_are_over();
  if (blocked && thread.wait.kind != WaitKind::kSleep) return true;
  return thread.circle.is_closed(activity);
}

}  // namespace

Grid::Grid(const Options& options, int64_t first, int64_t clusters, int room, Launch launch)
    : schedule_(options.schedule),
      random_(options.seed, kGridStream),
      launch_(std::move(launch)),
      clusters_(clusters),
      room_(room),
      next_(first),
      wanted_(std::min<size_t>(kWantedAtFirst, static_cast<size_t>(room))) {
  constexpr uint64_t kChoices[] = {1, 8, 64, 512};
  turns_ = kChoices[random_.below(4)];
}

void Grid::start_next() {
  std::unique_ptr<Cluster> cluster = launch_.start(next_++);
  ++activity_;
  stopped_ = launch_.failed();
  if (cluster == nullptr) return;
  time_ = std::max(time_, cluster->scheduler.now() * kNanosecondsPerTurn);
  cluster->grid = this;
  cluster->scheduler.count_activity(&activity_);
  residents_.push_back(std::move(cluster));
}

size_t Grid::choose() {
  const size_t size = residents_.size();
  if (schedule_ == Schedule::kRoundRobin || idle_ >= size) return idle_ % size;
  return random_.below(static_cast<uint32_t>(size));
}

void Grid::run_one(size_t chosen) {
  Cluster& cluster = *residents_[chosen];
  const uint64_t before = activity_;
  const uint64_t began = cluster.scheduler.now();
  launch_.run(cluster, 1 + random_.below(static_cast<uint32_t>(turns_)));
  time_ += (cluster.scheduler.now() - began) * kNanosecondsPerTurn / residents_.size() + 1;
  stopped_ = cluster.report.has_value();
  if (cluster.has_ended()) {
    ++activity_;
    launch_.end(std::move(residents_[chosen]));
    residents_.erase(residents_.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  idle_ = activity_ == before ? idle_ + 1 : 0;
  if (idle_ == 0 && watching_) watch(false);
}

void Grid::run() {
  while (!stopped_ && (!residents_.empty() || next_ < clusters_)) {
    if (residents_.size() < wanted_ && next_ < clusters_) {
      start_next();
      continue;
    }
    if (residents_.empty()) continue;
    run_one(choose());
    const size_t size = residents_.size();
    if (!stopped_ && size > 0 && idle_ > 0 && idle_ % (2 * size) == 0) nobody_gets_anywhere();
  }
  for (auto& cluster : residents_) launch_.end(std::move(cluster));
  residents_.clear();
}

void Grid::nobody_gets_anywhere() {
  if (wanted_ < static_cast<size_t>(room_) && next_ < clusters_) {
    wanted_ = std::min<size_t>(2 * wanted_, static_cast<size_t>(room_));
    return;
  }
  watch(true);
  const uint64_t before = activity_;
  for (const auto& cluster : residents_) {
    cluster->scheduler.nudge(*cluster);
    stopped_ |= cluster->report.has_value();
  }
  if (stopped_ || activity_ != before) return;
  if (!is_stuck() && idle_ < kMostIdleTurns) return;
  try {
    report::grid_deadlock(*this);
  } catch (const KernelStopped&) {
    stopped_ = true;
  }
}

void Grid::watch(bool on) {
  watching_ = on;
  for (const auto& cluster : residents_) cluster->scheduler.watch(on);
}

bool Grid::is_stuck() const {
  for (const auto& cluster : residents_) {
    if (cluster->has_ended()) return false;
    for (const auto& block : cluster->blocks) {
      for (const Thread& thread : block->threads) {
        if (!emulator::is_stuck(thread, activity_)) return false;
      }
    }
  }
  return true;
}

uint64_t Grid::look_at_clock(Thread& thread) {
  const int looks = thread.circle.note_clock(activity_) - kLooksBeforeTimeFlies;
  if (looks > 0) time_ += std::min(kNanosecondsPerTurn << std::min(looks, 20), kLargestStep);
  return time_;
}

}  // namespace emulator
