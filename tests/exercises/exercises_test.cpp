// Is the grading of exercises right? Solutions are right, blanks are not, and what one tries first
// gets the verdict that exercises/*.txt foresees.
#include <exercises/grade.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace {

using exercises::Answer;
using exercises::Verdict;

struct Try {
  std::string answer;  // "06_refill.try_2"
  std::string name;
  std::string word;  // of the verdict
  std::vector<std::string> parts;  // one of which its text has; none: any text
};

const std::vector<Try> kTries = {
#include "tries.inc"
};

std::string variant_of(const Answer& answer) {
  return answer.name.substr(answer.name.find('.') + 1);
}

// All answers, by name; their order among the files of a program is the linker's.
const std::map<std::string, Answer>& by_name() {
  static const std::map<std::string, Answer> all = [] {
    std::map<std::string, Answer> named;
    for (const Answer& answer : exercises::answers()) named.emplace(answer.name, answer);
    return named;
  }();
  return all;
}

std::vector<std::string> names_of(const std::string& variant) {
  std::vector<std::string> names;
  for (const auto& [name, answer] : by_name()) {
    if (variant_of(answer) == variant) names.push_back(name);
  }
  return names;
}

class Solutions : public testing::TestWithParam<std::string> {};
class Blanks : public testing::TestWithParam<std::string> {};
class Tries : public testing::TestWithParam<Try> {};

TEST_P(Solutions, AreRight) {
  const Verdict verdict = exercises::grade(by_name().at(GetParam()));
  EXPECT_EQ(verdict.word, "right") << verdict.text;
}

// What is said names a place to look at: a line of the reader's file, an element of C, or a block.
TEST_P(Blanks, AreNotRightAndSayWhere) {
  const Verdict verdict = exercises::grade(by_name().at(GetParam()));
  EXPECT_TRUE(verdict.word == "hazard" || verdict.word == "wrong") << verdict.word;
  const std::string file = GetParam().substr(0, GetParam().find('.')) + "/blank.cu:";
  const std::string place = verdict.word == "hazard" ? file : " elements are wrong";
  const bool says = verdict.text.find(place) != std::string::npos ||
                    verdict.text.find("strips of A and B") != std::string::npos;
  EXPECT_TRUE(says) << verdict.text;
}

TEST_P(Tries, GetTheVerdictThatIsForeseen) {
  const Try& tried = GetParam();
  const Verdict verdict = exercises::grade(by_name().at(tried.answer));
  EXPECT_EQ(verdict.word, tried.word) << tried.name << "\n" << verdict.text;
  const bool expected =
      tried.parts.empty() ||
      std::any_of(tried.parts.begin(), tried.parts.end(), [&](const std::string& part) {
        return verdict.text.find(part) != std::string::npos;
      });
  EXPECT_TRUE(expected) << tried.name << "\n" << verdict.text;
}

// The same answer gets the same verdict, whatever ran before it.
TEST(Grading, IsRepeatable) {
  for (const std::string& name : names_of("blank")) {
    const Verdict first = exercises::grade(by_name().at(name));
    const Verdict second = exercises::grade(by_name().at(name));
    EXPECT_EQ(first.word + first.text, second.word + second.text);
  }
}

// Every exercise has wrong tries, two at least.
TEST(Grading, IsProvenByWrongTries) {
  EXPECT_GE(names_of("solution").size(), 12u);
  EXPECT_EQ(names_of("solution").size(), names_of("blank").size());
  std::map<std::string, int> wrong;
  for (const Try& tried : kTries) {
    wrong[tried.answer.substr(0, tried.answer.find('.'))] += tried.word != "right";
  }
  for (const std::string& name : names_of("solution")) {
    EXPECT_GE(wrong[name.substr(0, name.find('.'))], 2) << name;
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  return info.param.substr(0, info.param.find('.'));
}

std::string try_name(const testing::TestParamInfo<Try>& info) {
  std::string name = info.param.answer;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

void PrintTo(const Try& tried, std::ostream* out) { *out << tried.answer << ": " << tried.name; }

INSTANTIATE_TEST_SUITE_P(All, Solutions, testing::ValuesIn(names_of("solution")), test_name);
INSTANTIATE_TEST_SUITE_P(All, Blanks, testing::ValuesIn(names_of("blank")), test_name);
INSTANTIATE_TEST_SUITE_P(All, Tries, testing::ValuesIn(kTries), try_name);

}  // namespace
