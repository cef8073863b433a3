// `inlay bench gemm` with other people's kernels in the same table. usage: gemm_peers gemm [the same flags]
#include "gemm_peers.h"

#include "commands.h"
#include "measure/gemm_contenders.h"

int main(int argc, char** argv) {
  using namespace inlay;
  std::string typed = "gemm_peers";
  for (int i = 1; i < argc; ++i) typed += std::string(" ") + argv[i];
  int status = 0;
  CLI::App app("Products in fp32: inlay's, cuBLAS's and other people's.", "gemm_peers");
  app.require_subcommand(1);
  lab::add_bench_of_products(app, typed, [&status](lab::BenchOptions options) {
    options.peers = [](lab::GemmCase const& c) {
      std::vector<lab::GemmContender> all;
      auto const add = [&](std::vector<lab::GemmContender> const& some) {
        all.insert(all.end(), some.begin(), some.end());
      };
#ifdef INLAY_PEERS_SGEMM_CU
      add(peers::salykova(c));
#endif
#ifdef INLAY_PEERS_CUTLASS
      add(peers::cutlass_simt(c));
#endif
      return all;
    };
    status = lab::run_bench(options) ? 0 : 1;
  });
  return lab::run_command(app, argc, argv, status);
}
