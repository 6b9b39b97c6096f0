// The 64-bit matrix descriptor, field by field, of the operands of three versions.
#include <matrix_descriptor.cuh>

#include "topics.h"

namespace explain {

const std::vector<Field>& descriptor_fields() {
  static const std::vector<Field> fields = {
      {"start address / 16", 0, 13, "where it begins, plus kk * 2 bytes"},
      {"unused", 14, 15, "zero"},
      {"leading dimension offset / 16", 16, 29, "not used by swizzled K-major tiles; 1"},
      {"unused", 30, 31, "zero"},
      {"stride dimension offset / 16", 32, 45, "from 8 rows to the next 8: 1024 bytes"},
      {"unused", 46, 48, "zero"},
      {"base offset", 49, 51, "0: tiles are 1024-byte aligned"},
      {"unused", 52, 61, "zero"},
      {"swizzle mode", 62, 63, "1: 128 bytes"},
  };
  return fields;
}

uint64_t field_of(uint64_t descriptor, const Field& field) {
  return descriptor >> field.first & ((uint64_t{1} << (field.last - field.first + 1)) - 1);
}

uint64_t descriptor_of(const Operand& operand, int kk) {
  return advance_descriptor(encode_matrix_descriptor(operand.address),
                            static_cast<uint32_t>(kk * sizeof(half)));
}

std::string descriptor_text(const Question&) {
  const Operand operand = operands().front();
  const uint64_t first = descriptor_of(operand, 0);
  std::string text =
      format("What WGMMA is told of %s's %s: %d rows of 64 fp16 at shared address 0x%05x.\n\n",
             operand.version.c_str(), operand.name.c_str(), operand.rows, operand.address);
  text += "  bits     field                            value   meaning\n";
  for (const Field& field : descriptor_fields()) {
    if (std::string(field.name) == "unused") continue;
    text += format("  %2d-%-2d    %-29s %8s   %s\n", field.first, field.last, field.name,
                   format("0x%04x", static_cast<unsigned>(field_of(first, field))).c_str(),
                   field.meaning);
  }
  text += "  14-15, 30-31, 46-48 and 52-61 are zero.\n\n";
  text += "One WGMMA takes 16 elements of K, 32 bytes. The next step adds 2, and nothing else:\n";
  for (int kk = 0; kk < kTileColumns; kk += 16) {
    const uint64_t bits = descriptor_of(operand, kk);
    text += format("  kk = %2d   0x%08x'%08x   start 0x%05x, chunks %d and %d of every row\n", kk,
                   static_cast<unsigned>(bits >> 32), static_cast<unsigned>(bits),
                   static_cast<unsigned>(field_of(bits, descriptor_fields()[0]) * 16), kk / 8,
                   kk / 8 + 1);
  }
  text += "As if nothing were swizzled: WGMMA applies the XOR to each address afterwards.\n\n";
  text += "Elsewhere only the start differs, by a multiple of 1024 bytes:\n";
  for (const Operand& other : operands()) {
    const uint64_t bits = descriptor_of(other, 0);
    text +=
        format("  %-17s %-12s 0x%05x   0x%08x'%08x\n", other.version.c_str(), other.name.c_str(),
               other.address, static_cast<unsigned>(bits >> 32), static_cast<unsigned>(bits));
  }
  return text;
}

nlohmann::json descriptor_data(const Question&) {
  nlohmann::json fields = nlohmann::json::array(), list = nlohmann::json::array();
  for (const Field& field : descriptor_fields()) {
    fields.push_back({{"name", field.name},
                      {"first", field.first},
                      {"last", field.last},
                      {"meaning", field.meaning}});
  }
  for (const Operand& operand : operands()) {
    nlohmann::json steps = nlohmann::json::array();
    for (int kk = 0; kk < kTileColumns; kk += 16) {
      const uint64_t bits = descriptor_of(operand, kk);
      nlohmann::json values = nlohmann::json::array();
      for (const Field& field : descriptor_fields()) values.push_back(field_of(bits, field));
      steps.push_back({{"kk", kk},
                       {"bits", format("%016llx", static_cast<unsigned long long>(bits))},
                       {"values", values}});
    }
    list.push_back({{"version", operand.version},
                    {"name", operand.name},
                    {"rows", operand.rows},
                    {"address", operand.address},
                    {"steps", steps}});
  }
  return {{"fields", fields}, {"operands", list}};
}

}  // namespace explain
