// One thread, one element of C: it reads a whole row of A and a whole column of B from global memory.
#pragma once
#include "kernels/gemm_grid.h"

namespace inlay::kernels::sgemm_01_naive {

struct Kernel : GemmGrid<8, 32> {
  using Grid = GemmGrid<8, 32>;
  static constexpr int threads = 256;
  struct Smem {};

  template <class Encoder>
  static Kernel make(Gemm const& g, Device const&, void*, Encoder const&) {
    return {Grid::make(g)};
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    auto const here = this->at(block.group_index());
    int const m = int(block.thread_rank()) / 32, n = int(block.thread_rank()) % 32;
    bool const inside = m < here.rows && n < here.cols;
    float const* a = here.A + m * g.a_m;
    float const* b = here.B + n * g.b_n;
    auto c = make_gmem_ptr(here.C + (m * g.c_m + n * g.c_n));
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    float sum = 0, old = 0;
    for (int64_t k = 0; k < here.K; ++k, a += g.a_k, b += g.b_k) {
      float x = 0, y = 0;
      copy_one(atom, inside, make_gmem_ptr(a), &x);
      copy_one(atom, inside, make_gmem_ptr(b), &y);
      On<Block, UniversalFMA<float>>::fma(sum, x, y, sum);
    }
    if (g.beta != 0) copy_one(atom, inside, c, &old);
    sum = scaled(g, sum, old);
    copy_one(atom, inside, &sum, c);
  }
};

inline constexpr Info<Gemm> info = {"sgemm_01_naive",
                                    "One thread, one element of C: nothing is shared, and the load/store units limit.",
                                    "worklog, kernel 1: naive",
                                    Kernel::rejects,
                                    nullptr,
                                    no_workspace};

}  // namespace inlay::kernels::sgemm_01_naive
