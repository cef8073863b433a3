// Launches the kernel of kernel.h on a GPU.
#include <inlay/block/launch.h>

#include <cstdio>
#include <vector>

#include "kernel.h"

void check(cudaError_t status) {
  if (status != cudaSuccess) throw inlay::Error(cudaGetErrorString(status));
}

int main() try {
  int const M = 1000, N = 3000;
  std::vector<float> in(M * N), out(M);
  for (int i = 0; i < M * N; ++i) in[i] = float(i % 7 - 3);
  float *in_gpu = nullptr, *out_gpu = nullptr;
  check(cudaMalloc(&in_gpu, in.size() * sizeof(float)));
  check(cudaMalloc(&out_gpu, out.size() * sizeof(float)));
  check(cudaMemcpy(in_gpu, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));

  inlay::block::launch(row_sums::Kernel{in_gpu, out_gpu, M, N}, inlay::block::Target{}, cudaStream_t{});

  check(cudaMemcpy(out.data(), out_gpu, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int m = 0; m < M; ++m) {
    float sum = 0;
    for (int n = 0; n < N; ++n) sum += in[m * N + n];
    wrong += !(out[m] == sum);
  }
  std::printf("%d of %d rows are wrong\n", wrong, M);
  return wrong > 0;
} catch (inlay::Error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
