#include "warp_exchange.h"

#include <cuda_runtime.h>

#include <string_view>

#include "machine.h"
#include "register_poison.h"
#include "report.h"

namespace emulator {

WarpExchange::Result WarpExchange::meet(Thread& thread, const char* function, uint32_t mask,
                                        uint64_t value, SourceLine where) {
  const uint32_t self = 1u << thread.lane;
  if ((mask & self) == 0) report::lane_not_in_mask(thread, function, mask, where);
  auto call = calls_.begin();
  while (call != calls_.end() &&
         (call->complete || call->mask != mask || (call->result.lanes & self) != 0 ||
          std::string_view(call->function) != function)) {
    ++call;
  }
  if (call == calls_.end()) call = calls_.insert(call, Call{function, mask});
  call->result.lanes |= self;
  call->result.values[thread.lane] = value;
  complete_if_all_came(thread, &*call);
  while (!call->complete) {
    call->waiting |= self;
    Wait wait;
    wait.kind = WaitKind::kWarp;
    wait.where = where;
    thread.scheduler().block(thread, wait);
    call->waiting &= ~self;
  }
  const Result result = call->result;
  if (call->waiting == 0) calls_.erase(call);
  return result;
}

void WarpExchange::complete_if_all_came(Thread& thread, Call* call) {
  if (((call->result.lanes | gone_) & call->mask) != call->mask) return;
  call->complete = true;
  for (Thread* lane : thread.warp->lanes) {
    if (call->waiting >> lane->lane & 1) thread.scheduler().wake(*lane);
  }
}

void WarpExchange::leave(Thread& thread) {
  gone_ |= 1u << thread.lane;
  for (Call& call : calls_) {
    if (!call.complete) complete_if_all_came(thread, &call);
  }
}

void sync_warp(uint32_t mask, const char* file, int line) {
  const SourceLine where = {file, line};
  Thread* const thread = enter("__syncwarp", where);
  if (thread == nullptr) return;
  publish(*thread, &thread->warp->clock);  // what a lane has waited for, the others are told
  thread->warp->exchange.meet(*thread, "__syncwarp", mask, 0, where);
}

uint64_t shuffle(Shuffle kind, uint32_t mask, uint64_t value, int operand, int width,
                 const char* file, int line) {
  constexpr const char* kNames[] = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync",
                                    "__shfl_xor_sync"};
  constexpr uint64_t kNobodysValue = uint64_t{kStackPoison} << 32 | kStackPoison;
  const SourceLine where = {file, line};
  const char* const function = kNames[static_cast<int>(kind)];
  Thread* const thread = enter(function, where);
  if (thread == nullptr) return value;
  if (width < 1 || width > kWarpThreads || (width & (width - 1)) != 0) {
    report::shuffle_width(*thread, function, width, where);
  }
  const WarpExchange::Result result =
      thread->warp->exchange.meet(*thread, function, mask, value, where);
  // The warp is cut into groups of `width` lanes; whoever would reach beyond his own keeps his
  // value. (PTX ISA, "shfl.sync": by xor, lower groups may be reached.)
  const int first = thread->lane / width * width, last = first + width - 1;
  int from = thread->lane;
  switch (kind) {
    case Shuffle::kIndex:
      from = first + (operand & (width - 1));
      break;
    case Shuffle::kUp:
      from = thread->lane - (operand & 31);
      if (from < first) from = thread->lane;
      break;
    case Shuffle::kDown:
      from = thread->lane + (operand & 31);
      if (from > last) from = thread->lane;
      break;
    case Shuffle::kXor:
      from = thread->lane ^ (operand & 31);
      if (from > last) from = thread->lane;
      break;
  }
  return result.lanes >> from & 1 ? result.values[from] : kNobodysValue;
}

Ballot ballot(const char* function, uint32_t mask, bool vote, const char* file, int line) {
  const SourceLine where = {file, line};
  Thread* const thread = enter(function, where);
  if (thread == nullptr) return {mask, vote ? mask : 0};
  const WarpExchange::Result result =
      thread->warp->exchange.meet(*thread, function, mask, vote, where);
  Ballot ballot = {result.lanes, 0};
  for (int lane = 0; lane < kWarpThreads; ++lane) {
    ballot.votes |= static_cast<uint32_t>(result.values[lane]) << lane;
  }
  return ballot;
}

}  // namespace emulator
