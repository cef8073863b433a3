#include "baselines/cublas.h"

#include <cublas_v2.h>
#include <fmt/format.h>

#include <climits>
#include <memory>

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

}  // namespace

Launch geam(Case const& c) {
  cublasHandle_t created;
  check_cublas(cublasCreate(&created));
  std::shared_ptr<cublasContext> const handle(created, DestroyCublas{});
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

}  // namespace inlay::lab
