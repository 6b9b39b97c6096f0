#include <launch_memory.h>

#include <map>
#include <mutex>

Status LaunchMemory::pool_of_device(cudaMemPool_t* pool) {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  int device = 0;
  Status status = cuda_status(cudaGetDevice(&device), "asking for the current device");
  if (!status.ok()) return status;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = pools.find(device);
  if (found != pools.end()) {
    *pool = found->second;
    return {};
  }
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  status = cuda_status(cudaMemPoolCreate(pool, &properties), "creating a memory pool");
  if (!status.ok()) return status;
  uint64_t keep = UINT64_MAX;
  status = cuda_status(cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &keep),
                       "setting up a memory pool");
  if (status.ok()) pools[device] = *pool;
  return status;
}
