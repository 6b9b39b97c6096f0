// What happened when: the timeline keeps Perfetto's rules and loses nothing; the player's recording
// adds up; the textbook's schedule is always the same.
#include <emulator.h>
#include <gtest/gtest.h>
#include <harness/cpu/watch_page.h>
#include <harness/problem.h>
#include <harness/versions.h>
#include <ptx/mbarrier.cuh>
#include <ptx/warpgroup.cuh>
#include <shared_storage.cuh>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using Json = nlohmann::json;
using Row = std::pair<int64_t, int64_t>;  // pid, tid

Json timeline() {
  std::stringstream text;
  emulator::write_trace(text);
  return Json::parse(text.str())["traceEvents"];
}

Json recording() {
  std::stringstream text;
  emulator::write_recording(text);
  return Json::parse(text.str());
}

emulator::Options tracing(uint64_t seed = 1) {
  emulator::Options options;
  options.seed = seed;
  options.trace = true;
  options.print_reports = false;
  return options;
}

void run(const harness::Version& version, const harness::ProblemSize& size,
         const emulator::Options& options) {
  harness::Problem problem(size);
  problem.generate(harness::DataKind::kInts, 1);
  emulator::set_options(options);
  MatmulArguments arguments = problem.arguments();
  arguments.max_blocks = 2;
  ASSERT_TRUE(version.matmul(arguments, nullptr).ok()) << version.name;
}

const harness::Version& version_called(const std::string& name) {
  for (const harness::Version& each : harness::versions()) {
    if (each.name == name) return each;
  }
  throw std::runtime_error(name);
}

Row row_of(const Json& event) { return {event["pid"], event["tid"]}; }

struct Slice {
  int64_t begin, end;
  std::string name;
};

std::map<Row, std::vector<Slice>> slices_of(const Json& events) {
  std::map<Row, std::vector<Slice>> rows;
  for (const auto& event : events) {
    if (event["ph"] != "X") continue;
    const int64_t begin = event["ts"], duration = event["dur"];
    rows[row_of(event)].push_back({begin, begin + duration, event["name"]});
  }
  return rows;
}

// What Perfetto drops: a slice that begins inside another one of its row and ends outside of it.
std::vector<std::string> dropped(const Json& events) {
  std::vector<std::string> found;
  for (const auto& [row, slices] : slices_of(events)) {
    for (const Slice& a : slices) {
      for (const Slice& b : slices) {
        if (a.begin < b.begin && b.begin < a.end && a.end < b.end) {
          found.push_back(a.name + " / " + b.name);
        }
      }
    }
  }
  return found;
}

std::map<std::string, int> names_of(const Json& events, const std::string& phase) {
  std::map<std::string, int> names;
  for (const auto& event : events) {
    if (event["ph"] == phase) ++names[event["name"]];
  }
  return names;
}

TEST(Timeline, PerfettoDropsNothingOfAnyVersion) {
  for (const harness::Version& version : harness::versions()) {
    for (const uint64_t seed : {1, 2, 3}) {
      run(version, {300, 264, 328}, tracing(seed));
      const Json events = timeline();
      EXPECT_GT(events.size(), 100u) << version.name;
      EXPECT_EQ(dropped(events), std::vector<std::string>()) << version.name << ", seed " << seed;
      for (const auto& event : events) {
        EXPECT_GT(event["pid"].get<int>(), 0);  // 0 is the idle process
        EXPECT_GT(event.value("tid", 1), 0);
      }
    }
  }
}

// The rule itself: a row of two copies that overlap loses one.
TEST(Timeline, TheRuleFindsWhatPerfettoDrops) {
  Json events = Json::array();
  events.push_back({{"ph", "X"}, {"name", "a"}, {"pid", 1}, {"tid", 1}, {"ts", 0}, {"dur", 10}});
  events.push_back({{"ph", "X"}, {"name", "b"}, {"pid", 1}, {"tid", 1}, {"ts", 5}, {"dur", 10}});
  EXPECT_EQ(dropped(events), std::vector<std::string>{"a / b"});
  events[1]["tid"] = 2;
  EXPECT_TRUE(dropped(events).empty());
}

TEST(Timeline, HasEveryCopyAndEveryWgmma) {
  emulator::reset_counters();
  run(version_called("v7_cluster_multicast"), {256, 256, 640}, tracing());
  const emulator::Counters counters = emulator::counters();
  ASSERT_EQ(counters.blocks, 2u) << "one cluster, which is all that is traced";
  uint64_t bytes = 0, copies = 0;
  for (const auto& event : timeline()) {
    if (event["ph"] != "X" || event["cat"] != "load") continue;
    bytes += event["args"]["bytes"].get<uint64_t>();
    ++copies;
  }
  EXPECT_EQ(bytes, counters.tma_load_bytes) << "a multicast box lands in both blocks";
  EXPECT_EQ(copies, 2 * 10 * 4u);
  const Json recorded = recording();
  uint64_t wgmmas = 0, ended = 0;
  for (const auto& span : recorded["spans"]) {
    if (span.is_null() || span[0] != 3) continue;
    ++wgmmas;
    ended += span[4] >= 0;
  }
  EXPECT_EQ(wgmmas, counters.wgmmas);
  EXPECT_EQ(ended, counters.wgmmas);
}

TEST(Timeline, ShowsRolesStagesAndWork) {
  run(version_called("v3_warp_specialized"), {128, 128, 320}, tracing());
  const Json events = timeline();
  std::set<std::string> rows;
  for (const auto& event : events) {
    if (event["name"] == "thread_name") rows.insert(event["args"]["name"].get<std::string>());
  }
  for (const char* name :
       {"warp 0 (consumer)", "warp 4 (producer)", "TMA unit: smem.a[0]", "TMA unit: smem.b[1]",
        "tensor core, warp group 0", "tensor core, warp group 0: in flight", "mbarriers"}) {
    EXPECT_EQ(rows.count(name), 1u) << name;
  }
  auto spans = names_of(events, "X");
  EXPECT_EQ(spans["smem.a[0], K tile 4"], 1);
  EXPECT_EQ(spans["WGMMA 40"], 1);
  EXPECT_EQ(spans["full[1] phase 1 complete"], 1);
  EXPECT_EQ(spans["load K tile 3"], 1);
  EXPECT_EQ(spans["issue K tile 3"], 4) << "one of each warp";
  EXPECT_EQ(spans["store C"], 4);
  EXPECT_EQ(spans["arrive empty[0]"], 12) << "one of each warp and K tile, for all lanes";
  const auto counters = names_of(events, "C");
  EXPECT_EQ(counters.count("stages in flight"), 1u);
  EXPECT_EQ(counters.count("WGMMAs in flight"), 1u);
  EXPECT_EQ(counters.count("bytes pending on full[0]"), 1u);
  for (const auto& event : events) {
    if (event["ph"] != "X" || event["name"] != "smem.a[0], K tile 4") continue;
    const Json& arguments = event["args"];
    EXPECT_EQ(arguments["K tile"], 4);
    EXPECT_EQ(arguments["stage"], 0);
    EXPECT_EQ(arguments["phase"], 2);
    EXPECT_EQ(arguments["parity"], 0);
    EXPECT_EQ(arguments["bytes"], 128 * 64 * 2);
    EXPECT_NE(arguments["line"].get<std::string>().find("cp_async_bulk_tensor_2d(smem.a"),
              std::string::npos);
  }
}

// An arrow begins and ends inside of a slice of its row, or Perfetto draws none.
TEST(Timeline, ArrowsHoldOnToSlices) {
  run(version_called("v3_warp_specialized"), {128, 128, 320}, tracing());
  const Json events = timeline();
  const auto rows = slices_of(events);
  std::map<int64_t, std::pair<int, int>> ends;
  for (const auto& event : events) {
    const std::string phase = event["ph"];
    if (phase != "s" && phase != "f") continue;
    (phase == "s" ? ends[event["id"]].first : ends[event["id"]].second) += 1;
    const int64_t time = event["ts"];
    bool held = false;
    for (const Slice& slice : rows.at(row_of(event))) {
      held = held || (slice.begin <= time && time < slice.end);
    }
    EXPECT_TRUE(held) << event;
  }
  for (const auto& [id, both] : ends) EXPECT_EQ(both, std::make_pair(1, 1)) << id;
  auto arrows = names_of(events, "s");
  EXPECT_EQ(arrows["bytes expected"], 10) << "two copies of five K tiles";
  EXPECT_EQ(arrows["last byte"], 5);
  EXPECT_EQ(arrows["last arrival"], 5);
  EXPECT_GT(arrows["phase complete"], 0);
  EXPECT_GT(arrows["WGMMAs complete"], 0);
  EXPECT_GT(arrows["released"], 0);
}

__global__ void deadlock_kernel() {
  auto& barrier = shared_storage<MBarrier>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 2);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) ptx::mbarrier_arrive(&barrier);
  ptx::mbarrier_wait_parity(&barrier, 0);
}

void run_deadlock(const emulator::Options& options) {
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 32;
  config.dynamicSmemBytes = 1024;
  emulator::set_options(options);
  ASSERT_EQ(cudaLaunchKernelEx(&config, deadlock_kernel), cudaErrorLaunchFailure);
}

TEST(Timeline, AWaitThatNeverEndsIsThere) {
  run_deadlock(tracing());
  const Json events = timeline();
  auto spans = names_of(events, "X");
  EXPECT_EQ(
      spans["waits for ever: parity 0 of barrier"] + spans["waits for ever: parity 0 of mbarrier"],
      1)
      << events.dump(1);
  bool reported = false;
  for (const auto& event : events) {
    if (event["ph"] != "i") continue;
    EXPECT_EQ(event["name"], "deadlock");
    reported = event["args"]["report"] == emulator::last_report()->text;
  }
  EXPECT_TRUE(reported);
  const Json recorded = recording();
  EXPECT_EQ(recorded["report"]["title"], "deadlock");
  EXPECT_EQ(recorded["events"].back()[0], 14) << "the report is the last event";
}

TEST(Timeline, IsOfTheBlocksThatWereAskedFor) {
  emulator::Options options = tracing();
  const auto blocks = [&] {
    run(version_called("v1_simple"), {256, 256, 64}, options);
    std::set<int64_t> found;
    for (const auto& event : timeline()) found.insert(event["pid"].get<int64_t>());
    return found;
  };
  EXPECT_EQ(blocks(), std::set<int64_t>{1});
  options.trace_blocks = 3;
  options.threads = 2;
  EXPECT_EQ(blocks(), (std::set<int64_t>{1, 2, 3}));
  options.trace = false;
  EXPECT_EQ(blocks(), std::set<int64_t>());
}

TEST(Recording, IsOfTheLatestLaunch) {
  run_deadlock(tracing());
  EXPECT_EQ(recording()["report"]["title"], "deadlock");
  run(version_called("v1_simple"), {256, 256, 64}, tracing());
  EXPECT_EQ(recording()["report"]["title"], "");
  EXPECT_EQ(recording()["files"][0]["name"], "v1_simple/kernel.cu");
}

// The state that an event names is what the events before make of the state before.
TEST(Recording, BarriersAddUp) {
  for (const harness::Version& version : harness::versions()) {
    run(version, {300, 264, 328}, tracing(5));
    const Json recorded = recording();
    std::map<std::string, size_t> column;
    for (size_t i = 0; i < recorded["event_columns"].size(); ++i) {
      column[recorded["event_columns"][i]] = i;
    }
    std::vector<int64_t> pending, bytes, phase;
    for (const auto& barrier : recorded["barriers"]) {
      pending.push_back(barrier["expected"]);
      bytes.push_back(0);
      phase.push_back(0);
    }
    ASSERT_FALSE(pending.empty());
    uint64_t turn = 0;
    for (const auto& event : recorded["events"]) {
      const auto at = [&](const char* name) { return event[column[name]].get<int64_t>(); };
      EXPECT_GE(event[column["turn"]].get<uint64_t>(), turn);
      turn = event[column["turn"]];
      if (at("barrier") < 0) continue;
      const auto barrier = static_cast<size_t>(at("barrier"));
      const std::string kind = recorded["event_kinds"][static_cast<size_t>(at("kind"))];
      if (kind == "arrive") {
        pending[barrier] -= at("lanes");
        bytes[barrier] += at("bytes");
      } else if (kind == "land") {
        bytes[barrier] -= at("bytes");
      } else if (kind == "complete") {
        EXPECT_EQ(pending[barrier], 0) << version.name;
        EXPECT_EQ(bytes[barrier], 0) << version.name;
        pending[barrier] = recorded["barriers"][barrier]["expected"];
        ++phase[barrier];
      }
      EXPECT_EQ(at("pending"), pending[barrier]) << version.name << " " << kind;
      EXPECT_EQ(at("transaction"), bytes[barrier]) << version.name << " " << kind;
      EXPECT_EQ(at("phase") + (kind == "complete" ? 1 : 0), phase[barrier]) << version.name;
    }
  }
}

TEST(Recording, HasTheSourceAndIsSmall) {
  run(version_called("v3_warp_specialized"), {128, 128, 320}, tracing());
  const Json recorded = recording();
  EXPECT_EQ(recorded["files"][0]["name"], "v3_warp_specialized/kernel.cu");
  EXPECT_NE(recorded["files"][0]["text"].get<std::string>().find("matmul_kernel"),
            std::string::npos);
  // A page takes 1.5 MB with 10,000 events, its own parts included.
  const double events = static_cast<double>(recorded["events"].size());
  const double size = static_cast<double>(recorded.dump().size());
  EXPECT_LT((size - recorded["files"].dump().size()) / events, 120);
}

TEST(Textbook, IsAlwaysTheSame) {
  std::string texts[2];
  for (const uint64_t seed : {1, 2}) {
    emulator::Options options = tracing(seed);
    harness::set_delays("textbook", &options);
    run(version_called("v6_persistent"), {256, 512, 512}, options);
    texts[seed - 1] = timeline().dump();
  }
  EXPECT_EQ(texts[0], texts[1]);
}

// The pipeline's gain is there to be seen: v2 loads K tiles while others are multiplied, v1 does
// not.
TEST(Textbook, ShowsOverlapWhereThereIsSome) {
  const auto overlaps = [](const char* version) {
    emulator::Options options = tracing();
    harness::set_delays("textbook", &options);
    run(version_called(version), {128, 128, 512}, options);
    std::vector<Slice> loads, wgmmas;
    for (const auto& event : timeline()) {
      if (event["ph"] != "X") continue;
      const int64_t begin = event["ts"], duration = event["dur"];
      const Slice slice = {begin, begin + duration, event["name"]};
      if (event["cat"] == "load") loads.push_back(slice);
      if (slice.name.rfind("WGMMA ", 0) == 0) wgmmas.push_back(slice);
    }
    int count = 0;
    for (const Slice& load : loads) {
      for (const Slice& each : wgmmas) count += load.begin < each.end && each.begin < load.end;
    }
    return count;
  };
  EXPECT_EQ(overlaps("v1_simple"), 0);
  EXPECT_GT(overlaps("v2_pipelined"), 50);
  EXPECT_GT(overlaps("v3_warp_specialized"), 50);
}

void elect_kernel(const char* file) { ptx::elect_sync({file, 2}); }

// Roles and barriers are called what the source calls them, whatever that is.
TEST(Timeline, NamesMayHoldAnyCharacter) {
  const std::string path = testing::TempDir() + "/trace_test.cu";
  std::ofstream(path) << "  // --- \"\\\x01\xff ---\n\n";
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 32;
  emulator::set_options(tracing());
  ASSERT_EQ(cudaLaunchKernelEx(&config, elect_kernel, path.c_str()), cudaSuccess);
  std::set<std::string> rows;
  for (const auto& event : timeline()) {
    if (event["name"] == "thread_name") rows.insert(event["args"]["name"].get<std::string>());
  }
  EXPECT_EQ(rows.count("warp 0 (\"\\\x01\xef\xbf\xbd)"), 1u);
  EXPECT_FALSE(recording().empty());
}

}  // namespace
