// Family: any GEMM, one element of D per thread; each thread reads its operands from global memory.
#pragma once
#include <inlay/kernels/common/epilogue.h>
#include <inlay/kernels/common/gemm_grid.h>

namespace inlay::kernels {

// Step gives the kernel's symbol its name.
template <class Step>
struct SgemmSimple : GemmGrid<8, 32> {
  using Grid = GemmGrid<8, 32>;
  static constexpr LaunchInfo launch_info{.threads = 256};
  struct Smem {};

  static SgemmSimple make(Gemm const& g, auto const&) { return {Grid::make(g)}; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    auto const here = this->at(block.block_index());
    int const m = int(block.thread_rank()) / 32, n = int(block.thread_rank()) % 32;
    bool const inside = m < here.rows && n < here.cols;
    float const* a = here.A + m * g.A.row_stride;
    float const* b = here.B + n * g.B.row_stride;
    float* const c = here.D + (m * g.D.row_stride + n * g.D.col_stride);
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    float sum = 0;
    for (int64_t k = 0; k < here.K; ++k, a += g.A.col_stride, b += g.B.col_stride) {
      float x = 0, y = 0;
      copy_one(atom, inside, make_gmem_ptr(a), &x);
      copy_one(atom, inside, make_gmem_ptr(b), &y);
      On<Block, UniversalFMA<float>>::fma(sum, x, y, sum);
    }
    store_scaled(block, g.epilogue, inside, sum, c);
  }
};

}  // namespace inlay::kernels
