// Clusters on the CPU: the functions of common/ptx/cluster.cuh, which says what each does.
#pragma once

#include <source_line.h>

#include <cstdint>

namespace ptx {

uint32_t cluster_ctarank(SourceLine where = SourceLine::current());
void barrier_cluster_arrive(SourceLine where = SourceLine::current());
void barrier_cluster_wait(SourceLine where = SourceLine::current());

}  // namespace ptx
