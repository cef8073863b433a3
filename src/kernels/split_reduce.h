// The second kernel of a product whose K was cut into parts: the partial sums of an element are added, in the order of the
// parts, and alpha and beta applied.
#pragma once
#include "kernels/gemm_grid.h"

namespace inlay::kernels {

// `partial`: matrices of M rows of N floats, the L of part 0 first. GROUPS threads share an element, each with parts that
// follow each other; their sums are added in the order of the groups. All of it depends on M, N and K alone.
template <int GROUPS>
struct SplitReduce {
  Gemm g;
  float const* partial;
  int parts;
  static constexpr bool follows = true;
  static constexpr int threads = 256, elements = threads / GROUPS, at_once = 8;  // loads in flight
  struct Smem {
    alignas(128) float C[threads];
  };

  int64_t blocks() const { return ceil_div(g.elements(), int64_t(elements)); }

  // Calls f(kernel, block, times). Where C has gaps, no two blocks need write alike.
  template <class F>
  static void kinds(SplitReduce const& kernel, F const& f) {
    Gemm const& g = kernel.g;
    bool const dense = g.c_n == 1 && g.c_m == g.N && (g.L == 1 || g.c_l == g.M * g.N);
    if (dense) return over_edge(kernel.blocks(), [&](int64_t block, int64_t times) { f(kernel, block, times); });
    for (int64_t block = 0; block < kernel.blocks(); ++block) f(kernel, block, 1);
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    int const rank = int(block.thread_rank()), group = rank / elements;
    block.wait_previous_kernel();
    int64_t const all = g.M * g.N * g.L, e = int64_t(block.group_index()) * elements + rank % elements;
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    int const share = ceil_div(parts, GROUPS), end = share * (group + 1) < parts ? share * (group + 1) : parts;
    float sum = 0;
    CUTE_NO_UNROLL
    for (int first = share * group; first < share * (group + 1); first += at_once) {
      float part[at_once] = {};
      CUTE_UNROLL
      for (int i = 0; i < at_once; ++i)
        copy_one(atom, e < all && first + i < end, make_gmem_ptr(partial + ((first + i) * all + e)), &part[i]);
      CUTE_UNROLL
      for (int i = 0; i < at_once; ++i) sum += part[i];
    }
    if constexpr (GROUPS > 1) {
      auto shared = [&](int i) { return make_smem_ptr(smem.C + i); };
      copy_one(atom, true, &sum, shared(rank));
      block.sync();
      sum = 0;
      CUTE_UNROLL
      for (int i = 0; i < GROUPS; ++i) {
        float of_group = 0;
        copy_one(atom, group == 0, shared(i * elements + rank % elements), &of_group);
        sum += of_group;
      }
    }
    bool const mine = group == 0 && e < all;
    int64_t const n = e % g.N, m = e / g.N % g.M, l = e / g.N / g.M;
    auto c = make_gmem_ptr(g.C + (l * g.c_l + m * g.c_m + n * g.c_n));
    float old = 0;
    if (g.beta != 0) copy_one(atom, mine, c, &old);
    sum = scaled(g, sum, old);
    copy_one(atom, mine, &sum, c);
  }
};

// Many parts need many threads to an element; few parts, or many elements, would make blocks with next to nothing to
// do: two waves of them at most, but for parts by the hundred.
template <class F>
void reduce_parts(Gemm const& g, float const* partial, int parts, F const& f) {
  if (parts >= 256)
    f(SplitReduce<32>{g, partial, parts});
  else if (parts >= 16 && g.M * g.N <= 65536)
    f(SplitReduce<8>{g, partial, parts});
  else
    f(SplitReduce<1>{g, partial, parts});
}

}  // namespace inlay::kernels
