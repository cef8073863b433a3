// How a few blocks stand for all, so that `explain` counts a problem of any size in little time. Families say it beside
// themselves, in FAMILY_samples.h, by these two templates; a kernel of which nothing is said is replayed whole.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

// Specialised for a kernel: each(kernel, f) calls f(kernel, block, times): `times` blocks do to memory what block number
// `block` does; of a cluster, its first.
template <class K>
struct Kinds;

// All blocks if they are few; otherwise evenly spaced ones, each counted for those after it: an average, not a count.
struct SomeBlocks {
  static constexpr int64_t kMost = 1024;
  template <class K, class F>
  static void each(K const& kernel, F f) {
    int64_t const all = kernel.blocks(), n = all < kMost ? all : kMost / 16;
    for (int64_t i = 0; i < n; ++i) {
      int64_t const first = i * all / n, last = (i + 1) * all / n;
      f(kernel, first, last - first);
    }
  }
};

// Specialised for a kernel: of(problem, setting, sample) calls sample.kinds(kernel, times) or sample.all(kernel, times)
// for kernels that together do what the kernel does.
template <class V>
struct Samples;

// Samples of a kernel that has all of K in a block, in steps of `period`.
template <class V, class S, class Sample>
void sample_lengths(Gemm const& g, int64_t period, S const& setting, Sample const& sample, int64_t times = 1) {
  over_lengths(g.K(), period, [&](int64_t K, int64_t of_these) {
    launches<V>(g.with_K(K), setting, [&](auto const& kernel) { sample.kinds(kernel, times * of_these); });
  });
}

template <class T>
concept Specialised = requires {
  sizeof(T);
};

}  // namespace inlay::kernels
