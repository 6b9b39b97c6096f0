#include <harness/cpu/watch_page.h>
#include <harness/device.h>
#include <harness/output_file.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace harness {
namespace {

// A file of the folder of pages; empty if it cannot be read.
std::string part(const std::string& name) {
  std::ifstream file(std::string(PAGES_FOLDER) + "/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void replace(const std::string& mark, const std::string& by, std::string* text) {
  const size_t place = text->find(mark);
  if (place != std::string::npos) text->replace(place, mark.size(), by);
}

// JSON inside <script>: nothing in it may look like the end of that, or like a comment.
std::string embedded(const std::string& json) {
  std::string text;
  for (const char letter : json)
    text += letter == '<' ? std::string("\\u003c") : std::string(1, letter);
  return text;
}

std::string recording() {
  std::ostringstream text;
  emulator::write_recording(text);
  return text.str();
}

}  // namespace

void set_delays(const std::string& name, emulator::Options* options) {
  using emulator::Delay;
  constexpr Delay kMeant[] = {Delay::kMixed, Delay::kAtOnce,       Delay::kShort,
                              Delay::kLong,  Delay::kOnlyWhenIdle, Delay::kTextbook};
  static_assert(std::size(kMeant) == std::size(kDelays));
  for (size_t i = 0; i < std::size(kDelays); ++i) {
    if (name == kDelays[i]) options->delay = kMeant[i];
  }
  if (options->delay == Delay::kTextbook) options->schedule = emulator::Schedule::kRoundRobin;
}

Status write_watch_page(const WatchPage& page, const std::string& path, const std::string& option) {
  using Json = nlohmann::json;
  std::string text = part("watch.html");
  const Json about = {{"title", page.title}, {"delays", page.delays}, {"change", page.change}};
  const std::string data =
      "{\"about\":" + about.dump(-1, ' ', false, Json::error_handler_t::replace) +
      ",\"run\":" + recording() + "}";
  const std::pair<const char*, std::string> parts[] = {{"@style@", part("style.css")},
                                                       {"@watch_style@", part("watch.css")},
                                                       {"@common@", part("common.js")},
                                                       {"@script@", part("watch.js")},
                                                       {"@data@", embedded(data)}};
  for (const auto& [mark, content] : parts) {
    if (content.empty() || text.empty()) {
      return {ExitCode::kUsage, std::string("the page's parts cannot be read from ") +
                                    PAGES_FOLDER +
                                    "; pages are made where the sources of this program are"};
    }
    replace(mark, content, &text);
  }
  return write_file(path, text, option);
}

}  // namespace harness
