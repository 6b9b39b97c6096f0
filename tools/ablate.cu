// Ablations: a version beside copies of itself that differ in one thing each, interleaved as in
// compare. Stages, group sizes and tiles are template arguments; everything else is a patch under
// tools/ablations, applied to a copy of kernel.cu when this is built.
#include <harness/program.h>
#include <harness/run.h>
#include <harness/versions.h>

#include <map>

#include "../v2_pipelined/kernel.cu"
#include "../v3_warp_specialized/kernel.cu"
#include "../v4_two_consumers/kernel.cu"
#include "../v5_async_mma/kernel.cu"
#include "../v6_persistent/kernel.cu"
#include "../v7_cluster_multicast/kernel.cu"
#include "../v8_fitted_tiles/kernel.cu"
#include "../v9_aligned_blocks/kernel.cu"
#include "ablations/v2_async_mma.cu"
#include "ablations/v3_async_mma.cu"
#include "ablations/v4_all_threads_arrive.cu"
#include "ablations/v4_pair_stores.cu"
#ifdef HAVE_RELAXED_WAITS
#include "ablations/v4_relaxed_waits.cu"
#endif
#include "ablations/v6_all_blocks.cu"
#include "ablations/v6_direct_stores.cu"
#include "ablations/v6_forward.cu"
#include "ablations/v6_setmaxnreg.cu"
#include "ablations/v6_wait_all.cu"
#include "ablations/v7_acquire_cta.cu"
#include "ablations/v7_forward.cu"
#include "ablations/v7_multicast_a.cu"
#include "ablations/v7_no_multicast.cu"
#include "ablations/v7_release_cluster.cu"
#include "ablations/v8_divergent_warpgroup.cu"
#include "ablations/v8_no_serpentine.cu"
#include "ablations/v8_plain_descriptors.cu"
#include "ablations/v8_three_store_buffers.cu"
#include "ablations/v8_warp_producer.cu"
#include "ablations/v9_both_blocks.cu"
#include "ablations/v9_meetings_16.cu"
#include "ablations/v9_meetings_2.cu"
#include "ablations/v9_meetings_8.cu"
#include "ablations/v9_strict.cu"

namespace harness {
namespace {

// The first of a list is what the others are compared with.
const std::map<std::string, std::vector<Version>>& ablations() {
  static const std::map<std::string, std::vector<Version>> all = {
      {"v4",
       {{"v4_two_consumers", v4_two_consumers::matmul, v4_two_consumers::kTileShape},
        {"v4_stages_2", v4_two_consumers::matmul<2, 4>, v4_two_consumers::kTileShape},
        {"v4_stages_4", v4_two_consumers::matmul<4, 4>, v4_two_consumers::kTileShape},
        {"v4_group_1", v4_two_consumers::matmul<3, 1>, v4_two_consumers::kTileShape},
        {"v4_group_8", v4_two_consumers::matmul<3, 8>, v4_two_consumers::kTileShape},
        {"v4_all_threads_arrive", v4_all_threads_arrive::matmul, v4_two_consumers::kTileShape},
#ifdef HAVE_RELAXED_WAITS
        {"v4_relaxed_waits", v4_relaxed_waits::matmul, v4_two_consumers::kTileShape},
#endif
        {"v4_pair_stores", v4_pair_stores::matmul, v4_two_consumers::kTileShape}}},
      {"v5",
       {{"v5_async_mma", v5_async_mma::matmul, v5_async_mma::kTileShape},
        {"v5_stages_3", v5_async_mma::matmul<3, 4>, v5_async_mma::kTileShape},
        {"v4_two_consumers", v4_two_consumers::matmul, v4_two_consumers::kTileShape},
        {"v4_stages_4", v4_two_consumers::matmul<4, 4>, v4_two_consumers::kTileShape},
        {"v3_stages_3", v3_warp_specialized::matmul<3>, v3_warp_specialized::kTileShape},
        {"v3_async_mma_stages_3", v3_async_mma::matmul, v3_warp_specialized::kTileShape},
        {"v2_pipelined", v2_pipelined::matmul, v2_pipelined::kTileShape},
        {"v2_async_mma", v2_async_mma::matmul, v2_pipelined::kTileShape}}},
      {"v6",
       {{"v6_persistent", v6_persistent::matmul, v6_persistent::kTileShape},
        {"v6_group_4", v6_persistent::matmul<4, 4>, v6_persistent::kTileShape},
        {"v6_group_16", v6_persistent::matmul<4, 16>, v6_persistent::kTileShape},
        {"v6_forward", v6_forward::matmul, v6_persistent::kTileShape},
        {"v6_all_blocks", v6_all_blocks::matmul, v6_persistent::kTileShape},
        {"v6_direct_stores", v6_direct_stores::matmul, v6_persistent::kTileShape},
        {"v6_setmaxnreg", v6_setmaxnreg::matmul, v6_persistent::kTileShape},
        {"v6_wait_all", v6_wait_all::matmul, v6_persistent::kTileShape},
        {"v5_async_mma", v5_async_mma::matmul, v5_async_mma::kTileShape}}},
      {"v7",
       {{"v7_cluster_multicast", v7_cluster_multicast::matmul, v7_cluster_multicast::kTileShape},
        {"v7_group_4", v7_cluster_multicast::matmul<4, 4>, v7_cluster_multicast::kTileShape},
        {"v7_group_16", v7_cluster_multicast::matmul<4, 16>, v7_cluster_multicast::kTileShape},
        {"v7_forward", v7_forward::matmul, v7_cluster_multicast::kTileShape},
        {"v7_acquire_cta", v7_acquire_cta::matmul, v7_cluster_multicast::kTileShape},
        {"v7_multicast_a", v7_multicast_a::matmul, v7_cluster_multicast::kTileShape},
        {"v7_no_multicast", v7_no_multicast::matmul, v7_cluster_multicast::kTileShape},
        {"v7_release_cluster", v7_release_cluster::matmul, v7_cluster_multicast::kTileShape},
        {"v6_persistent", v6_persistent::matmul, v6_persistent::kTileShape}}},
      {"v8",
       {{"v8_fitted_tiles", v8_fitted_tiles::matmul, v8_fitted_tiles::kTileShape},
        {"v8_tile_256x200", v8_fitted_tiles::matmul<v8_fitted_tiles::Tile<2, 200>>,
         v8_fitted_tiles::kTileShape},
        {"v8_tile_256x184", v8_fitted_tiles::matmul<v8_fitted_tiles::Tile<2, 184>>,
         v8_fitted_tiles::kTileShape},
        {"v8_tile_256x176", v8_fitted_tiles::matmul<v8_fitted_tiles::Tile<2, 176>>,
         v8_fitted_tiles::kTileShape},
        {"v8_tile_128x256", v8_fitted_tiles::matmul<v8_fitted_tiles::Tile<1, 256>>,
         v8_fitted_tiles::kTileShape},
        {"v8_three_store_buffers", v8_three_store_buffers::matmul, v8_fitted_tiles::kTileShape},
        {"v8_no_serpentine", v8_no_serpentine::matmul, v8_fitted_tiles::kTileShape},
        {"v8_warp_producer", v8_warp_producer::matmul, v8_fitted_tiles::kTileShape},
        {"v8_plain_descriptors", v8_plain_descriptors::matmul, v8_fitted_tiles::kTileShape},
        {"v8_divergent_warpgroup", v8_divergent_warpgroup::matmul, v8_fitted_tiles::kTileShape},
        {"v7_cluster_multicast", v7_cluster_multicast::matmul, v7_cluster_multicast::kTileShape}}},
      {"v9",
       {{"v9_aligned_blocks", v9_aligned_blocks::matmul, v9_aligned_blocks::kTileShape},
        {"v9_meetings_2", v9_meetings_2::matmul, v9_aligned_blocks::kTileShape},
        {"v9_meetings_8", v9_meetings_8::matmul, v9_aligned_blocks::kTileShape},
        {"v9_meetings_16", v9_meetings_16::matmul, v9_aligned_blocks::kTileShape},
        {"v9_strict", v9_strict::matmul, v9_aligned_blocks::kTileShape},
        {"v9_both_blocks", v9_both_blocks::matmul, v9_aligned_blocks::kTileShape},
        {"v8_fitted_tiles", v8_fitted_tiles::matmul, v8_fitted_tiles::kTileShape}}},
  };
  return all;
}

int run_ablations(int argc, char** argv) {
  const std::string program = "ablate";
  const auto chosen = ablations().find(argc > 1 ? argv[1] : "");
  if (chosen == ablations().end()) {
    std::string names;
    for (const auto& [name, versions] : ablations()) names += " " + name;
    return fail(program,
                {ExitCode::kUsage, "say what to take apart, one of:" + names +
                                       "; then options as for compare (see compare --help)"});
  }
  RunOptions options;
  bool done = false;
  const Status status = parse_compare(argc - 1, argv + 1, &options, &done);
  if (!status.ok() || done) return status.ok() ? 0 : fail(program, status);
  if (!options.versions.empty()) {
    return fail(program,
                {ExitCode::kUsage, "--versions is of compare; an ablation has its own list"});
  }
  options.command.assign(argv, argv + argc);
  options.command[0] = program;
  if (options.problems_are_default) options.problems = {{8192, 8192, 8192}, {4096, 4096, 4096}};
  const std::vector<Version>& variants = chosen->second;
  return run_problems(program, variants, options, [&](const ProblemResult& problem) {
    return format_table(problem, variants[0].name);
  });
}

}  // namespace
}  // namespace harness

int main(int argc, char** argv) {
  return harness::run_program("ablate", [&] { return harness::run_ablations(argc, argv); });
}
