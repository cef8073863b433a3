// Groups of rows with a B each, of bf16: inlay's grouped_gemm() beside one inlay GEMM of as many rows by one B, and
// cuBLAS's grouped batched GEMM, to which the host tells the groups.
//
// usage: groups SEED > ROWS. A line is a JSON object; "rows" are those of the groups. Times are medians of rounds in
// which all run in turn. Sampled elements are compared with sums in fp64.
#include <cublas_v2.h>
#include <inlay/gemm.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "halves.h"

namespace {
using namespace inlay;
using namespace inlay::bench;
using detail::check;

void check_cublas(cublasStatus_t s) {
  if (s != CUBLAS_STATUS_SUCCESS) throw Error(cublasGetStatusString(s));
}
float value_of(std::uint16_t bf16) {
  std::uint32_t const bits = std::uint32_t(bf16) << 16;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
struct Case {
  char const* name;
  int groups, most_rows;
  std::int64_t N, K;
  bool b_along_n;
};
constexpr Case kCases[] = {
    {"64 groups of 1 to 2048 rows", 64, 2048, 4096, 7168, false},
    {"64 groups of 1 to 2048 rows", 64, 2048, 4096, 7168, true},
    {"8 groups of 1 to 4096 rows", 8, 4096, 14336, 4096, false},
    {"8 groups of 1 to 4096 rows", 8, 4096, 4096, 14336, false},
    {"256 groups of 1 to 128 rows", 256, 128, 2048, 7168, false},
    {"256 groups of 1 to 128 rows", 256, 128, 7168, 2048, false},
    {"64 groups of 1 to 16 rows", 64, 16, 4096, 7168, false},
    {"64 groups of 1 to 16 rows", 64, 16, 4096, 7168, true},
};

// cuBLAS's column-major D^T = B^T A^T for each group.
struct CublasGroups {
  std::vector<cublasOperation_t> op_b, op_a;
  std::vector<int> m, n, k, ld_b, ld_a, ld_d, size;
  std::vector<float> one, zero;
  Buffer b, a, d;  // addresses

  CublasGroups(Case const& c, std::vector<int> const& rows, void* A, void* B, void* D) {
    std::vector<void*> at_a, at_b, at_d;
    auto const at = [](void* p, std::int64_t elements) { return static_cast<char*>(p) + 2 * elements; };
    std::int64_t first = 0;
    for (std::size_t g = 0; g < rows.size(); first += rows[g++]) {
      op_b.push_back(c.b_along_n ? CUBLAS_OP_N : CUBLAS_OP_T), op_a.push_back(CUBLAS_OP_N);
      m.push_back(int(c.N)), n.push_back(rows[g]), k.push_back(int(c.K)), size.push_back(1);
      ld_b.push_back(int(c.b_along_n ? c.N : c.K)), ld_a.push_back(int(c.K)), ld_d.push_back(int(c.N));
      one.push_back(1), zero.push_back(0);
      at_a.push_back(at(A, first * c.K)), at_b.push_back(at(B, std::int64_t(g) * c.N * c.K));
      at_d.push_back(at(D, first * c.N));
    }
    std::size_t const bytes = rows.size() * sizeof(void*);
    a = uploaded(at_a.data(), bytes), b = uploaded(at_b.data(), bytes), d = uploaded(at_d.data(), bytes);
  }
  void run(cublasHandle_t handle) const {
    check_cublas(cublasGemmGroupedBatchedEx(handle, op_b.data(), op_a.data(), m.data(), n.data(), k.data(), one.data(),
                                            static_cast<void const* const*>(b.get()), CUDA_R_16BF, ld_b.data(),
                                            static_cast<void const* const*>(a.get()), CUDA_R_16BF, ld_a.data(),
                                            zero.data(), static_cast<void* const*>(d.get()), CUDA_R_16BF, ld_d.data(),
                                            int(m.size()), size.data(), CUBLAS_COMPUTE_32F));
  }
};

void measure(cublasHandle_t handle, Case const& c, std::mt19937_64& random) {
  std::vector<int> rows;
  std::vector<std::int32_t> ends;
  std::int64_t M = 0;
  for (int g = 0; g < c.groups; ++g) {
    rows.push_back(1 + int(random() % std::uint64_t(c.most_rows)));
    ends.push_back(std::int32_t(M += rows.back()));
  }
  // One block of numbers repeats in B: 4 GB of them would take the host a minute.
  std::vector<std::uint16_t> const a = random_halves(std::size_t(M * c.K), 1), b = random_halves(1 << 24 | 1, 2);
  std::size_t const of_B = std::size_t(c.groups) * std::size_t(c.N * c.K), elements = std::size_t(M * c.N);
  Buffer const A = uploaded(a.data(), 2 * a.size()), B = buffer(2 * of_B), D = buffer(2 * elements),
               E = uploaded(ends.data(), 4 * ends.size());
  for (std::size_t i = 0; i < of_B; i += b.size())
    check(cudaMemcpy(static_cast<char*>(B.get()) + 2 * i, b.data(), 2 * std::min(b.size(), of_B - i),
                     cudaMemcpyHostToDevice));
  auto const of_group = [&](void* p, std::int64_t G) {
    return c.b_along_n ? tensor(p, DType::bf16, {G, c.K, c.N}) : tensor(p, DType::bf16, {G, c.N, c.K}).transposed();
  };
  ConstTensor const A_ = matrix(A.get(), DType::bf16, M, c.K), B_ = of_group(B.get(), c.groups);
  ConstTensor const one_B =
      c.b_along_n ? matrix(B.get(), DType::bf16, c.K, c.N) : matrix(B.get(), DType::bf16, c.N, c.K).transposed();
  Tensor const D_ = matrix(D.get(), DType::bf16, M, c.N);
  GemmOptions options;
  options.workspace_bytes = gemm_workspace(A_, one_B, D_);
  Buffer const workspace = buffer(std::max<std::size_t>(options.workspace_bytes, 256));
  options.workspace = workspace.get();
  CublasGroups const cublas(c, rows, A.get(), B.get(), D.get());
  auto const* const on_device = static_cast<std::int32_t const*>(E.get());
  std::function<void()> const runs[] = {[&] {
                                          grouped_gemm(A_, B_, D_, {on_device, ends.size()});
                                        },
                                        [&] { gemm(A_, one_B, D_, {}, nullptr, options); },
                                        [&] { cublas.run(handle); }};

  auto const verify = [&](char const* who) {
    std::int64_t m = 0;
    for (std::size_t g = 0; g < rows.size(); m += rows[g++])
      for (std::int64_t row : {m, m + rows[g] / 2, m + rows[g] - 1}) {
        std::vector<std::uint16_t> got(static_cast<std::size_t>(c.N));
        check(cudaMemcpy(got.data(), static_cast<char*>(D.get()) + 2 * row * c.N, 2 * got.size(),
                         cudaMemcpyDeviceToHost));
        for (std::int64_t n = std::int64_t(g) % 251; n < c.N; n += 251) {
          double sum = 0;
          for (std::int64_t k = 0; k < c.K; ++k) {
            std::size_t const at = g * std::size_t(c.N * c.K) + std::size_t(c.b_along_n ? k * c.N + n : n * c.K + k);
            sum += double(value_of(a[std::size_t(row * c.K + k)])) * double(value_of(b[at % b.size()]));
          }
          double const error = std::abs(value_of(got[std::size_t(n)]) - sum);
          if (!(error <= std::abs(sum) / 256 + 1e-3)) throw Error(std::string(who) + ": a wrong element");
        }
      }
  };
  for (int i : {0, 2}) {
    check(cudaMemset(D.get(), 0xFF, 2 * elements));
    runs[i]();
    check(cudaDeviceSynchronize());
    verify(i ? "cuBLAS" : "inlay");
  }
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin)), check(cudaEventCreate(&end));
  constexpr int rounds = 9;
  std::vector<double> us[3];
  for (int round = 0; round <= rounds; ++round)  // the first one warms up
    for (int i = 0; i < 3; ++i) {
      int const launches = 6;
      runs[i]();
      check(cudaEventRecord(begin));
      for (int k = 0; k < launches; ++k) runs[i]();
      check(cudaEventRecord(end));
      check(cudaEventSynchronize(end));
      float ms;
      check(cudaEventElapsedTime(&ms, begin, end));
      if (round) us[i].push_back(1e3 * ms / launches);
    }
  for (auto& each : us) std::sort(each.begin(), each.end());
  double const inlay = us[0][rounds / 2], dense = us[1][rounds / 2], grouped = us[2][rounds / 2];
  std::printf(
      "{\"case\":\"%s x %ld x %ld, B along %s\",\"us\":%.1f,\"tflops\":%.0f,\"one_gemm_us\":%.1f,"
      "\"of_one_gemm\":%.3f,\"cublas_us\":%.1f,\"of_cublas\":%.3f,\"gbps_of_weights\":%.0f,\"rows\":[",
      c.name, long(c.N), long(c.K), c.b_along_n ? "n" : "k", inlay,
      2e-6 * double(M) * double(c.N) * double(c.K) / inlay, dense, dense / inlay, grouped, grouped / inlay,
      2e-3 * double(of_B) / inlay);
  for (std::size_t g = 0; g < rows.size(); ++g) std::printf("%s%d", g ? "," : "", rows[g]);
  std::printf("]}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  alarm(250);
  try {
    if (argc != 2) throw Error("usage: groups SEED");
    std::mt19937_64 random(std::strtoull(argv[1], nullptr, 10));
    cublasHandle_t handle;
    check_cublas(cublasCreate(&handle));
    for (Case const& c : kCases) measure(handle, c, random);
  } catch (Error const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
