#include "measure/cublas.h"

#include <cublas_v2.h>
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <memory>

#include "measure/cuda_handles.h"

namespace inlay::lab {
namespace {

void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw Error(fmt::format("cuBLAS: {}", cublasGetStatusString(status)));
}

struct DestroyCublas {
  void operator()(cublasHandle_t handle) const { cublasDestroy(handle); }
};

// cuBLAS is column-major: our (rows, cols) source is its (cols, rows) A, our (cols, rows) destination its (rows, cols)
// C. With beta = 0 it does not read B; C stands in for it.
template <class T, class Geam>
void transpose_by(Geam geam, cublasHandle_t handle, Case const& c, T one, T zero, void* dst, void const* src) {
  int const pitch = int(c.source_pitch()), pitch_dst = int(c.destination_pitch());
  auto const* const in = static_cast<T const*>(src) + c.base_src;
  auto* const out = static_cast<T*>(dst) + c.base_dst;
  check_cublas(geam(handle, CUBLAS_OP_T, CUBLAS_OP_N, int(c.rows), int(c.cols), &one, in, pitch, &zero, out, pitch_dst,
                    out, pitch_dst));
}

std::shared_ptr<cublasContext> make_handle() {
  cublasHandle_t created;
  check_cublas(cublasCreate(&created));
  return {created, DestroyCublas{}};
}

}  // namespace

Launch geam(Case const& c) {
  auto const handle = make_handle();
  return [c, handle](void* dst, void const* src, cudaStream_t stream) {
    if (c.elem_bytes < 4) throw Rejection(fmt::format("geam has no type of {} bytes", c.elem_bytes));
    if (c.batch > 1) throw Rejection(fmt::format("geam takes one matrix, not {}", c.batch));
    if (auto const longest = std::max(c.source_pitch(), c.destination_pitch()); longest > INT_MAX)
      throw Rejection(fmt::format("geam takes extents of 31 bits, not {}", longest));
    check_cublas(cublasSetStream(handle.get(), stream));
    if (c.elem_bytes == 4)
      transpose_by(cublasSgeam, handle.get(), c, 1.f, 0.f, dst, src);
    else if (c.elem_bytes == 8)
      transpose_by(cublasDgeam, handle.get(), c, 1., 0., dst, src);
    else
      transpose_by(cublasZgeam, handle.get(), c, cuDoubleComplex{1, 0}, cuDoubleComplex{0, 0}, dst, src);
  };
}

// cuBLAS is column-major: it is given our product transposed, C^T = op(B)^T op(A)^T, in which each operand keeps its
// letter.
GemmLaunch sgemm(GemmCase const& c) {
  // As much as it has by default on this GPU. Without one of its own it would allocate in every captured launch.
  constexpr std::size_t kWorkspace = 32 << 20;
  std::shared_ptr<char> const workspace = device_memory(kWorkspace);
  auto const handle = make_handle();
  check_cublas(cublasSetMathMode(handle.get(), CUBLAS_PEDANTIC_MATH));
  return [c, workspace, handle](GemmCall const& call, cudaStream_t stream) {
    Stored const a = c.a(), b = c.b(), out = c.c();
    if (auto const longest = std::max({c.M, c.N, c.K, a.pitch, b.pitch, out.pitch, c.batch}); longest > INT_MAX)
      throw Rejection(fmt::format("sgemm takes extents of 31 bits, not {}", longest));
    check_cublas(cublasSetStream(handle.get(), stream));
    check_cublas(cublasSetWorkspace(handle.get(), workspace.get(), kWorkspace));  // a new stream takes the default's
    auto const op_a = c.a_transposed() ? CUBLAS_OP_T : CUBLAS_OP_N, op_b = c.b_transposed() ? CUBLAS_OP_T : CUBLAS_OP_N;
    int const M = int(c.M), N = int(c.N), K = int(c.K);
    // What a user would call: the batched one may have other kernels for a batch of one.
    if (c.batch == 1)
      check_cublas(cublasSgemm(handle.get(), op_b, op_a, N, M, K, &call.alpha, call.b, int(b.pitch), call.a,
                               int(a.pitch), &call.beta, call.c, int(out.pitch)));
    else
      check_cublas(cublasSgemmStridedBatched(handle.get(), op_b, op_a, N, M, K, &call.alpha, call.b, int(b.pitch),
                                             b.elements(), call.a, int(a.pitch), a.elements(), &call.beta, call.c,
                                             int(out.pitch), out.elements(), int(c.batch)));
  };
}

}  // namespace inlay::lab
