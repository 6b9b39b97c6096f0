// The clusters of a launch that share global memory: from the first that does on, as many as the
// machine has room for run side by side, in turns that the seed deals out.
#pragma once

#include <emulator.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "global_memory.h"
#include "random.h"

namespace emulator {

class Cluster;
struct Thread;

class Grid {
 public:
  // What the launch does for the grid.
  struct Launch {
    // Runs a cluster as far as it gets alone. Null if it has then ended.
    std::function<std::unique_ptr<Cluster>(int64_t index)> start;
    // True if one that has ended has a report.
    std::function<bool()> failed;
    std::function<void(Cluster& cluster, uint64_t turns)> run;
    std::function<void(std::unique_ptr<Cluster> cluster)> end;
  };

  // `first` is the first cluster that shares global memory; at most `room` run at a time.
  Grid(const Options& options, int64_t first, int64_t clusters, int room, Launch launch);

  // Until all have ended, or one has a report.
  void run();

  GlobalMemory memory;

  // %globaltimer, in nanoseconds: all clusters have one clock. (They count turns; what one does
  // while the others do as much is the same time for all.)
  uint64_t look_at_clock(Thread& thread);

  int64_t clusters() const { return clusters_; }
  // Clusters from here on have not been launched.
  int64_t next() const { return next_; }
  int room() const { return room_; }
  const std::vector<std::unique_ptr<Cluster>>& residents() const { return residents_; }
  // A number that changes when anybody gets anywhere.
  uint64_t activity() const { return activity_; }
  // Nobody will ever get any further: each waits for others, or goes round in circles.
  bool is_stuck() const;

 private:
  void start_next();
  size_t choose();
  void run_one(size_t chosen);
  void nobody_gets_anywhere();
  void watch(bool on);

  const Schedule schedule_;
  Random random_;
  const Launch launch_;
  const int64_t clusters_;
  const int room_;
  int64_t next_;
  std::vector<std::unique_ptr<Cluster>> residents_;
  size_t wanted_;  // of them, for the time being: more begin when nobody gets anywhere
  uint64_t turns_;  // that a cluster gets at most before another has its turn
  bool stopped_ = false;
  bool watching_ = false;
  uint64_t activity_ = 0;
  uint64_t idle_ = 0;  // turns of clusters since
  uint64_t time_ = 0;  // nanoseconds
};

}  // namespace emulator
