// K split into slices, so that a GEMM with few tiles of D fills the GPU. Each block writes the sums of a slice to the
// workspace; sum_slices adds them.
#pragma once
#include <inlay/kernels/gemm/fma/slice_sums.h>

namespace inlay::kernels {

// Base computes the slices. Besides launches() and rejects() it has
//   slice_k(g, device)    indices of K of a slice; at least K: nothing is split
//   tiles(g)              of one matrix
//   config(g, device)     the configuration that it chooses, if it has several
//   period(g)             of its accesses along K
template <class Base>
struct SplitK : Base {
  static int64_t slices(Gemm const& g, Device const& device) {
    return g.K() ? ceil_div(g.K(), Base::slice_k(g, device)) : 1;
  }
  static std::size_t workspace(Gemm const& g, Device const& device) {
    int64_t const n = g.elements() ? slices(g, device) : 1;
    return n > 1 ? std::size_t(n * g.elements()) * sizeof(float) : 0;
  }

  // The GEMM whose D are partial sums; with one slice, the GEMM itself.
  static Gemm split(Gemm const& g, Device const& device) {
    Gemm c = g;
    c.slice_K = Base::slice_k(g, device);
    c.slices = g.elements() && g.K() ? int(ceil_div(g.K(), c.slice_K)) : 1;
    if (c.slices == 1) return g;
    c.epilogue = {};
    c.D.base = nullptr, c.D.row_stride = g.N(), c.D.col_stride = 1, c.D.batch_stride = g.M() * g.N();
    return c;
  }

  // A plan launches the GEMM and the sum separately; run on its own, the kernel launches both.
  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& f) {
    Gemm c = g.slices == 1 && setting.workspace ? split(g, setting.device) : g;
    if (c.slices == g.slices) return Base::launches(g, setting, f);
    c.D.base = setting.workspace;
    Base::launches(c, setting, f);
    SumSlices::launches(problem::add_slices(g, c), setting, f);
  }

  static Reason rejects(Gemm const& g, Device const& device, Config const& config = {}) {
    if (Reason r = rejects_of<Base>(g, device, config)) return r;
    if (!g.elements() || !g.K()) return {};
    int64_t const n = slices(g, device);
    if (n > 1 && __int128(n) * g.elements() * 4 > device.memory_bytes)
      return {"{} partial sums of each of {} elements do not fit the device's memory", {n, g.elements()}};
    return too_many("{} tiles in {} parts and {} matrices are more blocks than a grid holds",
                    __int128(Base::tiles(g)) * n, g.L(), {Base::tiles(g), n, g.L()});
  }
};

}  // namespace inlay::kernels
