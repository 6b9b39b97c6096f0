// The account of a run for the player's page: all events, what they name, and the source.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>

#include "source_text.h"
#include "trace_json.h"

namespace emulator {
namespace {

using Json = nlohmann::ordered_json;

// In the order of the enumerators.
constexpr const char* kAgentKinds[] = {"warp", "tma", "tensor core"};
constexpr const char* kEventKinds[] = {"call",   "arrive", "land",  "complete", "pass",
                                       "wait",   "resume", "load",  "store",    "store read",
                                       "stored", "wgmma",  "start", "end",      "report"};
constexpr const char* kSpanKinds[] = {"wait", "load", "store", "wgmma"};

// A page takes no more; but if there is a report, all that leads to it.
constexpr size_t kMostEvents = 20000;

// Numbers things in the order in which they are first named.
class Numbers {
 public:
  int of(const std::string& name) {
    const auto [place, is_new] = numbers_.emplace(name, static_cast<int>(names_.size()));
    if (is_new) names_.push_back(name);
    return place->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, int> numbers_;
  std::vector<std::string> names_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// "v3_warp_specialized/kernel.cu".
std::string short_name(const std::string& path) {
  const std::string name = place({path.c_str(), 0});
  return name.substr(0, name.rfind(':'));
}

Json agents_of(const Trace& trace) {
  Json all = Json::array();
  for (const TraceAgent& each : trace.agents()) {
    Json json = {{"kind", kAgentKinds[static_cast<int>(each.kind)]},
                 {"block", each.block},
                 {"index", each.index}};
    if (!each.role.empty()) json["role"] = each.role;
    all.push_back(std::move(json));
  }
  return all;
}

Json barriers_of(const Trace& trace) {
  Json all = Json::array();
  for (const TraceBarrier& each : trace.barriers()) {
    all.push_back({{"block", each.block},
                   {"name", each.name},
                   {"family", each.family},
                   {"stage", each.stage},
                   {"expected", each.expected},
                   {"bytes", each.carries_bytes}});
  }
  return all;
}

}  // namespace

void write_recording(const Trace& trace, std::ostream& out) {
  const auto& events = trace.events();
  const size_t shown =
      trace.report().empty() ? std::min(events.size(), kMostEvents) : events.size();
  Numbers files, instructions;
  Json rows = Json::array();
  for (size_t i = 0; i < shown; ++i) {
    const TraceEvent& each = events[i];
    const bool placed = each.where.line > 0;
    rows.push_back({static_cast<int>(each.kind), each.turn, each.agent,
                    placed ? files.of(each.where.file) : -1, each.where.line, each.lanes,
                    each.repeats, each.barrier, each.phase, each.pending, each.transaction,
                    each.bytes, each.span, each.cause, instructions.of(each.instruction)});
  }
  const auto if_shown = [&](int event) { return event < static_cast<int>(shown) ? event : -1; };
  Json spans = Json::array();
  for (const TraceSpan& each : trace.spans()) {
    // Numbers count, so what is left out stays as a gap. (A WGMMA that some warps alone have issued
    // is none.)
    if (if_shown(each.begin) < 0) {
      spans.push_back(nullptr);
      continue;
    }
    spans.push_back({static_cast<int>(each.kind), each.agent, each.begin, if_shown(each.start),
                     if_shown(each.end), if_shown(each.cause), each.name, each.lanes, each.barrier,
                     each.phase, each.parity, each.bytes, each.k_tile, each.row, each.column,
                     each.number, each.issuer});
  }
  Json sources = Json::array();
  for (const std::string& path : files.names()) {
    sources.push_back({{"name", short_name(path)}, {"text", text_of(path)}});
  }
  Json json = {{"cluster", trace.cluster()},
               {"first_block", trace.first_block()},
               {"blocks", trace.blocks()},
               {"left_out", events.size() - shown},
               {"agents", agents_of(trace)},
               {"barriers", barriers_of(trace)},
               {"files", std::move(sources)},
               {"instructions", instructions.names()},
               {"event_kinds", kEventKinds},
               {"event_columns",
                {"kind", "turn", "agent", "file", "line", "lanes", "repeats", "barrier", "phase",
                 "pending", "transaction", "bytes", "span", "cause", "instruction"}},
               {"events", std::move(rows)},
               {"span_kinds", kSpanKinds},
               {"span_columns",
                {"kind", "agent", "begin", "start", "end", "cause", "name", "lanes", "barrier",
                 "phase", "parity", "bytes", "k_tile", "row", "column", "number", "issuer"}},
               {"spans", std::move(spans)},
               {"report", {{"title", trace.report_title()}, {"text", trace.report()}}}};
  out << json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace emulator
