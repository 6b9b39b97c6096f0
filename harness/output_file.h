// Files that a run leaves behind: checked before the run, and written whole or not at all.
#pragma once

#include <status.h>

#include <string>

namespace harness {

// kUsage if `path`, the value of `option`, cannot be written. Touches nothing, so that it can be
// asked before a long run.
Status check_writable(const std::string& path, const std::string& option);

// Writes `text` beside the file and renames it, so that there is a whole file at every moment, the
// old one or the new one. (What is no regular file, as /dev/stdout, is written as it is.)
Status write_file(const std::string& path, const std::string& text, const std::string& option);

}  // namespace harness
