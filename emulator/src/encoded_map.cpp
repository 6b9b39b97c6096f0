#include "encoded_map.h"

#include <cuda_runtime.h>
#include <element_bytes.h>

#include <cstring>

namespace {

using emulator::kMostDimensions;

// The rules of the driver (CUDA Driver API, cuTensorMapEncodeTiled), without interleave.
bool is_valid(const CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, const void* base,
              const cuuint64_t* size, const cuuint64_t* pitch, const cuuint32_t* box,
              const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
              CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
              CUtensorMapFloatOOBfill fill) {
  constexpr uint64_t kSizeLimit = uint64_t{1} << 32;
  constexpr uint64_t kPitchLimit = uint64_t{1} << 40;
  constexpr uint32_t kBoxLimit = 256;
  const uint64_t bytes = element_bytes(type);
  if (map == nullptr || reinterpret_cast<uintptr_t>(map) % 64 != 0) return false;
  if (bytes == 0 || rank < 1 || rank > kMostDimensions) return false;
  if (base == nullptr || reinterpret_cast<uintptr_t>(base) % 16 != 0) return false;
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (size[i] < 1 || size[i] > kSizeLimit) return false;
    if (box[i] < 1 || box[i] > kBoxLimit) return false;
    if (element_strides[i] != 1) return false;  // the driver takes up to 8; no kernel here does
  }
  for (cuuint32_t i = 0; i + 1 < rank; ++i) {
    if (pitch[i] % 16 != 0 || pitch[i] >= kPitchLimit) return false;
  }
  if (rank > 1 && pitch[0] < size[0] * bytes) return false;
  if (box[0] * bytes % 16 != 0) return false;
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return false;
  if (swizzle < CU_TENSOR_MAP_SWIZZLE_NONE || swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return false;
  const auto mode = static_cast<emulator::SwizzleMode>(swizzle);
  if (swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && box[0] * bytes > emulator::swizzle_bytes(mode)) {
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
  for (cuuint32_t i = 0; i < kMostDimensions; ++i) {
    content.size[i] = i < rank ? size[i] : 1;
    content.box[i] = static_cast<uint16_t>(i < rank ? box[i] : 1);
    if (i + 1 < rank) content.pitch[i] = pitch[i];
  }
  content.rank = static_cast<uint8_t>(rank);
  content.type = static_cast<uint8_t>(type);
  content.element_bytes = static_cast<uint8_t>(element_bytes(type));
  content.swizzle = static_cast<emulator::SwizzleMode>(swizzle);
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
