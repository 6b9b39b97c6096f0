// The two back ends offer the same functions: what common/ptx has, emulator/ptx has, with the same
// template, result and parameters, and no more.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

// Words, numbers and single signs; comments, strings and preprocessor lines are left out.
std::vector<std::string> tokens_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string text =
      std::regex_replace("\n" + stream.str(), std::regex("//[^\n]*|\n#[^\n]*|\"[^\"\n]*\""), "\n");
  const std::regex token("\\w+|[^\\s\\w]");
  return {std::sregex_token_iterator(text.begin(), text.end(), token),
          std::sregex_token_iterator()};
}

// A declaration without what a back end may add: how it is compiled, and the caller's line.
std::string signature(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) {
    const bool addition = token == "__device__" || token == "__forceinline__" || token == "inline";
    if (!addition) text += token + " ";
  }
  const auto remove = [&](const char* pattern, const char* instead) {
    text = std::regex_replace(text, std::regex(pattern), instead);
  };
  remove("\\[ \\[ maybe_unused \\] \\] ", "");
  remove("(, )?SourceLine where = SourceLine : : current \\( \\) ", "");
  remove("\\( & \\w+ \\)", "( & )");  // an array's name
  return text;
}

// The functions of namespace ptx, and of the top, where kernels see them; what else a back end
// needs lives in namespaces of its own.
std::set<std::string> functions_of(const std::string& path) {
  std::set<std::string> functions;
  std::vector<std::string> declaration;
  std::vector<std::string> namespaces;
  int depth = 0;  // of braces within a declaration
  for (const std::string& token : tokens_of(path)) {
    const bool within_namespace = !declaration.empty() && declaration[0] == "namespace";
    if (token == "{" && depth == 0 && within_namespace) {
      namespaces.push_back(declaration.back());
      declaration.clear();
    } else if (token == "}" && depth == 0) {
      namespaces.pop_back();
    } else if ((token == "{" && depth++ == 0) || (token == ";" && depth == 0)) {
      const bool seen = namespaces.empty() || namespaces.back() == "ptx";
      const bool is_function =
          std::find(declaration.begin(), declaration.end(), "(") != declaration.end();
      if (seen && is_function) functions.insert(signature(declaration));
      declaration.clear();
    } else if (token == "}") {
      --depth;
    } else if (depth == 0) {
      declaration.push_back(token);
    }
  }
  return functions;
}

class Seam : public testing::TestWithParam<const char*> {};

TEST_P(Seam, BothBackEndsOfferTheSame) {
  const std::string name = GetParam();
  const auto gpu = functions_of(SOURCE_DIR "/common/" + name);
  const auto cpu = functions_of(SOURCE_DIR "/emulator/" + name);
  EXPECT_FALSE(gpu.empty());
  EXPECT_EQ(gpu, cpu);
}

INSTANTIATE_TEST_SUITE_P(Headers, Seam,
                         testing::Values("ptx/cluster.cuh", "ptx/mbarrier.cuh", "ptx/tma.cuh",
                                         "ptx/warpgroup.cuh", "ptx/wgmma.cuh",
                                         "shared_storage.cuh"),
                         [](const testing::TestParamInfo<const char*>& info) {
                           const std::string path = info.param;
                           const size_t begin = path.find('/') + 1;
                           return path.substr(begin, path.find('.') - begin);
                         });

TEST(Signature, IsWhatTheCallerMustKnow) {
  const std::string path = testing::TempDir() + "/seam_test.cuh";
  std::ofstream(path) << "#define NOT (this)\n"
                         "struct MBarrier {\n  int f();\n};\n"
                         "namespace ptx {\n"
                         "template <int kPending>\n"
                         "__device__ __forceinline__ void wait(float (&acc)[64]) {\n"
                         "  for (;;) { asm volatile(\"}\"); }\n"
                         "}\n"
                         "bool test(MBarrier* barrier,  // it\n"
                         "          [[maybe_unused]] SourceLine where = SourceLine::current());\n"
                         "}  // namespace ptx\n"
                         "namespace emulator {\nvoid* hidden();\n}\n";
  EXPECT_EQ(functions_of(path),
            (std::set<std::string>{"template < int kPending > void wait ( float ( & ) [ 64 ] ) ",
                                   "bool test ( MBarrier * barrier ) "}));
}

}  // namespace
