#include "measure/cublas.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <memory>

#include "measure/cuda_handles.h"

namespace inlay::lab {
namespace {

void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw Error(fmt::format("cuBLAS: {}", cublasGetStatusString(status)));
}

// cuBLAS is column-major: our (rows, cols) source is its (cols, rows) A, our (cols, rows) destination its (rows, cols)
// C. With beta = 0 it does not read B; C stands in for it.
template <class T, class Geam>
void transpose_by(Geam geam, cublasHandle_t handle, CopyCase const& c, T one, T zero, void* dst, void const* src) {
  int const pitch = int(c.source_pitch()), pitch_dst = int(c.destination_pitch());
  auto const* const in = static_cast<T const*>(src) + c.base_src;
  auto* const out = static_cast<T*>(dst) + c.base_dst;
  check_cublas(geam(handle, CUBLAS_OP_T, CUBLAS_OP_N, int(c.rows()), int(c.cols()), &one, in, pitch, &zero, out,
                    pitch_dst, out, pitch_dst));
}

// Bytes of the workspace, cuBLAS's default on Hopper. Without a workspace of the user cuBLAS would allocate in captured
// launches.
constexpr std::size_t kWorkspace = 32 << 20;

cublasOperation_t operation(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

// Why cuBLAS does not accept the case; empty if it does.
std::string refusal(GemmCase const& c) {
  if (c.inc_a != 1 || c.inc_b != 1 || c.inc_d != 1) return "cuBLAS takes rows without gaps alone";
  if (auto const longest = std::max({c.M, c.N, c.K, c.a().pitch, c.b().pitch, c.d().pitch, c.batch}); longest > INT_MAX)
    return fmt::format("cuBLAS takes extents of 31 bits, not {}", longest);
  return "";
}

template <class T, auto F, auto Create, class... A>
std::unique_ptr<T, Destroy<F>> created(A... arguments) {
  T* p = nullptr;
  check_cublas(Create(&p, arguments...));
  return std::unique_ptr<T, Destroy<F>>(p);
}

cudaDataType_t cuda_type(DType type) { return type == bf16 ? CUDA_R_16BF : type == f16 ? CUDA_R_16F : CUDA_R_32F; }

// The descriptors of a GEMM for cublasLt, transposed as for cublas_gemm().
struct LtGemm {
  using Layout = std::unique_ptr<cublasLtMatrixLayoutOpaque_t, Destroy<cublasLtMatrixLayoutDestroy>>;
  std::unique_ptr<cublasLtContext, Destroy<cublasLtDestroy>> handle =
      created<cublasLtContext, cublasLtDestroy, cublasLtCreate>();
  std::unique_ptr<cublasLtMatmulDescOpaque_t, Destroy<cublasLtMatmulDescDestroy>> operation =
      created<cublasLtMatmulDescOpaque_t, cublasLtMatmulDescDestroy, cublasLtMatmulDescCreate>(CUBLAS_COMPUTE_32F,
                                                                                               CUDA_R_32F);
  Layout a, b, c;

  explicit LtGemm(GemmCase const& x)
      : a(layout(x.dtype(), x.a())), b(layout(x.dtype(), x.b())), c(layout(x.dtype(), x.d())) {
    set(CUBLASLT_MATMUL_DESC_TRANSA, lab::operation(x.b_transposed()));
    set(CUBLASLT_MATMUL_DESC_TRANSB, lab::operation(x.a_transposed()));
  }

 private:
  void set(cublasLtMatmulDescAttributes_t what, cublasOperation_t value) {
    check_cublas(cublasLtMatmulDescSetAttribute(operation.get(), what, &value, sizeof value));
  }
  // A row-major matrix is a column-major matrix with rows and columns exchanged.
  static Layout layout(DType type, Stored const& x) {
    cublasLtMatrixLayout_t made;
    check_cublas(
        cublasLtMatrixLayoutCreate(&made, cuda_type(type), std::uint64_t(x.cols), std::uint64_t(x.rows), x.pitch));
    Layout layout(made);
    auto const count = std::int32_t(x.batch);
    std::int64_t const stride = x.batch_stride;
    check_cublas(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
    check_cublas(
        cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
    return layout;
  }
};

// Milliseconds of a launch, as the mean of several back to back; infinity if it fails.
template <class F>
double time_roughly(F const& launch, cudaStream_t stream) {
  constexpr int kLaunches = 10;
  if (launch() != CUBLAS_STATUS_SUCCESS) return INFINITY;
  Event const begin = make_event(), end = make_event();
  check(cudaEventRecord(begin.get(), stream));
  for (int i = 0; i < kLaunches; ++i) check_cublas(launch());
  check(cudaEventRecord(end.get(), stream));
  check(cudaEventSynchronize(end.get()));
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin.get(), end.get()));
  return ms / kLaunches;
}

std::shared_ptr<cublasContext> make_handle() {
  cublasHandle_t created;
  check_cublas(cublasCreate(&created));
  return {created, Destroy<cublasDestroy>{}};
}

}  // namespace

CopyLaunch geam(CopyCase const& c) {
  auto const handle = make_handle();
  return [c, handle](CopyCall const& call, cudaStream_t stream) {
    auto const [src, dst] = call;
    if (c.elem_bytes < 4) throw Rejection(fmt::format("geam has no type of {} bytes", c.elem_bytes));
    if (c.batch() > 1) throw Rejection(fmt::format("geam takes one matrix, not {}", c.batch()));
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

// cuBLAS is column-major: it is given our GEMM transposed, C^T = op(B)^T op(A)^T, in which each operand keeps its
// letter.
GemmLaunch cublas_gemm(GemmCase const& c, CublasMath math) {
  std::shared_ptr<char> const workspace = device_memory(kWorkspace);
  auto const handle = make_handle();
  bool const is_float = c.dtype() == f32;
  auto const pedantic = is_float ? CUBLAS_PEDANTIC_MATH : CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  check_cublas(cublasSetMathMode(handle.get(), math == CublasMath::pedantic ? pedantic : CUBLAS_DEFAULT_MATH));
  return [c, is_float, workspace, handle](GemmCall const& call, cudaStream_t stream) {
    if (std::string const why = refusal(c); !why.empty()) throw Rejection(why);
    Stored const a = c.a(), b = c.b(), out = c.d();
    check_cublas(cublasSetStream(handle.get(), stream));
    check_cublas(
        cublasSetWorkspace(handle.get(), workspace.get(), kWorkspace));  // cublasSetStream resets the workspace
    auto const op_a = operation(c.a_transposed()), op_b = operation(c.b_transposed());
    int const M = int(c.M), N = int(c.N), K = int(c.K);
    // The function that a user would call: the batched one may choose other kernels for a batch of 1.
    auto const type = cuda_type(c.dtype());
    auto const* const float_a = static_cast<float const*>(call.a);
    auto const* const float_b = static_cast<float const*>(call.b);
    auto* const float_c = static_cast<float*>(call.d);
    if (!is_float && c.batch == 1)
      check_cublas(cublasGemmEx(handle.get(), op_b, op_a, N, M, K, &call.alpha, call.b, type, int(b.pitch), call.a,
                                type, int(a.pitch), &call.beta, call.d, type, int(out.pitch), CUBLAS_COMPUTE_32F,
                                CUBLAS_GEMM_DEFAULT));
    else if (!is_float)
      check_cublas(cublasGemmStridedBatchedEx(handle.get(), op_b, op_a, N, M, K, &call.alpha, call.b, type,
                                              int(b.pitch), b.batch_stride, call.a, type, int(a.pitch), a.batch_stride,
                                              &call.beta, call.d, type, int(out.pitch), out.batch_stride, int(c.batch),
                                              CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    else if (c.batch == 1)
      check_cublas(cublasSgemm(handle.get(), op_b, op_a, N, M, K, &call.alpha, float_b, int(b.pitch), float_a,
                               int(a.pitch), &call.beta, float_c, int(out.pitch)));
    else
      check_cublas(cublasSgemmStridedBatched(handle.get(), op_b, op_a, N, M, K, &call.alpha, float_b, int(b.pitch),
                                             b.batch_stride, float_a, int(a.pitch), a.batch_stride, &call.beta, float_c,
                                             int(out.pitch), out.batch_stride, int(c.batch)));
  };
}

GemmLaunch cublas_lt(GemmCase const& c, GemmCall const& call, CublasMath math, cudaStream_t stream) {
  if (std::string const why = refusal(c); !why.empty())
    return [why](GemmCall const&, cudaStream_t) { throw Rejection(why); };
  auto const gemm = std::make_shared<LtGemm>(c);
  cublasLtMatmulPreference_t made;
  check_cublas(cublasLtMatmulPreferenceCreate(&made));
  std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, Destroy<cublasLtMatmulPreferenceDestroy>> const preference(made);
  check_cublas(cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                                                    sizeof kWorkspace));
  std::uint32_t const schemes =
      math == CublasMath::pedantic ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_MASK;
  check_cublas(
      cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes));
  cublasLtMatmulHeuristicResult_t found[16];
  int count = 0;
  cublasStatus_t const status =
      cublasLtMatmulAlgoGetHeuristic(gemm->handle.get(), gemm->operation.get(), gemm->b.get(), gemm->a.get(),
                                     gemm->c.get(), gemm->c.get(), made, 16, found, &count);
  if (status != CUBLAS_STATUS_SUCCESS || count == 0)
    return [](GemmCall const&, cudaStream_t) { throw Rejection("the heuristics of cublasLt propose nothing"); };
  auto const launch = [gemm, workspace = std::shared_ptr<char>(device_memory(kWorkspace))](
                          cublasLtMatmulAlgo_t const& algorithm, GemmCall const& now, cudaStream_t s) {
    return cublasLtMatmul(gemm->handle.get(), gemm->operation.get(), &now.alpha, now.b, gemm->b.get(), now.a,
                          gemm->a.get(), &now.beta, now.d, gemm->c.get(), now.d, gemm->c.get(), &algorithm,
                          workspace.get(), kWorkspace, s);
  };
  int best = 0;
  double least = INFINITY;
  for (int i = 0; i < count; ++i) {
    double const ms = time_roughly([&] { return launch(found[i].algo, call, stream); }, stream);
    if (ms < least) least = ms, best = i;
  }
  return [launch, algorithm = found[best].algo](GemmCall const& now, cudaStream_t s) {
    check_cublas(launch(algorithm, now, s));
  };
}

}  // namespace inlay::lab
