// `./run explain TOPIC`: what the kernels' own functions say, as text, JSON or a page; --help says
// how to ask.
#include <harness/program.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "pages.h"
#include "topics.h"

namespace explain {
namespace {

struct Request {
  std::string topic;
  Question question;
  bool json = false;
  std::string pages;  // a folder; empty: none are wanted
};

std::string list_of_topics() {
  std::string text = "topics:\n";
  for (const Topic& topic : topics()) text += format("  %-12s %s\n", topic.name, topic.summary);
  return text;
}

void describe(CLI::App* app, Request* request) {
  app->description(
      "Explains what lies where and who waits for what, by the kernels' own functions.\n" +
      list_of_topics());
  app->add_option("topic", request->topic, "one of those above; none: list them");
  Question& question = request->question;
  app->add_option("--row", question.row, "swizzle, fragment: of the element")
      ->check(CLI::Range(0, 63));
  app->add_option("--column,--k", question.column,
                  "swizzle: k of the element, to 63; fragment: its column, to 255")
      ->check(CLI::Range(0, 255));
  app->add_option("--m", question.m, "raster: rows of C")->check(CLI::Range(1, 65536));
  app->add_option("--n", question.n, "raster: columns of C")->check(CLI::Range(1, 65536));
  app->add_option("--sms", question.sms, "raster: SMs, at most the H200's")
      ->check(CLI::Range(2, 132));
  app->add_flag("--json", request->json, "the numbers behind the text, and all others");
  app->add_option("--page", request->pages,
                  "writes the pages, to be opened in a browser, into this folder; prints its path")
      ->type_name("FOLDER");
}

int answer(const std::string& program, const Request& request) {
  if (request.topic.empty() && request.pages.empty()) {
    std::fputs(list_of_topics().c_str(), stdout);
    return 0;
  }
  for (const Topic& topic : topics()) {
    if (request.topic != topic.name && !request.topic.empty()) continue;
    if (topic.name == std::string("swizzle") && request.question.column >= kTileColumns) {
      return harness::fail(
          program, {ExitCode::kUsage, format("a row of a K tile has %d columns; --k %d is beyond",
                                             kTileColumns, request.question.column)});
    }
    if (!request.pages.empty()) {
      std::string path;
      const Status status = write_pages(topic, request.question, request.pages, &path);
      if (!status.ok()) return harness::fail(program, status);
      std::printf("%s\n", path.c_str());
    } else if (request.json) {
      std::printf("%s\n", topic.data(request.question).dump().c_str());
    } else {
      std::fputs(topic.text(request.question).c_str(), stdout);
    }
    return 0;
  }
  return harness::fail(program, {ExitCode::kUsage, "there is no topic '" + request.topic +
                                                       "'; without one I list them"});
}

int run(int argc, char** argv) {
  const std::string program = "explain";
  Request request;
  CLI::App app("", program);
  describe(&app, &request);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    return harness::fail(program, {ExitCode::kUsage, error.what()});
  }
  return answer(program, request);
}

}  // namespace
}  // namespace explain

int main(int argc, char** argv) {
  return harness::run_program("explain", [&] { return explain::run(argc, argv); });
}
