// harness/device.h in the emulator: how it is set up, and what it saw.
#include <cuda_status.h>
#include <emulator.h>
#include <harness/device.h>

#include <fstream>

namespace harness {
namespace {

std::string g_trace;  // a file's path, or empty

}  // namespace

Status open_device(const DeviceOptions& device_options, DeviceInfo* info) {
  emulator::Options options;
  options.seed = device_options.seed;
  options.trace = !device_options.trace.empty();
  emulator::set_options(options);
  g_trace = device_options.trace;
  info->name = "CPU emulator";
  return cuda_status(cudaDeviceGetAttribute(&info->sms, cudaDevAttrMultiProcessorCount, 0),
                     "asking for the number of multiprocessors");
}

Status finish_device() {
  if (g_trace.empty()) return {};
  std::ofstream file(g_trace);
  emulator::write_trace(file);
  file.close();
  if (file.good()) return {};
  return {ExitCode::kUsage, "cannot write " + g_trace + "; choose another file for --trace"};
}

Observation observe() {
  const emulator::Counters counters = emulator::counters();
  // Asked before a run: the trace is to show that run alone.
  if (counters.launches == 0) emulator::clear_trace();
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
