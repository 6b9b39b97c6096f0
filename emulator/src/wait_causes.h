// Why a stage was loaded, read or released too early: whose wait is missing, or named the wrong
// parity. Decided by what the block's threads have done so far (who has waited for which phase of
// which barrier, who has arrived where after which WGMMAs), never by what things are called.
#pragma once

#include <cstdint>

#include "shared_memory.h"

namespace emulator {

class Block;
struct Barrier;
struct Thread;

namespace report {

class Draft;

// Each adds the lines `why` and `fix` (and lines before them that say where), if it knows, and
// returns whether it did.

// `loader` is about to announce more bytes at `full`, though the phase `needed` is not complete, or
// the thread has not been told so.
bool explain_early_announcement(const Thread& loader, const Barrier& full, uint64_t needed,
                                Draft* draft);

// `loader` is about to load, with `full` (of its block) to be told of it, into memory of `block`
// where the bytes of `region` may still be read.
bool explain_overwrite(const Thread& loader, const Barrier& full, const Block& block,
                       const Barrier& signalled, const Region& region, const Access& read,
                       Draft* draft);

// The same where an earlier copy may still land.
bool explain_overlapping_loads(const Thread& loader, const Barrier& full, const Region& region,
                               Draft* draft);

// A warp reads what is loaded in phase `needed` of `full` without having been told that it is
// there.
bool explain_early_read(const Thread& reader, const Barrier& full, uint64_t needed, Draft* draft);

// A WGMMA of a warp group reads what has not landed.
bool explain_poison(const Block& block, int warp_group, Draft* draft);

// A thread arrives at `barrier`, which no copy signals, without having been told that the phase
// before is complete.
bool explain_early_arrival(const Thread& thread, const Barrier& barrier, Draft* draft);

// Whether what the loader ought to have waited for is known: else it had better be reported once
// the others have shown where they arrive.
bool release_is_known(const Barrier& full);

}  // namespace report
}  // namespace emulator
