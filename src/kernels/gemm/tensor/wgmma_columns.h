// wgmma of every multiple of 16 columns, for tiles whose columns are data. Apart, because nvcc takes 11 s for these
// headers.
#pragma once
#include <cute/arch/mma_sm90_gmma_ext.hpp>
#include <cute/atom/mma_traits_sm90_gmma_ext.hpp>

#include <inlay/kernels/gemm/tensor/mma.h>

namespace inlay::kernels {

#define INLAY_WGMMA(N)                                             \
  template <GMMA::Major A, GMMA::Major B>                          \
  struct WgmmaOfColumns<bfloat16_t, N, A, B> {                     \
    using type = SM90::GMMA::MMA_64x##N##x16_F32BF16BF16_SS<A, B>; \
  };                                                               \
  template <GMMA::Major A, GMMA::Major B>                          \
  struct WgmmaOfColumns<half_t, N, A, B> {                         \
    using type = SM90::GMMA::MMA_64x##N##x16_F32F16F16_SS<A, B>;   \
  };
INLAY_WGMMA(48)
INLAY_WGMMA(80)
INLAY_WGMMA(112)
INLAY_WGMMA(144)
INLAY_WGMMA(160)
INLAY_WGMMA(176)
INLAY_WGMMA(208)
INLAY_WGMMA(224)
INLAY_WGMMA(240)
#undef INLAY_WGMMA

}  // namespace inlay::kernels
