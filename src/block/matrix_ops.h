// Matrix operations that the lanes of a warp execute together, named by CuTe's atoms:
//
//   On<Block, SM80_16x8x16_F32BF16BF16F32_TN>, _F32F16F16F32_TN   mma.sync.m16n8k16
//   On<Block, SM75_U32x4_LDSM_N>, x2, x1                          ldmatrix
//   On<Block, SM75_U16x8_LDSM_T>, x4, x2                          ldmatrix.trans
//   On<Block, SM90_U32x4_STSM_N>, x2, x1                          stmatrix
//   On<Block, SM90_U16x8_STSM_T>, x4, x2                          stmatrix.trans
//
// and those of a warpgroup:
//
//   On<Block, SM90_64x128x16_F32BF16BF16_SS<majors>>, ...         wgmma.mma_async.m64nNk16, A and B in shared memory
//   On<Block, SM90_64x128x16_F32BF16BF16_RS<majors>>, ...         the same, A in registers
//
// A kernel uses them through cute::gemm() and cute::copy(). All lanes of the warp, or all threads of the
// warpgroup, call each of them: they take no predicates.
#pragma once
#include <cute/atom/copy_atom.hpp>
#include <cute/atom/mma_atom.hpp>

#include <inlay/block/block.h>

namespace inlay::block {

// What ldmatrix or stmatrix copies: matrices of 8 x 8 elements of 16 bits. Lane 8 i + r has the address of row r of
// matrix i, 16 bytes; each lane has two elements of each matrix in a register.
struct MatrixCopy {
  int matrices = 0;  // 1, 2 or 4; 0: the operation is neither
  bool is_store = false, transposes = false;
};
template <class Op>
inline constexpr MatrixCopy matrix_copy{};
template <>
inline constexpr MatrixCopy matrix_copy<cute::SM75_U32x1_LDSM_N>{1, false, false};
template <>
inline constexpr MatrixCopy matrix_copy<cute::SM75_U32x2_LDSM_N>{2, false, false};
template <>
inline constexpr MatrixCopy matrix_copy<cute::SM75_U32x4_LDSM_N>{4, false, false};
template <>
inline constexpr MatrixCopy matrix_copy<cute::SM75_U16x2_LDSM_T>{1, false, true};
template <>
inline constexpr MatrixCopy matrix_copy<cute::SM75_U16x4_LDSM_T>{2, false, true};
template <>
inline constexpr MatrixCopy matrix_copy<cute::SM75_U16x8_LDSM_T>{4, false, true};
template <>
inline constexpr MatrixCopy matrix_copy<cute::SM90_U32x1_STSM_N>{1, true, false};
template <>
inline constexpr MatrixCopy matrix_copy<cute::SM90_U32x2_STSM_N>{2, true, false};
template <>
inline constexpr MatrixCopy matrix_copy<cute::SM90_U32x4_STSM_N>{4, true, false};
template <>
inline constexpr MatrixCopy matrix_copy<cute::SM90_U16x2_STSM_T>{1, true, true};
template <>
inline constexpr MatrixCopy matrix_copy<cute::SM90_U16x4_STSM_T>{2, true, true};
template <>
inline constexpr MatrixCopy matrix_copy<cute::SM90_U16x8_STSM_T>{4, true, true};

// The operations of mma.sync that a replay executes.
template <class Op>
inline constexpr bool is_warp_mma = false;
template <>
inline constexpr bool is_warp_mma<cute::SM80_16x8x16_F32BF16BF16F32_TN> = true;
template <>
inline constexpr bool is_warp_mma<cute::SM80_16x8x16_F32F16F16F32_TN> = true;

// wgmma with A and B of 16 bits, and sums in fp32. B is in shared memory, A there or in registers.
template <class Op>
inline constexpr bool is_wgmma = requires {
  typename cute::MMA_Traits<Op>::FrgTypeB;
  requires cute::size(typename cute::MMA_Traits<Op>::ThrID{})
  == 128;
  requires std::is_same_v < typename cute::MMA_Traits<Op>::ValTypeD,
  float > ;
  requires sizeof(typename cute::MMA_Traits<Op>::ValTypeA) == 2;
};
template <class Op>
inline constexpr bool has_A_in_registers = !requires {
  typename cute::MMA_Traits<Op>::FrgTypeA;
};

}  // namespace inlay::block
