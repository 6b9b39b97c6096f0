// Writing of result files.
#include <harness/output_file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace harness {

namespace {

namespace fs = std::filesystem;

Status cannot_write(const std::string& path, const std::string& option, int error) {
  return {ExitCode::kUsage, option + ": cannot write " + path + " (" +
                                std::generic_category().message(error) + "); choose another file"};
}

bool is_special(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
}

}  // namespace

Status check_writable(const std::string& path, const std::string& option) {
  if (fs::is_directory(path)) return cannot_write(path, option, EISDIR);
  if (access(path.c_str(), W_OK) != 0 && errno != ENOENT) return cannot_write(path, option, errno);
  if (is_special(path)) return {};
  const fs::path folder = fs::path(path).parent_path();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    return cannot_write(path, option, errno);
  }
  return {};
}

Status write_file(const std::string& path, const std::string& text, const std::string& option) {
  std::error_code error;
  fs::path file = fs::canonical(path, error);  // a link stays, what it names is renewed
  if (error) file = path;
  const bool special = is_special(file);
  const fs::path written = special ? file : fs::path(file.string() + ".part");
  errno = 0;
  std::ofstream out(written);
  out << text;
  out.close();
  if (!out.good()) {
    error = {errno == 0 ? EIO : errno, std::generic_category()};
  } else {
    error.clear();
    if (!special) fs::rename(written, file, error);
  }
  if (!error) return {};
  std::error_code ignored;
  if (!special) fs::remove(written, ignored);
  return cannot_write(path, option, error.value());
}

}  // namespace harness
