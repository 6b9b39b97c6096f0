#include "pages.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

namespace explain {
namespace {

// A file of pages/; empty if it cannot be read.
std::string part(const std::string& name) {
  std::ifstream file(std::string(PAGES_FOLDER) + "/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void replace(std::string* text, const std::string& mark, const std::string& by) {
  for (size_t place = 0; (place = text->find(mark, place)) != std::string::npos;
       place += by.size()) {
    text->replace(place, mark.size(), by);
  }
}

// JSON inside <script>: nothing in it may look like the script's end.
std::string embedded(const nlohmann::json& data) {
  std::string text = data.dump();
  for (size_t place = 0; (place = text.find("</", place)) != std::string::npos; place += 3) {
    text.insert(place + 1, "\\");
  }
  return text;
}

// What all topics of a page have to show, by their names.
nlohmann::json data_of(const std::string& page, const Question& question) {
  nlohmann::json data = nlohmann::json::object();
  for (const Topic& topic : topics()) {
    if (page == topic.page) data[topic.name] = topic.data(question);
  }
  return data;
}

Status write_page(const std::string& page, const Question& question, const std::string& path) {
  std::string text = part("frame.html");
  for (const auto& [mark, name] : {std::pair<const char*, std::string>{"@style@", "style.css"},
                                   {"@body@", page + ".html"},
                                   {"@common@", "common.js"},
                                   {"@script@", page + ".js"}}) {
    const std::string content = part(name);
    if (content.empty()) {
      return {ExitCode::kUsage,
              std::string(PAGES_FOLDER) + "/" + name +
                  " cannot be read; pages are made where the sources of this program are"};
    }
    replace(&text, mark, content);
  }
  replace(&text, "@page@", page);
  replace(&text, "@data@", embedded(data_of(page, question)));
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return {ExitCode::kUsage, path + " cannot be written"};
  return {};
}

}  // namespace

Status write_pages(const Topic& topic, const Question& question, const std::string& folder,
                   std::string* path) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::set<std::string> written;
  for (const Topic& each : topics()) {
    if (!written.insert(each.page).second) continue;
    const Status status = write_page(each.page, question, folder + "/" + each.page + ".html");
    if (!status.ok()) return status;
  }
  *path = folder + "/" + topic.page + ".html";
  return {};
}

}  // namespace explain
