// harness/device.h in the emulator: how it is set up, and what it saw.
#include <cuda_status.h>
#include <emulator.h>
#include <harness/cpu/watch_page.h>
#include <harness/device.h>

#include <fstream>

namespace harness {
namespace {

DeviceOptions g_options;

}  // namespace

Status open_device(const DeviceOptions& device_options, DeviceInfo* info) {
  emulator::Options options;
  options.seed = device_options.seed;
  set_delays(device_options.delays, &options);
  options.trace = !device_options.trace.empty() || !device_options.watch.empty();
  options.trace_blocks = device_options.trace_blocks;
  emulator::set_options(options);
  g_options = device_options;
  info->name = "CPU emulator";
  return cuda_status(cudaDeviceGetAttribute(&info->sms, cudaDevAttrMultiProcessorCount, 0),
                     "asking for the number of multiprocessors");
}

Status finish_device() {
  if (!g_options.watch.empty()) {
    const Status status =
        write_watch_page({g_options.title, g_options.delays, ""}, g_options.watch, "--watch");
    if (!status.ok()) return status;
  }
  if (g_options.trace.empty()) return {};
  std::ofstream file(g_options.trace);
  emulator::write_trace(file);
  file.close();
  if (file.good()) return {};
  return {ExitCode::kUsage,
          "cannot write " + g_options.trace + "; choose another file for --trace"};
}

Observation observe() {
  const emulator::Counters counters = emulator::counters();
  emulator::reset_counters();
  Observation observation;
  observation.hazards = counters.reports;
  observation.tma_load_bytes = counters.tma_load_bytes;
  observation.tma_store_bytes = counters.tma_store_bytes;
  observation.wgmmas = counters.wgmmas;
  observation.waits = counters.barrier_waits;
  observation.waits_blocked = counters.barrier_waits_blocked;
  observation.stages_in_flight = counters.max_stages_in_flight;
  return observation;
}

}  // namespace harness
