// What happened when, for write_trace().
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace emulator {

class Block;
class Cluster;
struct Thread;

class Trace {
 public:
  // The rows of a block: its warps from 0, then these.
  static constexpr int kTmaRow = 100;
  static constexpr int kTensorCoreRow = 200;  // and one more per warp group
  static constexpr int kBarrierRow = 300;

  bool enabled = false;

  void span(const Block& block, int row, std::string name, uint64_t begin, uint64_t end);
  void instant(const Block& block, int row, std::string name, uint64_t when);
  // Names the rows, once the roles are known.
  void name_rows(const Cluster& cluster);

  struct Event {
    int64_t block;  // linear index within the grid
    int row;
    std::string name;
    uint64_t begin;
    uint64_t duration;
    bool instant;
  };
  struct Row {
    int64_t block;
    int row;
    std::string name;
  };
  const std::vector<Event>& events() const { return events_; }
  const std::vector<Row>& rows() const { return rows_; }
  // Takes over what another cluster's trace holds.
  void append(Trace&& other);

 private:
  std::vector<Event> events_;
  std::vector<Row> rows_;
};

// The JSON of the Chrome trace format.
void write_json(const Trace& trace, std::ostream& out);

}  // namespace emulator
