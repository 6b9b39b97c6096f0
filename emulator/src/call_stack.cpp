#include "call_stack.h"

#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

#include "machine.h"
#include "source_text.h"

namespace emulator {
namespace {

constexpr size_t kDeepest = 64;

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  auto& stack = *static_cast<CallStack*>(argument);
  stack.push_back(reinterpret_cast<const void*>(_Unwind_GetIP(context)));
  return stack.size() < kDeepest ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// --- addresses to lines, by the compiler's line tables and binutils' addr2line ---

// The file that an address was loaded from, and the address in that file.
struct InFile {
  std::string path;
  uintptr_t address = 0;
};

int find_file(dl_phdr_info* info, size_t, void* argument) {
  auto& wanted = *static_cast<InFile*>(argument);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || wanted.address - begin >= segment.p_memsz) continue;
    // The program itself has no name. (addr2line's own /proc/self is another one.)
    wanted.path = info->dlpi_name;
    if (wanted.path.empty()) wanted.path = "/proc/" + std::to_string(getpid()) + "/exe";
    wanted.address -= info->dlpi_addr;
    return 1;
  }
  return 0;
}

using Lines = std::vector<SourceLine>;

// Never fails: what is not known is left out.
class LineTable {
 public:
  static LineTable& instance() {
    static LineTable table;
    return table;
  }

  // The lines at each address, those of inlined calls first, then what they are inlined into.
  Lines lines(const CallStack& stack) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ask(stack);
    Lines all;
    for (const void* address : stack) {
      const Lines& some = known_[address];
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

 private:
  void ask(const CallStack& stack) {
    std::unordered_map<std::string, CallStack> unknown;
    for (const void* address : stack) {
      if (known_.count(address) > 0) continue;
      known_[address];
      InFile found = {"", reinterpret_cast<uintptr_t>(address)};
      if (dl_iterate_phdr(find_file, &found) == 0) continue;
      if (found.path.find('\'') == std::string::npos) unknown[found.path].push_back(address);
    }
    for (const auto& [path, addresses] : unknown) run_addr2line(path, addresses);
  }

  void run_addr2line(const std::string& path, const CallStack& addresses) {
    std::string command = "addr2line -a -i -e '" + path + "'";
    for (const void* address : addresses) {
      InFile found = {"", reinterpret_cast<uintptr_t>(address)};
      dl_iterate_phdr(find_file, &found);
      char text[32];
      // A call's return address is the line after it, at times.
      std::snprintf(text, sizeof(text), " 0x%llx",
                    static_cast<unsigned long long>(found.address - 1));
      command += text;
    }
    command += " 2>/dev/null";
    const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
    if (output == nullptr) return;
    char line[4096];
    size_t next = 0;  // the address that the next head of a group belongs to
    while (std::fgets(line, sizeof(line), output.get()) != nullptr) {
      const std::string text = line;
      if (text.rfind("0x", 0) == 0) {
        if (++next > addresses.size()) return;
        continue;
      }
      const size_t colon = text.rfind(':');
      if (next == 0 || colon == std::string::npos) return;
      const int number = std::atoi(text.c_str() + colon + 1);
      if (number <= 0) continue;
      known_[addresses[next - 1]].push_back({keep(text.substr(0, colon)), number});
    }
  }

  const char* keep(const std::string& file) { return files_.insert(file).first->c_str(); }

  std::mutex mutex_;
  std::unordered_map<const void*, Lines> known_;
  std::set<std::string> files_;
};

// Lines of a kernel and of what it calls, not of this machine.
bool is_same_call(SourceLine line, SourceLine where) {
  constexpr int kLinesOfACall = 4;  // compilers name the first or the last line
  if (std::abs(line.line - where.line) >= kLinesOfACall) return false;
  const std::string a = line.file, b = where.file;
  const std::string& longer = a.size() < b.size() ? b : a;
  const std::string& shorter = a.size() < b.size() ? a : b;
  return longer.compare(longer.size() - shorter.size(), shorter.size(), shorter) == 0;
}

bool is_kernels_own(SourceLine line) {
  const SourceFile& source = source_file(line.file);
  return !source.is_header() && !source.in_class(line.line);
}

// The lines of this machine, that runs the kernel's threads.
bool is_machines(SourceLine line) {
  static const std::string own = __FILE__;
  static const std::string folder = own.substr(0, own.rfind('/') + 1);
  return std::string(line.file).rfind(folder, 0) == 0;
}

// `lines` lead from inside the wrapper that is called at `where` out of the kernel. (The line of
// the call itself may be missing, if it was the last thing that a function did.)
Position position(const Lines& lines, SourceLine where, SourceLine body, const std::string* role) {
  Position result;
  result.where = where;
  result.role = role;
  bool in_kernel = false;
  const std::string* named = nullptr;
  for (const SourceLine& line : lines) {
    if (is_machines(line)) {
      if (in_kernel) break;  // who runs the kernel
      continue;
    }
    if (!is_kernels_own(line)) continue;
    if (named == nullptr) named = source_file(line.file).role(line.line);
    const bool is_call = !in_kernel && is_same_call(line, where);
    in_kernel = true;
    if (!is_call) result.callers.push_back(line);
  }
  if (named != nullptr) result.role = named;
  if (!in_kernel && !is_kernels_own(where) && body.line != 0) result.after = body;
  return result;
}

}  // namespace

CallStack capture_call_stack() {
  CallStack stack;
  stack.reserve(kDeepest);
  _Unwind_Backtrace(add_frame, &stack);
  return stack;
}

Position position_of(const Thread& thread) {
  CallStack stack = thread.scheduler().call_stack(thread);
  if (thread.where.line == 0) return {};  // it has not begun
  // Of a thread that has left, the latest call is known.
  if (stack.empty()) stack.push_back(thread.address);
  return position(LineTable::instance().lines(stack), thread.where, thread.body, thread.role);
}

Position position_of(const CallSite& site) {
  return position(LineTable::instance().lines({site.address}), site.where, site.body, nullptr);
}

}  // namespace emulator
