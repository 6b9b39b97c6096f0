// What only a GPU can show: streams, and sizes that take the emulator hours.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <harness/device.h>
#include <harness/gpu/cuda_check.h>
#include <harness/versions.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "call.h"
#include "limits.h"

namespace shapes {
namespace {

using harness::Problem;
using harness::Version;

class Stream {
 public:
  Stream() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_;
};

class Streams : public testing::TestWithParam<Version> {};

// Holds a stream up until `*open` is set, or for some seconds, should the host wait for the stream.
void CUDART_CB hold(void* open) {
  const auto& is_open = *static_cast<std::atomic<bool>*>(open);
  for (int i = 0; i < 3000 && !is_open; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_P(Streams, WorkGoesToTheStreamThatWasPassed) {
  const auto matmul = GetParam().matmul;
  for (const int64_t k : {136, 0}) {
    Problem problem({300, 264, k});
    problem.generate(harness::DataKind::kInts, 1);
    const auto plain = [&](const MatmulArguments& args) { return matmul(args, nullptr); };
    EXPECT_TRUE(problem.check(plain, GetParam().shape).right()) << "loads what is loaded lazily";
    const Problem::Verdict verdict = problem.check(
        [&](const MatmulArguments& args) {
          const Stream stream;
          std::atomic<bool> open{false};
          CUDA_CHECK(cudaLaunchHostFunc(stream.get(), hold, &open));
          const Status status = matmul(args, stream.get());
          half corner;
          harness::copy(&corner, args.c, sizeof(corner));
          EXPECT_TRUE(std::isnan(__half2float(corner))) << "C was written before its turn";
          EXPECT_EQ(cudaStreamQuery(stream.get()), cudaErrorNotReady);
          cudaGetLastError();
          open = true;
          CUDA_CHECK(cudaStreamSynchronize(stream.get()));
          return status;
        },
        GetParam().shape);
    EXPECT_TRUE(verdict.right()) << verdict.status.message() << verdict.fault;
  }
}

TEST_P(Streams, LaunchesOnTwoStreamsDoNotDisturbEachOther) {
  const auto matmul = GetParam().matmul;
  Problem left({700, 1032, 328}), right({513, 260, 1000});
  left.generate(harness::DataKind::kInts, 1);
  right.generate(harness::DataKind::kInts, 2);
  const Stream streams[2];
  const auto check_beside = [&](Problem* judged, const MatmulArguments& other) {
    const Problem::Verdict verdict = judged->check(
        [&](const MatmulArguments& args) {
          Status status;
          for (int i = 0; i < 100 && status.ok(); ++i) {
            status = matmul(other, streams[0].get());
            if (status.ok()) status = matmul(args, streams[1].get());
          }
          return status;
        },
        GetParam().shape);
    EXPECT_TRUE(verdict.right()) << verdict.status.message() << verdict.fault;
  };
  check_beside(&left, right.arguments());
  check_beside(&right, left.arguments());
}

class GridLimits : public testing::TestWithParam<Version> {};

TEST_P(GridLimits, TileColumnsEndAt65535In2DGridsAlone) {
  const Version& version = GetParam();
  for (const int64_t columns : {65535, 65536}) {
    Problem problem({8, columns * areas(version.shape).block_n, 8});
    problem.generate(harness::DataKind::kInts, 1);
    const Problem::Verdict verdict = problem.check(
        [&](const MatmulArguments& args) { return version.matmul(args, nullptr); }, version.shape);
    if (broken_rules(problem.arguments(), version).empty()) {
      EXPECT_TRUE(verdict.right()) << verdict.status.message() << verdict.fault;
    } else {
      EXPECT_EQ(verdict.status.code(), ExitCode::kUsage);
      EXPECT_NE(verdict.status.message().find("65536 tile columns"), std::string::npos);
      EXPECT_EQ(verdict.fault, "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Streams, testing::ValuesIn(harness::versions()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(, GridLimits, testing::ValuesIn(harness::versions()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace shapes
