// Parts of the emulator by themselves: the arithmetic, the history of shared memory, clocks, chance
// and the reading of source text.
#include <cuda_fp16.h>
#include <gtest/gtest.h>
#include <machine.h>
#include <matrix_product.h>
#include <random.h>
#include <shared_memory.h>
#include <source_text.h>
#include <vector_clock.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace emulator {
namespace {

float value_of(uint16_t bits) { return __half2float(__ushort_as_half(bits)); }

// In each of the ways that the CPU at hand offers.
class MatrixProducts : public testing::TestWithParam<MatrixProduct> {};

TEST_P(MatrixProducts, EveryWidth) {
  Random random(1, 2);
  for (int columns = 8; columns <= 256; columns += 8) {
    std::vector<uint16_t> a(64 * 16), b(columns * 16);
    for (auto* operand : {&a, &b}) {
      for (uint16_t& element : *operand) {
        element = __float2half_rn(static_cast<float>(random.below(64)) / 8 - 4).bits;
      }
    }
    std::vector<float> d(64 * columns, 100);
    for (const bool accumulate : {true, false}) {
      GetParam().multiply(d.data(), a.data(), b.data(), columns, accumulate, false);
      for (int row = 0; row < 64; ++row) {
        for (int column = 0; column < columns; ++column) {
          float expected = accumulate ? 100 : 0;
          for (int k = 0; k < 16; ++k) {
            expected += value_of(a[row * 16 + k]) * value_of(b[column * 16 + k]);
          }
          ASSERT_EQ(d[row * columns + column], expected) << columns << ": " << row << " " << column;
        }
      }
    }
  }
}

TEST_P(MatrixProducts, EveryHalf) {
  // A row of ones and zeros hands each element of B through.
  std::vector<uint16_t> a(64 * 16), b(256 * 16);
  a[0] = __float2half_rn(1).bits;
  std::vector<float> d(64 * 256);
  for (int first = 0; first < 65536; first += 256) {
    for (int i = 0; i < 256; ++i) b[i * 16] = static_cast<uint16_t>(first + i);
    GetParam().multiply(d.data(), a.data(), b.data(), 256, false, false);
    for (int i = 0; i < 256; ++i) {
      const float expected = value_of(static_cast<uint16_t>(first + i));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(d[i])) << first + i;
      } else {
        ASSERT_EQ(d[i], expected) << first + i;
      }
    }
  }
}

float bf16_to_float(uint16_t bits) {
  const uint32_t word = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

// Sums that have to be rounded, of operands of all sizes: the bits are those of a plain loop.
TEST_P(MatrixProducts, TheSameBitsEverywhere) {
  for (const bool bf16 : {false, true}) {
    Random random(3, 4);
    std::vector<uint16_t> a(64 * 16), b(256 * 16);
    for (auto* operand : {&a, &b}) {
      for (uint16_t& element : *operand) {
        element = static_cast<uint16_t>(random.next());
        if (bf16) element = static_cast<uint16_t>((element & 0x8fff) | 0x3000);  // 2^-31 to 2
        if (!bf16 && (element & 0x7c00) == 0x7c00) element ^= 0x4000;  // no infinity, no NaN
      }
    }
    const auto value = [&](uint16_t bits) { return bf16 ? bf16_to_float(bits) : value_of(bits); };
    std::vector<float> d(64 * 256, 0x1.fffffep+3f);
    GetParam().multiply(d.data(), a.data(), b.data(), 256, true, bf16);
    for (int row = 0; row < 64; ++row) {
      for (int column = 0; column < 256; ++column) {
        float expected = 0x1.fffffep+3f;
        for (int k = 0; k < 16; ++k) {
          expected += value(a[row * 16 + k]) * value(b[column * 16 + k]);
        }
        ASSERT_EQ(d[row * 256 + column], expected) << row << " " << column << " " << bf16;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, MatrixProducts, testing::ValuesIn(matrix_products()),
                         [](const testing::TestParamInfo<MatrixProduct>& info) {
                           return info.param.name;
                         });

Access write_of(AccessKind kind, Component component, uint32_t value, uint64_t number) {
  Access access;
  access.kind = kind;
  access.component = component;
  access.value = value;
  access.number = number;
  return access;
}

std::vector<std::pair<uint32_t, uint32_t>> borders(SharedMemory* memory) {
  std::vector<std::pair<uint32_t, uint32_t>> result;
  for (const Region& region : memory->regions(0, memory->size())) {
    result.emplace_back(region.begin, region.end);
  }
  return result;
}

using Borders = std::vector<std::pair<uint32_t, uint32_t>>;

TEST(SharedMemory, RegionsFollowTheAccesses) {
  SharedMemory memory(4096);
  EXPECT_EQ(borders(&memory), (Borders{{0, 4096}}));
  memory.record_write(1024, 3072, write_of(AccessKind::kTmaLoad, 1, 2, 0));
  EXPECT_EQ(borders(&memory), (Borders{{0, 1024}, {1024, 3072}, {3072, 4096}}));
  for (Region& region : memory.regions(2048, 3072)) {
    SharedMemory::record_read(&region, write_of(AccessKind::kWgmma, 5, 1, 1));
    SharedMemory::record_read(&region, write_of(AccessKind::kWgmma, 5, 2, 2));
  }
  EXPECT_EQ(borders(&memory), (Borders{{0, 1024}, {1024, 2048}, {2048, 3072}, {3072, 4096}}));
  const Region& read = *memory.regions(2048, 3072).begin();
  ASSERT_EQ(read.reads.size(), 1u);
  EXPECT_EQ(read.reads[0].value, 2u);
  EXPECT_EQ(read.write.component, 1);
  memory.record_write(1024, 3072, write_of(AccessKind::kTmaLoad, 1, 3, 1));
  EXPECT_EQ(borders(&memory), (Borders{{0, 1024}, {1024, 3072}, {3072, 4096}}));
  EXPECT_TRUE(memory.regions(1024, 3072).begin()->reads.empty());
}

TEST(SharedMemory, NeighbouringStoresOfAWarpAreOneRegion) {
  SharedMemory memory(1024);
  for (const uint32_t chunk : {3, 0, 2, 1}) {
    memory.record_write(chunk * 16, chunk * 16 + 16,
                        write_of(AccessKind::kStoreMatrix, 1, chunk + 1, 0));
  }
  EXPECT_EQ(borders(&memory), (Borders{{0, 64}, {64, 1024}}));
  EXPECT_EQ(memory.regions(0, 64).begin()->write.value, 4u);
  memory.record_write(64, 80, write_of(AccessKind::kStoreMatrix, 1, 5, 4));  // after a fence
  memory.record_write(80, 96, write_of(AccessKind::kStoreMatrix, 2, 1, 4));  // of another warp
  EXPECT_EQ(borders(&memory), (Borders{{0, 64}, {64, 80}, {80, 96}, {96, 1024}}));
}

TEST(SharedMemory, PoisonIsToldFromData) {
  SharedMemory memory(1024);
  EXPECT_TRUE(memory.is_poisoned(0));
  memory.data()[3] = 0;  // a plain store
  EXPECT_FALSE(memory.is_poisoned(0));
  memory.begin_write(0, 64);
  EXPECT_TRUE(memory.is_poisoned(0));
  EXPECT_TRUE(memory.is_in_flight(48));
  memory.end_write(0, 32);
  EXPECT_FALSE(memory.is_poisoned(16));  // although the bytes are those of poison
  EXPECT_TRUE(memory.is_poisoned(32));
}

// Lanes pass the same name at two addresses, as calls from two files may.
const char kNames[2][6] = {"fence", "fence"};

void collective_kernel() {
  Thread& thread = *current_thread();
  thread.warp->join(thread, kNames[thread.lane % 2], {"file", 1});
}

TEST(Warp, KnowsInstructionsByTheirNames) {
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 32;
  EXPECT_EQ(cudaLaunchKernelEx(&config, collective_kernel), cudaSuccess);
}

TEST(VectorClock, LearnsAndJoins) {
  VectorClock left, right;
  left.learn(3, 7);
  right.learn(3, 5);
  right.learn(9, 1);
  left.join(right);
  EXPECT_EQ(left[3], 7u);
  EXPECT_EQ(left[9], 1u);
  EXPECT_EQ(left[100], 0u);
  EXPECT_EQ(left[kNoComponent], 0u);
}

TEST(Random, StreamsDifferAndRepeat) {
  Random first(1, 0), same(1, 0), other(1, 1), seed(2, 0);
  const uint64_t value = first.next();
  EXPECT_EQ(value, same.next());
  EXPECT_NE(value, other.next());
  EXPECT_NE(value, seed.next());
  std::vector<int> counts(10);
  for (int i = 0; i < 10000; ++i) ++counts[first.below(10)];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

// A header is known by the file's own name, wherever a checkout lies.
TEST(SourceText, FoldersMayBeCalledAnything) {
  EXPECT_FALSE(SourceFile("/home/user.harris/x.cuh/v1_simple/kernel.cu").is_header());
  EXPECT_TRUE(SourceFile("/home/joe/common/launch.h").is_header());
  EXPECT_TRUE(SourceFile("/home/joe/common/ptx/tma.cuh").is_header());
}

TEST(SourceText, NamesBarriersRolesAndTiles) {
  const std::string path = testing::TempDir() + "/source_text_test.cu";
  std::ofstream(path) << "class Pipeline {\n"  // 1
                         "  void f() { ptx::mbarrier_init(&full[stage], 1); }\n"  // 2
                         "};\n"  // 3
                         "__global__ void kernel() {\n"  // 4
                         "  ptx::mbarrier_init(&smem.empty[stage], kThreads);\n"  // 5
                         "  ptx::mbarrier_init(&smem.ready,\n"  // 6
                         "                     arrivals(1, 2));\n"  // 7
                         "  if (x) {  // --- producer ---\n"  // 8
                         "    ptx::load(smem.a[stage], f(1, 2), 3);  // why\n"  // 9
                         "  }\n"  // 10
                         "  // --- consumer ---\n"  // 11
                         "  work();\n"  // 12
                         "}\n"  // 13
                         "// --- the host's side ---\n"  // 14
                         "void host() {\n"  // 15
                         "}\n";
  const char* const file = path.c_str();
  EXPECT_EQ(barrier_family({file, 2}), "full");
  EXPECT_EQ(barrier_family({file, 5}), "empty");
  EXPECT_TRUE(barrier_is_indexed({file, 5}));
  EXPECT_EQ(barrier_family({file, 6}), "ready");
  EXPECT_EQ(barrier_family({file, 7}), "ready");  // the last line of the call
  EXPECT_FALSE(barrier_is_indexed({file, 6}));
  EXPECT_EQ(barrier_family({file, 12}), "mbarrier");
  const SourceFile& source = source_file(file);
  EXPECT_TRUE(source.in_class(2));
  EXPECT_FALSE(source.in_class(5));
  EXPECT_EQ(source.role(5), nullptr);
  ASSERT_NE(source.role(9), nullptr);
  EXPECT_EQ(*source.role(9), "producer");
  EXPECT_EQ(*source.role(12), "consumer");
  EXPECT_EQ(source.role(15), nullptr);
  EXPECT_EQ(source.arguments(9, "load"),
            (std::vector<std::string>{"smem.a[stage]", "f(1, 2)", "3"}));
  EXPECT_EQ(source.line(9), "ptx::load(smem.a[stage], f(1, 2), 3);");
  EXPECT_EQ(source.line(99), "");
  EXPECT_EQ(place({"/a/b/c/kernel.cu", 4}), "c/kernel.cu:4");
  EXPECT_TRUE(source_file("/no/such/file").line(1).empty());
  std::remove(file);
}

}  // namespace
}  // namespace emulator
