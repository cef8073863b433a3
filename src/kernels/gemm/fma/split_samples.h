// Samples of a split-K GEMM: each slice is a GEMM of its own; slices differ in where their sums begin modulo a sector.
#pragma once
#include <inlay/kernels/common/gemm_grid_samples.h>
#include <inlay/kernels/gemm/fma/slice_sums_samples.h>
#include <inlay/kernels/gemm/fma/split_k.h>

namespace inlay::kernels {

template <class Base>
struct Samples<SplitK<Base>> {
  template <class S, class Sample>
  static void of(Gemm const& g, S const& setting, Sample const& sample) {
    using Split = SplitK<Base>;
    Gemm split = setting.workspace ? Split::split(g, setting.device) : g;
    S pinned = setting;  // a shorter K would be given another tile
    if (!pinned.config.tile) pinned.config = Split::config(split, setting.device);
    auto const part_of = [&](Gemm const& part, int64_t times) {
      sample_lengths<Base>(part, Split::period(part), pinned, sample, times);
    };
    if (split.slices == 1) return part_of(g, 1);
    split.D.base = setting.workspace;
    auto const part = [&](int64_t number, int64_t K) {
      Gemm p = split.with_K(K);
      p.slices = 1, p.D.base = split.D.as<float>() + number * g.elements();
      return p;
    };
    int64_t const last = split.slices - 1;
    over_phases(last, g.elements() * 4, 0,
                [&](int64_t number, int64_t times) { part_of(part(number, split.slice_K), times); });
    part_of(part(last, g.K() - last * split.slice_K), 1);
    SumSlices::launches(problem::add_slices(g, split), setting, [&](auto const& kernel) { sample.kinds(kernel, 1); });
  }
};

}  // namespace inlay::kernels
