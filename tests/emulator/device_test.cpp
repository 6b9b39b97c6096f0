// What the CPU's device does when the machine has not enough memory.
#include <gtest/gtest.h>
#include <harness/device.h>

#include <new>

// AddressSanitizer's allocator is to fail as malloc does, not to end the program.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace harness {
namespace {

// The caller turns it into a sentence that names the problem (harness/run.cpp).
TEST(Device, MemoryThatIsNotThereIsAnException) {
  EXPECT_THROW(Buffer(size_t{1} << 56), std::bad_alloc);
}

}  // namespace
}  // namespace harness
