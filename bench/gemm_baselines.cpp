// `inlay bench gemm` with other people's kernels in the same table. usage: gemm_peers gemm [the same flags]
#include "gemm_baselines.h"

#include "commands.h"
#include "measure/gemm_candidates.h"

int main(int argc, char** argv) {
  using namespace inlay;
  std::string typed = "gemm_peers";
  for (int i = 1; i < argc; ++i) typed += std::string(" ") + argv[i];
  int status = 0;
  CLI::App app("GEMMs in fp32: inlay's, cuBLAS's and other people's.", "gemm_peers");
  app.require_subcommand(1);
  lab::add_bench_of_gemms(app, typed, [&status](lab::BenchOptions options) {
    options.baselines = [](lab::GemmCase const& c) {
      std::vector<lab::GemmCandidate> all;
      auto const add = [&](std::vector<lab::GemmCandidate> const& some) {
        all.insert(all.end(), some.begin(), some.end());
      };
#ifdef INLAY_BASELINES_SGEMM_CU
      add(baselines::salykova(c));
#endif
#ifdef INLAY_BASELINES_CUTLASS
      add(baselines::cutlass_simt(c));
#endif
      return all;
    };
    status = lab::run_bench(options) ? 0 : 1;
  });
  return lab::run_command(app, argc, argv, status);
}
