#include "source_text.h"

#include <cctype>
#include <filesystem>
#include <fstream>

namespace emulator {
namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// "producer" for "  if (…) {  // --- producer ---"; empty if the line names no role. (In the first
// column such a comment heads a section of the file.)
std::string role_comment(const std::string& line) {
  const size_t begin = line.find("// --- ");
  if (begin == std::string::npos || begin == 0) return "";
  const size_t end = line.find(" ---", begin + 7);
  return end == std::string::npos ? "" : line.substr(begin + 7, end - begin - 7);
}

// (The standard library's have no extension.)
bool is_header_name(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension();
  return extension.empty() || extension == ".h" || extension == ".cuh" || extension == ".hpp";
}

bool begins_with(const std::string& line, const char* word) { return line.rfind(word, 0) == 0; }

// The text between the parenthesis at `open` and its partner, cut at top-level commas.
std::vector<std::string> split_arguments(const std::string& text, size_t open) {
  std::vector<std::string> arguments;
  std::string argument;
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == ')' || letter == ']' || letter == '}') --depth;
    if (depth == 0 && i > open) break;
    if (letter == ',' && depth == 1) {
      arguments.push_back(trimmed(argument));
      argument.clear();
    } else if (i > open) {
      argument += letter;
    }
    if (letter == '(' || letter == '[' || letter == '{') ++depth;
  }
  if (!trimmed(argument).empty()) arguments.push_back(trimmed(argument));
  return arguments;
}

std::string init_argument(SourceLine where) {
  std::string name = first_argument(where, "mbarrier_init");
  if (begins_with(name, "&")) name.erase(0, 1);
  return name;
}

}  // namespace

SourceFile::SourceFile(const std::string& path)
    : is_header_(is_header_name(path)), lines_(1), roles_(1), in_class_(1) {
  std::ifstream file(path);
  const std::string* role = nullptr;
  bool in_class = false;
  for (std::string line; std::getline(file, line);) {
    // Functions and classes begin and end in the first column (or under a template's head).
    if (begins_with(line, "class ") || begins_with(line, "struct ")) in_class = true;
    if (const std::string name = role_comment(line); !name.empty() && !in_class) {
      role_names_.push_back(std::make_unique<std::string>(name));
      role = role_names_.back().get();
    }
    lines_.push_back(line);
    roles_.push_back(role);
    in_class_.push_back(in_class);
    if (begins_with(line, "}")) {
      role = nullptr;
      in_class = false;
    }
  }
}

std::string SourceFile::line(int number) const {
  if (static_cast<size_t>(number) >= lines_.size()) return "";
  const std::string& text = lines_[number];
  return trimmed(text.substr(0, text.find("  //")));
}

std::vector<std::string> SourceFile::arguments(int number, const std::string& function) const {
  // Compilers name the first or the last line of a call that takes several.
  constexpr int kLinesOfACall = 4;
  for (int first = number; first > number - kLinesOfACall && first > 0; --first) {
    const size_t call = line(first).find(function + "(");
    if (call == std::string::npos) continue;
    std::string text = line(first);
    for (int next = first + 1; next < first + kLinesOfACall; ++next) text += " " + line(next);
    return split_arguments(text, call + function.size());
  }
  return {};
}

const SourceFile& source_file(const char* path) {
  // Compilers hand out the same pointer for the same file again and again.
  static thread_local const char* latest_path = nullptr;
  static thread_local const SourceFile* latest = nullptr;
  static thread_local std::unordered_map<std::string, std::unique_ptr<SourceFile>> files;
  if (path == latest_path) return *latest;
  std::unique_ptr<SourceFile>& file = files[path];
  if (file == nullptr) file = std::make_unique<SourceFile>(path);
  latest_path = path;
  latest = file.get();
  return *file;
}

std::string place(SourceLine where) {
  const std::string path = where.file;
  size_t begin = path.rfind('/');
  if (begin != std::string::npos && begin > 0) begin = path.rfind('/', begin - 1);
  return path.substr(begin == std::string::npos ? 0 : begin + 1) + ":" + std::to_string(where.line);
}

std::string quote(SourceLine where) {
  const std::string text = source_file(where.file).line(where.line);
  return text.empty() ? place(where) : place(where) + "  " + text;
}

std::string first_argument(SourceLine where, const std::string& function) {
  const auto arguments = source_file(where.file).arguments(where.line, function);
  return arguments.empty() ? "" : arguments[0];
}

std::string barrier_family(SourceLine initialised) {
  std::string name = init_argument(initialised);
  name = name.substr(0, name.find('['));
  for (size_t i = name.size(); i > 0; --i) {  // the last identifier: "smem.full" is "full"
    const auto letter = static_cast<unsigned char>(name[i - 1]);
    if (!std::isalnum(letter) && letter != '_') {
      name.erase(0, i);
      break;
    }
  }
  return name.empty() ? "mbarrier" : name;
}

bool barrier_is_indexed(SourceLine initialised) {
  const std::string name = init_argument(initialised);
  return name.empty() || name.find('[') != std::string::npos;
}

}  // namespace emulator
