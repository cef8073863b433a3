// Multiplies matrices on the GPU, one of them stored transposed: plain C++, one call.
#include <inlay/gemm.h>

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

int main() try {
  int const M = 300, N = 200, K = 100;
  std::vector<float> a(M * K), b(N * K), c(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = float(i % 7);
  for (int i = 0; i < N * K; ++i) b[i] = float(i % 5);
  float* device = nullptr;
  inlay::check(cudaMalloc(&device, (a.size() + b.size() + c.size()) * sizeof(float)));
  inlay::check(cudaMemcpy(device, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  inlay::check(cudaMemcpy(device + a.size(), b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));

  inlay::Tensor const A = inlay::matrix(device, M, K), B = inlay::matrix(device + a.size(), N, K).transposed(),
                      C = inlay::matrix(device + a.size() + b.size(), M, N);
  inlay::gemm(A, B, C);

  inlay::check(cudaMemcpy(c.data(), C.data, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += a[5 * K + k] * b[7 * K + k];
  std::printf("C[5][7] = %g, row 5 of A times column 7 of B = %g\n", c[5 * N + 7], sum);
  std::printf("%s", inlay::plan(A, B, C, {}, inlay::Compute::fp32, false).why().c_str());
  return c[5 * N + 7] == sum ? 0 : 1;
} catch (inlay::Error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
