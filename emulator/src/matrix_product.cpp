#include "matrix_product.h"

#include <cstring>

#define EMULATOR_INLINE __attribute__((always_inline)) inline

namespace emulator {
namespace {

constexpr int kRows = 64;
constexpr int kDepth = 16;
constexpr int kMostColumns = 256;

// Vectors of the compilers (GCC and Clang): they become whatever instructions the function that
// they are used in may use.
template <int kLanes>
struct Vector {
  typedef float Floats __attribute__((vector_size(kLanes * 4), aligned(4)));
  typedef uint32_t Words __attribute__((vector_size(kLanes * 4), aligned(4)));
  typedef uint16_t Halves __attribute__((vector_size(kLanes * 2), aligned(2)));
};

// fp16 to fp32, exactly: shifts exponent and mantissa into place and multiplies by the difference
// of the exponents' biases, which also makes subnormals right.
template <int kLanes>
EMULATOR_INLINE void to_float(const uint16_t* from, float* to) {
  using Floats = typename Vector<kLanes>::Floats;
  using Words = typename Vector<kLanes>::Words;
  typename Vector<kLanes>::Halves halves;
  std::memcpy(&halves, from, sizeof(halves));
  const Words bits = __builtin_convertvector(halves, Words);
  const Words magnitude = (bits & 0x7fff) << 13;
  Floats value;
  std::memcpy(&value, &magnitude, sizeof(value));
  value = value * 0x1p112f;
  Words result;
  std::memcpy(&result, &value, sizeof(result));
  const Words special = (Words)(magnitude >= 0x0f800000);  // infinity, NaN: all exponent bits
  result |= (special & 0x7f800000) | (bits & 0x8000) << 16;
  std::memcpy(to, &result, sizeof(result));
}

// bf16 to fp32: the upper half.
template <int kLanes>
EMULATOR_INLINE void widen(const uint16_t* from, float* to) {
  using Words = typename Vector<kLanes>::Words;
  typename Vector<kLanes>::Halves halves;
  std::memcpy(&halves, from, sizeof(halves));
  const Words bits = __builtin_convertvector(halves, Words) << 16;
  std::memcpy(to, &bits, sizeof(bits));
}

template <int kLanes>
EMULATOR_INLINE void convert(const uint16_t* from, float* to, bool bf16) {
  if (bf16) {
    widen<kLanes>(from, to);
  } else {
    to_float<kLanes>(from, to);
  }
}

// Four rows of d in kVectors vectors of columns.
template <int kLanes, int kVectors>
EMULATOR_INLINE void multiply_block(float* d, int columns, const float* a, const float* b,
                                    bool accumulate) {
  constexpr int kBlockRows = 4;
  using Floats = typename Vector<kLanes>::Floats;
  Floats sum[kBlockRows][kVectors];
  for (int i = 0; i < kBlockRows; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] =
          accumulate ? *reinterpret_cast<const Floats*>(d + i * columns + j * kLanes) : Floats{};
    }
  }
  for (int k = 0; k < kDepth; ++k) {
    for (int j = 0; j < kVectors; ++j) {
      const Floats right = *reinterpret_cast<const Floats*>(b + k * columns + j * kLanes);
      for (int i = 0; i < kBlockRows; ++i) sum[i][j] += a[i * kDepth + k] * right;
    }
  }
  for (int i = 0; i < kBlockRows; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      *reinterpret_cast<Floats*>(d + i * columns + j * kLanes) = sum[i][j];
    }
  }
}

template <int kLanes, int kVectors>
EMULATOR_INLINE void multiply(float* d, const uint16_t* a, const uint16_t* b, int columns,
                              bool accumulate, bool bf16) {
  alignas(64) static thread_local float left[kRows * kDepth];
  alignas(64) static thread_local float right[kDepth * kMostColumns];  // transposed
  for (int i = 0; i < kRows * kDepth; i += 8) convert<8>(a + i, left + i, bf16);
  for (int column = 0; column < columns; ++column) {
    float row[kDepth];
    for (int k = 0; k < kDepth; k += 8) convert<8>(b + column * kDepth + k, row + k, bf16);
    for (int k = 0; k < kDepth; ++k) right[k * columns + column] = row[k];
  }
  int column = 0;
  for (; column + kLanes * kVectors <= columns; column += kLanes * kVectors) {
    for (int row = 0; row < kRows; row += 4) {
      multiply_block<kLanes, kVectors>(d + row * columns + column, columns, left + row * kDepth,
                                       right + column, accumulate);
    }
  }
  for (; column < columns; column += 8) {
    for (int row = 0; row < kRows; row += 4) {
      multiply_block<4, 2>(d + row * columns + column, columns, left + row * kDepth, right + column,
                           accumulate);
    }
  }
}

void multiply_anywhere(float* d, const uint16_t* a, const uint16_t* b, int columns, bool accumulate,
                       bool bf16) {
  multiply<4, 2>(d, a, b, columns, accumulate, bf16);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void multiply_avx2(float* d, const uint16_t* a,
                                                       const uint16_t* b, int columns,
                                                       bool accumulate, bool bf16) {
  multiply<8, 2>(d, a, b, columns, accumulate, bf16);
}

__attribute__((target("avx512f"))) void multiply_avx512(float* d, const uint16_t* a,
                                                        const uint16_t* b, int columns,
                                                        bool accumulate, bool bf16) {
  multiply<16, 4>(d, a, b, columns, accumulate, bf16);
}

#endif

}  // namespace

std::vector<MatrixProduct> matrix_products() {
  std::vector<MatrixProduct> products;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) products.push_back({"avx512", multiply_avx512});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    products.push_back({"avx2", multiply_avx2});
  }
#endif
  products.push_back({"anywhere", multiply_anywhere});
  return products;
}

void multiply_m64k16(float* d, const uint16_t* a, const uint16_t* b, int columns, bool accumulate,
                     bool bf16) {
  static const MatrixProduct fastest = matrix_products().front();
  fastest.multiply(d, a, b, columns, accumulate, bf16);
}

}  // namespace emulator
