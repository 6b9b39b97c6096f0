// Every limit has a sentence: which matrix, which value, which rule, what to do.
#include <gtest/gtest.h>
#include <launch.h>
#include <matmul.h>
#include <persistent.h>
#include <tensor_map.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace {

const half* address(uintptr_t value) { return reinterpret_cast<const half*>(value); }

GlobalMatrix good() { return {"A", address(4096), 100, 72, 72}; }

void expect_sentence(const Status& status, const std::vector<std::string>& parts) {
  EXPECT_EQ(status.code(), ExitCode::kUsage);
  for (const std::string& part : parts) {
    EXPECT_NE(status.message().find(part), std::string::npos)
        << "\"" << status.message() << "\" lacks \"" << part << "\"";
  }
  EXPECT_EQ(status.message().find('\n'), std::string::npos) << "one sentence, one line";
}

TEST(TensorMap, AcceptsWhatTmaAccepts) {
  EXPECT_TRUE(check_tensor_map(good(), 128, 64).ok());
  GlobalMatrix matrix = good();
  matrix.rows = 1;
  matrix.columns = 1;
  matrix.leading_dimension = 8;
  EXPECT_TRUE(check_tensor_map(matrix, 256, 64).ok()) << "boxes may be larger than the matrix";
  matrix.leading_dimension = (int64_t{1} << 39) - 8;
  EXPECT_TRUE(check_tensor_map(matrix, 1, 64).ok()) << "the largest pitch";
}

TEST(TensorMap, PitchIsAMultipleOf16Bytes) {
  GlobalMatrix matrix = good();
  matrix.columns = matrix.leading_dimension = 65;
  expect_sentence(check_tensor_map(matrix, 128, 64),
                  {"A:", "130 bytes", "lda = 65", "multiple of 16", "pad lda to 72"});
  matrix.name = "B";
  matrix.leading_dimension = 76;
  expect_sentence(check_tensor_map(matrix, 128, 64), {"B:", "ldb = 76", "pad ldb to 80"});
}

TEST(TensorMap, AddressIsAMultipleOf16) {
  GlobalMatrix matrix = good();
  matrix.base = address(4096 + 6);
  expect_sentence(check_tensor_map(matrix, 128, 64),
                  {"A:", "6 bytes past a multiple of 16", "multiple of 8 elements"});
}

TEST(TensorMap, PointerIsNotNull) {
  GlobalMatrix matrix = good();
  matrix.base = nullptr;
  expect_sentence(check_tensor_map(matrix, 128, 64), {"A:", "null"});
}

TEST(TensorMap, PitchIsBelow2To40) {
  GlobalMatrix matrix = good();
  matrix.leading_dimension = int64_t{1} << 39;
  expect_sentence(check_tensor_map(matrix, 128, 64), {"A:", "549755813888", "2^40"});
}

TEST(TensorMap, PitchIsNotShorterThanARow) {
  GlobalMatrix matrix = good();
  matrix.leading_dimension = 64;
  expect_sentence(check_tensor_map(matrix, 128, 64), {"A:", "lda = 64", "72"});
}

TEST(TensorMap, SizesAre1To2To32) {
  GlobalMatrix matrix = good();
  matrix.rows = 0;
  expect_sentence(check_tensor_map(matrix, 128, 64), {"A:", "0 × 72", "4294967296"});
  matrix.columns = 0;
  expect_sentence(check_tensor_map(matrix, 128, 64), {"A:", "0 × 0"});
  matrix = good();
  matrix.columns = matrix.leading_dimension = (int64_t{1} << 32) + 8;
  expect_sentence(check_tensor_map(matrix, 128, 64), {"A:", "4294967304"});
  matrix = good();
  matrix.rows = (int64_t{1} << 32) + 1;
  expect_sentence(check_tensor_map(matrix, 128, 64), {"A:", "4294967297 × 72"});
}

TEST(TensorMap, BoxesAre1To256) {
  expect_sentence(check_tensor_map(good(), 257, 64), {"A:", "257 × 64", "256"});
  expect_sentence(check_tensor_map(good(), 0, 64), {"A:", "0 × 64"});
}

TEST(TensorMap, BoxesAreOneSwizzleRowWide) {
  expect_sentence(check_tensor_map(good(), 128, 32), {"A:", "32 columns", "64 fp16"});
}

TEST(TensorMap, StoresWriteWholeUnitsOf16Bytes) {
  MatmulArguments args;
  args.c = const_cast<half*>(address(4096));
  args.m = 10;
  args.n = 20;
  args.ldc = 24;
  CUtensorMap map;
  expect_sentence(make_store_map(&map, args, 64, 64), {"C:", "n = 20", "8 elements"});
  EXPECT_FALSE(tma_can_store(args));
  args.n = 24;
  EXPECT_EQ(make_store_map(&map, args, 64, 64).code(), ExitCode::kNoDevice) << "no encoder here";
  EXPECT_TRUE(tma_can_store(args));
}

TEST(TensorMap, WhereTmaCannotStoreTheAnswerIsNo) {
  MatmulArguments args;
  args.c = const_cast<half*>(address(4096));
  args.m = 10;
  args.n = 24;
  args.ldc = 25;
  EXPECT_FALSE(tma_can_store(args)) << "an odd pitch";
  args.ldc = 32;
  EXPECT_TRUE(tma_can_store(args));
  args.c = const_cast<half*>(address(4096 + 8));
  EXPECT_FALSE(tma_can_store(args)) << "an address that is no multiple of 16";
}

TEST(TensorMap, WithoutADriverThereIsNoEncoder) {
  CUtensorMap map;
  const Status status = make_tensor_map(&map, good(), 128, 64);
  EXPECT_EQ(status.code(), ExitCode::kNoDevice);
  EXPECT_NE(status.message().find("CUDA 12.0"), std::string::npos);
}

MatmulArguments arguments() {
  MatmulArguments args;
  args.a = address(4096);
  args.b = address(4096);
  args.c = const_cast<half*>(address(4096));
  args.m = 10;
  args.n = 20;
  args.k = args.lda = args.ldb = 32;
  args.ldc = 20;
  return args;
}

TEST(Arguments, SizesAreBelow2To31) {
  MatmulArguments args = arguments();
  args.m = int64_t{1} << 31;
  expect_sentence(check_arguments(args), {"m = 2147483648", "2147483647"});
  args = arguments();
  args.n = -1;
  expect_sentence(check_arguments(args), {"n = -1", "0 to 2147483647"});
  args = arguments();
  args.m = args.n = args.k = args.lda = args.ldb = args.ldc = 2147483647;
  EXPECT_TRUE(check_arguments(args).ok());
}

TEST(Arguments, LeadingDimensionsCoverARow) {
  MatmulArguments args = arguments();
  args.lda = 31;
  expect_sentence(check_arguments(args), {"A:", "lda = 31", "k = 32"});
  args = arguments();
  args.ldb = 0;
  expect_sentence(check_arguments(args), {"B:", "ldb = 0", "k = 32"});
  args = arguments();
  args.ldc = 19;
  expect_sentence(check_arguments(args), {"C:", "ldc = 19", "n = 20"});
}

TEST(Arguments, LeadingDimensionsEndWhereBytesDo) {
  MatmulArguments args = arguments();
  args.ldc = int64_t{1} << 39;
  expect_sentence(check_arguments(args), {"C:", "549755813888", "2^40"});
  GlobalMatrix matrix = good();
  matrix.leading_dimension = std::numeric_limits<int64_t>::max();
  expect_sentence(check_tensor_map(matrix, 128, 64), {"A:", "2^40"});
}

TEST(Arguments, CIsAPointerToHalves) {
  MatmulArguments args = arguments();
  args.c = nullptr;
  expect_sentence(check_arguments(args), {"C:", "null"});
  args.c = const_cast<half*>(address(4097));
  expect_sentence(check_arguments(args), {"C:", "odd"});
  args.c = const_cast<half*>(address(4098));
  EXPECT_TRUE(check_arguments(args).ok()) << "2-byte alignment is enough for C";
}

TEST(Arguments, EmptyResultsNeedNoPointers) {
  MatmulArguments args;
  EXPECT_TRUE(check_arguments(args).ok());
  EXPECT_TRUE(is_trivial(args));
  args.m = 5;
  args.k = args.lda = args.ldb = 8;
  EXPECT_TRUE(check_arguments(args).ok());
  EXPECT_TRUE(is_trivial(args));
}

TEST(Arguments, ClearResultLeavesThePaddingAlone) {
  std::vector<half> c(3 * 8, __float2half(1));
  MatmulArguments args;
  args.c = c.data();
  args.m = 3;
  args.n = 5;
  args.ldc = 8;
  EXPECT_TRUE(clear_result(args, nullptr).ok());
  for (int i = 0; i < 24; ++i) EXPECT_EQ(__half2float(c[i]), i % 8 < 5 ? 0 : 1) << i;
}

TEST(Grid, ColumnsOfA2DGridEndAt65535) {
  EXPECT_TRUE(check_grid({2147483647, 65535}).ok());
  expect_sentence(check_grid({1, 65536}), {"65536 tile columns", "65535"});
  expect_sentence(check_grid({int64_t{1} << 31, 1}), {"2147483648 tiles", "2147483647"});
}

// Kernels that are launched nowhere: the stand-in of these tests refuses every launch.
void kernel() {}

TEST(Grid, TheLatestOneCanBeAskedFor) {
  EXPECT_EQ(latest_grid().x * latest_grid().y, 0) << "none yet";
  launch(kernel, {6, 5}, 128, 0, nullptr);
  EXPECT_EQ(latest_grid().x, 6);
  EXPECT_EQ(latest_grid().y, 5);
  EXPECT_EQ(latest_grid().tiles_per_block, 1);
  launch(kernel, {1, 65536}, 128, 0, nullptr);
  EXPECT_EQ(latest_grid().y, 5) << "a grid that is refused is none";

  Grid grid;
  ASSERT_TRUE(persistent_grid(1000, 7, &grid).ok());
  EXPECT_EQ(grid.x, 7);
  EXPECT_EQ(grid.tiles_per_block, 143);
  grid = {1, 1, 2};
  ASSERT_TRUE(persistent_cluster_grid(kernel, 128, 0, 1000, 7, &grid).ok());
  EXPECT_EQ(grid.x, 6) << "three clusters of two";
  EXPECT_EQ(grid.tiles_per_block, 334);
}

TEST(Grid, EvenRoundsAreFullRounds) {
  EXPECT_EQ(even_rounds(2048, 132), 128) << "16 rounds of 128 rather than 15 of 132 and a rest";
  EXPECT_EQ(even_rounds(132, 132), 132);
  EXPECT_EQ(even_rounds(133, 132), 67) << "2 rounds";
  EXPECT_EQ(even_rounds(5, 132), 5);
  EXPECT_EQ(even_rounds(5, 1), 1);
  for (int64_t tiles = 1; tiles < 1000; ++tiles) {
    const int64_t workers = even_rounds(tiles, 132);
    EXPECT_LE(workers, 132);
    EXPECT_EQ(ceil_div(tiles, workers), ceil_div(tiles, 132)) << tiles;
  }
  EXPECT_TRUE(check_tiles(2000000000).ok());
  expect_sentence(check_tiles(int64_t{1} << 31), {"2147483648 tiles", "split"});
}

TEST(Grid, PersistentBlocksAreEvenInNumberWhereThereIsRoom) {
  EXPECT_EQ(persistent_blocks(2048, 132), 128);
  EXPECT_EQ(persistent_blocks(8192, 132), 132) << "63 rounds, as 131 would need";
  EXPECT_EQ(persistent_blocks(5, 132), 5) << "no block without a tile";
  EXPECT_EQ(persistent_blocks(100, 7), 7) << "no more than there may be";
  EXPECT_EQ(persistent_blocks(100, 1), 1);
  for (int64_t tiles = 1; tiles < 1000; ++tiles) {
    const int64_t blocks = persistent_blocks(tiles, 132);
    EXPECT_LE(blocks, std::min<int64_t>(tiles, 132));
    EXPECT_TRUE(blocks % 2 == 0 || blocks == tiles) << tiles;
    EXPECT_EQ(ceil_div(tiles, blocks), ceil_div(tiles, 132)) << tiles;
  }
}

TEST(CeilDiv, IsExactWhereIntWouldOverflow) {
  EXPECT_EQ(ceil_div(2147483647, 128), 16777216);
  EXPECT_EQ(ceil_div(1, 128), 1);
  EXPECT_EQ(ceil_div(128, 128), 1);
  EXPECT_EQ(ceil_div(0, 128), 0);
}

}  // namespace
