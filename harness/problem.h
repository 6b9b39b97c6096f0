// One problem on the device, and whether a matmul solves it.
#pragma once

#include <harness/device.h>
#include <harness/version.h>
#include <status.h>

#include <cstdint>
#include <functional>
#include <string>

namespace harness {

struct ProblemSize {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t lda = 0;  // 0: packed
  int64_t ldb = 0;
  int64_t ldc = 0;
  int64_t c_offset = 0;  // C begins so many elements past a 256-byte boundary
  int64_t a_offset = 0;  // A and B likewise
  int64_t b_offset = 0;
};

// The sizes with leading dimensions filled in, without pointers.
MatmulArguments sizes_of(const ProblemSize& size);

// As "8192x8192x8192".
std::string problem_name(const ProblemSize& size);

// Checks a problem against the limits of all versions, and of memory, before any is asked for.
Status check_limits(const ProblemSize& size);

using MatmulFunction = std::function<Status(const MatmulArguments& args)>;

// A, B and C in device memory, with their surroundings. Rows, padding and guards around A and B are
// NaN: whoever reads them poisons the result. C is NaN before every run, and so are the guards
// around it: what was not written, or written where nothing belongs, shows.
class Problem {
 public:
  explicit Problem(const ProblemSize& size);

  const MatmulArguments& arguments() const { return args_; }

  // New A and B. Computes the reference when the next check needs it.
  void generate(DataKind kind, uint64_t seed);

  // Puts fp16 `bits` into `count` random places of A and as many of B.
  void sprinkle(uint16_t bits, int count, uint64_t seed);

  // What was found wrong with the result of one run; empty if it is right.
  struct Verdict {
    Status status;  // of the run itself
    std::string fault;  // what is wrong with C, in a few lines; empty if nothing
    bool right() const { return status.ok() && fault.empty(); }
  };

  // Poisons C, runs `matmul`, and judges all of C and its surroundings; if the run was refused
  // (kUsage), whether it left all of them alone. `shape` is for the message.
  Verdict check(const MatmulFunction& matmul, const TileShape& shape);

 private:
  // `rows` rows of a matrix between guard rows.
  struct Guarded {
    Guarded(int64_t rows, int64_t leading_dimension, int64_t offset);
    half* matrix() const;
    half* begin() const { return static_cast<half*>(buffer.data()); }
    int64_t guard;
    int64_t count;
    int64_t offset;
    Buffer buffer;
  };

  ProblemSize size_;
  Guarded a_, b_, c_;
  Buffer reference_values_, reference_magnitudes_;
  bool reference_is_current_ = false;
  bool exact_ = false;
  MatmulArguments args_;
};

// A Comparison in words: how many elements are wrong, which is the first, what is there, and who
// computed it (tile, warp group, warp, lane, register); then a map of the tiles.
std::string describe(const Comparison& comparison, const MatmulArguments& args,
                     const TileShape& shape);

}  // namespace harness
