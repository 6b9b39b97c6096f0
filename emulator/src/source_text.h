// The kernel's source as a dictionary: what reports call a barrier, a stage or a role is what the
// line of the call says.
#pragma once

#include <source_line.h>

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace emulator {

class SourceFile {
 public:
  explicit SourceFile(const std::string& path);

  // The line without its indentation and its trailing comment; empty if the file cannot be read.
  std::string line(int number) const;

  // The `// --- role ---` comment that governs a line: the latest one above it in the same
  // function. Null if there is none. The pointer lives as long as this object.
  const std::string* role(int number) const {
    return static_cast<size_t>(number) < roles_.size() ? roles_[number] : nullptr;
  }

  bool is_header() const { return is_header_; }
  // True if the line belongs to a class or struct rather than to a function outside of one.
  bool in_class(int number) const {
    return static_cast<size_t>(number) < in_class_.size() && in_class_[number];
  }

  // The arguments of the call of `function` that begins at, or shortly before, a line.
  std::vector<std::string> arguments(int number, const std::string& function) const;

 private:
  bool is_header_;
  std::vector<std::string> lines_;  // [0] is unused: lines count from 1
  std::vector<const std::string*> roles_;
  std::vector<bool> in_class_;
  std::vector<std::unique_ptr<std::string>> role_names_;
};

// The file of a line, read once per operating-system thread and kept until that ends. Never fails:
// a missing file is an empty one.
const SourceFile& source_file(const char* path);

// "v3_warp_specialized/kernel.cu:67".
std::string place(SourceLine where);
// The same, followed by what the line says.
std::string quote(SourceLine where);

// "full" for an init line that names "&smem.full[stage]"; "mbarrier" if the line does not say.
std::string barrier_family(SourceLine initialised);
// True if the init line names an element of an array: the barrier's name then carries an index.
bool barrier_is_indexed(SourceLine initialised);
// The first argument of a call, e.g. "smem.a[stage]"; empty if the line does not say.
std::string first_argument(SourceLine where, const std::string& function);

}  // namespace emulator
