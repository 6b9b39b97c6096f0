#include <dlfcn.h>
#include <harness/gpu/nvml.h>

namespace harness {

namespace {

Nvml g_nvml;

constexpr int kSuccess = 0;
constexpr int kClockSm = 1;
constexpr unsigned long long kSlowdowns = 0x8 |  // hardware slowdown
                                          0x20 |  // software thermal slowdown
                                          0x40 |  // hardware thermal slowdown
                                          0x80;  // power brake

}  // namespace

void* Nvml::find(const char* symbol) const {
  if (library_ == nullptr) return nullptr;
  return dlsym(library_, symbol);
}

const Nvml& Nvml::open(const char* pci_bus_id) {
  if (g_nvml.library_ == nullptr) g_nvml.library_ = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
  const auto init = reinterpret_cast<int (*)()>(g_nvml.find("nvmlInit_v2"));
  const auto handle = reinterpret_cast<int (*)(const char*, void**)>(
      g_nvml.find("nvmlDeviceGetHandleByPciBusId_v2"));
  if (init == nullptr || handle == nullptr || init() != kSuccess ||
      handle(pci_bus_id, &g_nvml.device_) != kSuccess) {
    g_nvml.device_ = nullptr;
  }
  return g_nvml;
}

const Nvml& Nvml::current() { return g_nvml; }

double Nvml::power_limit_w() const {
  const auto get =
      reinterpret_cast<int (*)(void*, unsigned*)>(find("nvmlDeviceGetPowerManagementLimit"));
  unsigned milliwatts = 0;
  if (device_ == nullptr || get == nullptr || get(device_, &milliwatts) != kSuccess) return 0;
  return milliwatts / 1000.0;
}

int Nvml::clock_max_mhz() const {
  const auto get =
      reinterpret_cast<int (*)(void*, int, unsigned*)>(find("nvmlDeviceGetMaxClockInfo"));
  unsigned mhz = 0;
  if (device_ == nullptr || get == nullptr || get(device_, kClockSm, &mhz) != kSuccess) return 0;
  return static_cast<int>(mhz);
}

std::string Nvml::driver() const {
  const auto get = reinterpret_cast<int (*)(char*, unsigned)>(find("nvmlSystemGetDriverVersion"));
  char version[96] = {};
  if (device_ == nullptr || get == nullptr || get(version, sizeof(version)) != kSuccess) return {};
  return version;
}

bool Nvml::is_throttled() const {
  const auto get = reinterpret_cast<int (*)(void*, unsigned long long*)>(
      find("nvmlDeviceGetCurrentClocksThrottleReasons"));
  unsigned long long reasons = 0;
  if (device_ == nullptr || get == nullptr || get(device_, &reasons) != kSuccess) return false;
  return (reasons & kSlowdowns) != 0;
}

}  // namespace harness
