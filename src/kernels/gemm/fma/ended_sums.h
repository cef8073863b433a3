// Sums of a tile over blocks or slices of K, one after the other: where a thread keeps those that have ended.
#pragma once
#include <inlay/block/quad_ops.h>
#include <inlay/kernels/common/dispatch.h>
#include <inlay/problem/reduction.h>

namespace inlay::kernels {

// In registers.
template <class Fragment>
struct EndedInRegisters {
  Fragment sums;  // (MMA,MMA_M,MMA_N)

  CUTE_DEVICE void add(Fragment& acc) {
    CUTE_UNROLL
    for (int i = 0; i < size(acc); ++i) sums(i) += acc(i), acc(i) = 0;
  }
  CUTE_DEVICE void finish(auto const&, Fragment& acc) const {
    CUTE_UNROLL
    for (int i = 0; i < size(acc); ++i) acc(i) += sums(i);
  }
};

// In shared memory. Adds slices in the order in which SumSlices adds partial sums; with LEVELS 2 those of a group
// first, then the groups. Quad v of thread t is the (v * threads + t)-th: no bank conflicts, and no thread reads
// another one's.
template <class Block, int LEVELS, int threads, class Fragment>
struct EndedInShared {
  static constexpr int quads = decltype(size(Fragment{}))::value / 4;
  Quad* group;                                // (quads,threads), of this thread; the groups that ended lie behind it
  int share, left;                            // slices of a group; those that this group still waits for
  bool any_slice = false, any_group = false;  // of this group; that ended

  CUTE_DEVICE EndedInShared(float* smem, int rank, int share)
      : group(reinterpret_cast<Quad*>(smem) + rank), share(share), left(share) {}

  CUTE_DEVICE void add(Fragment& acc) {
    each(acc, group, any_slice, true);
    any_slice = true;
    if constexpr (LEVELS == 2)
      if (--left == 0) {
        CUTE_UNROLL
        for (int v = 0; v < quads; ++v) {
          Quad sum{}, x{};
          get(sum, group + v * threads, true);
          get(x, group + (quads + v) * threads, any_group);
          CUTE_UNROLL
          for (int e = 0; e < 4; ++e) sum.x[e] += x.x[e];
          put(sum, group + (quads + v) * threads);
        }
        any_slice = false, any_group = true, left = share;
      }
    clear(acc);
  }
  CUTE_DEVICE void finish(Block block, Fragment& acc) {
    each(acc, group, any_slice, false);
    if constexpr (LEVELS == 2) each(acc, group + quads * threads, any_group, false);
    block.sync();  // the epilogue writes here
  }

 private:
  using Atom = Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad>;
  CUTE_DEVICE static void get(Quad& x, Quad* from, bool on) { copy_one(Atom{}, on, make_smem_ptr(from), &x); }
  CUTE_DEVICE static void put(Quad const& x, Quad* to) { copy_one(Atom{}, true, &x, make_smem_ptr(to)); }
  // Adds the quads at `at` to acc, if `on`, and stores the sums there, if `back`.
  CUTE_DEVICE static void each(Fragment& acc, Quad* at, bool on, bool back) {
    CUTE_UNROLL
    for (int v = 0; v < quads; ++v) {
      Quad x{};
      get(x, at + v * threads, on);
      CUTE_UNROLL
      for (int e = 0; e < 4; ++e) acc(4 * v + e) = x.x[e] += acc(4 * v + e);
      if (back) put(x, at + v * threads);
    }
  }
};

// Slices of g.slice_K indices, and those that SumSlices adds to one sum. Without a slice_K, K is one slice.
CUTE_HOST_DEVICE int number_of_slices(Gemm const& g) { return g.slice_K ? int(ceil_div(g.K(), g.slice_K)) : 1; }
CUTE_HOST_DEVICE int slices_of_group(Gemm const& g) {
  int const slices = number_of_slices(g);
  return ceil_div(slices, groups_of_slices(slices, g.M() * g.N()));
}

template <class Step, class Block, class Smem, class Fragment>
CUTE_DEVICE auto make_ended_sums(Gemm const& g, Smem& smem, int rank, Fragment const& acc) {
  if constexpr (Step::levels_in_shared > 0) {
    return EndedInShared<Block, Step::levels_in_shared, Step::threads, Fragment>(smem.C, rank, slices_of_group(g));
  } else {
    EndedInRegisters<Fragment> sums{make_fragment_like(acc)};
    clear(sums.sums);
    return sums;
  }
}

}  // namespace inlay::kernels
