// Global memory as blocks share it, and time, on the CPU: the functions of common/ptx/global.cuh,
// which says what each does.
#pragma once

#include <source_line.h>

#include <cstdint>

namespace ptx {

void red_add_relaxed_gpu(uint32_t* counter, uint32_t value,
                         SourceLine where = SourceLine::current());
uint32_t atom_add_acq_rel_gpu(uint32_t* counter, uint32_t value,
                              SourceLine where = SourceLine::current());
uint32_t ld_relaxed_gpu(const uint32_t* counter, SourceLine where = SourceLine::current());
uint32_t ld_acquire_gpu(const uint32_t* flag, SourceLine where = SourceLine::current());
void st_release_gpu(uint32_t* flag, uint32_t value, SourceLine where = SourceLine::current());
void nanosleep(uint32_t nanoseconds, SourceLine where = SourceLine::current());
uint32_t globaltimer_lo(SourceLine where = SourceLine::current());

}  // namespace ptx
