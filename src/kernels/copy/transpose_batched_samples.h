// Blocks with whole groups of matrices do the same work if they begin at the same offset within a sector; the last
// block may have fewer matrices.
#pragma once
#include <inlay/kernels/common/sampling.h>

namespace inlay::kernels {

template <class K>
concept TakesGroups = requires(K const& kernel) {
  { kernel.group_bytes() } -> std::same_as<int64_t>;
  kernel.batch / kernel.group;
};

template <TakesGroups K>
struct Kinds<K> {
  template <class F>
  static void each(K const& kernel, F const& f) {
    int64_t const full = kernel.batch / kernel.group;
    over_phases(full, kernel.group_bytes(), kernel.group_bytes(),
                [&](int64_t i, int64_t times) { f(kernel, i, times); });
    if (kernel.batch % kernel.group) f(kernel, full, 1);
  }
};

}  // namespace inlay::kernels
