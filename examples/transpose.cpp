// Transposes a matrix on the GPU: plain C++, one call.
#include <inlay/copy.h>

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

void check(cudaError_t status) {
  if (status != cudaSuccess) throw inlay::Error(cudaGetErrorString(status), status);
}

int main() try {
  int const rows = 1000, cols = 300;
  std::vector<float> a(rows * cols), b(cols * rows);
  for (int i = 0; i < rows * cols; ++i) a[i] = float(i);
  float *in = nullptr, *out = nullptr;
  check(cudaMalloc(&in, a.size() * sizeof(float)));
  check(cudaMalloc(&out, b.size() * sizeof(float)));
  check(cudaMemcpy(in, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));

  inlay::Tensor const src = inlay::matrix(in, rows, cols), dst = inlay::matrix(out, cols, rows);
  inlay::transpose(dst, src);

  check(cudaMemcpy(b.data(), out, b.size() * sizeof(float), cudaMemcpyDeviceToHost));
  std::printf("out[2][5] = %g, in[5][2] = %g\n", b[2 * rows + 5], a[5 * cols + 2]);
  std::printf("%s", inlay::plan(dst, src.transposed()).why().c_str());
  return b[2 * rows + 5] == a[5 * cols + 2] ? 0 : 1;
} catch (inlay::Error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
