#include "trace.h"

#include <algorithm>
#include <string_view>

#include "machine.h"
#include "source_text.h"

namespace emulator {
namespace {

using Agent = TraceAgent::Kind;
using Event = TraceEvent::Kind;
using Span = TraceSpan::Kind;

bool begins_with(std::string_view text, std::string_view part) {
  return text.substr(0, part.size()) == part;
}

// Instructions whose effects are events themselves.
bool has_events_of_its_own(std::string_view instruction) {
  for (const char* name : {"mbarrier.arrive", "mbarrier.wait", "mbarrier.try_wait",
                           "cp.async.bulk.tensor", "cp.reduce.async.bulk", "cp.async.bulk ("}) {
    if (begins_with(instruction, name)) return true;
  }
  return instruction == "cp.async.bulk" || instruction == "shared_storage" ||
         instruction == "statement";
}

// Instructions of which an epilogue executes hundreds, in several lines.
bool comes_in_crowds(std::string_view instruction) {
  for (const char* name : {"shfl", "stmatrix", "ldmatrix", "mma.sync", "clock64"}) {
    if (begins_with(instruction, name)) return true;
  }
  return instruction == "cp.async";
}

std::string name_of(const Wait& wait) {
  switch (wait.kind) {
    case WaitKind::kPhase:
    case WaitKind::kTry:
      return "wait " + wait.barrier->name();
    case WaitKind::kWgmma:
      return "wgmma.wait_group";
    case WaitKind::kBlockBarrier:
      return wait.id == 0 ? "__syncthreads" : "bar.sync " + std::to_string(wait.id);
    case WaitKind::kClusterBarrier:
      return "barrier.cluster.wait";
    case WaitKind::kBulkGroup:
      return "cp.async.bulk.wait_group";
    case WaitKind::kCopies:
      return "cp.async.wait_group";
    case WaitKind::kRegisters:
      return "setmaxnreg.inc";
    case WaitKind::kWarp:
      return "wait for the other lanes";
    default:
      return "";
  }
}

int64_t linear_index(const Block& block) {
  return block.index.x + int64_t{gridDim.x} * (block.index.y + int64_t{gridDim.y} * block.index.z);
}

}  // namespace

void Trace::begin(const Cluster& cluster) {
  machine_ = &cluster;
  cluster_ = cluster.index;
  first_block_ = linear_index(*cluster.blocks.front());
  blocks_ = static_cast<int>(cluster.blocks.size());
  for (const auto& block : cluster.blocks) {
    const auto add_agent = [&](const void* who, Agent kind, int index) {
      agent_numbers_.emplace(who, static_cast<int>(agents_.size()));
      agents_.push_back({kind, block->rank, index, ""});
    };
    for (const Warp& each : block->warps) add_agent(&each, Agent::kWarp, each.index);
    add_agent(&block->tma, Agent::kTma, 0);
    for (const auto& each : block->tensor_cores) {
      add_agent(each.get(), Agent::kTensorCore, each->warp_group());
    }
  }
  agent_history_.resize(agents_.size());
}

uint64_t Trace::now() const { return machine_->scheduler.now(); }

int Trace::warp(const Thread& thread) { return agent_numbers_.at(thread.warp); }
int Trace::core(const TensorCore& core) { return agent_numbers_.at(&core); }
int Trace::unit(const Block& block) { return agent_numbers_.at(&block.tma); }

int Trace::barrier(const Barrier& barrier) {
  const auto [place, is_new] =
      barrier_numbers_.emplace(&barrier, static_cast<int>(barriers_.size()));
  if (is_new) {
    const bool indexed = barrier_is_indexed(barrier.initialised);
    barriers_.push_back({barrier.block->rank, barrier.name(), barrier_family(barrier.initialised),
                         indexed ? barrier.index : -1, barrier.expected, false});
    signals_.emplace_back();
  }
  return place->second;
}

TraceEvent Trace::event(Event kind, int agent, SourceLine where) const {
  TraceEvent event;
  event.kind = kind;
  event.turn = now();
  event.agent = agent;
  event.where = where;
  return event;
}

void Trace::describe(const Barrier& of, TraceEvent* event) {
  event->barrier = barrier(of);
  event->phase = of.phase;
  event->pending = of.pending;
  event->transaction = of.transaction;
}

int Trace::add(const TraceEvent& event) {
  const int number = static_cast<int>(events_.size());
  events_.push_back(event);
  if (event.agent >= 0) {
    History& history = agent_history_[static_cast<size_t>(event.agent)];
    history.before = history.latest;
    history.latest = number;
  }
  return number;
}

int Trace::add_or_merge(const TraceEvent& event) {
  for (size_t i = events_.size(); i-- > 0 && events_[i].turn == event.turn;) {
    TraceEvent& other = events_[i];
    const bool same = other.kind == event.kind && other.agent == event.agent &&
                      other.barrier == event.barrier && other.phase == event.phase &&
                      other.where.line == event.where.line;
    if (!same) continue;
    ++other.lanes;
    other.bytes += event.bytes;
    other.pending = event.pending;
    other.transaction = event.transaction;
    return static_cast<int>(i);
  }
  return add(event);
}

// --- instructions ---

bool Trace::repeats_a_call(int agent, const char* instruction, SourceLine where) {
  const History& history = agent_history_[static_cast<size_t>(agent)];
  // A loop that looks and sleeps is one of two calls.
  for (const int number : {history.latest, history.before}) {
    if (number < 0) return false;
    TraceEvent& event = events_[static_cast<size_t>(number)];
    if (event.kind != Event::kCall) return false;
    if (std::string_view(event.instruction) != instruction) continue;
    if (event.where.line != where.line && !comes_in_crowds(instruction)) continue;
    ++event.repeats;
    return true;
  }
  return false;
}

// The first lane speaks for its warp.
void Trace::called(const Thread& thread, const char* instruction) {
  if (thread.lane != 0 || has_events_of_its_own(instruction)) return;
  const int agent = warp(thread);
  if (repeats_a_call(agent, instruction, thread.where)) return;
  TraceEvent call = event(Event::kCall, agent, thread.where);
  call.instruction = instruction;
  add(call);
}

// --- waits ---

void Trace::wait_begins(const Thread& thread) {
  const Wait& wait = thread.wait;
  const std::string name = name_of(wait);
  if (name.empty() || wait.kind == WaitKind::kWarp) return;
  const int agent = warp(thread);
  const int on = wait.barrier == nullptr ? -1 : barrier(*wait.barrier);
  History& history = agent_history_[static_cast<size_t>(agent)];
  for (const int number : history.open) {
    TraceSpan& span = spans_[static_cast<size_t>(number)];
    const int parity = on < 0 ? -1 : static_cast<int>(wait.parity);
    if (span.name != name || span.barrier != on || span.parity != parity || span.cause >= 0) {
      continue;
    }
    ++span.lanes;
    waits_[&thread] = number;
    // Lanes that have done something else meanwhile begin to wait now.
    TraceEvent& latest = events_[static_cast<size_t>(history.latest)];
    if (latest.kind == Event::kWait && latest.span == number) {
      ++latest.lanes;
    } else {
      TraceEvent again = event(Event::kWait, agent, wait.where);
      again.span = number;
      if (on >= 0) describe(*wait.barrier, &again);
      add(again);
    }
    return;
  }
  const int number = static_cast<int>(spans_.size());
  TraceEvent begin = event(Event::kWait, agent, wait.where);
  begin.span = number;
  if (wait.kind == WaitKind::kBlockBarrier)
    begin.instruction = wait.id == 0 ? "__syncthreads" : "bar.sync";
  TraceSpan span;
  span.agent = agent;
  span.name = name;
  span.barrier = on;
  if (on >= 0) {
    describe(*wait.barrier, &begin);
    span.parity = static_cast<int>(wait.parity);
    span.phase = wait.barrier->phase;
  }
  span.begin = add(begin);
  spans_.push_back(std::move(span));
  history.open.push_back(number);
  waits_[&thread] = number;
}

int Trace::cause_of_end(const Thread& thread, const TraceSpan& wait) {
  const TraceAgent& agent = agents_[static_cast<size_t>(wait.agent)];
  if (thread.wait.kind == WaitKind::kWgmma) {
    const auto& core = thread.block->tensor_cores[static_cast<size_t>(thread.warp_group())];
    const int number = wgmma(*core, thread.wgmma.target);
    return number < 0 ? -1 : spans_[static_cast<size_t>(number)].end;
  }
  // Of those who came or ended meanwhile, the last.
  const char* const instruction = thread.wait.kind == WaitKind::kBlockBarrier
                                      ? events_[static_cast<size_t>(wait.begin)].instruction
                                      : "";
  for (int i = static_cast<int>(events_.size()) - 1; i > wait.begin; --i) {
    const TraceEvent& event = events_[static_cast<size_t>(i)];
    if (event.agent < 0) continue;
    const TraceAgent& other = agents_[static_cast<size_t>(event.agent)];
    if (thread.wait.kind == WaitKind::kBulkGroup) {
      if (event.kind == Event::kStoreRead && other.block == agent.block) return i;
    } else if (event.kind == Event::kCall && event.agent != wait.agent) {
      const bool cluster = thread.wait.kind == WaitKind::kClusterBarrier;
      const bool registers = thread.wait.kind == WaitKind::kRegisters;
      const char* const called = cluster     ? "barrier.cluster.arrive"
                                 : registers ? "setmaxnreg.dec"
                                             : instruction;
      if (std::string_view(event.instruction) == called &&
          (cluster || other.block == agent.block)) {
        return i;
      }
    }
  }
  return -1;
}

void Trace::wait_ends(const Thread& thread) {
  const auto place = waits_.find(&thread);
  if (place == waits_.end()) return;
  const int number = place->second;
  waits_.erase(place);
  TraceSpan& span = spans_[static_cast<size_t>(number)];
  if (span.end >= 0) return;  // another lane was first
  if (span.barrier < 0) span.cause = cause_of_end(thread, span);
  TraceEvent end = event(Event::kResume, span.agent, thread.wait.where);
  end.span = number;
  end.lanes = span.lanes;
  end.cause = span.cause;
  if (thread.wait.barrier != nullptr) describe(*thread.wait.barrier, &end);
  span.end = add(end);
  auto& open = agent_history_[static_cast<size_t>(span.agent)].open;
  open.erase(std::remove(open.begin(), open.end(), number), open.end());
}

// --- mbarriers ---

void Trace::passed(const Thread& thread, const Barrier& barrier) {
  TraceEvent pass = event(Event::kPass, warp(thread), thread.where);
  describe(barrier, &pass);
  Signals& signals = signals_[static_cast<size_t>(pass.barrier)];
  pass.cause = signals.completion;
  // Lanes may pass one after the other, with turns of others between.
  const auto [place, is_new] = signals.passes.emplace(pass.agent, -1);
  if (!is_new) {
    TraceEvent& other = events_[static_cast<size_t>(place->second)];
    if (other.phase == pass.phase && other.where.line == pass.where.line &&
        other.lanes < kWarpThreads) {
      ++other.lanes;
      return;
    }
  }
  place->second = add(pass);
}

void Trace::arrived(const Barrier& barrier, int64_t announced_bytes) {
  // An arrival that cp.async makes when its copies have landed is nobody's.
  const Thread* const thread = current_thread();
  TraceEvent arrival = thread == nullptr ? event(Event::kArrive, -1, {"", 0})
                                         : event(Event::kArrive, warp(*thread), thread->where);
  describe(barrier, &arrival);
  arrival.bytes = announced_bytes;
  if (announced_bytes > 0) barriers_[static_cast<size_t>(arrival.barrier)].carries_bytes = true;
  const int number = add_or_merge(arrival);
  signals_[static_cast<size_t>(arrival.barrier)].latest = number;
}

void Trace::completed(const Barrier& barrier) {
  TraceEvent completion = event(Event::kComplete, -1, {"", 0});
  describe(barrier, &completion);
  Signals& signals = signals_[static_cast<size_t>(completion.barrier)];
  completion.pending = barrier.expected;
  completion.cause = signals.latest;
  const int number = add(completion);
  signals.completion = number;
  for (const History& history : agent_history_) {
    for (const int open : history.open) {
      TraceSpan& wait = spans_[static_cast<size_t>(open)];
      const bool ends = wait.barrier == completion.barrier && wait.cause < 0 &&
                        wait.parity == static_cast<int>(barrier.phase & 1);
      if (ends) wait.cause = number;
    }
  }
}

// --- copies ---

int Trace::load_issued(const Thread& thread, const Block& destination, const Barrier& barrier,
                       const Box& box) {
  const int number = static_cast<int>(spans_.size());
  TraceEvent issue = event(Event::kLoad, warp(thread), thread.where);
  describe(barrier, &issue);
  issue.bytes = box.bytes;
  issue.span = number;
  TraceSpan span;
  span.kind = Span::kLoad;
  span.agent = unit(destination);
  span.issuer = issue.agent;
  span.name = copy_name(thread.where, barrier);
  span.barrier = issue.barrier;
  span.phase = barrier.phase;
  span.bytes = box.bytes;
  span.column = box.column;
  span.row = box.row;
  span.k_tile = static_cast<int>(box.column / box.columns);
  barriers_[static_cast<size_t>(issue.barrier)].carries_bytes = true;
  signals_[static_cast<size_t>(issue.barrier)].k_tiles[barrier.phase] = span.k_tile;
  span.begin = add(issue);
  spans_.push_back(std::move(span));
  return number;
}

void Trace::landed(const Barrier& barrier, int copy, int64_t bytes) {
  TraceSpan& span = spans_[static_cast<size_t>(copy)];
  TraceEvent landing =
      event(Event::kLand, span.agent, events_[static_cast<size_t>(span.begin)].where);
  describe(barrier, &landing);
  landing.transaction -= bytes;
  landing.bytes = bytes;
  landing.span = copy;
  const int number = add(landing);
  signals_[static_cast<size_t>(landing.barrier)].latest = number;
  span.landed += bytes;
  if (span.landed >= span.bytes) span.end = number;
}

int Trace::store_issued(const Thread& thread, const Box& box, uint64_t store) {
  const int number = static_cast<int>(spans_.size());
  TraceEvent issue = event(Event::kStore, warp(thread), thread.where);
  issue.bytes = box.bytes;
  issue.span = number;
  TraceSpan span;
  span.kind = Span::kStore;
  span.agent = unit(*thread.block);
  span.issuer = issue.agent;
  span.name = "store " + std::to_string(store);
  span.number = store;
  span.bytes = box.bytes;
  span.column = box.column;
  span.row = box.row;
  span.begin = add(issue);
  spans_.push_back(std::move(span));
  return number;
}

void Trace::store_read(int copy) {
  TraceSpan& span = spans_[static_cast<size_t>(copy)];
  TraceEvent read = event(Event::kStoreRead, span.agent, {"", 0});
  read.bytes = span.bytes;
  read.span = copy;
  span.start = add(read);
}

void Trace::stored(int copy) {
  TraceSpan& span = spans_[static_cast<size_t>(copy)];
  TraceEvent end = event(Event::kStored, span.agent, {"", 0});
  end.bytes = span.bytes;
  end.span = copy;
  span.end = add(end);
}

// --- WGMMAs ---

int Trace::wgmma(const TensorCore& core, uint64_t number) {
  const auto& all = wgmmas_[&core];
  const auto place = all.find(number);
  return place == all.end() ? -1 : place->second;
}

int Trace::wgmma_or_new(const TensorCore& of, uint64_t number) {
  const auto [place, is_new] = wgmmas_[&of].emplace(number, static_cast<int>(spans_.size()));
  if (is_new) {
    TraceSpan span;
    span.kind = Span::kWgmma;
    span.agent = core(of);
    span.name = "WGMMA " + std::to_string(number);
    span.number = number;
    spans_.push_back(std::move(span));
  }
  return place->second;
}

void Trace::wgmma_reads(const TensorCore& of, uint64_t number, const Access& write) {
  TraceSpan& span = spans_[static_cast<size_t>(wgmma_or_new(of, number))];
  if (write.kind != AccessKind::kTmaLoad || span.barrier >= 0) return;
  span.barrier = barrier(*write.barrier);
  span.phase = write.number;
  const auto& k_tiles = signals_[static_cast<size_t>(span.barrier)].k_tiles;
  const auto k_tile = k_tiles.find(write.number);
  if (k_tile != k_tiles.end()) span.k_tile = k_tile->second;
}

void Trace::wgmma_issued(const TensorCore& of, uint64_t number, SourceLine where) {
  const int span = wgmma_or_new(of, number);
  TraceEvent issue = event(Event::kWgmma, core(of), where);
  issue.span = span;
  spans_[static_cast<size_t>(span)].begin = add(issue);
}

void Trace::wgmma_starts(const TensorCore& of, uint64_t number) {
  const int span = wgmma(of, number);
  TraceEvent start = event(Event::kWgmmaStart, core(of), {"", 0});
  start.span = span;
  spans_[static_cast<size_t>(span)].start = add(start);
}

void Trace::wgmma_ends(const TensorCore& of, uint64_t number) {
  const int span = wgmma(of, number);
  TraceEvent end = event(Event::kWgmmaEnd, core(of), {"", 0});
  end.span = span;
  spans_[static_cast<size_t>(span)].end = add(end);
}

// --- the end ---

void Trace::reported(const Report& report) {
  report_ = report.text;
  report_title_ = check_name(report.check);
  const Thread* const thread = current_thread();
  const SourceLine nowhere = {"", 0};
  add(event(Event::kReport, thread == nullptr ? -1 : warp(*thread),
            thread == nullptr ? nowhere : thread->where));
}

void Trace::finish(const Cluster& cluster) {
  // WGMMAs that some warps alone have issued are none.
  for (const auto& block : cluster.blocks) {
    for (const auto& each : block->barriers.all()) barrier(*each);
    for (const Warp& each : block->warps) {
      const int number = agent_numbers_.at(&each);
      const Thread& first = *each.lanes[0];
      if (first.role != nullptr) agents_[static_cast<size_t>(number)].role = *first.role;
      const auto stuck = std::find_if(each.lanes.begin(), each.lanes.end(), [](const Thread* lane) {
        return lane->state == Thread::State::kBlocked && lane->wait.kind == WaitKind::kWarp;
      });
      if (stuck == each.lanes.end() || cluster.scheduler.now() == 0) continue;
      const int latest = agent_history_[static_cast<size_t>(number)].latest;
      if (report_.empty() || latest < 0) continue;
      TraceSpan span;
      span.agent = number;
      span.name = name_of((*stuck)->wait);
      span.begin = latest;
      spans_.push_back(std::move(span));
    }
  }
  machine_ = nullptr;
  agent_numbers_.clear();
  barrier_numbers_.clear();
  agent_history_.clear();
  signals_.clear();
  waits_.clear();
  wgmmas_.clear();
}

}  // namespace emulator
