// The few functions of NVML that are used, called by name. nvml.h is a package of its own that many
// toolkits lack, so its constants stand here, under its names.
#include <dlfcn.h>
#include <harness/gpu/nvml.h>

namespace harness {

namespace {

Nvml g_nvml;

constexpr int NVML_SUCCESS = 0;  // nvmlReturn_t
constexpr int NVML_CLOCK_SM = 1;  // nvmlClockType_t
// nvmlClocksThrottleReasons
constexpr unsigned long long nvmlClocksThrottleReasonHwSlowdown = 0x08;
constexpr unsigned long long nvmlClocksThrottleReasonSwThermalSlowdown = 0x20;
constexpr unsigned long long nvmlClocksThrottleReasonHwThermalSlowdown = 0x40;
constexpr unsigned long long nvmlClocksThrottleReasonHwPowerBrakeSlowdown = 0x80;
constexpr unsigned kTextBytes = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE; versions are shorter

}  // namespace

template <class... Arguments>
bool Nvml::call(const char* function, Arguments... arguments) const {
  void* const found = library_ == nullptr ? nullptr : dlsym(library_, function);
  return found != nullptr &&
         reinterpret_cast<int (*)(Arguments...)>(found)(arguments...) == NVML_SUCCESS;
}

const Nvml& Nvml::open(const char* pci_bus_id) {
  if (g_nvml.library_ == nullptr) g_nvml.library_ = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
  if (!g_nvml.call("nvmlInit_v2") ||
      !g_nvml.call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id, &g_nvml.device_)) {
    g_nvml.device_ = nullptr;
  }
  return g_nvml;
}

const Nvml& Nvml::current() { return g_nvml; }

double Nvml::power_limit_w() const {
  unsigned milliwatts = 0;
  const bool known =
      device_ != nullptr && call("nvmlDeviceGetPowerManagementLimit", device_, &milliwatts);
  return known ? milliwatts / 1000.0 : 0;
}

int Nvml::clock_max_mhz() const {
  unsigned mhz = 0;
  const bool known =
      device_ != nullptr && call("nvmlDeviceGetMaxClockInfo", device_, NVML_CLOCK_SM, &mhz);
  return known ? static_cast<int>(mhz) : 0;
}

std::string Nvml::driver() const {
  char text[kTextBytes] = {};
  return call("nvmlSystemGetDriverVersion", &text[0], kTextBytes) ? text : "";
}

std::string Nvml::uuid() const {
  char text[kTextBytes] = {};
  return device_ != nullptr && call("nvmlDeviceGetUUID", device_, &text[0], kTextBytes) ? text : "";
}

bool Nvml::is_throttled() const {
  constexpr auto kSlowdowns =
      nvmlClocksThrottleReasonHwSlowdown | nvmlClocksThrottleReasonSwThermalSlowdown |
      nvmlClocksThrottleReasonHwThermalSlowdown | nvmlClocksThrottleReasonHwPowerBrakeSlowdown;
  unsigned long long reasons = 0;
  return device_ != nullptr &&
         call("nvmlDeviceGetCurrentClocksThrottleReasons", device_, &reasons) &&
         (reasons & kSlowdowns) != 0;
}

}  // namespace harness
