// Which matrices of a batch refuse f16 slices: those with a row of A or B that does (slice_operands.h).
#pragma once
#include <inlay/kernels/gemm/tensor/slice_operands.h>

namespace inlay::kernels {

// Whether a row of matrix l of A or of B refuses, among those that this thread of a block of `threads` looks at.
template <int threads, class Block>
CUTE_DEVICE bool sees_refusal(Block block, SlicedOperand const& A, SlicedOperand const& B, int64_t l) {
  constexpr int at_once = 16;
  Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
  auto const of_matrix = [&](SlicedOperand const& o) {
    return o.factors + (o.slices.matrices > kSlices<half_t> ? l * o.slices.rows : 0);
  };
  float const *const of_A = of_matrix(A), *const of_B = of_matrix(B);
  int64_t const rows_A = A.slices.rows, rows = rows_A + B.slices.rows;
  bool refused = false;
  CUTE_NO_UNROLL
  for (int64_t first = 0; first < rows; first += at_once * threads) {
    float factor[at_once] = {};
    CUTE_UNROLL
    for (int i = 0; i < at_once; ++i) {
      int64_t const row = first + i * threads + block.thread_rank();
      copy_one(atom, row < rows, make_gmem_ptr(row < rows_A ? of_A + row : of_B + (row - rows_A)), &factor[i]);
    }
    CUTE_UNROLL
    for (int i = 0; i < at_once; ++i) refused |= factor[i] < 0;
  }
  return refused;
}
// Whether any of the threads of a block, all of which call it, has `refused`. of_warp: (threads / 32), shared.
template <int threads, class Block>
CUTE_DEVICE bool any_of_block(Block block, unsigned* of_warp, bool refused) {
  Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> atom;
  int const rank = int(block.thread_rank());
  unsigned any = block.any(refused);
  copy_one(atom, rank % 32 == 0, &any, make_smem_ptr(of_warp + rank / 32));
  block.sync();
  CUTE_UNROLL
  for (int w = 0; w < threads / 32; ++w) {
    unsigned x = 0;
    copy_one(atom, true, make_smem_ptr(of_warp + w), &x);
    any |= x;
  }
  return any != 0;
}

// For each matrix of a batch: 1 if it refuses, else 0. One matrix needs no launch of this: the kernel that multiplies
// its slices looks.
template <class Step>
struct Refusals {
  SlicedOperand A, B;
  unsigned* refusals;
  int matrices;
  static constexpr int threads = 1024;
  static constexpr LaunchInfo launch_info{.threads = threads, .follows = true};
  struct Smem {
    unsigned of_warp[threads / 32];
    static void members(auto name) { name("of_warp", &Smem::of_warp); }
  };
  int64_t blocks() const { return matrices; }
  void relocate(auto const& at) { A.relocate(at), B.relocate(at), refusals = at(refusals); }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_wait();
    bool const refused = sees_refusal<threads>(block, A, B, block.block_index());
    unsigned const refusal = any_of_block<threads>(block, smem.of_warp, refused);
    Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> atom;
    copy_one(atom, block.thread_rank() == 0, &refusal, make_gmem_ptr(refusals + block.block_index()));
  }
};

}  // namespace inlay::kernels
