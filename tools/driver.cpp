// The program of one version: checks and times it on one problem; --help says how to choose it.
// Built once for each version, with VERSION as the name of its directory.
#include <harness/run.h>
#include <harness/versions.h>

#define NAME_OF(version) #version
#define NAME(version) NAME_OF(version)

int main(int argc, char** argv) {
  return harness::run_driver({NAME(VERSION), VERSION::matmul, VERSION::kTileShape}, argc, argv);
}
