#include "report_draft.h"

#include <cstdio>
#include <cstring>

#include "machine.h"
#include "report.h"
#include "source_text.h"

namespace emulator::report {
namespace {

std::string role_of(const Thread& thread) {
  const std::string* const role = position_of(thread).role;
  return role == nullptr ? "" : " (" + *role + ")";
}

}  // namespace

Draft::Draft(Check check, Cluster& cluster) : check_(check), cluster_(cluster) {
  add("emulator: ", check_name(check));
}

Draft& Draft::add(const char* label, const std::string& text) {
  text_ << label << text << "\n";
  return *this;
}

Draft& Draft::who(const Thread& thread) {
  return who(block_name(*thread.block) + ", warp " + number(thread.warp->index) + role_of(thread) +
             ", lane " + number(thread.lane));
}

Draft& Draft::at(SourceLine where) { return add("  where:  ", quote(where)); }

Draft& Draft::at(SourceLine where, const Thread& thread) {
  at(where);
  const bool is_now =
      where.line == thread.where.line && std::strcmp(where.file, thread.where.file) == 0;
  return is_now ? from(position_of(thread)) : *this;
}

Draft& Draft::from(const Position& position) {
  for (const SourceLine caller : position.callers) add("          ", "called at " + quote(caller));
  if (position.after.line != 0) add("          ", "after " + quote(position.after));
  return *this;
}

Draft& Draft::past(const char* label, const CallSite& site) {
  add(label, quote(site.where));
  return from(position_of(site));
}

Draft& Draft::other(SourceLine where) { return add("  and:    ", quote(where)); }

void Draft::stop() {
  const uint64_t seed = options().seed;
  add("  again:  ", "seed " + number(seed) + " reproduces this");
  if (!cluster_.report) cluster_.report = Report{check_, text_.str(), seed, cluster_.index};
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

std::string warp_name(const Thread& thread) {
  std::string name = "warp " + number(thread.warp->index) + role_of(thread);
  if (thread.cluster().has_peers()) name += " of block rank " + number(thread.block->rank);
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

std::string reader(const Access& read) {
  if (read.kind != AccessKind::kWgmma) return "a TMA store";
  return "WGMMA " + number(read.number) + " of warp group " + number(read.warp_group);
}

}  // namespace emulator::report
