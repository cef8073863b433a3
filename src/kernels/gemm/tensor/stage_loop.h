// The main loop of wgmma over stages that TMA fills.
#pragma once
#include <inlay/kernels/gemm/tensor/tma_operand.h>

#include <concepts>

namespace inlay::kernels {

// A position in a ring of PIPE stages, and the parity of its phase.
template <int PIPE>
struct StageOfRing {
  int stage = 0, phase = 0;
  CUTE_HOST_DEVICE void advance() {
    if (++stage == PIPE) stage = 0, phase ^= 1;
  }
};

// Calls f(Int<N>) for an N that is `columns`, which are BLK_N or up to kFewerColumns less.
template <int BLK_N, class F>
CUTE_DEVICE void with_columns(int columns, F const& f) {
  constexpr int step = model::kColumnStep;
  static_assert(model::kFewerColumns == 3 * step);
  if (columns == BLK_N) return f(Int<BLK_N>{});
  if (columns == BLK_N - step) return f(Int<BLK_N - step>{});
  if (columns == BLK_N - 2 * step) return f(Int<BLK_N - 2 * step>{});
  f(Int<BLK_N - 3 * step>{});
}

// The accumulators of the first N columns of a tile, of those of all: (MMA,MMA_M,MMA_N).
template <int N, class RD>
CUTE_DEVICE auto first_columns(RD& tCrD) {
  auto const all = tCrD.layout();
  return make_tensor(
      tCrD.data(),
      make_layout(make_shape(make_shape(_2{}, _2{}, Int<N / 8>{}), size<1>(all), size<2>(all)), all.stride()));
}

// Leaves the accumulators undefined, since the first wgmma overwrites them: the compiler would write zeros to them, and
// serialize wgmma because other instructions write its accumulators.
template <class RD>
CUTE_DEVICE void hold_nothing([[maybe_unused]] RD& tCrD) {
#ifdef __CUDA_ARCH__
  CUTE_UNROLL
  for (int i = 0; i < size(tCrD); ++i) asm volatile("" : "=f"(tCrD(i)));
#endif
}
// Has the compiler compute these values here; it would put that off until they are used.
CUTE_DEVICE void compute_now([[maybe_unused]] std::same_as<int> auto... values) {
#ifdef __CUDA_ARCH__
  auto const now = [](int value) { asm volatile("" ::"r"(value)); };
  (now(values), ...);
#endif
}

// Multiplies `steps` stages, one or more, from `at` on, into the accumulators of a warpgroup, which are zero first;
// await_stages waits for the last. tCrA, tCrB: (MMA,MMA_M,MMA_K,PIPE) and (MMA,MMA_N,MMA_K,PIPE), descriptors.
// release(stage): wgmma has read the stage.
template <int PIPE, class Block, class Mbarrier, class TiledMma, class RA, class RB, class RD>
CUTE_DEVICE void multiply_stages(Block block, Mbarrier* full, StageOfRing<PIPE>& at, int steps, TiledMma& mma,
                                 RA const& tCrA, RB const& tCrB, RD& tCrD, auto const& release) {
  hold_nothing(tCrD);
  mma.accumulate_ = GMMA::ScaleOut::Zero;  // the first instruction ignores tCrD
  int last = -1;                           // stage that wgmma may still read; -1: none
  int step = 0;
  CUTE_NO_UNROLL
  do {  // where loops of several instructions join, one that may run no step has the compiler serialize wgmma
    full[at.stage].wait(at.phase);
    warpgroup_fence_operand(tCrD);
    block.wgmma_fence();
    CUTE_UNROLL
    for (int i = 0; i < size<2>(tCrA); ++i) {
      gemm(mma, tCrA(_, _, i, at.stage), tCrB(_, _, i, at.stage), tCrD);
      mma.accumulate_ = GMMA::ScaleOut::One;
    }
    block.wgmma_commit();
    block.wgmma_wait(Int<1>{});
    warpgroup_fence_operand(tCrD);
    if (last >= 0) release(last);
    last = at.stage;
    at.advance();
  } while (++step < steps);
}
// Awaits what multiply_stages has issued, and releases its last stage. at: as multiply_stages left it.
template <int PIPE, class Block, class RD>
CUTE_DEVICE void await_stages(Block block, StageOfRing<PIPE> const& at, RD& tCrD, auto const& release) {
  block.wgmma_wait(Int<0>{});
  warpgroup_fence_operand(tCrD);
  release((at.stage ? at.stage : PIPE) - 1);
}

}  // namespace inlay::kernels
