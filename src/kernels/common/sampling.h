// Samples: a few blocks are replayed instead of all, so that `explain` counts the accesses of large problems quickly. A
// kernel family specialises the two templates Kinds and Samples in FAMILY_samples.h; others are replayed whole.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

// Specialised for a device kernel: each(kernel, f) calls f(kernel, block, times), where `times` blocks make the same
// accesses as block number `block`. In a cluster launch, `block` stands for its whole cluster.
template <class K>
struct Kinds;

// All blocks of a grid with fewer than kMost; otherwise 2 * kPhases blocks, evenly spaced, so counts are estimates.
// They are exact where blocks differ in the offset of their bytes in a sector alone, which repeats after kPhases
// blocks.
struct SomeBlocks {
  static constexpr int64_t kMost = 1024, kPhases = 32;
  template <class K, class F>
  static void each(K const& kernel, F f) {
    int64_t const all = kernel.blocks();
    if (all < kMost) {
      for (int64_t block = 0; block < all; ++block) f(kernel, block, 1);
      return;
    }
    int64_t const windows = all / kPhases;
    for (int64_t i = 0; i < 2 * kPhases; ++i) {
      int64_t const phase = i % kPhases, of_phase = (all - phase + kPhases - 1) / kPhases;
      f(kernel, i * windows / (2 * kPhases) * kPhases + phase, (of_phase + (i < kPhases)) / 2);
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
