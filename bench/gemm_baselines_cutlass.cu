// The SIMT kernels that CUTLASS's own profiler would choose from for large fp32 GEMMs, at their alignment of one
// element.
#include <cutlass/gemm/device/gemm.h>

#include <algorithm>
#include <climits>

#include "gemm_baselines.h"

namespace inlay::baselines {
namespace {

using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;  // of (M,K) and (K,N): stored transposed
template <int M, int N>
using Tile = cutlass::gemm::GemmShape<M, N, 8>;

template <class Block, class Warp, class LayoutA, class LayoutB>
void multiply(lab::GemmCase const& c, lab::GemmCall const& call, cudaStream_t stream) {
  using Sum = cutlass::epilogue::thread::LinearCombination<float, 1, float, float>;
  using Device =
      cutlass::gemm::device::Gemm<float, LayoutA, float, LayoutB, float, Row, float, cutlass::arch::OpClassSimt,
                                  cutlass::arch::Sm80, Block, Warp, cutlass::gemm::GemmShape<1, 1, 1>, Sum,
                                  cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>, 5>;
  auto const pitch = [](lab::Stored const& x) { return int(x.pitch); };
  typename Device::Arguments const arguments(
      {int(c.M), int(c.N), int(c.K)}, {static_cast<float const*>(call.a), pitch(c.a())},
      {static_cast<float const*>(call.b), pitch(c.b())}, {static_cast<float*>(call.d), pitch(c.d())},
      {static_cast<float*>(call.d), pitch(c.d())}, {call.alpha, call.beta});
  Device gemm;
  if (auto const status = gemm(arguments, nullptr, stream); status != cutlass::Status::kSuccess)
    throw Error(std::string("CUTLASS: ") + cutlassGetStatusString(status));
}

template <class Block, class Warp>
lab::GemmCandidate candidate(char const* name, lab::GemmCase const& c) {
  return {{name, [c](lab::GemmCall const& call, cudaStream_t stream) {
             if (c.batch > 1) throw lab::Rejection("takes one matrix");
             if (std::max({c.M, c.N, c.K, c.a().pitch, c.b().pitch, c.d().pitch}) > INT_MAX)
               throw lab::Rejection("takes extents of 31 bits");
             if (c.a_transposed())
               c.b_transposed() ? multiply<Block, Warp, Column, Column>(c, call, stream)
                                : multiply<Block, Warp, Column, Row>(c, call, stream);
             else
               c.b_transposed() ? multiply<Block, Warp, Row, Column>(c, call, stream)
                                : multiply<Block, Warp, Row, Row>(c, call, stream);
           }}};
}

}  // namespace

std::vector<lab::GemmCandidate> cutlass_simt(lab::GemmCase const& c) {
  return {candidate<Tile<128, 128>, Tile<32, 64>>("cutlass_simt_128x128x8", c),
          candidate<Tile<128, 256>, Tile<64, 64>>("cutlass_simt_128x256x8", c)};
}

}  // namespace inlay::baselines
