// gelu(A B + bias) of bf16 matrices whose extents are odd, with sums in fp32: one call, nothing is padded by the
// caller.
#include <inlay/gemm.h>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

void check(cudaError_t status) {
  if (status != cudaSuccess) throw inlay::Error(cudaGetErrorString(status), status);
}

int main() try {
  int const M = 301, N = 203, K = 101;
  std::vector<__nv_bfloat16> a(M * K), b(K * N), bias(N), d(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = __float2bfloat16(float(i % 7 - 3));
  for (int i = 0; i < K * N; ++i) b[i] = __float2bfloat16(float(i % 5 - 2));
  for (int n = 0; n < N; ++n) bias[n] = __float2bfloat16(float(n % 3));
  __nv_bfloat16* device = nullptr;
  check(cudaMalloc(&device, (a.size() + b.size() + bias.size() + d.size()) * sizeof *device));
  auto upload = [at = device](std::vector<__nv_bfloat16> const& from) mutable {
    check(cudaMemcpy(at, from.data(), from.size() * sizeof *at, cudaMemcpyHostToDevice));
    return std::exchange(at, at + from.size());
  };
  inlay::Tensor const A = inlay::matrix(upload(a), M, K), B = inlay::matrix(upload(b), K, N),
                      bias_of_rows = inlay::tensor(upload(bias), {N}), D = inlay::matrix(upload(d), M, N);

  inlay::Workspace workspace;
  inlay::gemm(A, B, D, workspace, {.beta = 1, .activation = inlay::Activation::gelu_erf}, {.C = bias_of_rows});

  check(cudaMemcpy(d.data(), D.data, d.size() * sizeof *device, cudaMemcpyDeviceToHost));
  double worst = 0;
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      double x = __bfloat162float(bias[n]);
      for (int k = 0; k < K; ++k) x += __bfloat162float(a[m * K + k]) * __bfloat162float(b[k * N + n]);
      double const wanted = x / 2 * (1 + std::erf(x / std::sqrt(2.)));
      worst = std::fmax(worst, std::fabs(__bfloat162float(d[m * N + n]) - wanted) / std::fmax(1, std::fabs(wanted)));
    }
  std::printf("largest relative error %.2g, half an ulp of bf16 is %.2g\n", worst, 0x1p-9);
  return worst <= 0x1p-8 ? 0 : 1;
} catch (inlay::Error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
