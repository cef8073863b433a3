// The C++ of README: compiled wherever the project is built.
#include <inlay/inlay.h>

#include <cuda_bf16.h>

void first(float* a, float* b, float* d, float* t, int M, int N, int K, cudaStream_t stream) {
  inlay::Workspace workspace(stream);  // device memory that grows to what the calls on its stream need
  inlay::Tensor const A = inlay::matrix(a, M, K);
  inlay::Tensor const B = inlay::matrix(b, N, K).transposed();  // K x N, stored transposed: any strides will do
  inlay::Tensor const D = inlay::matrix(d, M, N);
  inlay::gemm(A, B, D, workspace);                              // D = A B
  inlay::copy(inlay::matrix(t, N, M), D.transposed(), stream);  // any layout to any other, of one shape
}

void bias(__nv_bfloat16* x, __nv_bfloat16* w, __nv_bfloat16* bias, __nv_bfloat16* y, int tokens, int in, int out,
          inlay::Workspace& workspace) {
  inlay::Tensor const X = inlay::matrix(x, tokens, in), W = inlay::matrix(w, out, in).transposed();
  inlay::Tensor const Y = inlay::matrix(y, tokens, out);
  inlay::gemm(X, W, Y, workspace, {.beta = 1, .activation = inlay::Activation::gelu_erf},
              {.C = inlay::tensor(bias, {out})});  // gelu(X W + bias), rounded to bf16 once
}
