// Global memory as blocks share it, and time, on the CPU: the functions of common/ptx/global.cuh,
// which says what each does.
#pragma once

#include <cuda_runtime.h>
#include <source_line.h>

#include <cstdint>

namespace ptx {

float ld_global_f32(const float* address, SourceLine where = SourceLine::current());
float4 ld_global_v4_f32(const float4* address, SourceLine where = SourceLine::current());
void st_global_f32(float* address, float value, SourceLine where = SourceLine::current());
void st_global_v4_f32(float4* address, const float4& value,
                      SourceLine where = SourceLine::current());

void red_add_relaxed_gpu(uint32_t* counter, uint32_t value,
                         SourceLine where = SourceLine::current());
void red_add_relaxed_gpu(float* sum, float value, SourceLine where = SourceLine::current());
void red_add_release_gpu(uint32_t* counter, uint32_t value,
                         SourceLine where = SourceLine::current());
uint32_t atom_add_relaxed_gpu(uint32_t* counter, uint32_t value,
                              SourceLine where = SourceLine::current());
uint32_t atom_add_acq_rel_gpu(uint32_t* counter, uint32_t value,
                              SourceLine where = SourceLine::current());
uint32_t atom_cas_acquire_gpu(uint32_t* lock, uint32_t expected, uint32_t value,
                              SourceLine where = SourceLine::current());
uint32_t ld_relaxed_gpu(const uint32_t* counter, SourceLine where = SourceLine::current());
uint32_t ld_acquire_gpu(const uint32_t* flag, SourceLine where = SourceLine::current());
void st_relaxed_gpu(uint32_t* flag, uint32_t value, SourceLine where = SourceLine::current());
void st_release_gpu(uint32_t* flag, uint32_t value, SourceLine where = SourceLine::current());
void fence_acq_rel_gpu(SourceLine where = SourceLine::current());
void fence_proxy_async_global(SourceLine where = SourceLine::current());

void nanosleep(uint32_t nanoseconds, SourceLine where = SourceLine::current());
uint32_t globaltimer_lo(SourceLine where = SourceLine::current());

}  // namespace ptx
