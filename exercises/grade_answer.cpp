// Grades the one answer that it is linked with: prints the verdict in one word, then what was
// found.
#include <exercises/grade.h>
#include <harness/program.h>
#include <status.h>

#include <cstdio>

int main() {
  return harness::run_program("exercise", [] {
    const exercises::Verdict verdict = exercises::grade(exercises::answers().at(0));
    std::printf("%s\n%s", verdict.word.c_str(), verdict.text.c_str());
    return static_cast<int>(verdict.word == "right" ? ExitCode::kOk : ExitCode::kWrongResult);
  });
}
