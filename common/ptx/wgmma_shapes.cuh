// WGMMA for every width that the instruction takes: m64n8k16, m64n16k16, … m64n256k16; fp16 and
// bf16; A in shared memory or in registers; operands that lie either way. (The two that most
// versions use are spelled out in ptx/wgmma.cuh.) The emulator has a file of this name.
#pragma once

#include <cstdint>

// The accumulator of m64nNk16 has N / 2 registers: the asm statement of each width lists as many.
// The lists grow by the four registers of eight columns. WGMMA_REGISTERS_n: their places in the
// text; WGMMA_OPERANDS_n: the variables.
// clang-format off
#define WGMMA_REGISTERS_4 "%0, %1, %2, %3"
#define WGMMA_REGISTERS_8 WGMMA_REGISTERS_4 ", %4, %5, %6, %7"
#define WGMMA_REGISTERS_12 WGMMA_REGISTERS_8 ", %8, %9, %10, %11"
#define WGMMA_REGISTERS_16 WGMMA_REGISTERS_12 ", %12, %13, %14, %15"
#define WGMMA_REGISTERS_20 WGMMA_REGISTERS_16 ", %16, %17, %18, %19"
#define WGMMA_REGISTERS_24 WGMMA_REGISTERS_20 ", %20, %21, %22, %23"
#define WGMMA_REGISTERS_28 WGMMA_REGISTERS_24 ", %24, %25, %26, %27"
#define WGMMA_REGISTERS_32 WGMMA_REGISTERS_28 ", %28, %29, %30, %31"
#define WGMMA_REGISTERS_36 WGMMA_REGISTERS_32 ", %32, %33, %34, %35"
#define WGMMA_REGISTERS_40 WGMMA_REGISTERS_36 ", %36, %37, %38, %39"
#define WGMMA_REGISTERS_44 WGMMA_REGISTERS_40 ", %40, %41, %42, %43"
#define WGMMA_REGISTERS_48 WGMMA_REGISTERS_44 ", %44, %45, %46, %47"
#define WGMMA_REGISTERS_52 WGMMA_REGISTERS_48 ", %48, %49, %50, %51"
#define WGMMA_REGISTERS_56 WGMMA_REGISTERS_52 ", %52, %53, %54, %55"
#define WGMMA_REGISTERS_60 WGMMA_REGISTERS_56 ", %56, %57, %58, %59"
#define WGMMA_REGISTERS_64 WGMMA_REGISTERS_60 ", %60, %61, %62, %63"
#define WGMMA_REGISTERS_68 WGMMA_REGISTERS_64 ", %64, %65, %66, %67"
#define WGMMA_REGISTERS_72 WGMMA_REGISTERS_68 ", %68, %69, %70, %71"
#define WGMMA_REGISTERS_76 WGMMA_REGISTERS_72 ", %72, %73, %74, %75"
#define WGMMA_REGISTERS_80 WGMMA_REGISTERS_76 ", %76, %77, %78, %79"
#define WGMMA_REGISTERS_84 WGMMA_REGISTERS_80 ", %80, %81, %82, %83"
#define WGMMA_REGISTERS_88 WGMMA_REGISTERS_84 ", %84, %85, %86, %87"
#define WGMMA_REGISTERS_92 WGMMA_REGISTERS_88 ", %88, %89, %90, %91"
#define WGMMA_REGISTERS_96 WGMMA_REGISTERS_92 ", %92, %93, %94, %95"
#define WGMMA_REGISTERS_100 WGMMA_REGISTERS_96 ", %96, %97, %98, %99"
#define WGMMA_REGISTERS_104 WGMMA_REGISTERS_100 ", %100, %101, %102, %103"
#define WGMMA_REGISTERS_108 WGMMA_REGISTERS_104 ", %104, %105, %106, %107"
#define WGMMA_REGISTERS_112 WGMMA_REGISTERS_108 ", %108, %109, %110, %111"
#define WGMMA_REGISTERS_116 WGMMA_REGISTERS_112 ", %112, %113, %114, %115"
#define WGMMA_REGISTERS_120 WGMMA_REGISTERS_116 ", %116, %117, %118, %119"
#define WGMMA_REGISTERS_124 WGMMA_REGISTERS_120 ", %120, %121, %122, %123"
#define WGMMA_REGISTERS_128 WGMMA_REGISTERS_124 ", %124, %125, %126, %127"
#define WGMMA_OPERANDS_4 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define WGMMA_OPERANDS_8 WGMMA_OPERANDS_4, "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
#define WGMMA_OPERANDS_12 WGMMA_OPERANDS_8, "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
#define WGMMA_OPERANDS_16 WGMMA_OPERANDS_12, "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define WGMMA_OPERANDS_20 WGMMA_OPERANDS_16, "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19])
#define WGMMA_OPERANDS_24 WGMMA_OPERANDS_20, "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23])
#define WGMMA_OPERANDS_28 WGMMA_OPERANDS_24, "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27])
#define WGMMA_OPERANDS_32 WGMMA_OPERANDS_28, "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define WGMMA_OPERANDS_36 WGMMA_OPERANDS_32, "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35])
#define WGMMA_OPERANDS_40 WGMMA_OPERANDS_36, "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39])
#define WGMMA_OPERANDS_44 WGMMA_OPERANDS_40, "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43])
#define WGMMA_OPERANDS_48 WGMMA_OPERANDS_44, "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define WGMMA_OPERANDS_52 WGMMA_OPERANDS_48, "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51])
#define WGMMA_OPERANDS_56 WGMMA_OPERANDS_52, "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55])
#define WGMMA_OPERANDS_60 WGMMA_OPERANDS_56, "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59])
#define WGMMA_OPERANDS_64 WGMMA_OPERANDS_60, "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define WGMMA_OPERANDS_68 WGMMA_OPERANDS_64, "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67])
#define WGMMA_OPERANDS_72 WGMMA_OPERANDS_68, "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71])
#define WGMMA_OPERANDS_76 WGMMA_OPERANDS_72, "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75])
#define WGMMA_OPERANDS_80 WGMMA_OPERANDS_76, "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79])
#define WGMMA_OPERANDS_84 WGMMA_OPERANDS_80, "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83])
#define WGMMA_OPERANDS_88 WGMMA_OPERANDS_84, "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87])
#define WGMMA_OPERANDS_92 WGMMA_OPERANDS_88, "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91])
#define WGMMA_OPERANDS_96 WGMMA_OPERANDS_92, "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define WGMMA_OPERANDS_100 WGMMA_OPERANDS_96, "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99])
#define WGMMA_OPERANDS_104 WGMMA_OPERANDS_100, "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103])
#define WGMMA_OPERANDS_108 WGMMA_OPERANDS_104, "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107])
#define WGMMA_OPERANDS_112 WGMMA_OPERANDS_108, "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111])
#define WGMMA_OPERANDS_116 WGMMA_OPERANDS_112, "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115])
#define WGMMA_OPERANDS_120 WGMMA_OPERANDS_116, "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119])
#define WGMMA_OPERANDS_124 WGMMA_OPERANDS_120, "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123])
#define WGMMA_OPERANDS_128 WGMMA_OPERANDS_124, "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
// clang-format on

namespace ptx {

// Which way an operand lies in shared memory. K-major: neighbours along K are neighbours in memory,
// as in A · Bᵀ of row-major A and B. MN-major: neighbours along M (A) or N (B) are. How tiles and
// descriptors go together: common/matrix_descriptor.cuh.
enum class Major { kK = 0, kMN = 1 };

// The asm statements of one width; the functions below are what kernels call.
template <int kN>
struct WgmmaShape;

// R0 … R6 are the operands behind the registers.
#define WGMMA_SHARED(N, REGISTERS, TYPE, R0, R1, R2, R3, R4)                            \
  template <int kMajorA, int kMajorB>                                                   \
  static __device__ __forceinline__ void TYPE(float(&d)[N / 2], uint64_t a, uint64_t b, \
                                              bool accumulate) {                        \
    asm volatile(                                                                       \
        "{\n"                                                                           \
        ".reg .pred accumulate;\n"                                                      \
        "setp.ne.b32 accumulate, %" #R2                                                 \
        ", 0;\n"                                                                        \
        "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #TYPE "." #TYPE               \
        " {" WGMMA_REGISTERS_##REGISTERS                                                \
        "}, "                                                                           \
        "%" #R0 ", %" #R1 ", accumulate, 1, 1, %" #R3 ", %" #R4                         \
        ";\n"                                                                           \
        "}"                                                                             \
        : WGMMA_OPERANDS_##REGISTERS                                                    \
        : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(kMajorA), "n"(kMajorB) \
        : "memory");                                                                    \
  }
#define WGMMA_FRAGMENT(N, REGISTERS, TYPE, R0, R1, R2, R3, R4, R5, R6)                           \
  template <int kMajorB>                                                                         \
  static __device__ __forceinline__ void TYPE##_rs(float(&d)[N / 2], const uint32_t(&a)[4],      \
                                                   uint64_t b, bool accumulate) {                \
    asm volatile(                                                                                \
        "{\n"                                                                                    \
        ".reg .pred accumulate;\n"                                                               \
        "setp.ne.b32 accumulate, %" #R5                                                          \
        ", 0;\n"                                                                                 \
        "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #TYPE "." #TYPE                        \
        " {" WGMMA_REGISTERS_##REGISTERS                                                         \
        "}, "                                                                                    \
        "{%" #R0 ", %" #R1 ", %" #R2 ", %" #R3 "}, %" #R4 ", accumulate, 1, 1, %" #R6            \
        ";\n"                                                                                    \
        "}"                                                                                      \
        : WGMMA_OPERANDS_##REGISTERS                                                             \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)), \
          "n"(kMajorB)                                                                           \
        : "memory");                                                                             \
  }
#define DEFINE_WGMMA(N, REGISTERS, R0, R1, R2, R3, R4, R5, R6)     \
  template <>                                                      \
  struct WgmmaShape<N> {                                           \
    WGMMA_SHARED(N, REGISTERS, f16, R0, R1, R2, R3, R4)            \
    WGMMA_SHARED(N, REGISTERS, bf16, R0, R1, R2, R3, R4)           \
    WGMMA_FRAGMENT(N, REGISTERS, f16, R0, R1, R2, R3, R4, R5, R6)  \
    WGMMA_FRAGMENT(N, REGISTERS, bf16, R0, R1, R2, R3, R4, R5, R6) \
  };

// clang-format off
DEFINE_WGMMA(8, 4, 4, 5, 6, 7, 8, 9, 10)
DEFINE_WGMMA(16, 8, 8, 9, 10, 11, 12, 13, 14)
DEFINE_WGMMA(24, 12, 12, 13, 14, 15, 16, 17, 18)
DEFINE_WGMMA(32, 16, 16, 17, 18, 19, 20, 21, 22)
DEFINE_WGMMA(40, 20, 20, 21, 22, 23, 24, 25, 26)
DEFINE_WGMMA(48, 24, 24, 25, 26, 27, 28, 29, 30)
DEFINE_WGMMA(56, 28, 28, 29, 30, 31, 32, 33, 34)
DEFINE_WGMMA(64, 32, 32, 33, 34, 35, 36, 37, 38)
DEFINE_WGMMA(72, 36, 36, 37, 38, 39, 40, 41, 42)
DEFINE_WGMMA(80, 40, 40, 41, 42, 43, 44, 45, 46)
DEFINE_WGMMA(88, 44, 44, 45, 46, 47, 48, 49, 50)
DEFINE_WGMMA(96, 48, 48, 49, 50, 51, 52, 53, 54)
DEFINE_WGMMA(104, 52, 52, 53, 54, 55, 56, 57, 58)
DEFINE_WGMMA(112, 56, 56, 57, 58, 59, 60, 61, 62)
DEFINE_WGMMA(120, 60, 60, 61, 62, 63, 64, 65, 66)
DEFINE_WGMMA(128, 64, 64, 65, 66, 67, 68, 69, 70)
DEFINE_WGMMA(136, 68, 68, 69, 70, 71, 72, 73, 74)
DEFINE_WGMMA(144, 72, 72, 73, 74, 75, 76, 77, 78)
DEFINE_WGMMA(152, 76, 76, 77, 78, 79, 80, 81, 82)
DEFINE_WGMMA(160, 80, 80, 81, 82, 83, 84, 85, 86)
DEFINE_WGMMA(168, 84, 84, 85, 86, 87, 88, 89, 90)
DEFINE_WGMMA(176, 88, 88, 89, 90, 91, 92, 93, 94)
DEFINE_WGMMA(184, 92, 92, 93, 94, 95, 96, 97, 98)
DEFINE_WGMMA(192, 96, 96, 97, 98, 99, 100, 101, 102)
DEFINE_WGMMA(200, 100, 100, 101, 102, 103, 104, 105, 106)
DEFINE_WGMMA(208, 104, 104, 105, 106, 107, 108, 109, 110)
DEFINE_WGMMA(216, 108, 108, 109, 110, 111, 112, 113, 114)
DEFINE_WGMMA(224, 112, 112, 113, 114, 115, 116, 117, 118)
DEFINE_WGMMA(232, 116, 116, 117, 118, 119, 120, 121, 122)
DEFINE_WGMMA(240, 120, 120, 121, 122, 123, 124, 125, 126)
DEFINE_WGMMA(248, 124, 124, 125, 126, 127, 128, 129, 130)
DEFINE_WGMMA(256, 128, 128, 129, 130, 131, 132, 133, 134)
// clang-format on

#undef DEFINE_WGMMA
#undef WGMMA_FRAGMENT
#undef WGMMA_SHARED

// wgmma.mma_async m64nNk16, N = kN: D (64 × N, fp32) = A (64 × 16) · B (N × 16)ᵀ, plus D if
// `accumulate`. A and B are fp16 tiles in shared memory, named by their matrix descriptors. Every
// thread of a warp group, converged. PTX ISA, "wgmma.mma_async".
template <int kN>
__device__ __forceinline__ void wgmma_m64nNk16(float (&d)[kN / 2], uint64_t a, uint64_t b,
                                               bool accumulate) {
  WgmmaShape<kN>::template f16<0, 0>(d, a, b, accumulate);
}

// The same for operands that lie either way.
template <int kN, Major kMajorA, Major kMajorB>
__device__ __forceinline__ void wgmma_m64nNk16_f16(float (&d)[kN / 2], uint64_t a, uint64_t b,
                                                   bool accumulate) {
  WgmmaShape<kN>::template f16<static_cast<int>(kMajorA), static_cast<int>(kMajorB)>(d, a, b,
                                                                                     accumulate);
}
template <int kN, Major kMajorA, Major kMajorB>
__device__ __forceinline__ void wgmma_m64nNk16_bf16(float (&d)[kN / 2], uint64_t a, uint64_t b,
                                                    bool accumulate) {
  WgmmaShape<kN>::template bf16<static_cast<int>(kMajorA), static_cast<int>(kMajorB)>(d, a, b,
                                                                                      accumulate);
}

// The same with A in registers. With g = lane / 4 and t = lane % 4, a thread of warp w of the group
// holds two neighbours along K in each, the first in the lower half:
//   a[0], a[1]  rows 16w + g and 16w + g + 8, columns 2t and 2t + 1;  a[2], a[3]  the same,
//   columns + 8
// which is where an accumulator of this shape has 16 of its columns: rounded in pairs, registers
// 8j … 8j + 7 of D are the A of columns 16j … 16j + 15. The registers belong to the tensor core
// from the WGMMA on until the wgmma_wait_group that covers it; `a` must be declared where it lives
// as long. wgmma_fence must come between the writes to them and the WGMMA. PTX ISA, "Register
// Fragments for wgmma.mma_async.m64nNk16".
template <int kN, Major kMajorB>
__device__ __forceinline__ void wgmma_m64nNk16_f16_rs(float (&d)[kN / 2], const uint32_t (&a)[4],
                                                      uint64_t b, bool accumulate) {
  WgmmaShape<kN>::template f16_rs<static_cast<int>(kMajorB)>(d, a, b, accumulate);
}
template <int kN, Major kMajorB>
__device__ __forceinline__ void wgmma_m64nNk16_bf16_rs(float (&d)[kN / 2], const uint32_t (&a)[4],
                                                       uint64_t b, bool accumulate) {
  WgmmaShape<kN>::template bf16_rs<static_cast<int>(kMajorB)>(d, a, b, accumulate);
}

}  // namespace ptx
