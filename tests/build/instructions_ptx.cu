// Wrappers that no version uses, one a kernel: instructions_ptx.py looks for the instruction that
// the comment above it spells (as a regular expression), once, in what nvcc makes of it.
#include <ptx/cp_async.cuh>
#include <ptx/ldmatrix.cuh>
#include <ptx/mma.cuh>
#include <ptx/tma.cuh>
#include <ptx/wgmma_shapes.cuh>

#define KERNEL extern "C" __global__ void

__shared__ alignas(1024) unsigned char memory[4096];
__shared__ MBarrier barrier;

// --- cp_async.cuh ---

// cp\.async\.ca\.shared\.global \[.+\], \[.+\], 4;
KERNEL cp_async_ca_4(const char* source) { ptx::cp_async_ca<4>(memory, source); }
// cp\.async\.ca\.shared\.global \[.+\], \[.+\], 8;
KERNEL cp_async_ca_8(const char* source) { ptx::cp_async_ca<8>(memory, source); }
// cp\.async\.ca\.shared\.global \[.+\], \[.+\], 16, %r\d+;
KERNEL cp_async_ca_zeros(const char* source, uint32_t n) {
  ptx::cp_async_ca<16>(memory, source, n);
}
// cp\.async\.cg\.shared\.global \[.+\], \[.+\], 16;
KERNEL cp_async_cg(const char* source) { ptx::cp_async_cg(memory, source); }
// cp\.async\.cg\.shared\.global \[.+\], \[.+\], 16, %r\d+;
KERNEL cp_async_cg_zeros(const char* source, uint32_t n) { ptx::cp_async_cg(memory, source, n); }
// cp\.async\.commit_group;
KERNEL cp_async_commit_group() { ptx::cp_async_commit_group(); }
// cp\.async\.wait_group 3;
KERNEL cp_async_wait_group() { ptx::cp_async_wait_group<3>(); }
// cp\.async\.wait_all;
KERNEL cp_async_wait_all() { ptx::cp_async_wait_all(); }
// cp\.async\.mbarrier\.arrive\.noinc\.shared::cta\.b64 \[.+\];
KERNEL cp_async_mbarrier_arrive_noinc() { ptx::cp_async_mbarrier_arrive_noinc(&barrier); }

// --- ldmatrix.cuh, mma.cuh ---

// ldmatrix\.sync\.aligned\.m8n8\.x1\.shared::cta\.b16
KERNEL ldmatrix_x1(uint32_t* out) { ptx::ldmatrix_m8n8_x1(*out, memory); }
// ldmatrix\.sync\.aligned\.m8n8\.x2\.shared::cta\.b16
KERNEL ldmatrix_x2(uint32_t (*out)[2]) { ptx::ldmatrix_m8n8_x2(*out, memory); }
// ldmatrix\.sync\.aligned\.m8n8\.x4\.shared::cta\.b16
KERNEL ldmatrix_x4(uint32_t (*out)[4]) { ptx::ldmatrix_m8n8_x4(*out, memory); }
// ldmatrix\.sync\.aligned\.m8n8\.x1\.trans\.shared::cta\.b16
KERNEL ldmatrix_x1_trans(uint32_t* out) { ptx::ldmatrix_m8n8_x1_trans(*out, memory); }
// ldmatrix\.sync\.aligned\.m8n8\.x2\.trans\.shared::cta\.b16
KERNEL ldmatrix_x2_trans(uint32_t (*out)[2]) { ptx::ldmatrix_m8n8_x2_trans(*out, memory); }
// ldmatrix\.sync\.aligned\.m8n8\.x4\.trans\.shared::cta\.b16
KERNEL ldmatrix_x4_trans(uint32_t (*out)[4]) { ptx::ldmatrix_m8n8_x4_trans(*out, memory); }
// mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.f16\.f16\.f32
KERNEL mma_f16(float (*d)[4], const uint32_t (*a)[4], const uint32_t (*b)[2]) {
  ptx::mma_m16n8k16_f16(*d, *a, *b, *d);
}
// mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.bf16\.bf16\.f32
KERNEL mma_bf16(float (*d)[4], const uint32_t (*a)[4], const uint32_t (*b)[2]) {
  ptx::mma_m16n8k16_bf16(*d, *a, *b, *d);
}

// --- tma.cuh: what no version uses ---

#define MAP const __grid_constant__ CUtensorMap

// cp\.async\.bulk\.tensor\.1d\.shared::cluster\.global\.tile\.mbarrier::complete_tx::bytes
KERNEL load_1d(MAP map, int x) { ptx::cp_async_bulk_tensor_1d(memory, &map, x, &barrier); }
// cp\.async\.bulk\.tensor\.1d\.global\.shared::cta\.tile\.bulk_group
KERNEL store_1d(MAP map, int x) { ptx::cp_async_bulk_tensor_1d(&map, x, memory); }
// cp\.async\.bulk\.tensor\.3d\.shared::cluster\.global\.tile\.mbarrier::complete_tx::bytes
KERNEL load_3d(MAP map, int x, int y, int z) {
  ptx::cp_async_bulk_tensor_3d(memory, &map, x, y, z, &barrier);
}
// cp\.async\.bulk\.tensor\.3d\.global\.shared::cta\.tile\.bulk_group
KERNEL store_3d(MAP map, int x, int y, int z) {
  ptx::cp_async_bulk_tensor_3d(&map, x, y, z, memory);
}
// cp\.reduce\.async\.bulk\.tensor\.1d\.global\.shared::cta\.add\.tile\.bulk_group
KERNEL add_1d(MAP map, int x) { ptx::cp_reduce_async_bulk_tensor_1d_add(&map, x, memory); }
// cp\.reduce\.async\.bulk\.tensor\.2d\.global\.shared::cta\.add\.tile\.bulk_group
KERNEL add_2d(MAP map, int x, int y) {
  ptx::cp_reduce_async_bulk_tensor_2d_add(&map, x, y, memory);
}
// cp\.reduce\.async\.bulk\.tensor\.3d\.global\.shared::cta\.add\.tile\.bulk_group
KERNEL add_3d(MAP map, int x, int y, int z) {
  ptx::cp_reduce_async_bulk_tensor_3d_add(&map, x, y, z, memory);
}
// cp\.async\.bulk\.shared::cluster\.global\.mbarrier::complete_tx::bytes
KERNEL bulk_load(const char* source, uint32_t n) {
  ptx::cp_async_bulk(memory, source, n, &barrier);
}
// cp\.async\.bulk\.global\.shared::cta\.bulk_group
KERNEL bulk_store(char* destination, uint32_t n) { ptx::cp_async_bulk(destination, memory, n); }

// --- wgmma_shapes.cuh: what no version uses (one macro makes all widths) ---

using ptx::Major;

// wgmma\.mma_async\.sync\.aligned\.m64n8k16\.f32\.f16\.f16 .*, 1, 1, 0, 0;
KERNEL wgmma_f16_K_K(float (*d)[4], uint64_t a, uint64_t b) {
  ptx::wgmma_m64nNk16_f16<8, Major::kK, Major::kK>(*d, a, b, true);
}
// wgmma\.mma_async\.sync\.aligned\.m64n8k16\.f32\.f16\.f16 .*, 1, 1, 1, 0;
KERNEL wgmma_f16_MN_K(float (*d)[4], uint64_t a, uint64_t b) {
  ptx::wgmma_m64nNk16_f16<8, Major::kMN, Major::kK>(*d, a, b, true);
}
// wgmma\.mma_async\.sync\.aligned\.m64n8k16\.f32\.f16\.f16 .*, 1, 1, 0, 1;
KERNEL wgmma_f16_K_MN(float (*d)[4], uint64_t a, uint64_t b) {
  ptx::wgmma_m64nNk16_f16<8, Major::kK, Major::kMN>(*d, a, b, true);
}
// wgmma\.mma_async\.sync\.aligned\.m64n8k16\.f32\.f16\.f16 .*, 1, 1, 1, 1;
KERNEL wgmma_f16_MN_MN(float (*d)[4], uint64_t a, uint64_t b) {
  ptx::wgmma_m64nNk16_f16<8, Major::kMN, Major::kMN>(*d, a, b, true);
}
// wgmma\.mma_async\.sync\.aligned\.m64n16k16\.f32\.f16\.f16 .*\}, \{.*, 1, 1, 0;
KERNEL wgmma_f16_rs_K(float (*d)[8], const uint32_t (*a)[4], uint64_t b) {
  ptx::wgmma_m64nNk16_f16_rs<16, Major::kK>(*d, *a, b, true);
}
// wgmma\.mma_async\.sync\.aligned\.m64n16k16\.f32\.f16\.f16 .*\}, \{.*, 1, 1, 1;
KERNEL wgmma_f16_rs_MN(float (*d)[8], const uint32_t (*a)[4], uint64_t b) {
  ptx::wgmma_m64nNk16_f16_rs<16, Major::kMN>(*d, *a, b, true);
}
// wgmma\.mma_async\.sync\.aligned\.m64n8k16\.f32\.bf16\.bf16 .*, 1, 1, 0, 0;
KERNEL wgmma_bf16_K_K(float (*d)[4], uint64_t a, uint64_t b) {
  ptx::wgmma_m64nNk16_bf16<8, Major::kK, Major::kK>(*d, a, b, true);
}
// wgmma\.mma_async\.sync\.aligned\.m64n8k16\.f32\.bf16\.bf16 .*, 1, 1, 1, 0;
KERNEL wgmma_bf16_MN_K(float (*d)[4], uint64_t a, uint64_t b) {
  ptx::wgmma_m64nNk16_bf16<8, Major::kMN, Major::kK>(*d, a, b, true);
}
// wgmma\.mma_async\.sync\.aligned\.m64n8k16\.f32\.bf16\.bf16 .*, 1, 1, 0, 1;
KERNEL wgmma_bf16_K_MN(float (*d)[4], uint64_t a, uint64_t b) {
  ptx::wgmma_m64nNk16_bf16<8, Major::kK, Major::kMN>(*d, a, b, true);
}
// wgmma\.mma_async\.sync\.aligned\.m64n8k16\.f32\.bf16\.bf16 .*, 1, 1, 1, 1;
KERNEL wgmma_bf16_MN_MN(float (*d)[4], uint64_t a, uint64_t b) {
  ptx::wgmma_m64nNk16_bf16<8, Major::kMN, Major::kMN>(*d, a, b, true);
}
// wgmma\.mma_async\.sync\.aligned\.m64n16k16\.f32\.bf16\.bf16 .*\}, \{.*, 1, 1, 0;
KERNEL wgmma_bf16_rs_K(float (*d)[8], const uint32_t (*a)[4], uint64_t b) {
  ptx::wgmma_m64nNk16_bf16_rs<16, Major::kK>(*d, *a, b, true);
}
// wgmma\.mma_async\.sync\.aligned\.m64n16k16\.f32\.bf16\.bf16 .*\}, \{.*, 1, 1, 1;
KERNEL wgmma_bf16_rs_MN(float (*d)[8], const uint32_t (*a)[4], uint64_t b) {
  ptx::wgmma_m64nNk16_bf16_rs<16, Major::kMN>(*d, *a, b, true);
}
