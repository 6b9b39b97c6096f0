#include "call.h"

#include <harness/device.h>
#include <harness/options.h>

#include <algorithm>
#include <sstream>

#include "limits.h"

namespace shapes {

namespace {

using harness::Problem;
using harness::ProblemSize;

constexpr int64_t kMostWork = 400'000'000;  // multiply-adds
constexpr int64_t kMostElements = 20'000'000;  // of one matrix

// At most limit, without overflow.
int64_t product(int64_t a, int64_t b, int64_t limit) {
  return b != 0 && a > limit / b ? limit : a * b;
}

// What is allocated. Beyond the limits the call is to be refused, and empty matrices are never
// touched: there a small one will do. A single row has no next one: its pitch is not in memory.
ProblemSize in_memory(const Call& call) {
  const auto small = [](int64_t value, int64_t least) {
    constexpr int64_t kSmall = 64;
    return std::clamp<int64_t>(value, least, least + kSmall);
  };
  ProblemSize size = call.size;
  if (is_affordable(call)) {
    size.lda = size.m > 1 ? std::max(size.lda, size.k) : size.k;
    size.ldb = size.n > 1 ? std::max(size.ldb, size.k) : size.k;
    size.ldc = size.m > 1 ? std::max(size.ldc, size.n) : size.n;
    return size;
  }
  size.m = small(size.m, 0);
  size.n = small(size.n, 0);
  size.k = small(size.k, 0);
  size.lda = small(size.lda, size.k);
  size.ldb = small(size.ldb, size.k);
  size.ldc = small(size.ldc, size.n);
  return size;
}

template <class Element>
Element* moved(Element* pointer, bool null, bool odd) {
  if (null) return nullptr;
  return reinterpret_cast<Element*>(reinterpret_cast<uintptr_t>(pointer) + odd);
}

MatmulArguments arguments(const Call& call, const MatmulArguments& memory) {
  MatmulArguments args;
  args.a = moved(memory.a, call.null_a, call.odd_a);
  args.b = moved(memory.b, call.null_b, call.odd_b);
  args.c = moved(memory.c, call.null_c, call.odd_c);
  args.m = call.size.m;
  args.n = call.size.n;
  args.k = call.size.k;
  args.lda = call.size.lda;
  args.ldb = call.size.ldb;
  args.ldc = call.size.ldc;
  args.max_blocks = call.max_blocks;
  return args;
}

void sprinkle(const Call& call, Problem* problem) {
  const int count = 1 + static_cast<int>(call.seed % 3);
  switch (call.sprinkle) {
    case Sprinkle::kNothing:
      return;
    case Sprinkle::kNaN:
      return problem->sprinkle(0x7e00, count, call.seed);
    case Sprinkle::kInfinity:
      return problem->sprinkle(0x7c00, count, call.seed);
    case Sprinkle::kMinusInfinity:
      return problem->sprinkle(0xfc00, count, call.seed);
    case Sprinkle::kLarge:  // 57344: twice that is beyond fp16
      return problem->sprinkle(0x7b00, count, call.seed);
  }
}

const char* name_of(Sprinkle sprinkle) {
  switch (sprinkle) {
    case Sprinkle::kNothing:
      return "nothing";
    case Sprinkle::kNaN:
      return "NaN";
    case Sprinkle::kInfinity:
      return "infinity";
    case Sprinkle::kMinusInfinity:
      return "-infinity";
    case Sprinkle::kLarge:
      return "57344";
  }
  return "";
}

bool says(const std::string& sentence, const BrokenRule& rule) {
  return std::all_of(rule.begin(), rule.end(), [&](const std::string& part) {
    return sentence.find(part) != std::string::npos;
  });
}

}  // namespace

bool is_affordable(const Call& call) {
  const ProblemSize& size = call.size;
  if (std::min({size.m, size.n, size.k}) < 0) return false;
  const auto fits = [](int64_t rows, int64_t leading) {
    return product(rows, leading, kMostElements) < kMostElements;
  };
  const int64_t elements = product(size.m, size.n, kMostWork);
  return product(elements, size.k, kMostWork) < kMostWork && fits(size.m, size.k) &&
         fits(size.n, size.k) && fits(size.m, size.n) && (size.m <= 1 || fits(size.m, size.lda)) &&
         (size.n <= 1 || fits(size.n, size.ldb)) && (size.m <= 1 || fits(size.m, size.ldc));
}

std::vector<BrokenRule> broken_rules(const Call& call, const harness::Version& version) {
  // Matrices begin at multiples of 256 bytes, but for their offsets.
  const auto begin = [](int64_t offset) {
    return reinterpret_cast<half*>(uintptr_t{4096} + 2 * static_cast<uintptr_t>(offset));
  };
  MatmulArguments memory;
  memory.a = begin(call.size.a_offset);
  memory.b = begin(call.size.b_offset);
  memory.c = begin(call.size.c_offset);
  return broken_rules(arguments(call, memory), version);
}

Outcome make(const Call& call, const harness::Version& version) {
  if (!harness::measures_time()) {  // the emulator's schedule
    harness::DeviceOptions options;
    options.seed = call.seed;
    harness::DeviceInfo info;
    const Status status = harness::open_device(options, &info);
    if (!status.ok()) return {status.message(), false};
  }
  Problem problem(in_memory(call));
  problem.generate(call.data, call.seed);
  sprinkle(call, &problem);
  const std::vector<BrokenRule> broken = broken_rules(call, version);
  const Problem::Verdict verdict = problem.check(
      [&](const MatmulArguments& memory) {
        return version.matmul(arguments(call, memory), nullptr);
      },
      version.shape);
  const Status& status = verdict.status;
  const bool refused = status.code() == ExitCode::kUsage;
  Outcome outcome;
  outcome.can_go_on = status.ok() || refused;
  if (broken.empty()) {
    if (!status.ok()) outcome.fault = "not computed: " + status.message() + "\n";
  } else if (!refused) {
    outcome.fault = "not refused, exit code " + std::to_string(static_cast<int>(status.code())) +
                    " instead of 2: " + status.message() + "\n";
  } else if (std::none_of(broken.begin(), broken.end(),
                          [&](const BrokenRule& rule) { return says(status.message(), rule); })) {
    outcome.fault = "refused for another reason, or without the way out: " + status.message() +
                    "\n  it must say:";
    for (const std::string& part : broken[0]) outcome.fault += " \"" + part + "\"";
    outcome.fault += "\n";
  } else if (status.message().find('\n') != std::string::npos) {
    outcome.fault = "refused by more than one sentence: " + status.message() + "\n";
  }
  if (broken.empty() || refused) outcome.fault += verdict.fault;
  return outcome;
}

std::string describe(const Call& call) {
  const ProblemSize& size = call.size;
  std::ostringstream text;
  text << "m " << size.m << ", n " << size.n << ", k " << size.k << ", lda " << size.lda << ", ldb "
       << size.ldb << ", ldc " << size.ldc;
  const auto pointer = [&](const char* name, bool null, bool odd, int64_t offset) {
    if (null) {
      text << ", " << name << " null";
    } else if (odd || offset != 0) {
      text << ", " << name << " " << 2 * offset + odd << " bytes further";
    }
  };
  pointer("A", call.null_a, call.odd_a, size.a_offset);
  pointer("B", call.null_b, call.odd_b, size.b_offset);
  pointer("C", call.null_c, call.odd_c, size.c_offset);
  text << ", " << harness::name_of(call.data) << " data";
  if (call.sprinkle != Sprinkle::kNothing) text << " with some " << name_of(call.sprinkle);
  if (call.max_blocks != 0) text << ", at most " << call.max_blocks << " blocks";
  text << ", data seed " << call.seed;
  return text.str();
}

std::string driver_command(const Call& call, const harness::Version& version) {
  const ProblemSize& size = call.size;
  const bool moved = call.odd_a || call.odd_b || call.odd_c || size.a_offset != 0 ||
                     size.b_offset != 0 || size.c_offset != 0;
  const bool null = call.null_a || call.null_b || call.null_c;
  // The drivers take a leading dimension of 0 for a packed matrix.
  const bool zero =
      (size.k != 0 && (size.lda == 0 || size.ldb == 0)) || (size.n != 0 && size.ldc == 0);
  if (moved || null || zero || call.sprinkle != Sprinkle::kNothing || call.max_blocks < 0) {
    return "";
  }
  std::ostringstream text;
  text << "./run v" << number_of(version);
  if (!harness::measures_time()) text << " --backend emulator";
  text << " --m " << size.m << " --n " << size.n << " --k " << size.k << " --lda " << size.lda
       << " --ldb " << size.ldb << " --ldc " << size.ldc << " --data "
       << harness::name_of(call.data) << " --seed " << call.seed << " --check-only";
  if (call.max_blocks > 0) text << " --max-blocks " << call.max_blocks;
  return text.str();
}

}  // namespace shapes
