// Multiplies matrices of float on the GPU, one of them stored transposed: plain C++, one call.
#include <inlay/gemm.h>

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

void check(cudaError_t status) {
  if (status != cudaSuccess) throw inlay::Error(cudaGetErrorString(status), status);
}

int main() try {
  int const M = 300, N = 200, K = 100;
  std::vector<float> a(M * K), b(N * K), d(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = float(i % 7);
  for (int i = 0; i < N * K; ++i) b[i] = float(i % 5);
  float* device = nullptr;
  check(cudaMalloc(&device, (a.size() + b.size() + d.size()) * sizeof(float)));
  check(cudaMemcpy(device, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  check(cudaMemcpy(device + a.size(), b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));

  inlay::Tensor const A = inlay::matrix(device, M, K), B = inlay::matrix(device + a.size(), N, K).transposed(),
                      D = inlay::matrix(device + a.size() + b.size(), M, N);
  inlay::Workspace workspace;  // some plans need device memory of their own
  inlay::gemm(A, B, D, workspace);

  check(cudaMemcpy(d.data(), D.data, d.size() * sizeof(float), cudaMemcpyDeviceToHost));
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += a[5 * K + k] * b[7 * K + k];
  std::printf("D[5][7] = %g, row 5 of A times column 7 of B = %g\n", d[5 * N + 7], sum);
  std::printf("%s", inlay::plan(A, B, D).why().c_str());
  return d[5 * N + 7] == sum ? 0 : 1;
} catch (inlay::Error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
