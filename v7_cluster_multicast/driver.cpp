// Checks and times this version on one problem; --help says how to choose it.
#include <harness/run.h>

int main(int argc, char** argv) {
  return harness::run_driver({"v7_cluster_multicast", v7_cluster_multicast::matmul}, argc, argv);
}
