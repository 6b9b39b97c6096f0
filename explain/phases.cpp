// All that can happen to an mbarrier of the kernels: asked of the emulator's own barrier, action by
// action.
#include <machine.h>
#include <ptx/mbarrier.cuh>
#include <ptx/tma.cuh>
#include <shared_storage.cuh>

#include <deque>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "emulated.h"
#include "topics.h"

namespace explain {
namespace {

using Path = std::vector<int>;  // numbers of actions

constexpr int kMostRows = 256;  // of a box: 32 KiB

struct Storage {
  alignas(1024) half tile[kMostRows * kTileColumns];
  MBarrier barrier;
};

// What a run of the kernel below is to do, and what it finds.
struct Run {
  const BarrierModel* model;
  const Path* path;
  BarrierState state;
  uint64_t phases = 0;  // complete
  bool done = false;  // nothing was refused
};

emulator::Barrier& barrier_of(MBarrier* address) {
  const SourceLine where = SourceLine::current();
  emulator::Thread* const thread = emulator::enter("explain", where);
  return thread->block->barriers.find(*thread, address, where);
}

// For a box of so many bytes.
const CUtensorMap& map_of(int bytes) {
  static std::map<int, std::pair<TileSource, CUtensorMap>> maps;
  auto place = maps.find(bytes);
  if (place == maps.end()) {
    TileSource source(bytes / kRowBytes);
    const CUtensorMap map = source.map();
    place = maps.emplace(bytes, std::make_pair(std::move(source), map)).first;
  }
  return place->second.second;
}

// Lets copies that are under way land: nothing else goes on, so the emulator sends the wait back
// when they have.
void let_land(MBarrier* barrier) {
  ptx::mbarrier_try_wait_parity(barrier, static_cast<uint32_t>(barrier_of(barrier).phase % 2));
}

void take(const Action& action, Storage* smem) {
  if (action.landing > 0) {
    ptx::cp_async_bulk_tensor_2d(smem->tile, &map_of(action.landing), 0, 0, &smem->barrier);
    let_land(&smem->barrier);
  }
  for (int i = 0; i < action.arrivals; ++i) {
    if (action.announced > 0) {
      ptx::mbarrier_arrive_expect_tx(&smem->barrier, static_cast<uint32_t>(action.announced));
    } else {
      ptx::mbarrier_arrive(&smem->barrier);
    }
  }
}

// One thread takes all actions of the path, then asks for both parities.
void path_kernel(Run* run) {
  auto& smem = shared_storage<Storage>();
  if (threadIdx.x != 0) return;
  ptx::mbarrier_init(&smem.barrier, static_cast<uint32_t>(run->model->count));
  ptx::fence_mbarrier_init();
  for (const int action : *run->path) {
    take(run->model->actions[static_cast<size_t>(action)], &smem);
  }
  const emulator::Barrier& barrier = barrier_of(&smem.barrier);
  run->phases = barrier.phase;
  run->state.phase = barrier.phase % 2;
  run->state.pending_arrivals = static_cast<int>(barrier.pending);
  run->state.pending_bytes = barrier.transaction;
  run->state.landed = barrier.issued;
  for (uint32_t parity = 0; parity < 2; ++parity) {
    run->state.passes[parity] = ptx::mbarrier_try_wait_parity(&smem.barrier, parity);
  }
  run->done = true;
}

// The part of a report that says what happened.
std::string what_of(const std::string& report) {
  const std::string mark = "what:";
  size_t begin = report.find(mark);
  if (begin == std::string::npos) return report;
  begin = report.find_first_not_of(' ', begin + mark.size());
  return report.substr(begin, report.find('\n', begin) - begin);
}

Run follow(const BarrierModel& model, const Path& path, std::string* refused) {
  Run run{&model, &path, {}, 0, false};
  const auto report = run_block(path_kernel, 32, sizeof(Storage), &run);
  if (!run.done) {  // (what is left over at the end of the kernel is no matter)
    if (!report) throw std::logic_error("the emulator stopped without a report");
    *refused = "The emulator refuses: " + what_of(report->text) + ".";
  }
  return run;
}

// Finds every state, and what each action makes of it. Landing is left out where all the bytes of a
// phase have landed.
void explore(BarrierModel* model) {
  using Key = std::tuple<uint64_t, int, int64_t, int64_t>;
  std::map<Key, int> known;
  std::vector<Path> paths;
  const auto number_of = [&](const Run& run, const Path& path) {
    const BarrierState& state = run.state;
    const Key key{state.phase, state.pending_arrivals, state.pending_bytes, state.landed};
    const auto [place, is_new] = known.emplace(key, static_cast<int>(paths.size()));
    if (is_new) {
      model->states.push_back(state);
      paths.push_back(path);
    }
    return place->second;
  };
  std::string refused;
  number_of(follow(*model, {}, &refused), {});
  for (size_t i = 0; i < paths.size(); ++i) {
    const uint64_t before = follow(*model, paths[i], &refused).phases;
    for (size_t a = 0; a < model->actions.size(); ++a) {
      BarrierState::Edge edge;
      const Action& action = model->actions[a];
      if (action.landing > 0 && model->states[i].landed + action.landing > model->bytes) {
        edge.refused = "All bytes of this phase have landed: no copy is under way.";
      } else if (action.arrivals > 1 && action.arrivals > model->states[i].pending_arrivals) {
        edge.refused =
            format("Only %d arrivals are pending: the others would count in the next phase.",
                   model->states[i].pending_arrivals);
      } else {
        Path path = paths[i];
        path.push_back(static_cast<int>(a));
        const Run run = follow(*model, path, &edge.refused);
        if (run.done) {
          edge.to = number_of(run, path);
          edge.completes = run.phases > before;
        }
      }
      model->states[i].edges.push_back(edge);
    }
  }
}

BarrierModel with_bytes(const char* name, const char* of,
                        std::vector<std::pair<const char*, int>> copies) {
  BarrierModel model{name, of, 1, 0, {}, {}};
  for (const auto& copy : copies) model.bytes += copy.second;
  model.actions.push_back({"arrive.expect_tx", 1, model.bytes, 0});
  for (const auto& [label, bytes] : copies) model.actions.push_back({label, 0, 0, bytes});
  model.actions.push_back({"arrive, without expect_tx", 1, 0, 0});
  return model;
}

std::vector<BarrierModel> make_models() {
  std::vector<BarrierModel> models = {
      with_bytes("full of v1", "1 arrival and the 32 KiB of a K tile, in two copies",
                 {{"16 KiB land", 16384}}),
      with_bytes("full[s] of v4", "1 arrival and the 48 KiB of a K tile, in three copies",
                 {{"8 KiB of A land", 8192}, {"32 KiB of B land", 32768}}),
      {"empty[s] of v4",
       "2 arrivals: one thread speaks for each of two consumers",
       2,
       0,
       {{"a consumer arrives", 1, 0, 0}},
       {}},
      {"empty[s] of v3",
       "128 arrivals: every thread of the consumer",
       128,
       0,
       {{"a thread arrives", 1, 0, 0}, {"a warp arrives", 32, 0, 0}},
       {}},
      {"empty[s] of v7",
       "4 arrivals: two consumers of each of two blocks",
       4,
       0,
       {{"a consumer arrives", 1, 0, 0}},
       {}},
  };
  models[0].bytes = 32768;  // the one copy is made twice
  models[0].actions[0].announced = models[0].bytes;
  models[1].bytes = 49152;  // the first of them is
  models[1].actions[0].announced = models[1].bytes;
  for (BarrierModel& model : models) explore(&model);
  return models;
}

const char* verdict(bool passes) { return passes ? "passes" : "waits"; }

// One line a state along a path.
std::string path_text(const BarrierModel& model, const std::vector<int>& path) {
  std::string text = format("  %-26s %5s %9s %8s   %-8s %s\n", "", "phase", "arrivals", "bytes",
                            "wait(0)", "wait(1)");
  int state = 0;
  uint64_t phase = 0;
  const auto line = [&](const std::string& label) {
    const BarrierState& at = model.states[static_cast<size_t>(state)];
    text += format("  %-26s %5llu %9d %8lld   %-8s %s\n", label.c_str(),
                   static_cast<unsigned long long>(phase), at.pending_arrivals,
                   static_cast<long long>(at.pending_bytes), verdict(at.passes[0]),
                   verdict(at.passes[1]));
  };
  line("mbarrier_init");
  for (const int action : path) {
    const BarrierState::Edge& edge =
        model.states[static_cast<size_t>(state)].edges[static_cast<size_t>(action)];
    if (edge.to < 0) throw std::logic_error(edge.refused);
    state = edge.to;
    phase += edge.completes;
    line(model.actions[static_cast<size_t>(action)].label);
  }
  return text;
}

}  // namespace

const std::vector<BarrierModel>& barrier_models() {
  static const std::vector<BarrierModel> models = make_models();
  return models;
}

std::string phases_text(const Question&) {
  const std::vector<BarrierModel>& models = barrier_models();
  std::string text =
      "An mbarrier counts two things that are still to come: arrivals and bytes. When both are "
      "zero\n"
      "its phase is complete, and the next one has begun in the same instant. A wait names a "
      "parity\n"
      "and passes if the current phase has the other one.\n\n";
  text += models[0].name + ": " + models[0].of + "\n";
  text += path_text(models[0], {0, 1, 1, 0, 1, 1});
  text += "Who waits for data begins with parity 0, and flips it after each wait.\n\n";
  text += models[2].name + ": " + models[2].of + "\n";
  text += path_text(models[2], {0, 0, 0, 0});
  text +=
      "Who waits for room begins with parity 1: a fresh barrier lets it pass, the stage is "
      "empty.\n\n"
      "A wait for parity 0 that comes after two phases waits again: nobody may fall that far "
      "behind.\n"
      "In numbers, what cannot be done, and why: ./run explain phases --page\n";
  return text;
}

nlohmann::json phases_data(const Question&) {
  nlohmann::json list = nlohmann::json::array();
  for (const BarrierModel& model : barrier_models()) {
    nlohmann::json actions = nlohmann::json::array(), states = nlohmann::json::array();
    for (const Action& action : model.actions) {
      actions.push_back({{"label", action.label},
                         {"arrivals", action.arrivals},
                         {"announced", action.announced},
                         {"landing", action.landing}});
    }
    for (const BarrierState& state : model.states) {
      nlohmann::json edges = nlohmann::json::array();
      for (const BarrierState::Edge& edge : state.edges) {
        edges.push_back(
            {{"to", edge.to}, {"completes", edge.completes}, {"refused", edge.refused}});
      }
      states.push_back({{"parity", state.phase},
                        {"arrivals", state.pending_arrivals},
                        {"bytes", state.pending_bytes},
                        {"landed", state.landed},
                        {"passes", {state.passes[0], state.passes[1]}},
                        {"edges", edges}});
    }
    list.push_back({{"name", model.name},
                    {"of", model.of},
                    {"count", model.count},
                    {"bytes", model.bytes},
                    {"actions", actions},
                    {"states", states}});
  }
  return {{"barriers", list}};
}

}  // namespace explain
