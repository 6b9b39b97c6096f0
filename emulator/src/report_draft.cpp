#include "report_draft.h"

#include <cstdio>

#include "machine.h"
#include "report.h"
#include "source_text.h"

namespace emulator::report {

Draft::Draft(Check check, Cluster& cluster) : check_(check), cluster_(cluster) {
  add("emulator: ", check_name(check));
}

Draft& Draft::add(const char* label, const std::string& text) {
  text_ << label << text << "\n";
  return *this;
}

Draft& Draft::who(const Thread& thread) {
  const std::string role = thread.role == nullptr ? "" : " (" + *thread.role + ")";
  return who(block_name(*thread.block) + ", warp " + number(thread.warp->index) + role + ", lane " +
             number(thread.lane));
}

Draft& Draft::at(SourceLine where) { return add("  where:  ", quote(where)); }

Draft& Draft::at(SourceLine where, const Thread& thread) {
  at(where);
  const bool elsewhere = thread.body.line != where.line && thread.body.line != 0;
  const SourceFile& source = source_file(where.file);
  if (elsewhere && (source.is_header() || source.in_class(where.line))) {
    add("          ", "after " + quote(thread.body));
  }
  return *this;
}

Draft& Draft::other(SourceLine where) { return add("  and:    ", quote(where)); }

void Draft::stop() {
  const uint64_t seed = options().seed;
  add("  again:  ", "seed " + number(seed) + " reproduces this");
  if (!cluster_.report) {
    cluster_.report = Report{check_, text_.str(), seed, cluster_.index};
    if (cluster_.trace.enabled) cluster_.trace.reported(*cluster_.report);
  }
  throw KernelStopped();
}

Draft by(Check check, const Thread& thread, const std::string& what, SourceLine where) {
  Draft draft(check, thread.block->cluster);
  draft.what(what).who(thread).at(where, thread);
  return draft;
}

std::string hexadecimal(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string block_name(const Block& block) {
  std::string name = "block (" + number(block.index.x) + ", " + number(block.index.y) + ", " +
                     number(block.index.z) + ")";
  if (block.cluster.has_peers()) name += ", rank " + number(block.rank) + " of its cluster";
  return name;
}

std::string phase_of(const Barrier& barrier, uint64_t phase) {
  return "phase " + number(phase) + " (parity " + number(phase & 1) + ") of " + barrier.name();
}

std::string bytes_of(const Region& region) {
  return "shared bytes " + hexadecimal(region.begin) + " to " + hexadecimal(region.end);
}

std::string tile_of(const Region& region) {
  if (region.write.kind != AccessKind::kTmaLoad) return bytes_of(region);
  return copy_name(region.write.where, *region.write.barrier) + " (" + bytes_of(region) + ")";
}

std::string size_of(const LoadedBox& box) {
  return number(box.rows) + " rows x " + number(box.columns) + " columns = " + number(box.bytes()) +
         " bytes";
}

std::string reader(const Access& read) {
  if (read.kind == AccessKind::kTmaStore) return "a TMA store";
  if (read.kind == AccessKind::kLoadMatrix) return "an ldmatrix";
  return "WGMMA " + number(read.number) + " of warp group " + number(read.warp_group);
}

}  // namespace emulator::report
