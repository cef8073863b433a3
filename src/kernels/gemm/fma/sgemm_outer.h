// fp32 GEMM with a K of at most 64, where D takes most of the time.
#pragma once
#include <inlay/kernels/common/gemm_grid_samples.h>
#include <inlay/kernels/gemm/fma/outer_products.h>
#include <inlay/model/fma_times.h>

namespace inlay::kernels::sgemm_outer {

inline constexpr FmaTimes times{.block = 1.3, .alone = .83, .busy = 2.87, .end = {0, 3}};
inline double seconds(Gemm const& g, Device const& device) {
  return FmaTiles{128, 128, 1, g.K() <= 32 ? 3 : 2}.seconds(times, 1, g, device);
}

struct Step {};
struct Dispatch {
  static constexpr int64_t kMostK = 64;

  // Calls f(std::type_identity<the kernel>{}, the GEMM that it computes: rows of its D are contiguous).
  template <class F>
  static auto with(Gemm const& g, F const& f) {
    Gemm const c = along_rows(g.D) ? g : g.transposed();
    auto const of = [&](auto V) {
      if (c.K() <= 32) return f(std::type_identity<OuterProducts<Step, V, 32>>{}, c);
      return f(std::type_identity<OuterProducts<Step, V, 64>>{}, c);
    };
    return takes_vectors(c.D) ? of(Int<4>{}) : of(Int<1>{});
  }
  static bool along_rows(Operand const& d) { return d.col_stride == 1 || d.cols == 1; }
  template <class S, class F>
  static void launches(Gemm const& g, S const&, F const& f) {
    with(g, [&]<class K>(std::type_identity<K>, Gemm const& c) { f(K::make(c)); });
  }
  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = rejects_type<float>(g); r || !g.elements()) return r;
    if (g.K() == 0 || g.K() > kMostK) return {"K is {}, and the kernel holds 1 to 64 of it", {g.K()}};
    if (!along_rows(g.D) && !along_rows(g.transposed().D)) return {"D is contiguous along neither mode"};
    return with(g, [&]<class K>(std::type_identity<K>, Gemm const& c) { return K::rejects(c, device); });
  }
};

inline constexpr Info<Gemm> info = {
    .name = "sgemm_outer",
    .idea =
        "A K of at most 64: all of it lies in shared memory, and warps write whole pieces of rows of D from registers.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
    .seconds = seconds,
};

}  // namespace inlay::kernels::sgemm_outer

// Samples have all of K, because a shorter one would be staged in another way.
template <>
struct inlay::kernels::Samples<inlay::kernels::sgemm_outer::Dispatch> {
  template <class S, class Sample>
  static void of(Gemm const& g, S const& setting, Sample const& sample) {
    sgemm_outer::Dispatch::launches(g, setting, [&](auto const& kernel) { sample.kinds(kernel, 1); });
  }
};
