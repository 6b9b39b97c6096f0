// The bits of a matrix descriptor against the PTX ISA's table ("Matrix Descriptor Format").
#include <gtest/gtest.h>
#include <matrix_descriptor.cuh>

namespace {

uint64_t bits(uint64_t descriptor, int first, int last) {
  return descriptor >> first & ((uint64_t{1} << (last - first + 1)) - 1);
}

TEST(MatrixDescriptor, FieldsOfATileAt1024) {
  const uint64_t descriptor = encode_matrix_descriptor(1024);
  EXPECT_EQ(bits(descriptor, 0, 13), 1024u / 16);
  EXPECT_EQ(bits(descriptor, 14, 15), 0u);
  EXPECT_EQ(bits(descriptor, 16, 29), 1u);
  EXPECT_EQ(bits(descriptor, 30, 31), 0u);
  EXPECT_EQ(bits(descriptor, 32, 45), 64u) << "8 rows of 128 bytes, in units of 16";
  EXPECT_EQ(bits(descriptor, 46, 48), 0u);
  EXPECT_EQ(bits(descriptor, 49, 51), 0u);
  EXPECT_EQ(bits(descriptor, 52, 61), 0u);
  EXPECT_EQ(bits(descriptor, 62, 63), 1u) << "128-byte swizzle";
}

TEST(MatrixDescriptor, AStepOf16AlongKIs32Bytes) {
  for (uint32_t step = 0; step < 4; ++step) {
    EXPECT_EQ(encode_matrix_descriptor(4096 + 32 * step),
              encode_matrix_descriptor(4096) + 2 * step);
  }
}

TEST(MatrixDescriptor, HighestSharedAddressKeepsItsBits) {
  const uint32_t address = 227 * 1024;
  EXPECT_EQ(bits(encode_matrix_descriptor(address), 0, 13), address / 16);
  EXPECT_EQ(encode_matrix_descriptor(address) >> 16, encode_matrix_descriptor(0) >> 16)
      << "the address must not run over into other fields";
}

}  // namespace
