// One function for each error that the emulator can find. Each stops the kernel with a report: what
// happened, who, where, why it matters, the way out, and the seed that makes it happen again.
#pragma once

#include <emulator.h>
#include <source_line.h>

#include <cstddef>
#include <cstdint>

namespace emulator {

class Block;
class Cluster;
struct Access;
struct Barrier;
struct Region;
struct Thread;

// Thrown once the report is written; unwinds the thread that has found the error.
struct KernelStopped {};

namespace report {

// --- mbarriers (mbarrier_reports.cpp) ---

[[noreturn]] void arrival_count_out_of_range(const Thread& thread, uint32_t arrivals,
                                             SourceLine where);
[[noreturn]] void byte_count_out_of_range(const Thread& thread, uint32_t bytes, SourceLine where);
[[noreturn]] void initialised_twice(const Thread& thread, const Barrier& barrier, SourceLine where);
[[noreturn]] void not_initialised(const Thread& thread, const void* address, SourceLine where);
[[noreturn]] void not_initialised_remotely(const Thread& thread, const Block& block,
                                           uint32_t offset, SourceLine where);
[[noreturn]] void init_not_visible(const Thread& thread, const Barrier& barrier, SourceLine where);
[[noreturn]] void init_not_fenced(const Thread& thread, const Barrier& barrier, SourceLine where);
[[noreturn]] void barrier_overwritten(const Thread& thread, const Barrier& barrier,
                                      SourceLine where);
[[noreturn]] void box_covers_barrier(const Thread& thread, const Barrier& barrier,
                                     SourceLine where);
[[noreturn]] void parity_out_of_range(const Thread& thread, const Barrier& barrier, uint32_t parity,
                                      SourceLine where);
[[noreturn]] void too_many_arrivals(Thread& thread, const Barrier& barrier,
                                    uint32_t announced_bytes, SourceLine where);
[[noreturn]] void arrival_out_of_order(Thread& thread, const Barrier& barrier,
                                       uint32_t announced_bytes, SourceLine where);
[[noreturn]] void too_few_bytes_expected(const Thread& thread, const Barrier& barrier,
                                         int64_t issued, int64_t announced, SourceLine where);
// The same, found by who reads what was loaded.
[[noreturn]] void no_bytes_expected(const Barrier& barrier);
[[noreturn]] void phase_ends_with_bytes_in_flight(const Barrier& barrier);

// --- TMA, and what stmatrix writes for it (tma_reports.cpp) ---

// `thread` loads into memory of `block`; `own` and `signalled` are told of it, in its block and in
// that one.
[[noreturn]] void overwritten_while_read(Thread& thread, const Barrier& own, const Block& block,
                                         const Barrier& signalled, const Region& region,
                                         const Access& read, SourceLine where);
[[noreturn]] void overwritten_in_flight(Thread& thread, const Barrier& own, const Block& block,
                                        const Region& region, SourceLine where);
[[noreturn]] void misaligned_map(const Thread& thread, const void* map, SourceLine where);
[[noreturn]] void not_a_tensor_map(const Thread& thread, SourceLine where);
[[noreturn]] void box_too_large(const Thread& thread, uint32_t offset, uint32_t bytes,
                                SourceLine where);
[[noreturn]] void stored_before_written(const Thread& thread, const Region& region,
                                        SourceLine where);
[[noreturn]] void stored_poison(const Thread& thread, uint32_t offset, SourceLine where);
[[noreturn]] void missing_proxy_fence(const Thread& thread, const Region& region, SourceLine where);
[[noreturn]] void store_buffer_reused(const Thread& thread, const Access& read, SourceLine where);
[[noreturn]] void written_too_early(const Thread& thread, const Access& access, SourceLine where);
[[noreturn]] void store_not_waited_for(const Thread& thread);

// --- WGMMA (tensor_core_reports.cpp) ---

[[noreturn]] void not_a_warp_group(const Thread& thread, SourceLine where);
[[noreturn]] void read_before_full(const Thread& thread, const Region& region, char operand,
                                   uint64_t number, SourceLine where);
[[noreturn]] void read_poison(const Block& block, int warp_group, char operand, uint32_t offset,
                              bool in_flight, SourceLine where);
[[noreturn]] void missing_wgmma_fence(const Thread& thread, bool first, SourceLine where);
[[noreturn]] void accumulator_touched(const Thread& thread, int index, uint64_t number,
                                      SourceLine where);
[[noreturn]] void missing_commit(const Thread& thread, uint64_t count, SourceLine where);
[[noreturn]] void missing_final_wait(const Thread& thread, uint64_t number);
[[noreturn]] void descriptor_layout(const Thread& thread, char operand, uint32_t layout,
                                    uint32_t base_offset, SourceLine where);
[[noreturn]] void descriptor_out_of_memory(const Thread& thread, char operand, uint32_t start,
                                           SourceLine where);
[[noreturn]] void descriptor_off_the_pattern(const Thread& thread, char operand, uint32_t start,
                                             SourceLine where);
[[noreturn]] void descriptor_across_tiles(const Thread& thread, char operand, const Region& first,
                                          const Region& second, SourceLine where);
[[noreturn]] void operands_differ(const Thread& thread, uint64_t number, SourceLine other,
                                  SourceLine where);

// --- shared memory, warps, registers, blocks (block_reports.cpp) ---

[[noreturn]] void shared_memory_too_small(const Thread& thread, size_t wanted, SourceLine where);
[[noreturn]] void not_shared(const Thread& thread, SourceLine where);
[[noreturn]] void misaligned(const Thread& thread, const char* what, uint32_t offset,
                             uint32_t alignment, SourceLine where);
[[noreturn]] void lanes_diverge(const Thread& thread, const char* others, SourceLine others_where,
                                const char* instruction, SourceLine where);
[[noreturn]] void lane_has_left(const Thread& thread, const Thread& gone, const char* instruction,
                                SourceLine where);
[[noreturn]] void lane_leaves(const Thread& thread, const char* others, SourceLine others_where);
[[noreturn]] void register_count(const Thread& thread, int registers, SourceLine where);
[[noreturn]] void register_direction(const Thread& thread, int current, int registers,
                                     SourceLine where);
[[noreturn]] void named_barrier(const Thread& thread, int id, int threads, SourceLine where);
[[noreturn]] void no_such_rank(const Thread& thread, uint32_t rank, SourceLine where);
[[noreturn]] void signal_after_exit(const Thread& thread, const Barrier& barrier, SourceLine where);
[[noreturn]] void block_leaves(const Thread& last, const Barrier& barrier, int from,
                               SourceLine where);
// Loads for `barrier`, if it is known; issued at `where`.
[[noreturn]] void loads_in_flight(const Thread& last, const Barrier* barrier, SourceLine where);
[[noreturn]] void bytes_left(const Thread& last, const Barrier& barrier);
[[noreturn]] void arrivals_left(const Thread& last, const Barrier& barrier);

// --- nobody can run and nothing is under way (deadlock.cpp) ---

[[noreturn]] void deadlock(Cluster& cluster);

}  // namespace report
}  // namespace emulator
