// The rules of TMA, and the driver's encoder behind them.
#include <ceil_div.h>
#include <cuda_runtime.h>
#include <element_bytes.h>
#include <tensor_map.h>

#include <string>

namespace {

constexpr int64_t kSwizzleBytes = 128;
constexpr int64_t kPitchMultiple = 16;
constexpr int64_t kUnit = kPitchMultiple / sizeof(half);  // elements
constexpr int64_t kPitchLimit = int64_t{1} << 40;
constexpr int64_t kSizeLimit = int64_t{1} << 32;
constexpr int kBoxLimit = 256;

// "lda" for "A".
std::string leading_dimension_name(const GlobalMatrix& matrix) {
  std::string name = "ld";
  for (const char* letter = matrix.name; *letter != '\0'; ++letter) {
    name += static_cast<char>(*letter - 'A' + 'a');
  }
  return name;
}

Status broken_rule(const GlobalMatrix& matrix, const std::string& sentence) {
  return {ExitCode::kUsage, std::string(matrix.name) + ": " + sentence};
}

// The encoder comes from the driver at run time, so that nothing needs libcuda to start.
using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

EncodeTiled find_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                             12000, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<EncodeTiled>(function);
}

// Asks the driver for the map of a tensor that has been checked.
Status encode(CUtensorMap* map, const GlobalTensor& tensor, const int (&box)[3], Swizzle swizzle) {
  static const EncodeTiled encode_tiled = find_encoder();
  if (encode_tiled == nullptr) {
    return {ExitCode::kNoDevice,
            "the driver has no cuTensorMapEncodeTiled; TMA needs a driver for CUDA 12.0 or newer"};
  }
  cuuint64_t size[3], pitch[2];
  cuuint32_t box_size[3];
  const cuuint32_t element_strides[3] = {1, 1, 1};
  for (int i = 0; i < tensor.dimensions; ++i) {
    size[i] = static_cast<cuuint64_t>(tensor.size[i]);
    box_size[i] = static_cast<cuuint32_t>(box[i]);
    if (i > 0) pitch[i - 1] = static_cast<cuuint64_t>(tensor.pitch[i - 1]);
  }
  const CUresult result =
      encode_tiled(map, tensor.type, static_cast<cuuint32_t>(tensor.dimensions),
                   const_cast<void*>(tensor.base), size, pitch, box_size, element_strides,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(swizzle),
                   CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return {};
  return {ExitCode::kCudaError, std::string(tensor.name) +
                                    ": cuTensorMapEncodeTiled failed with CUresult " +
                                    std::to_string(static_cast<int>(result))};
}

static_assert(static_cast<int>(Swizzle::k32B) == CU_TENSOR_MAP_SWIZZLE_32B);
static_assert(static_cast<int>(Swizzle::k64B) == CU_TENSOR_MAP_SWIZZLE_64B);
static_assert(static_cast<int>(Swizzle::k128B) == CU_TENSOR_MAP_SWIZZLE_128B);

// What TMA demands of a matrix, whatever the boxes.
Status check_matrix(const GlobalMatrix& matrix) {
  const std::string ld = leading_dimension_name(matrix);
  if (matrix.base == nullptr) {
    return broken_rule(matrix, "the pointer is null; pass device memory");
  }
  if (const auto address = reinterpret_cast<uintptr_t>(matrix.base);
      address % kPitchMultiple != 0) {
    return broken_rule(matrix, "the address is " + std::to_string(address % kPitchMultiple) +
                                   " bytes past a multiple of 16; TMA needs 16-byte alignment: "
                                   "begin the matrix at a multiple of 8 elements");
  }
  if (matrix.rows < 1 || matrix.columns < 1 || matrix.rows > kSizeLimit ||
      matrix.columns > kSizeLimit) {
    return broken_rule(matrix, "the size is " + std::to_string(matrix.rows) + " × " +
                                   std::to_string(matrix.columns) +
                                   "; TMA takes 1 to 4294967296 elements per dimension");
  }
  if (matrix.leading_dimension < matrix.columns) {
    return broken_rule(matrix, ld + " = " + std::to_string(matrix.leading_dimension) +
                                   " is less than the row length " +
                                   std::to_string(matrix.columns) + "; rows may not overlap");
  }
  if (matrix.leading_dimension >= kPitchLimit / int64_t{sizeof(half)}) {
    return broken_rule(matrix, ld + " = " + std::to_string(matrix.leading_dimension) +
                                   " makes a row pitch of 2^40 bytes or more, the limit of TMA: "
                                   "pass a smaller " +
                                   ld);
  }
  const int64_t pitch = matrix.leading_dimension * int64_t{sizeof(half)};
  if (pitch % kPitchMultiple != 0) {
    const int64_t padded = ceil_div(matrix.leading_dimension, kUnit) * kUnit;
    return broken_rule(matrix, "row pitch is " + std::to_string(pitch) + " bytes (" + ld + " = " +
                                   std::to_string(matrix.leading_dimension) +
                                   "); TMA needs a multiple of 16: pad " + ld + " to " +
                                   std::to_string(padded));
  }
  return {};
}

GlobalMatrix stored_matrix(const MatmulArguments& args) {
  return {"C", args.c, args.m, args.n, args.ldc};
}

bool has_whole_units(const MatmulArguments& args) { return args.n % kUnit == 0; }

}  // namespace

Status check_tensor_map(const GlobalMatrix& matrix, int box_rows, int box_columns) {
  const Status status = check_matrix(matrix);
  if (!status.ok()) return status;
  if (box_rows < 1 || box_rows > kBoxLimit || box_columns < 1 || box_columns > kBoxLimit) {
    return broken_rule(matrix, "the box is " + std::to_string(box_rows) + " × " +
                                   std::to_string(box_columns) +
                                   "; TMA takes 1 to 256 elements per dimension: use a smaller "
                                   "tile or several copies");
  }
  if (box_columns * int64_t{sizeof(half)} != kSwizzleBytes) {
    return broken_rule(matrix, "the box is " + std::to_string(box_columns) +
                                   " columns wide; the 128-byte swizzle needs rows of 64 fp16 "
                                   "elements");
  }
  return {};
}

Status make_tensor_map(CUtensorMap* map, const GlobalMatrix& matrix, int box_rows,
                       int box_columns) {
  const Status status = check_tensor_map(matrix, box_rows, box_columns);
  if (!status.ok()) return status;
  const GlobalTensor tensor = {matrix.name,
                               matrix.base,
                               CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                               2,
                               {matrix.columns, matrix.rows},
                               {matrix.leading_dimension * int64_t{sizeof(half)}}};
  return encode(map, tensor, {box_columns, box_rows}, Swizzle::k128B);
}

Status check_tensor_map(const GlobalTensor& tensor, const int (&box)[3], Swizzle swizzle) {
  const auto broken = [&](const std::string& sentence) {
    return Status{ExitCode::kUsage, std::string(tensor.name) + ": " + sentence};
  };
  const int64_t bytes = element_bytes(tensor.type);
  if (bytes == 0) {
    return broken("the type is CUtensorMapDataType " +
                  std::to_string(static_cast<int>(tensor.type)) +
                  "; here maps are of integers, fp16, bf16, fp32 or fp64");
  }
  if (tensor.dimensions < 1 || tensor.dimensions > 3) {
    return broken("the tensor has " + std::to_string(tensor.dimensions) +
                  " dimensions; here it takes 1 to 3");
  }
  if (reinterpret_cast<uintptr_t>(tensor.base) % kPitchMultiple != 0 || tensor.base == nullptr) {
    return broken("the address is null or no multiple of 16; TMA needs 16-byte aligned memory");
  }
  for (int i = 0; i < tensor.dimensions; ++i) {
    const std::string dimension = "dimension " + std::to_string(i);
    if (tensor.size[i] < 1 || tensor.size[i] > kSizeLimit) {
      return broken(dimension + " has " + std::to_string(tensor.size[i]) +
                    " elements; TMA takes 1 to 4294967296");
    }
    if (box[i] < 1 || box[i] > kBoxLimit) {
      return broken("the box has " + std::to_string(box[i]) + " elements along " + dimension +
                    "; TMA takes 1 to 256: use several copies");
    }
    if (i == 0) continue;
    const int64_t pitch = tensor.pitch[i - 1];
    if (pitch % kPitchMultiple != 0 || pitch < 0 || pitch >= kPitchLimit) {
      return broken("the pitch of " + dimension + " is " + std::to_string(pitch) +
                    " bytes; TMA takes multiples of 16 below 2^40: pad the rows");
    }
    if (i == 1 && pitch < tensor.size[0] * bytes) {
      return broken("the pitch of dimension 1 is " + std::to_string(pitch) +
                    " bytes, less than a row of " + std::to_string(tensor.size[0] * bytes));
    }
  }
  const int64_t row = box[0] * bytes;
  if (row % kPitchMultiple != 0) {
    return broken("a row of the box has " + std::to_string(row) +
                  " bytes; TMA takes multiples of 16");
  }
  if (swizzle != Swizzle::kNone && row != swizzle_row_bytes(swizzle)) {
    return broken("a row of the box has " + std::to_string(row) + " bytes; this swizzle is for " +
                  std::to_string(swizzle_row_bytes(swizzle)) + ": make the box as wide");
  }
  return {};
}

Status make_tensor_map(CUtensorMap* map, const GlobalTensor& tensor, const int (&box)[3],
                       Swizzle swizzle) {
  const Status status = check_tensor_map(tensor, box, swizzle);
  return status.ok() ? encode(map, tensor, box, swizzle) : status;
}

bool tma_can_store(const MatmulArguments& args) {
  return has_whole_units(args) && check_matrix(stored_matrix(args)).ok();
}

Status make_store_map(CUtensorMap* map, const MatmulArguments& args, int box_rows,
                      int box_columns) {
  if (!has_whole_units(args)) {
    return {ExitCode::kUsage, "C: n = " + std::to_string(args.n) +
                                  "; TMA stores whole units of 8 elements: n must be a multiple"};
  }
  return make_tensor_map(map, stored_matrix(args), box_rows, box_columns);
}
