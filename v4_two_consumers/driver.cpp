// Checks and times this version on one problem; --help says how to choose it.
#include <harness/run.h>

int main(int argc, char** argv) {
  return harness::run_driver({"v4_two_consumers", v4_two_consumers::matmul}, argc, argv);
}
