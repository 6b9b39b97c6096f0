// The two back ends offer the same functions: what common/ptx has, emulator/ptx has, and no more.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  // Comments out, so that only declarations are left.
  return std::regex_replace(text.str(), std::regex("//[^\n]*"), "");
}

// Names that are followed by a parameter list in namespace ptx or at the top, where kernels see
// them; what else a back end needs lives in namespaces of its own.
std::set<std::string> functions_of(const std::string& path) {
  const std::string text = text_of(path);
  std::set<std::string> names;
  const std::regex function(R"(\n(?:template <[^>]*>\s*)?(?:__device__ __forceinline__ |inline )?)"
                            R"([A-Za-z_][A-Za-z0-9_]*[&*]? &?([a-z_][a-z0-9_]*)\()");
  for (std::sregex_iterator match(text.begin(), text.end(), function), end; match != end; ++match) {
    const std::string before = text.substr(0, static_cast<size_t>(match->position(1)));
    const size_t open = before.rfind("namespace emulator {");
    const size_t close = before.rfind("\n}");
    if (open != std::string::npos && (close == std::string::npos || close < open)) continue;
    names.insert((*match)[1]);
  }
  return names;
}

class Seam : public testing::TestWithParam<const char*> {};

TEST_P(Seam, BothBackEndsOfferTheSame) {
  const std::string name = GetParam();
  const auto gpu = functions_of(SOURCE_DIR "/common/ptx/" + name);
  const auto cpu = functions_of(SOURCE_DIR "/emulator/ptx/" + name);
  EXPECT_FALSE(gpu.empty());
  EXPECT_EQ(gpu, cpu);
}

INSTANTIATE_TEST_SUITE_P(Headers, Seam,
                         testing::Values("cluster.cuh", "mbarrier.cuh", "tma.cuh", "warpgroup.cuh",
                                         "wgmma.cuh"),
                         [](const testing::TestParamInfo<const char*>& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
