#include "limits.h"

#include <cstdlib>

namespace shapes {

namespace {

using std::to_string;

constexpr int64_t kPitchLimit = int64_t{1} << 39;  // elements: 2^40 bytes

// What TMA demands of a matrix that it reads, beyond what holds for every matrix.
void check_tma(const std::string& tensor, const std::string& ld, const half* base, int64_t leading,
               std::vector<BrokenRule>* broken) {
  if (base == nullptr) broken->push_back({tensor, "null", "pass device memory"});
  const auto address = reinterpret_cast<uintptr_t>(base);
  if (address % 16 != 0) {
    broken->push_back({tensor, to_string(address % 16) + " bytes past a multiple of 16",
                       "TMA needs 16-byte alignment", "begin the matrix at a multiple of 8"});
  }
  if (leading >= kPitchLimit) {
    broken->push_back({tensor, ld + " = " + to_string(leading), "2^40", "pass a smaller " + ld});
  } else if (leading % 8 != 0) {
    const int64_t padded = leading + (8 - leading % 8) % 8;
    broken->push_back({tensor, to_string(2 * leading) + " bytes", ld + " = " + to_string(leading),
                       "TMA needs a multiple of 16", "pad " + ld + " to " + to_string(padded)});
  }
}

}  // namespace

int number_of(const harness::Version& version) { return std::atoi(version.name + 1); }

std::vector<BrokenRule> broken_rules(const MatmulArguments& args, const harness::Version& version) {
  std::vector<BrokenRule> broken;
  constexpr int64_t kLargest = 2147483647;
  for (const auto& [name, size] : {std::pair("m", args.m), {"n", args.n}, {"k", args.k}}) {
    if (size < 0 || size > kLargest) {
      broken.push_back({std::string(name) + " = " + to_string(size), "sizes are 0 to 2147483647"});
    }
  }
  struct Row {
    const char *tensor, *ld, *columns_name;
    int64_t leading, columns;
  };
  for (const Row& row : {Row{"A: ", "lda", "k", args.lda, args.k},
                         {"B: ", "ldb", "k", args.ldb, args.k},
                         {"C: ", "ldc", "n", args.ldc, args.n}}) {
    const std::string ld = row.ld, columns = row.columns_name;
    if (row.leading >= row.columns) continue;
    broken.push_back({row.tensor, ld + " = " + to_string(row.leading), "less than the row length",
                      columns + " = " + to_string(row.columns), "pass " + ld + " >= " + columns});
  }
  if (args.ldc >= kPitchLimit) {
    broken.push_back({"C: ", "ldc = " + to_string(args.ldc), "2^40", "pass a smaller ldc"});
  }
  if (args.max_blocks < 0) {
    broken.push_back({"max_blocks = " + to_string(args.max_blocks), "negative", "or 0"});
  }

  if (args.m == 0 || args.n == 0) return broken;  // nothing is touched: pointers may be null
  if (args.c == nullptr) broken.push_back({"C: ", "null", "pass device memory"});
  if (reinterpret_cast<uintptr_t>(args.c) % 2 != 0) {
    broken.push_back({"C: ", "the address is odd", "2-byte alignment"});
  }
  if (args.k == 0) return broken;  // A and B are empty
  check_tma("A: ", "lda", args.a, args.lda, &broken);
  check_tma("B: ", "ldb", args.b, args.ldb, &broken);
  if (!broken.empty()) return broken;

  const int64_t tile_rows = (args.m - 1) / areas(version.shape).block_m + 1;
  const int64_t tile_columns = (args.n - 1) / areas(version.shape).block_n + 1;
  if (number_of(version) <= 3) {  // a 2-D grid
    if (tile_columns > 65535) {
      broken.push_back({"C: ", to_string(tile_columns) + " tile columns", "a 2-D grid takes 65535",
                        "split the problem along n"});
    }
  } else if (tile_rows * tile_columns > 4 * kLargest) {  // of single tiles or of pairs of them
    broken.push_back({"C: ", " tiles", "split the problem"});
  }
  return broken;
}

}  // namespace shapes
