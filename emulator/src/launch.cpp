// Launches: options, the clusters of a grid spread over operating-system threads, and what is left
// when they have ended.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "device_memory.h"
#include "machine.h"
#include "report.h"
#include "trace_json.h"

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
  std::map<int64_t, Trace> traces;  // by their cluster
  std::mutex mutex;  // launches spread over several threads
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

// What is not asked for is forgotten.
void keep(Trace&& trace, State* all) {
  const bool asked_for = trace.first_block() < all->options.trace_blocks || !trace.report().empty();
  if (trace.enabled && asked_for) all->traces[trace.cluster()] = std::move(trace);
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

// Hands out clusters in order and collects what they leave. The report that counts is that of the
// first cluster that has one: every cluster before it is run, whoever runs it.
class Run {
 public:
  Run(const cudaLaunchConfig_t& config, dim3 size, const std::function<void()>& body)
      : config_(config),
        size_(size),
        body_(body),
        clusters_(int64_t{config.gridDim.x} / size.x * (config.gridDim.y / size.y) *
                  (config.gridDim.z / size.z)),
        first_failed_(clusters_) {}

  void work() {
    blockDim = config_.blockDim;
    gridDim = config_.gridDim;
    for (int64_t index = next_++; index < clusters_ && index < first_failed_; index = next_++) {
      Cluster cluster(config_, size_, index, body_);
      cluster.run();
      collect(cluster);
    }
  }

 private:
  void collect(Cluster& cluster) {
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    add(cluster.counts, &all.counters);
    keep(std::move(cluster.trace), &all);
    if (!cluster.report || cluster.index >= first_failed_) return;
    first_failed_ = cluster.index;
    all.report = std::move(cluster.report);
  }

  const cudaLaunchConfig_t& config_;
  const dim3 size_;
  const std::function<void()>& body_;
  const int64_t clusters_;
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> first_failed_;
};

}  // namespace

void set_options(const Options& options) { state().options = options; }
const Options& options() { return state().options; }
const std::optional<Report>& last_report() { return state().report; }
Counters counters() { return state().counters; }
void reset_counters() { state().counters = {}; }

void write_trace(std::ostream& out) { write_timeline(state().traces, out); }

void write_recording(std::ostream& out) {
  const auto& traces = state().traces;
  auto chosen = std::find_if(traces.begin(), traces.end(),
                             [](const auto& each) { return !each.second.report().empty(); });
  if (chosen == traces.end()) chosen = traces.begin();
  write_recording(chosen == traces.end() ? Trace() : chosen->second, out);
}

cudaError_t launch(const cudaLaunchConfig_t& config, const std::function<void()>& thread_body) {
  State& all = state();
  all.report.reset();
  all.traces.clear();
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
  Run run(config, size, thread_body);
  std::vector<std::thread> helpers;
  for (int i = 1; i < all.options.threads; ++i) helpers.emplace_back([&run] { run.work(); });
  run.work();
  for (std::thread& helper : helpers) helper.join();
  if (!all.report) return cudaSuccess;
  clear_device_memory();
  if (all.options.print_reports) std::fputs(all.report->text.c_str(), stderr);
  return cudaErrorLaunchFailure;
}

}  // namespace emulator
