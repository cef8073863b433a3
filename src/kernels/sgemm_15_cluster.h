// Few tiles: a cluster of blocks shares each, along k.
#pragma once
#include "kernels/sgemm_cluster.h"

namespace inlay::kernels::sgemm_15_cluster {

template <int M, int N, bool a, bool b>
struct Step {
  static constexpr int WARPS_M = M, WARPS_N = N;
  static constexpr bool turns_a = a, turns_b = b;
};

struct Kernel {
  // Calls f(kernel type) for the tile that leaves the least work to a multiprocessor, the largest of equals, and for
  // what has to be turned.
  template <class F>
  static auto with_kernel(Gemm const& g, Device const& device, F f) {
    int64_t const large = SgemmCluster<Step<2, 2, false, false>>::work(g, device),
                  half = SgemmCluster<Step<1, 2, false, false>>::work(g, device),
                  quarter = SgemmCluster<Step<1, 1, false, false>>::work(g, device);
    if (quarter < half && quarter < large) return with_tile<1, 1>(g, f);
    return half < large ? with_tile<1, 2>(g, f) : with_tile<2, 2>(g, f);
  }
  template <int M, int N, class F>
  static auto with_tile(Gemm const& g, F f) {
    auto const of = [&]<bool a, bool b>(bool_constant<a>, bool_constant<b>) {
      return f(std::type_identity<SgemmCluster<Step<M, N, a, b>>>{});
    };
    bool const a = g.a_m != 1, b = g.b_n != 1;
    if (a) return b ? of(true_type{}, true_type{}) : of(true_type{}, false_type{});
    return b ? of(false_type{}, true_type{}) : of(false_type{}, false_type{});
  }
  template <class Encoder, class Launch>
  static void launches(Gemm const& g, Device const& device, void*, Encoder const& encode, Launch const& launch) {
    with_kernel(g, device, [&]<class K>(std::type_identity<K>) { launch(K::make(g, device, encode)); });
  }
  template <class Encoder, class Sampler>
  static void samples(Gemm const& g, Device const& device, void*, Encoder const& encode, Sampler const& sample) {
    with_kernel(g, device, [&]<class K>(std::type_identity<K>) { K::samples(g, device, encode, sample); });
  }
  static Reason rejects(Gemm const& g, Device const& device) {
    return with_kernel(g, device, [&]<class K>(std::type_identity<K>) { return K::rejects(g, device); });
  }
};

inline constexpr Info<Gemm> info = {
    "sgemm_15_cluster",
    "Tiles of 128 x 128 to 64 x 64, each shared by up to four blocks along k, whose sums meet in "
    "distributed shared memory: no workspace, "
    "no second launch; the first stage's latency and the exchange limit.",
    "inlay",
    Kernel::rejects,
    nullptr,
    no_workspace};

}  // namespace inlay::kernels::sgemm_15_cluster
