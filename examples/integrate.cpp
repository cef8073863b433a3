// What a caller of cuBLASLt and cuTENSOR needs, in inlay's words: docs/08_cpp_and_c.md. Compiled wherever the project
// is built.
#include <inlay/inlay.h>

#include <cuda_bf16.h>

// A matrix as BLAS stores it: column by column, ld elements apart.
inlay::Tensor column_major(float* a, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return inlay::tensor(a, {rows, cols}, {1, ld});
}

// A batch whose matrices share one B.
void batch(inlay::Tensor const& A, inlay::Tensor const& B, inlay::Tensor const& D, inlay::Workspace& workspace) {
  inlay::gemm(A, B.broadcast({A.extent[0], B.extent[0], B.extent[1]}), D, workspace);  // (L,M,K) (K,N) -> (L,M,N)
}

// A graph: its workspace is reserved before, and lives as long as the graph.
cudaGraph_t captured(inlay::Tensor const& A, inlay::Tensor const& B, inlay::Tensor const& D,
                     inlay::Workspace& workspace) {
  workspace.reserve(inlay::gemm_workspace(A, B, D));
  inlay::detail::check(cudaStreamBeginCapture(workspace.stream(), cudaStreamCaptureModeThreadLocal));
  inlay::gemm(A, B, D, workspace);
  cudaGraph_t graph;
  inlay::detail::check(cudaStreamEndCapture(workspace.stream(), &graph));
  return graph;
}

// A plan: made once, run with the pointers of each layer.
void layers(inlay::Tensor const& A, inlay::Tensor const& B, inlay::Tensor const& D, float* const* weights, int count,
            void* workspace, std::size_t bytes, cudaStream_t stream) {
  inlay::Plan const plan = inlay::plan(A, B, D, {}, {}, {.most_workspace_bytes = bytes});
  for (int i = 0; i < count; ++i) plan.run(A.data, weights[i], D.data, stream, workspace, plan.workspace_bytes());
}

// cuTENSOR's permutation of modes "ncwh" to "nwhc".
void permutation(float const* in, float* out, std::int64_t n, std::int64_t c, std::int64_t w, std::int64_t h) {
  inlay::permute(inlay::tensor(out, {n, w, h, c}), inlay::tensor(in, {n, c, w, h}), {0, 2, 3, 1});
}

// What went wrong.
int status_of(inlay::Tensor const& dst, inlay::Tensor const& src) try {
  inlay::copy(dst, src);
  return 0;
} catch (inlay::Error const& e) {  // e.what(): a sentence with the values
  return e.code() == inlay::ErrorCode::cuda ? int(e.cuda_status()) : -int(e.code());
}
