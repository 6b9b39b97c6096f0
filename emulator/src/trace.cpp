#include "trace.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "machine.h"

namespace emulator {
namespace {

int64_t linear_index(const Block& block) {
  return block.index.x + int64_t{gridDim.x} * (block.index.y + int64_t{gridDim.y} * block.index.z);
}

}  // namespace

void Trace::span(const Block& block, int row, std::string name, uint64_t begin, uint64_t end) {
  events_.push_back({linear_index(block), row, std::move(name), begin, end - begin, false});
}

void Trace::instant(const Block& block, int row, std::string name, uint64_t when) {
  events_.push_back({linear_index(block), row, std::move(name), when, 0, true});
}

void Trace::name_rows(const Cluster& cluster) {
  for (const auto& block : cluster.blocks) {
    const int64_t index = linear_index(*block);
    for (const Warp& warp : block->warps) {
      std::string name = "warp " + std::to_string(warp.index);
      if (warp.lanes[0]->role != nullptr) name += " (" + *warp.lanes[0]->role + ")";
      rows_.push_back({index, warp.index, name});
    }
    rows_.push_back({index, kTmaRow, "TMA unit"});
    for (const auto& core : block->tensor_cores) {
      rows_.push_back({index, kTensorCoreRow + core->warp_group(),
                       "tensor core, warp group " + std::to_string(core->warp_group())});
    }
    rows_.push_back({index, kBarrierRow, "mbarriers"});
  }
}

void Trace::append(Trace&& other) {
  events_.insert(events_.end(), std::make_move_iterator(other.events_.begin()),
                 std::make_move_iterator(other.events_.end()));
  rows_.insert(rows_.end(), std::make_move_iterator(other.rows_.begin()),
               std::make_move_iterator(other.rows_.end()));
}

void write_json(const Trace& trace, std::ostream& out) {
  using Json = nlohmann::ordered_json;
  const char* separator = "\n";
  const auto write = [&](const Json& event) {
    // Names come from source text, which may be in any encoding.
    out << separator << event.dump(-1, ' ', false, Json::error_handler_t::replace);
    separator = ",\n";
  };
  const auto write_name = [&](const char* what, int64_t block, int row, const std::string& name) {
    write({{"ph", "M"}, {"name", what}, {"pid", block}, {"tid", row}, {"args", {{"name", name}}}});
  };
  out << "{\"traceEvents\":[";
  for (const Trace::Row& row : trace.rows()) {
    write_name("thread_name", row.block, row.row, row.name);
    if (row.row != 0) continue;
    write_name("process_name", row.block, row.row, "block " + std::to_string(row.block));
  }
  for (const Trace::Event& event : trace.events()) {
    Json json = {{"ph", event.instant ? "i" : "X"},
                 {"name", event.name},
                 {"pid", event.block},
                 {"tid", event.row},
                 {"ts", event.begin}};
    if (event.instant) {
      json["s"] = "t";
    } else {
      json["dur"] = event.duration;
    }
    write(json);
  }
  out << "\n],\"otherData\":{\"time\":\"turns of the emulator's scheduler: order and overlap, "
         "never speed\"}}\n";
}

}  // namespace emulator
