// Pairs of shapes and random calls, for every version, on the device that this is linked with.
#include <gtest/gtest.h>
#include <harness/device.h>
#include <harness/program.h>
#include <harness/run.h>

#include <CLI/CLI.hpp>

#include "options.h"

namespace shapes {

namespace {
Options g_options;
}

const Options& options() { return g_options; }

}  // namespace shapes

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  CLI::App app("Every version on every kind of shape; options of GoogleTest besides.");
  app.add_option("--seed", shapes::g_options.seed, "of data, schedules and random calls [1]");
  app.add_option("--index", shapes::g_options.index, "run this case alone; its number of a report")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--count", shapes::g_options.count, "random calls of each version")
      ->check(CLI::PositiveNumber);
  shapes::g_options.program = argv[0];
  CLI11_PARSE(app, argc, argv);
  if (!testing::GTEST_FLAG(list_tests)) {
    harness::DeviceInfo info;
    const Status status = harness::open_device({}, &info);
    if (!status.ok()) return harness::fail("shape_tests", status);
  }
  return RUN_ALL_TESTS();
}
