// Launches: options, the clusters of a grid spread over operating-system threads, and what is left
// when they have ended.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "device_memory.h"
#include "grid.h"
#include "machine.h"
#include "report.h"

namespace emulator {
namespace {

constexpr unsigned kWarp = kWarpThreads;
constexpr unsigned kThreadsLimit = 1024;
constexpr unsigned kClusterLimit = 8;  // blocks; more are not portable

// All that outlives a launch.
struct State {
  Options options;
  std::optional<Report> report;
  Counters counters;
  Trace trace;
};

State& state() {
  static State instance;
  return instance;
}

void add(const Counters& more, Counters* sum) {
  sum->blocks += more.blocks;
  sum->reports += more.reports;
  sum->tma_loads += more.tma_loads;
  sum->tma_load_bytes += more.tma_load_bytes;
  sum->tma_stores += more.tma_stores;
  sum->tma_store_bytes += more.tma_store_bytes;
  sum->wgmmas += more.wgmmas;
  sum->barrier_waits += more.barrier_waits;
  sum->barrier_waits_blocked += more.barrier_waits_blocked;
  sum->max_stages_in_flight = std::max(sum->max_stages_in_flight, more.max_stages_in_flight);
}

// What the CUDA runtime would refuse; empty if the launch is in order.
std::string launch_error(const cudaLaunchConfig_t& config, dim3 cluster) {
  const dim3& block = config.blockDim;
  if (block.y != 1 || block.z != 1) return "blocks of more than one dimension are not emulated";
  if (block.x == 0 || block.x > kThreadsLimit || block.x % kWarp != 0) {
    return "a block has " + std::to_string(block.x) + " threads; it takes whole warps, 32 to 1024";
  }
  if (config.gridDim.x == 0 || config.gridDim.y == 0 || config.gridDim.z == 0) {
    return "the grid is empty";
  }
  const unsigned blocks = cluster.x * cluster.y * cluster.z;
  if (blocks == 0 || blocks > kClusterLimit) {
    return "a cluster has " + std::to_string(blocks) + " blocks; it takes 1 to 8";
  }
  if (config.gridDim.x % cluster.x != 0 || config.gridDim.y % cluster.y != 0 ||
      config.gridDim.z % cluster.z != 0) {
    return "the grid is no multiple of the cluster's size";
  }
  if (config.dynamicSmemBytes > kSharedLimit) {
    return "a block asks for " + std::to_string(config.dynamicSmemBytes) +
           " bytes of shared memory; the limit is " + std::to_string(kSharedLimit);
  }
  return "";
}

dim3 cluster_size(const cudaLaunchConfig_t& config) {
  dim3 size;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
    const auto& cluster = config.attrs[i].val.clusterDim;
    size = dim3(cluster.x, cluster.y, cluster.z);
  }
  return size;
}

// An operating-system thread that runs clusters: fibers stay in the one where they began.
class Worker {
 public:
  // The first of a launch is the thread that launches.
  explicit Worker(bool is_first) {
    if (!is_first) thread_ = std::thread([this] { serve(); });
  }
  ~Worker() {
    if (!thread_.joinable()) return;
    post({});
    thread_.join();
  }
  Worker(const Worker&) = delete;

  // Lets it do `task`; wait() returns when that is done.
  void post(std::function<void()> task) {
    if (!thread_.joinable()) return task();
    const std::lock_guard<std::mutex> lock(mutex_);
    task_ = std::move(task);
    busy_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !busy_; });
  }

  // Where the stacks of one more cluster lie in the thread's pool, in clusters.
  size_t take_stacks() {
    const auto found = std::find(stacks_.begin(), stacks_.end(), false);
    const auto index = static_cast<size_t>(found - stacks_.begin());
    if (found == stacks_.end()) stacks_.push_back(false);
    stacks_[index] = true;
    return index;
  }
  void give_stacks(size_t index) { stacks_[index] = false; }

 private:
  // Does what is posted, until that is nothing.
  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return busy_; });
      if (!task_) return;
      const std::function<void()> task = std::move(task_);
      lock.unlock();
      task();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  bool busy_ = false;
  std::vector<bool> stacks_;
  std::thread thread_;
};

// Runs the clusters of a launch. Each begins alone: what it does until it first shares global
// memory is its own, so it does not matter where and when that happens, and clusters are spread
// over all workers. If one shares global memory, the others too go on side by side from there on.
// The report that counts is that of the first cluster that has one: every cluster before it is run,
// whoever runs it.
class Run {
 public:
  Run(const cudaLaunchConfig_t& config, dim3 size, const std::function<void()>& body)
      : config_(config),
        size_(size),
        body_(body),
        clusters_(int64_t{config.gridDim.x} / size.x * (config.gridDim.y / size.y) *
                  (config.gridDim.z / size.z)),
        first_failed_(clusters_),
        first_shared_(clusters_) {
    for (int i = 0; i < std::max(1, options().threads); ++i) workers_.emplace_back(i == 0);
  }

  void run() {
    for (auto worker = workers_.rbegin(); worker != workers_.rend(); ++worker) {
      worker->post([this, worker] { run_alone(*worker); });
    }
    for (Worker& worker : workers_) worker.wait();
    if (first_shared_ < first_failed_) run_side_by_side();
    if (const auto found = reports_.find(first_failed_); found != reports_.end()) {
      state().report = std::move(found->second);
    }
  }

 private:
  struct Place {
    Worker* worker;
    size_t stacks;
  };

  void run_alone(Worker& worker) {
    blockDim = config_.blockDim;
    gridDim = config_.gridDim;
    while (first_shared_ == clusters_) {
      const int64_t index = next_++;
      if (index >= clusters_ || index >= first_failed_) return;
      if (std::unique_ptr<Cluster> cluster = begin(worker, index)) {
        const std::lock_guard<std::mutex> lock(mutex_);
        first_shared_ = std::min<int64_t>(first_shared_, index);
        waiting_.emplace(index, std::move(cluster));
      }
    }
  }

  // Runs a cluster as far as it gets alone. Null if it has ended.
  std::unique_ptr<Cluster> begin(Worker& worker, int64_t index) {
    const Place place = {&worker, worker.take_stacks()};
    const size_t threads = size_t{size_.x} * size_.y * size_.z * config_.blockDim.x;
    auto cluster = std::make_unique<Cluster>(config_, size_, index, body_, place.stacks * threads);
    cluster->scheduler.run_alone(*cluster);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      places_.emplace(index, place);
    }
    if (!cluster->has_ended()) return cluster;
    end(std::move(cluster));
    return nullptr;
  }

  void end(std::unique_ptr<Cluster> cluster) {
    cluster->end();
    const std::lock_guard<std::mutex> lock(mutex_);
    State& all = state();
    add(cluster->counts, &all.counters);
    all.trace.append(std::move(cluster->trace));
    const auto place = places_.find(cluster->index);
    place->second.worker->give_stacks(place->second.stacks);
    places_.erase(place);
    if (!cluster->report) return;
    first_failed_ = std::min<int64_t>(first_failed_, cluster->index);
    reports_.emplace(cluster->index, std::move(*cluster->report));
  }

  // The clusters from the first that shares global memory on.
  void run_side_by_side() {
    const int64_t known = next_;  // have begun, or ended
    // A report stops the others where they are: it need not be that of the first cluster.
    first_failed_ = clusters_;
    Grid::Launch launch;
    launch.start = [this, known](int64_t index) -> std::unique_ptr<Cluster> {
      const auto found = waiting_.find(index);
      if (found != waiting_.end()) return std::move(found->second);
      if (index >= known) {
        if (auto cluster = begin(workers_.front(), index)) return cluster;
      }
      if (reports_.count(index) != 0) first_failed_ = index;
      return nullptr;
    };
    launch.failed = [this] { return first_failed_ < clusters_; };
    launch.run = [this](Cluster& cluster, uint64_t turns) {
      Worker& worker = *places_.at(cluster.index).worker;
      worker.post([&] { cluster.scheduler.run(cluster, turns); });
      worker.wait();
    };
    launch.end = [this](std::unique_ptr<Cluster> cluster) { end(std::move(cluster)); };
    Grid(options(), first_shared_, clusters_, resident_clusters(config_, options().multiprocessors),
         launch)
        .run();
  }

  const cudaLaunchConfig_t& config_;
  const dim3 size_;
  const std::function<void()>& body_;
  const int64_t clusters_;
  std::deque<Worker> workers_;
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> first_failed_;
  std::atomic<int64_t> first_shared_;
  std::mutex mutex_;  // of what follows, and of State
  std::map<int64_t, Place> places_;
  std::map<int64_t, Report> reports_;
  std::map<int64_t, std::unique_ptr<Cluster>> waiting_;  // for others to run side by side
};

}  // namespace

void set_options(const Options& options) { state().options = options; }
const Options& options() { return state().options; }
const std::optional<Report>& last_report() { return state().report; }
Counters counters() { return state().counters; }
void reset_counters() { state().counters = {}; }

void write_trace(std::ostream& out) {
  write_json(state().trace, out);
  clear_trace();
}

void clear_trace() { state().trace = {}; }

int resident_clusters(const cudaLaunchConfig_t& config, int multiprocessors) {
  // Of one multiprocessor of compute capability 9.0. CUDA C++ Programming Guide, "Technical
  // Specifications per Compute Capability".
  constexpr size_t kBlocks = 32, kThreads = 2048, kSharedBytes = 228 * 1024;
  constexpr size_t kReservedBytes = 1024;  // of shared memory, for each block
  const size_t blocks = std::min({kBlocks, kThreads / std::max(1u, config.blockDim.x),
                                  kSharedBytes / (config.dynamicSmemBytes + kReservedBytes)});
  const dim3 size = cluster_size(config);
  const size_t all = blocks * static_cast<size_t>(std::max(1, multiprocessors));
  return std::max(1, static_cast<int>(all / (size.x * size.y * size.z)));
}

cudaError_t launch(const cudaLaunchConfig_t& config, const std::function<void()>& thread_body) {
  State& all = state();
  all.report.reset();
  ++all.counters.launches;
  const dim3 size = cluster_size(config);
  if (const std::string error = launch_error(config, size); !error.empty()) {
    const Check check =
        config.dynamicSmemBytes > kSharedLimit ? Check::kSharedMemorySize : Check::kLaunch;
    all.report =
        Report{check, std::string("emulator: ") + check_name(check) + "\n  what:   " + error + "\n",
               all.options.seed, 0};
    if (all.options.print_reports) std::fputs(all.report->text.c_str(), stderr);
    return cudaErrorInvalidValue;
  }
  Run(config, size, thread_body).run();
  if (!all.report) return cudaSuccess;
  clear_device_memory();
  if (all.options.print_reports) std::fputs(all.report->text.c_str(), stderr);
  return cudaErrorLaunchFailure;
}

}  // namespace emulator
