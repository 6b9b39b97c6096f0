// Stand-in for CUDA's header of the same name: what device code may call without a declaration, and
// one sentence for what the emulator lacks (docs/emulator.md has both lists). CUDA C++ Programming
// Guide, "C++ Language Extensions".
#pragma once

#include <math.h>  // fmaxf, expf, ...: in the global namespace, as in CUDA

#include <cstdint>
#include <cstring>
#include <type_traits>

constexpr int warpSize = 32;

// --- what is lacking ---

// Of what stands in declarations. (In a string: the pragma must come out of a macro.)
#define EMULATOR_TEXT(tokens) #tokens
#define EMULATOR_REFUSES(sentence) _Pragma(EMULATOR_TEXT(GCC error sentence))
#define __shared__ \
  EMULATOR_REFUSES("the emulator lacks __shared__: take a struct by shared_storage<T>()")
#define __constant__ \
  EMULATOR_REFUSES("the emulator lacks __constant__ memory: pass the values as kernel parameters")
#define __managed__ \
  EMULATOR_REFUSES("the emulator lacks __managed__ variables: use cudaMallocManaged")
#define __cluster_dims__(...) \
  EMULATOR_REFUSES("the emulator lacks __cluster_dims__: launch with the cluster's attribute")

// Of functions: whatever they are called with.
#define EMULATOR_LACKS(function, instead)                                                   \
  template <class... Arguments>                                                             \
  int function(const Arguments&...) {                                                       \
    static_assert(sizeof...(Arguments) > 99, "the emulator lacks " #function ": " instead); \
    return 0;                                                                               \
  }
EMULATOR_LACKS(__activemask, "say which lanes take part, in the mask of the *_sync function")
EMULATOR_LACKS(__match_any_sync, "compare by __shfl_sync")
EMULATOR_LACKS(__match_all_sync, "compare by __shfl_sync, or __all_sync")
EMULATOR_LACKS(__reduce_add_sync, "add by __shfl_xor_sync in five steps")
EMULATOR_LACKS(__reduce_min_sync, "compare by __shfl_xor_sync in five steps")
EMULATOR_LACKS(__reduce_max_sync, "compare by __shfl_xor_sync in five steps")
EMULATOR_LACKS(__syncthreads_count, "__syncthreads() and an atomicAdd to shared memory")
EMULATOR_LACKS(__syncthreads_and, "__syncthreads() and an atomicAnd to shared memory")
EMULATOR_LACKS(__syncthreads_or, "__syncthreads() and an atomicOr to shared memory")
EMULATOR_LACKS(__trap, "write an error code to global memory and return")

// --- warps ---

namespace emulator {

// Each waits until all lanes of `mask` that have not left the kernel have called it with the same
// mask. What comes from a lane that takes no part shows as a value that nobody has set.
void sync_warp(uint32_t mask, const char* file, int line);
enum class Shuffle { kIndex, kUp, kDown, kXor };
uint64_t shuffle(Shuffle kind, uint32_t mask, uint64_t value, int operand, int width,
                 const char* file, int line);
struct Ballot {
  uint32_t lanes;  // that take part
  uint32_t votes;  // those of them that say true
};
Ballot ballot(const char* function, uint32_t mask, bool vote, const char* file, int line);

template <class T>
T shuffled(Shuffle kind, unsigned mask, T value, int operand, int width, const char* file,
           int line) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t),
                "shuffles exchange numbers of at most 8 bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = shuffle(kind, mask, bits, operand, width, file, line);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace emulator

inline void __syncwarp(unsigned mask = ~0u, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  emulator::sync_warp(mask, file, line);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = warpSize,
              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return emulator::shuffled(emulator::Shuffle::kIndex, mask, value, lane, width, file, line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return emulator::shuffled(emulator::Shuffle::kUp, mask, value, static_cast<int>(delta), width,
                            file, line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return emulator::shuffled(emulator::Shuffle::kDown, mask, value, static_cast<int>(delta), width,
                            file, line);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                  const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return emulator::shuffled(emulator::Shuffle::kXor, mask, value, lane_mask, width, file, line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, const char* file = __builtin_FILE(),
                              int line = __builtin_LINE()) {
  return emulator::ballot("__ballot_sync", mask, predicate != 0, file, line).votes;
}
inline int __any_sync(unsigned mask, int predicate, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  return emulator::ballot("__any_sync", mask, predicate != 0, file, line).votes != 0;
}
inline int __all_sync(unsigned mask, int predicate, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  const emulator::Ballot result = emulator::ballot("__all_sync", mask, predicate != 0, file, line);
  return result.votes == result.lanes;
}

// --- atomics, on global and shared memory ---

namespace emulator {

// Around an atomic operation, relaxed, on global or shared memory. Whoever asks again and again
// lets others go first. False: the call is switched off.
bool begin_atomic(const char* function, const void* address, size_t bytes, const char* file,
                  int line);
void end_atomic(const char* function, void* address, const void* after, size_t bytes,
                const char* file, int line);

// Replaces *address by change(*address); what it was before.
template <class T, class Change>
T atomically(const char* function, T* address, Change change, const char* file, int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics take 4 or 8 bytes");
  if (!begin_atomic(function, address, sizeof(T), file, line)) return *address;
  const T before = *address;
  const T after = change(before);
  end_atomic(function, address, &after, sizeof(T), file, line);
  return before;
}

// The type of an argument that takes no part in choosing T, so that literals fit.
template <class T>
struct Same {
  using Type = T;
};
template <class T>
using SameAs = typename Same<T>::Type;

}  // namespace emulator

#define EMULATOR_ATOMIC(function, result)                                                  \
  template <class T>                                                                       \
  T function(T* address, emulator::SameAs<T> value, const char* file = __builtin_FILE(),   \
             int line = __builtin_LINE()) {                                                \
    return emulator::atomically(                                                           \
        #function, address, [&](T before) { return static_cast<T>(result); }, file, line); \
  }
EMULATOR_ATOMIC(atomicAdd, before + value)
EMULATOR_ATOMIC(atomicSub, before - value)
EMULATOR_ATOMIC(atomicExch, (static_cast<void>(before), value))
EMULATOR_ATOMIC(atomicMin, value < before ? value : before)
EMULATOR_ATOMIC(atomicMax, before < value ? value : before)
EMULATOR_ATOMIC(atomicAnd, (before & value))
EMULATOR_ATOMIC(atomicOr, before | value)
EMULATOR_ATOMIC(atomicXor, before ^ value)
#undef EMULATOR_ATOMIC

template <class T>
T atomicCAS(T* address, emulator::SameAs<T> compare, emulator::SameAs<T> value,
            const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return emulator::atomically(
      "atomicCAS", address, [&](T before) { return before == compare ? value : before; }, file,
      line);
}

// fence_acq_rel_gpu of ptx/global.cuh; within a block accesses are in order without a fence.
inline void __threadfence_block() {}
void __threadfence(const char* file = __builtin_FILE(), int line = __builtin_LINE());
inline void __threadfence_system(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  __threadfence(file, line);
}

// --- time: a turn of the scheduler is 1000 ---

long long clock64(const char* file = __builtin_FILE(), int line = __builtin_LINE());
void __nanosleep(unsigned nanoseconds, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE());

// --- loads and stores with a hint for the caches ---

template <class T>
T __ldg(const T* address) {
  return *address;
}
template <class T>
T __ldcg(const T* address) {
  return *address;
}
template <class T>
T __ldcs(const T* address) {
  return *address;
}
template <class T>
void __stcg(T* address, emulator::SameAs<T> value) {
  *address = value;
}
template <class T>
void __stcs(T* address, emulator::SameAs<T> value) {
  *address = value;
}

// --- numbers ---

template <class T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}

// The fast ones are exact here, and approximations on a GPU. (Macros: the C library declares some
// of the names, without having the functions.)
#define __expf expf
#define __exp10f(x) powf(10.0f, x)
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __powf powf
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }
template <class Float>  // newer C libraries have one, too, which then is taken
Float rsqrtf(Float x) {
  return 1 / sqrtf(x);
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32);
}
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<int64_t>(x) * y >> 32); }

namespace emulator {
template <class To, class From>
To with_bits_of(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}
}  // namespace emulator

inline unsigned __float_as_uint(float x) { return emulator::with_bits_of<unsigned>(x); }
inline int __float_as_int(float x) { return emulator::with_bits_of<int>(x); }
inline float __uint_as_float(unsigned x) { return emulator::with_bits_of<float>(x); }
inline float __int_as_float(int x) { return emulator::with_bits_of<float>(x); }
inline int __float2int_rn(float x) { return static_cast<int>(rintf(x)); }
inline int __float2int_rz(float x) { return static_cast<int>(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
