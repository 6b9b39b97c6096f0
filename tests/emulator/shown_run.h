// One run of a broken kernel that somebody wants to look at: its report, and files of what
// happened.
#pragma once

#include <harness/cpu/watch_page.h>
#include <harness/device.h>
#include <harness/output_file.h>

#include <cstdio>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "bug_hunt.h"

namespace bug_hunt {

struct ShownRun {
  uint64_t seed = 1;
  std::string delays = "mixed";
  std::string trace;  // files; empty: none
  std::string watch;
};

inline void add_options(CLI::App* app, ShownRun* shown) {
  const std::vector<std::string> delays(std::begin(harness::kDelays), std::end(harness::kDelays));
  app->add_option("--seed", shown->seed, "of the schedule of the run that is shown")
      ->option_text("N [1]");
  app->add_option(
         "--delays", shown->delays,
         "of that run: mixed, at-once, short, long, idle, or textbook; if the bug does not "
         "show in that one, mixed")
      ->check(CLI::IsMember(delays))
      ->option_text("KIND [mixed]");
  app->add_option("--trace", shown->trace,
                  "write its timeline, for Perfetto (ui.perfetto.dev), to this file")
      ->option_text("FILE");
  app->add_option("--watch", shown->watch,
                  "write a page that plays it, for a browser, to this file")
      ->option_text("FILE");
}

// A broken kernel: what it is called, and in which lines it differs from the version's source.
struct Broken {
  std::string title;
  std::string change;
};

// Runs it once by `find`, prints title and what was found, and writes the files. Returns the exit
// code.
inline int show_run(const Broken& broken, const ShownRun& shown, const emulator::Options& options,
                    const std::function<std::string(const emulator::Options&)>& find) {
  for (const auto& [option, path] : {std::pair("--trace", shown.trace), {"--watch", shown.watch}}) {
    const Status status = path.empty() ? Status() : harness::check_writable(path, option);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return static_cast<int>(status.code());
  }
  harness::WatchPage page = {broken.title, shown.delays, broken.change};
  emulator::Options run = options;
  run.trace = !shown.trace.empty() || !shown.watch.empty();
  harness::set_delays(shown.delays, &run);
  std::string finding = find(run);
  if (finding.empty() && shown.delays == "textbook") {
    page.delays = "mixed";
    run.delay = options.delay;
    run.schedule = options.schedule;
    finding = find(run);
  }
  std::printf("%s\n", broken.title.c_str());
  if (const auto& report = emulator::last_report()) {
    std::fputs(report->text.c_str(), stdout);
  } else {
    std::puts(finding.empty() ? "nothing was found" : finding.c_str());
  }
  std::ostringstream timeline;
  emulator::write_trace(timeline);
  Status status;
  if (!shown.trace.empty()) status = harness::write_file(shown.trace, timeline.str(), "--trace");
  if (status.ok() && !shown.watch.empty()) {
    status = harness::write_watch_page(page, shown.watch, "--watch");
  }
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return static_cast<int>(status.code());
  }
  return finding.empty() ? 1 : 0;
}

}  // namespace bug_hunt
