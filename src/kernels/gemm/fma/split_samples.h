// What a product in parts does: a part is a product of its own, by where its sums begin modulo a sector.
#pragma once
#include <inlay/kernels/common/gemm_grid_samples.h>
#include <inlay/kernels/gemm/fma/split.h>
#include <inlay/kernels/gemm/fma/sum_parts_samples.h>

namespace inlay::kernels {

template <template <Vectors A, Vectors B> class Step>
struct Samples<SgemmSplit<Step>> {
  template <class S, class Sample>
  static void of(Gemm const& g, S const& setting, Sample const& sample) {
    using Split = SgemmSplit<Step>;
    auto const part_of = [&](Gemm const& part, int64_t times) {
      sample_lengths<SgemmVectors<Step>>(part, Split::period, setting, sample, times);
    };
    Gemm const cut = setting.workspace ? Split::cut(g, setting.device) : g;
    if (cut.parts == 1) return part_of(g, 1);
    auto const partial = static_cast<float*>(setting.workspace);
    auto const part = [&](int64_t number, int64_t K) {
      Gemm p = cut.with_K(K);
      p.parts = 1, p.C.base = partial + number * g.elements();
      return p;
    };
    int64_t const last = cut.parts - 1;
    over_phases(last, g.elements() * 4, 0,
                [&](int64_t number, int64_t times) { part_of(part(number, cut.part_K), times); });
    part_of(part(last, g.K() - last * cut.part_K), 1);
    SumParts::launches({g.C, g.epilogue, partial, cut.parts}, setting,
                       [&](auto const& kernel) { sample.kinds(kernel, 1); });
  }
};

}  // namespace inlay::kernels
