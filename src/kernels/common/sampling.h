// Samples: a few blocks are replayed instead of all, so that `explain` counts the accesses of large problems quickly. A
// kernel family specialises the two templates Kinds and Samples in FAMILY_samples.h; others are replayed whole.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

// Specialised for a device kernel: each(kernel, f) calls f(kernel, block, times), where `times` blocks make the same
// accesses as block number `block`. In a cluster launch, `block` stands for its whole cluster.
template <class K>
struct Kinds;

// All blocks of a grid with fewer than kMost; otherwise kMost / 16 evenly spaced blocks, so counts are estimates.
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

// Specialised for a dispatch type: of(problem, setting, sample) calls sample.kinds(kernel, times) or sample.all(kernel,
// times) for device kernels that together make the accesses of the whole problem.
template <class V>
struct Samples;

// Samples a kernel whose blocks loop over all of K in steps of `period`: a few short values of K replace a long one.
template <class V, class S, class Sample>
void sample_lengths(Gemm const& g, int64_t period, S const& setting, Sample const& sample, int64_t times = 1) {
  over_lengths(g.K(), period, [&](int64_t K, int64_t count) {
    launches<V>(g.with_K(K), setting, [&](auto const& kernel) { sample.kinds(kernel, times * count); });
  });
}

template <class T>
concept Specialised = requires {
  sizeof(T);
};

}  // namespace inlay::kernels
