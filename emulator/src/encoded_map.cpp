#include "encoded_map.h"

#include <cuda_runtime.h>

#include <cstring>

namespace {

// The rules of the driver (CUDA Driver API, cuTensorMapEncodeTiled) for what this project uses:
// fp16, two dimensions, no interleave, no swizzle or that of 128 bytes.
bool is_valid(const CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, const void* base,
              const cuuint64_t* size, const cuuint64_t* pitch, const cuuint32_t* box,
              const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
              CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
              CUtensorMapFloatOOBfill fill) {
  constexpr uint64_t kElementBytes = 2;
  constexpr uint64_t kSizeLimit = uint64_t{1} << 32;
  constexpr uint64_t kPitchLimit = uint64_t{1} << 40;
  constexpr uint32_t kBoxLimit = 256;
  constexpr uint32_t kSwizzleBytes = 128;
  if (map == nullptr || reinterpret_cast<uintptr_t>(map) % 64 != 0) return false;
  if (type != CU_TENSOR_MAP_DATA_TYPE_FLOAT16 || rank != 2) return false;
  if (base == nullptr || reinterpret_cast<uintptr_t>(base) % 16 != 0) return false;
  for (int i = 0; i < 2; ++i) {
    if (size[i] < 1 || size[i] > kSizeLimit) return false;
    if (box[i] < 1 || box[i] > kBoxLimit) return false;
    if (element_strides[i] != 1) return false;  // the driver takes up to 8; no kernel here does
  }
  if (pitch[0] % 16 != 0 || pitch[0] >= kPitchLimit) return false;
  if (pitch[0] < size[0] * kElementBytes) return false;
  if (box[0] * kElementBytes % 16 != 0) return false;
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return false;
  if (swizzle == CU_TENSOR_MAP_SWIZZLE_128B) {
    if (box[0] * kElementBytes > kSwizzleBytes) return false;
  } else if (swizzle != CU_TENSOR_MAP_SWIZZLE_NONE) {
    return false;
  }
  if (promotion < 0 || promotion > 3) return false;
  return fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* base, const cuuint64_t* size, const cuuint64_t* pitch,
                                const cuuint32_t* box, const cuuint32_t* element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  if (!is_valid(map, type, rank, base, size, pitch, box, element_strides, interleave, swizzle,
                promotion, fill)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  emulator::EncodedMap content = {};
  content.magic = emulator::kEncodedMapMagic;
  content.base = reinterpret_cast<uint64_t>(base);
  content.columns = size[0];
  content.rows = size[1];
  content.pitch = pitch[0];
  content.box_columns = box[0];
  content.box_rows = box[1];
  content.swizzled = swizzle == CU_TENSOR_MAP_SWIZZLE_128B;
  *map = {};
  std::memcpy(map->opaque, &content, sizeof(content));
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  constexpr unsigned kFirstVersionWithTensorMaps = 12000;
  const bool known = std::strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
  if (!known || version < kFirstVersionWithTensorMaps) {
    *function = nullptr;
    return cudaErrorInvalidValue;
  }
  *function = reinterpret_cast<void*>(&cuTensorMapEncodeTiled);
  *found = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
