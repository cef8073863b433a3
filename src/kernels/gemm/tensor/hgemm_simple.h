// Any strides and alignment, without a workspace: what no other kernel takes, and GEMMs too small to pack operands for.
#pragma once
#include <inlay/kernels/gemm/tensor/mma_from_global.h>

namespace inlay::kernels::hgemm_simple {

// 20 TFLOP/s of whole tiles and the ends of tiles, or, with few of them, 3.7 us for each 16 indices of K, in which the
// warps wait for global memory. Fitted on an H200 to suites/gemm/half_wild.json, the ends to batches of K up to 16.
inline double seconds(Gemm const& g, Device const& device) {
  double const tiles = double(ceil_div(g.M(), int64_t(64)) * ceil_div(g.N(), int64_t(64))) * double(g.L()),
               steps = double(ceil_div(g.K(), int64_t(16)));
  return 2.5e-6 + std::max(tiles * (steps * 2 * 64 * 64 * 16 / 20e12 + .5e-6 / device.sm_count), steps * 3.7e-6);
}

struct Step {};
template <class T>
struct Kernel : MmaFromGlobal<Step, T> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_simple",
    .idea =
        "Tensor cores for bf16 and f16 of any strides: fragments from global memory, two bytes an access, which "
        "limits.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
    .seconds = seconds,
    .has_full_epilogue = true,
};

}  // namespace inlay::kernels::hgemm_simple
