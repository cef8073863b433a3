// Times a bf16 GEMM with a bias and an activation against the same GEMM without, in turn. usage: epilogues [SIZE...]
#include <inlay/gemm.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "halves.h"

namespace {
using namespace inlay;
using namespace inlay::bench;
using detail::check;

struct Case {
  char const* name;
  Epilogue epilogue;
  std::optional<ConstTensor> C;
  std::vector<double> us = {};
};

void measure(std::int64_t n) {
  std::size_t const elements = std::size_t(n) * std::size_t(n);
  Buffer const a = random_halves_on_device(elements), b = random_halves_on_device(elements), d = buffer(2 * elements),
               bias = random_halves_on_device(std::size_t(n));
  Tensor const A = matrix(a.get(), DType::bf16, n, n), B = matrix(b.get(), DType::bf16, n, n).transposed(),
               D = matrix(d.get(), DType::bf16, n, n);
  ConstTensor const row = matrix(bias.get(), DType::bf16, 1, n), column = matrix(bias.get(), DType::bf16, n, 1);
  std::vector<Case> cases = {{"plain", {}, {}},
                             {"bias along n", {1, 1}, row},
                             {"bias along m", {1, 1}, column},
                             {"bias along n, relu", {1, 1, Activation::relu}, row},
                             {"bias along n, gelu_tanh", {1, 1, Activation::gelu_tanh}, row},
                             {"bias along n, gelu_erf", {1, 1, Activation::gelu_erf}, row},
                             {"bias along n, silu", {1, 1, Activation::silu}, row}};
  std::size_t bytes = 0;
  for (Case const& c : cases) bytes = std::max(bytes, gemm_workspace(A, B, D, c.epilogue, {.C = c.C}));
  Buffer const workspace = bytes ? buffer(bytes) : Buffer();
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin)), check(cudaEventCreate(&end));
  constexpr int rounds = 15, launches = 20;
  for (int round = 0; round <= rounds; ++round)  // the first one warms up
    for (Case& c : cases) {
      GemmOptions const options{.workspace = workspace.get(), .workspace_bytes = bytes, .C = c.C};
      check(cudaEventRecord(begin));
      for (int i = 0; i < launches; ++i) gemm(A, B, D, c.epilogue, nullptr, options);
      check(cudaEventRecord(end));
      check(cudaEventSynchronize(end));
      float ms;
      check(cudaEventElapsedTime(&ms, begin, end));
      if (round) c.us.push_back(1e3 * ms / launches);
    }
  for (Case& c : cases) std::sort(c.us.begin(), c.us.end());
  for (Case const& c : cases)
    std::printf("%ld^3, %-24s %8.2f us, %.3f of plain\n", long(n), c.name, c.us[rounds / 2],
                c.us[rounds / 2] / cases[0].us[rounds / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  alarm(120);
  for (int i = 1; i < argc; ++i) measure(std::atol(argv[i]));
  if (argc == 1) measure(4096), measure(4095);
}
