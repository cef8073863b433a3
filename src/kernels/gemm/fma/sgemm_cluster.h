// For few tiles of D: the blocks of a cluster share each tile along k.
#pragma once
#include <inlay/kernels/gemm/fma/cluster.h>

namespace inlay::kernels::sgemm_cluster {

template <int M, int N, bool a, bool b>
struct Step {
  static constexpr int WARPS_M = M, WARPS_N = N;
  static constexpr bool transposes_a = a, transposes_b = b;
};

// Chooses the largest tile with the fewest FMAs on the busiest SM, and the operands to transpose.
struct Choice {
  template <class F>
  static auto with(Gemm const& g, Device const& device, Config const&, F const& f) {
    int64_t const large = SgemmCluster<Step<2, 2, false, false>>::work(g, device),
                  half = SgemmCluster<Step<1, 2, false, false>>::work(g, device),
                  quarter = SgemmCluster<Step<1, 1, false, false>>::work(g, device);
    if (quarter < half && quarter < large) return with_tile<1, 1>(g, f);
    return half < large ? with_tile<1, 2>(g, f) : with_tile<2, 2>(g, f);
  }
  template <int M, int N, class F>
  static auto with_tile(Gemm const& g, F const& f) {
    auto const of = [&]<bool a, bool b>(bool_constant<a>, bool_constant<b>) {
      return f(std::type_identity<SgemmCluster<Step<M, N, a, b>>>{});
    };
    bool const a = g.A.row_stride != 1, b = g.B.row_stride != 1;
    if (a) return b ? of(true_type{}, true_type{}) : of(true_type{}, false_type{});
    return b ? of(false_type{}, true_type{}) : of(false_type{}, false_type{});
  }
};
using Kernel = OneOf<Choice>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_cluster",
    .idea =
        "Tiles of 128 x 128 to 64 x 64, each shared by up to four blocks along k, whose sums meet in distributed "
        "shared memory: no workspace, no second launch; the first stage's latency and the exchange limit.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .seconds = Kernel::seconds,
};

}  // namespace inlay::kernels::sgemm_cluster
