// A timeline for Perfetto, in the Chrome trace format. Perfetto drops slices that overlap others of
// their row without lying inside them; so what overlaps gets a row more.
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source_text.h"
#include "trace_json.h"

namespace emulator {
namespace {

using Json = nlohmann::ordered_json;
using Agent = TraceAgent::Kind;
using Event = TraceEvent::Kind;
using Span = TraceSpan::Kind;

// A turn of the scheduler, in the format's microseconds. The events of a turn share it evenly, so
// that each has a time of its own, in the order in which they happened.
constexpr int64_t kTurn = 1000;

struct Slice {
  std::string name;
  const char* category;
  const char* color;
  int64_t begin;
  int64_t end;
  Json arguments;
  int row = -1;
  int thread = 0;  // of the row: one more for each slice that would overlap
};

// What belongs together, one below the other.
struct Row {
  std::string name;
  int block;
  std::vector<size_t> slices;
  int first_thread = 0;
  int threads = 1;
};

class Timeline {
 public:
  explicit Timeline(const Trace& trace) : trace_(trace) {
    set_times();
    group_wgmmas();
    for (int block = 0; block < trace_.blocks(); ++block) add_block(block);
    connect();
    lay_out();
  }

  template <class Write>
  void write(const Write& write) const;

 private:
  // A place in a slice to which an arrow goes.
  struct Anchor {
    size_t slice;
    int64_t time;
  };
  struct Arrow {
    Anchor from, to;
    const char* name;
  };
  // WGMMAs that read the same K tile, one after the other.
  struct KTile {
    int agent;
    std::vector<int> spans;
  };

  static constexpr size_t kNone = ~size_t{0};

  const TraceEvent& event(int number) const { return trace_.events()[static_cast<size_t>(number)]; }
  const TraceSpan& span(int number) const { return trace_.spans()[static_cast<size_t>(number)]; }
  const TraceAgent& agent(int number) const { return trace_.agents()[static_cast<size_t>(number)]; }
  const TraceBarrier& barrier(int number) const {
    return trace_.barriers()[static_cast<size_t>(number)];
  }
  int events() const { return static_cast<int>(trace_.events().size()); }
  int spans() const { return static_cast<int>(trace_.spans().size()); }
  int64_t pid(int block) const { return trace_.first_block() + block + 1; }

  void set_times();
  void group_wgmmas();
  int64_t begin_of(int number) const { return times_[static_cast<size_t>(number)]; }
  int64_t after(int number) const { return times_[static_cast<size_t>(number) + 1]; }
  int64_t end_or_last(int number) const { return number < 0 ? times_.back() : begin_of(number); }

  void add_block(int block);
  void add_warp(int number);
  void add_work(int number, int row);
  void add_copies(int block);
  void add_tensor_core(int number);
  void add_completions(int block);
  int add_row(int block, const std::string& name);
  size_t add(int row, Slice slice);
  Json arguments_of(const TraceEvent& event) const;
  Json arguments_of(const TraceSpan& span) const;
  int k_tile_of(int barrier, uint64_t phase) const;

  void connect();
  void arrow(size_t from, int64_t from_time, size_t to, int64_t to_time, const char* name);
  void lay_out();

  template <class Write>
  void write_counters(const Write& write) const;

  const Trace& trace_;
  std::vector<int64_t> times_;  // of the events, and of the end
  std::vector<KTile> k_tiles_;
  std::vector<Slice> slices_;
  std::vector<Row> rows_;
  std::vector<Arrow> arrows_;
  std::vector<size_t> event_slices_;  // of events that are slices themselves
  std::vector<size_t> span_slices_;
  std::vector<std::pair<int, std::string>> reports_;  // block, and what is said
};

void Timeline::set_times() {
  times_.resize(static_cast<size_t>(events()) + 1);
  for (int first = 0; first < events();) {
    int last = first;
    while (last < events() && event(last).turn == event(first).turn) ++last;
    for (int i = first; i < last; ++i) {
      times_[static_cast<size_t>(i)] =
          static_cast<int64_t>(event(first).turn) * kTurn + kTurn * (i - first) / (last - first);
    }
    first = last;
  }
  times_.back() = events() == 0 ? 0 : static_cast<int64_t>(event(events() - 1).turn + 1) * kTurn;
  event_slices_.assign(static_cast<size_t>(events()), kNone);
  span_slices_.assign(static_cast<size_t>(spans()), kNone);
}

void Timeline::group_wgmmas() {
  for (int i = 0; i < spans(); ++i) {
    const TraceSpan& each = span(i);
    if (each.kind != Span::kWgmma || each.begin < 0) continue;
    const auto latest = std::find_if(k_tiles_.rbegin(), k_tiles_.rend(),
                                     [&](const KTile& tile) { return tile.agent == each.agent; });
    if (latest != k_tiles_.rend()) {
      const TraceSpan& other = span(latest->spans.front());
      if (other.barrier == each.barrier && other.phase == each.phase) {
        latest->spans.push_back(i);
        continue;
      }
    }
    k_tiles_.push_back({each.agent, {i}});
  }
}

int Timeline::add_row(int block, const std::string& name) {
  rows_.push_back({name, block, {}, 0, 1});
  return static_cast<int>(rows_.size()) - 1;
}

size_t Timeline::add(int row, Slice slice) {
  slice.row = row;
  slices_.push_back(std::move(slice));
  rows_[static_cast<size_t>(row)].slices.push_back(slices_.size() - 1);
  return slices_.size() - 1;
}

int Timeline::k_tile_of(int of_barrier, uint64_t phase) const {
  for (const TraceSpan& each : trace_.spans()) {
    if (each.kind == Span::kLoad && each.barrier == of_barrier && each.phase == phase) {
      return each.k_tile;
    }
  }
  return -1;
}

Json Timeline::arguments_of(const TraceEvent& each) const {
  Json json;
  if (each.where.line > 0) json["line"] = quote(each.where);
  if (each.lanes > 1) json["lanes"] = each.lanes;
  if (each.repeats > 1) json["times"] = each.repeats;
  if (each.bytes > 0) json["bytes"] = each.bytes;
  if (each.barrier >= 0) {
    json["barrier"] = barrier(each.barrier).name;
    if (barrier(each.barrier).stage >= 0) json["stage"] = barrier(each.barrier).stage;
    json["phase"] = each.phase;
    json["parity"] = each.phase & 1;
    json["arrivals pending"] = each.pending;
    json["bytes pending"] = each.transaction;
  }
  return json;
}

Json Timeline::arguments_of(const TraceSpan& each) const {
  Json json;
  if (each.begin >= 0 && event(each.begin).where.line > 0) {
    json["line"] = quote(event(each.begin).where);
  }
  if (each.lanes > 1) json["lanes"] = each.lanes;
  if (each.k_tile >= 0) json["K tile"] = each.k_tile;
  if (each.barrier >= 0) {
    json["barrier"] = barrier(each.barrier).name;
    if (barrier(each.barrier).stage >= 0) json["stage"] = barrier(each.barrier).stage;
    json["phase"] = each.phase;
    json["parity"] = each.kind == Span::kWait ? static_cast<uint64_t>(each.parity) : each.phase & 1;
  }
  if (each.bytes > 0) json["bytes"] = each.bytes;
  if (each.kind == Span::kLoad || each.kind == Span::kStore) {
    json["row"] = each.row;
    json["column"] = each.column;
    if (each.landed < each.bytes && each.kind == Span::kLoad) json["landed"] = each.landed;
  }
  return json;
}

void Timeline::add_block(int block) {
  const auto is_producer = [&](const TraceAgent& each) { return each.role == "producer"; };
  const auto add_warps = [&](bool producers) {
    for (size_t i = 0; i < trace_.agents().size(); ++i) {
      const TraceAgent& each = trace_.agents()[i];
      if (each.block != block) continue;
      if (each.kind == Agent::kWarp && is_producer(each) == producers)
        add_warp(static_cast<int>(i));
    }
  };
  add_warps(true);
  add_copies(block);
  add_completions(block);
  add_warps(false);
  for (size_t i = 0; i < trace_.agents().size(); ++i) {
    const TraceAgent& each = trace_.agents()[i];
    if (each.block == block && each.kind == Agent::kTensorCore) {
      add_tensor_core(static_cast<int>(i));
    }
  }
}

void Timeline::add_warp(int number) {
  const TraceAgent& warp = agent(number);
  std::string name = "warp " + std::to_string(warp.index);
  if (!warp.role.empty()) name += " (" + warp.role + ")";
  const int row = add_row(warp.block, name);
  add_work(number, row);
  for (int i = 0; i < spans(); ++i) {
    const TraceSpan& each = span(i);
    if (each.kind != Span::kWait || each.agent != number) continue;
    Json arguments = arguments_of(each);
    std::string what = each.name;
    if (each.end < 0) {
      what = "waits for ever: ";
      what += each.barrier < 0
                  ? each.name
                  : "parity " + std::to_string(each.parity) + " of " + barrier(each.barrier).name;
      arguments["never ends"] = true;
    }
    span_slices_[static_cast<size_t>(i)] =
        add(row, {what, "wait", each.end < 0 ? "terrible" : "grey", begin_of(each.begin),
                  end_or_last(each.end), std::move(arguments)});
  }
  for (int i = 0; i < events(); ++i) {
    const TraceEvent& each = event(i);
    if (each.agent != number) continue;
    std::string what;
    switch (each.kind) {
      case Event::kCall:
        what = each.instruction;
        break;
      case Event::kArrive:
        what = (each.bytes > 0 ? "expect " : "arrive ") + barrier(each.barrier).name;
        break;
      case Event::kPass:
        what = "pass " + barrier(each.barrier).name;
        break;
      case Event::kLoad:
        what = "load " + span(each.span).name;
        break;
      case Event::kStore:
        what = span(each.span).name;
        break;
      case Event::kReport: {
        Json arguments = arguments_of(each);
        arguments["report"] = trace_.report();
        event_slices_[static_cast<size_t>(i)] =
            add(row, {trace_.report_title(), "hazard", "terrible", begin_of(i), after(i),
                      std::move(arguments)});
        continue;
      }
      default:
        continue;
    }
    event_slices_[static_cast<size_t>(i)] =
        add(row, {what, "instruction", nullptr, begin_of(i), after(i), arguments_of(each)});
  }
}

// What a warp does from one wait to the next has a name, if it is part of the pipeline.
void Timeline::add_work(int number, int row) {
  struct Work {
    int first = -1, last = -1;
    int stage = -1, k_tile = -1;
    bool loads = false, multiplies = false, stores = false, releases = false;
  } work;
  size_t latest = kNone;
  std::string latest_name;
  const auto finish = [&] {
    std::string name;
    if (work.loads) {
      name = "load K tile";
    } else if (work.multiplies) {
      name = "issue K tile";
    } else if (work.stores) {
      name = "store C";
    } else if (work.releases) {
      name = "release stage";
    }
    if (!name.empty()) {
      const int shown = work.loads || work.multiplies ? work.k_tile
                        : work.releases               ? work.stage
                                                      : -1;
      if (!work.stores && shown >= 0) name += " " + std::to_string(shown);
      Json arguments;
      if (work.k_tile >= 0) arguments["K tile"] = work.k_tile;
      if (work.stage >= 0) arguments["stage"] = work.stage;
      if (name == latest_name && slices_[latest].arguments == arguments) {
        slices_[latest].end = after(work.last);  // some lanes have waited meanwhile
      } else {
        latest =
            add(row, {name, "work", nullptr, begin_of(work.first), after(work.last), arguments});
        latest_name = name;
      }
    }
    work = {};
  };
  int waited_for = -1;  // the completion that the latest wait learned of
  for (int i = 0; i < events(); ++i) {
    const TraceEvent& each = event(i);
    if (each.agent != number) continue;
    if (each.kind == Event::kWait || each.kind == Event::kResume || each.kind == Event::kPass) {
      finish();
      if (each.barrier >= 0) waited_for = each.cause;
      continue;
    }
    if (work.first < 0) work.first = i;
    work.last = i;
    const std::string_view instruction = each.instruction;
    if (each.kind == Event::kLoad) {
      work.loads = true;
      work.k_tile = span(each.span).k_tile;
      work.stage = barrier(each.barrier).stage;
    } else if (each.kind == Event::kArrive && each.bytes == 0) {
      work.releases = true;
      work.stage = barrier(each.barrier).stage;
    } else if (instruction == "wgmma.mma_async") {
      work.multiplies = true;
      if (waited_for >= 0) {
        const TraceEvent& completion = event(waited_for);
        work.k_tile = k_tile_of(completion.barrier, completion.phase);
        work.stage = barrier(completion.barrier).stage;
      }
    } else if (instruction.substr(0, 4) == "shfl" || instruction.substr(0, 8) == "stmatrix" ||
               each.kind == Event::kStore) {
      work.stores = true;
    }
  }
  finish();
}

void Timeline::add_copies(int block) {
  std::vector<std::string> names;
  for (const TraceSpan& each : trace_.spans()) {
    if (each.kind == Span::kLoad && agent(each.agent).block == block) names.push_back(each.name);
  }
  // "smem.a[0]", "smem.b[0]", "smem.a[1]": what belongs to a stage stands together.
  const auto stage_first = [](const std::string& name) {
    const size_t open = name.find('[');
    return std::make_pair(open == std::string::npos ? "" : name.substr(open), name);
  };
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return stage_first(a) < stage_first(b);
  });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    const int row = add_row(block, "TMA unit: " + name);
    for (int i = 0; i < spans(); ++i) {
      const TraceSpan& each = span(i);
      if (each.kind != Span::kLoad || each.name != name || agent(each.agent).block != block)
        continue;
      span_slices_[static_cast<size_t>(i)] =
          add(row, {name + ", K tile " + std::to_string(each.k_tile), "load", "rail_load",
                    begin_of(each.begin), end_or_last(each.end), arguments_of(each)});
    }
  }
  int row = -1;
  for (int i = 0; i < spans(); ++i) {
    const TraceSpan& each = span(i);
    if (each.kind != Span::kStore || agent(each.agent).block != block) continue;
    if (row < 0) row = add_row(block, "TMA unit: stores");
    span_slices_[static_cast<size_t>(i)] =
        add(row, {each.name, "store", "rail_animation", begin_of(each.begin), end_or_last(each.end),
                  arguments_of(each)});
    if (each.start >= 0) {
      add(row, {"reads shared memory", "store", nullptr, begin_of(each.begin), begin_of(each.start),
                Json()});
    }
  }
}

void Timeline::add_completions(int block) {
  const int row = add_row(block, "mbarriers");
  for (int i = 0; i < events(); ++i) {
    const TraceEvent& each = event(i);
    if (each.kind != Event::kComplete || barrier(each.barrier).block != block) continue;
    event_slices_[static_cast<size_t>(i)] =
        add(row, {barrier(each.barrier).name + " phase " + std::to_string(each.phase) + " complete",
                  "mbarrier", "good", begin_of(i), after(i), arguments_of(each)});
  }
}

void Timeline::add_tensor_core(int number) {
  const std::string name = "tensor core, warp group " + std::to_string(agent(number).index);
  const int in_flight = add_row(agent(number).block, name + ": in flight");
  const int executing = add_row(agent(number).block, name);
  for (const KTile& tile : k_tiles_) {
    if (tile.agent != number) continue;
    const TraceSpan& first = span(tile.spans.front());
    const TraceSpan& last = span(tile.spans.back());
    std::string what =
        first.k_tile < 0 ? std::string("WGMMAs") : "K tile " + std::to_string(first.k_tile);
    if (first.barrier >= 0 && barrier(first.barrier).stage >= 0) {
      what += ", stage " + std::to_string(barrier(first.barrier).stage);
    }
    Json arguments = arguments_of(first);
    arguments["WGMMAs"] = std::to_string(first.number) + " to " + std::to_string(last.number);
    if (last.end < 0) arguments["never ends"] = true;
    add(in_flight,
        {what, "in flight", "rail_idle", begin_of(first.begin), end_or_last(last.end), arguments});
    if (first.start < 0) continue;
    add(executing, {what, "executing", "rail_response", begin_of(first.start),
                    end_or_last(last.end), arguments});
    for (const int i : tile.spans) {
      const TraceSpan& each = span(i);
      if (each.start < 0) continue;
      Json own = arguments_of(each);
      if (each.end < 0) own["never ends"] = true;
      span_slices_[static_cast<size_t>(i)] =
          add(executing, {each.name, "executing", "rail_response", begin_of(each.start),
                          end_or_last(each.end), std::move(own)});
    }
  }
}

void Timeline::arrow(size_t from, int64_t from_time, size_t to, int64_t to_time, const char* name) {
  if (from == kNone || to == kNone || from_time > to_time) return;
  arrows_.push_back({{from, from_time}, {to, to_time}, name});
}

void Timeline::connect() {
  const auto slice_of = [&](int number) {
    return number < 0 ? kNone : event_slices_[static_cast<size_t>(number)];
  };
  const auto slice_of_span = [&](int number) {
    return number < 0 ? kNone : span_slices_[static_cast<size_t>(number)];
  };
  for (int i = 0; i < events(); ++i) {
    const TraceEvent& each = event(i);
    if (each.kind == Event::kLoad) {  // from the announcement of its bytes
      for (int j = i - 1; j >= 0; --j) {
        const TraceEvent& other = event(j);
        if (other.kind != Event::kArrive || other.barrier != each.barrier || other.bytes == 0) {
          continue;
        }
        if (other.phase == each.phase) {
          arrow(slice_of(j), begin_of(j), slice_of_span(each.span), begin_of(i), "bytes expected");
        }
        break;
      }
    } else if (each.kind == Event::kComplete && each.cause >= 0) {
      const TraceEvent& cause = event(each.cause);
      if (cause.kind == Event::kLand) {
        const bool last = span(cause.span).end == each.cause;
        arrow(slice_of_span(cause.span), begin_of(each.cause) - (last ? 1 : 0), slice_of(i),
              begin_of(i), "last byte");
      } else {
        arrow(slice_of(each.cause), begin_of(each.cause), slice_of(i), begin_of(i), "last arrival");
      }
    } else if (each.kind == Event::kResume && each.cause >= 0) {
      const TraceEvent& cause = event(each.cause);
      if (cause.kind == Event::kComplete) {
        arrow(slice_of(each.cause), begin_of(each.cause), slice_of_span(each.span), begin_of(i) - 1,
              "phase complete");
      } else if (cause.kind == Event::kWgmmaEnd) {
        arrow(slice_of_span(cause.span), begin_of(each.cause) - 1, slice_of_span(each.span),
              begin_of(i) - 1, "WGMMAs complete");
      }
    } else if (each.kind == Event::kArrive && each.bytes == 0) {  // the wait_group before it
      for (int j = i - 1; j >= 0; --j) {
        const TraceEvent& other = event(j);
        if (other.agent != each.agent) continue;
        if (other.kind == Event::kResume && other.span >= 0 &&
            span(other.span).name == "wgmma.wait_group") {
          arrow(slice_of_span(other.span), begin_of(j) - 1, slice_of(i), begin_of(i), "released");
        }
        if (other.kind == Event::kResume || other.kind == Event::kPass) break;
      }
    } else if (each.kind == Event::kReport) {
      const int block = each.agent < 0 ? 0 : agent(each.agent).block;
      reports_.emplace_back(block, trace_.report());
      // The report names the WGMMA that is in the way, if there is one.
      for (int j = 0; j < spans(); ++j) {
        const TraceSpan& culprit = span(j);
        if (culprit.kind != Span::kWgmma || culprit.begin < 0) continue;
        const std::string name =
            culprit.name + " of warp group " + std::to_string(agent(culprit.agent).index);
        const size_t place = trace_.report().find(name);
        if (place == std::string::npos) continue;
        size_t slice = slice_of_span(j);
        int64_t time = slice == kNone ? 0 : slices_[slice].begin;
        if (slice == kNone) {  // not begun: its K tile is in flight
          for (size_t k = 0; k < slices_.size(); ++k) {
            const Slice& other = slices_[k];
            if (std::string_view(other.category) == "in flight" &&
                rows_[static_cast<size_t>(other.row)].block == agent(culprit.agent).block &&
                other.begin <= begin_of(culprit.begin) && begin_of(culprit.begin) < other.end) {
              slice = k;
              time = begin_of(culprit.begin);
            }
          }
        }
        arrow(slice, time, slice_of(i), begin_of(i), "hazard");
      }
    }
  }
}

// Gives each slice the first line of its row where it lies beside or inside the others.
void Timeline::lay_out() {
  std::vector<int> next(static_cast<size_t>(std::max(1, trace_.blocks())), 1);
  for (Row& row : rows_) {
    std::stable_sort(row.slices.begin(), row.slices.end(), [&](size_t a, size_t b) {
      const Slice &first = slices_[a], &second = slices_[b];
      return first.begin != second.begin ? first.begin < second.begin : first.end > second.end;
    });
    std::vector<std::vector<int64_t>> ends;  // of the slices that are open, line by line
    for (const size_t number : row.slices) {
      Slice& slice = slices_[number];
      size_t line = 0;
      for (; line < ends.size(); ++line) {
        auto& open = ends[line];
        while (!open.empty() && open.back() <= slice.begin) open.pop_back();
        if (open.empty() || open.back() >= slice.end) break;
      }
      if (line == ends.size()) ends.emplace_back();
      ends[line].push_back(slice.end);
      slice.thread = static_cast<int>(line);
    }
    row.threads = std::max<int>(1, static_cast<int>(ends.size()));
    int& first = next[static_cast<size_t>(row.block)];
    row.first_thread = first;
    first += row.threads;
  }
}

template <class Write>
void Timeline::write(const Write& write) const {
  const auto name = [&](const char* what, const Row& row, int thread, const Json& arguments) {
    write({{"ph", "M"},
           {"name", what},
           {"pid", pid(row.block)},
           {"tid", thread},
           {"args", arguments}});
  };
  for (int block = 0; block < trace_.blocks(); ++block) {
    const std::string what = "block " + std::to_string(trace_.first_block() + block);
    write({{"ph", "M"}, {"name", "process_name"}, {"pid", pid(block)}, {"args", {{"name", what}}}});
  }
  for (const Row& row : rows_) {
    for (int i = 0; i < row.threads; ++i) {
      const int thread = row.first_thread + i;
      const std::string more = i == 0 ? "" : " (" + std::to_string(i + 1) + ")";
      name("thread_name", row, thread, {{"name", row.name + more}});
      name("thread_sort_index", row, thread, {{"sort_index", thread}});
    }
  }
  const auto place = [&](const Slice& slice, Json* json) {
    const Row& row = rows_[static_cast<size_t>(slice.row)];
    (*json)["pid"] = pid(row.block);
    (*json)["tid"] = row.first_thread + slice.thread;
  };
  for (const Row& row : rows_) {
    for (const size_t number : row.slices) {
      const Slice& slice = slices_[number];
      Json json = {{"ph", "X"}, {"name", slice.name}, {"cat", slice.category}};
      place(slice, &json);
      json["ts"] = slice.begin;
      json["dur"] = slice.end - slice.begin;
      if (slice.color != nullptr) json["cname"] = slice.color;
      if (!slice.arguments.empty()) json["args"] = slice.arguments;
      write(json);
    }
  }
  for (const auto& [block, text] : reports_) {
    write({{"ph", "i"},
           {"s", "p"},
           {"name", trace_.report_title()},
           {"cat", "hazard"},
           {"pid", pid(block)},
           {"tid", 1},
           {"ts", times_[times_.size() - 2]},
           {"cname", "terrible"},
           {"args", {{"report", text}}}});
  }
  for (size_t i = 0; i < arrows_.size(); ++i) {
    const Arrow& each = arrows_[i];
    const int64_t id = trace_.cluster() * 1000000 + static_cast<int64_t>(i);
    for (const bool begins : {true, false}) {
      const Anchor& anchor = begins ? each.from : each.to;
      Json json = {{"ph", begins ? "s" : "f"}, {"name", each.name}, {"cat", "flow"}, {"id", id}};
      place(slices_[anchor.slice], &json);
      json["ts"] = anchor.time;
      if (!begins) json["bp"] = "e";
      write(json);
    }
  }
  write_counters(write);
}

// How much is under way.
template <class Write>
void Timeline::write_counters(const Write& write) const {
  for (int block = 0; block < trace_.blocks(); ++block) {
    std::vector<int64_t> in_flight(trace_.barriers().size());  // bytes of copies
    int64_t wgmmas = 0, stages = 0;
    const auto count = [&](int i, const std::string& name, int64_t value) {
      write({{"ph", "C"},
             {"name", name},
             {"pid", pid(block)},
             {"ts", begin_of(i)},
             {"args", {{"value", value}}}});
    };
    for (int i = 0; i < events(); ++i) {
      const TraceEvent& each = event(i);
      const bool wgmma = each.kind == Event::kWgmma || each.kind == Event::kWgmmaEnd;
      if (wgmma && agent(each.agent).block == block) {
        wgmmas += each.kind == Event::kWgmma ? 1 : -1;
        count(i, "WGMMAs in flight", wgmmas);
      }
      if (each.barrier < 0 || barrier(each.barrier).block != block) continue;
      if (each.kind == Event::kLoad || each.kind == Event::kLand) {
        int64_t& bytes = in_flight[static_cast<size_t>(each.barrier)];
        bytes += each.kind == Event::kLoad ? each.bytes : -each.bytes;
        const auto now = std::count_if(in_flight.begin(), in_flight.end(),
                                       [](int64_t some) { return some > 0; });
        if (now != stages) count(i, "stages in flight", stages = now);
      }
      if ((each.kind == Event::kArrive && each.bytes > 0) || each.kind == Event::kLand) {
        count(i, "bytes pending on " + barrier(each.barrier).name, each.transaction);
      }
    }
  }
}

}  // namespace

void write_timeline(const std::map<int64_t, Trace>& traces, std::ostream& out) {
  const char* separator = "\n";
  const auto write = [&](const Json& event) {
    // Names come from source text, which may be in any encoding.
    out << separator << event.dump(-1, ' ', false, Json::error_handler_t::replace);
    separator = ",\n";
  };
  out << "{\"traceEvents\":[";
  for (const auto& [index, trace] : traces) Timeline(trace).write(write);
  out << "\n],\"otherData\":{\"time\":\"a millisecond is a turn of the emulator's scheduler: order "
         "and overlap, never speed\"}}\n";
}

}  // namespace emulator
