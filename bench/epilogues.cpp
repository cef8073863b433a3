// Times a bf16 GEMM with a bias and an activation against the same GEMM without, in turn. usage: epilogues [SIZE...]
#include <inlay/error.h>
#include <inlay/gemm.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace {
using namespace inlay;
using detail::check;

struct Free {
  void operator()(void* p) const { cudaFree(p); }
};
// bf16 numbers between 1/256 and 2, of either sign.
std::unique_ptr<void, Free> random_halves(std::size_t count) {
  std::vector<std::uint16_t> values(count);
  std::uint64_t x = 1;
  for (std::uint16_t& v : values) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    v = std::uint16_t((x >> 63 << 15) | (119 + (x >> 40) % 9) << 7 | (x >> 33 & 127));
  }
  void* p;
  check(cudaMalloc(&p, 2 * count));
  check(cudaMemcpy(p, values.data(), 2 * count, cudaMemcpyHostToDevice));
  return std::unique_ptr<void, Free>(p);
}

struct Case {
  char const* name;
  Epilogue epilogue;
  std::optional<ConstTensor> C;
  std::vector<double> us = {};
};

void measure(std::int64_t n) {
  std::size_t const elements = std::size_t(n) * std::size_t(n);
  auto const a = random_halves(elements), b = random_halves(elements), d = random_halves(elements),
             bias = random_halves(std::size_t(n));
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
  std::unique_ptr<void, Free> workspace;
  if (bytes) {
    void* p;
    check(cudaMalloc(&p, bytes));
    workspace.reset(p);
  }
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
