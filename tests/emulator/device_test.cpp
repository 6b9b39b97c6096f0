// The device of programs without a GPU: what it does when the host's memory runs out.
#include <gtest/gtest.h>
#include <harness/device.h>

// AddressSanitizer's allocator is to fail as malloc does (and warns), not to end the program.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace harness {
namespace {

constexpr int64_t kBeyondEveryMemory = int64_t{1} << 56;  // bytes; an address has 48 bits

TEST(CpuDeviceDeathTest, SaysThatMemoryRanOut) {
  EXPECT_EXIT(Buffer buffer(kBeyondEveryMemory), testing::ExitedWithCode(4),
              "out of memory: 72057594.0 GB more are needed; choose a smaller problem\n$");
}

TEST(CpuDeviceDeathTest, SaysSoOfTheReferenceToo) {
  MatmulArguments args;
  args.m = kBeyondEveryMemory / 8 / sizeof(double);
  args.n = 8;
  args.k = 8;
  EXPECT_EXIT(compute_reference(args, nullptr, nullptr), testing::ExitedWithCode(4),
              "out of memory: .* choose a smaller problem\n$");
}

}  // namespace
}  // namespace harness
