// Operands of a GEMM as TMA loads and stores them, and their stages as wgmma reads them.
#pragma once
#include <inlay/kernels/gemm/tensor/mma.h>
#include <inlay/model/wgmma_times.h>

namespace inlay::kernels {
using GMMA::Major;

// The operand, transposed if it is contiguous along m or n: its contiguous mode is the last one.
inline Operand contiguous_last(Operand const& o, Major major) { return major == Major::K ? o : transposed(o); }

// The TMA tensor of A, B or D with contiguous rows: (cols,rows,L), in boxes of 128 bytes and box_rows rows.
template <class T>
TmaTensor tma_tensor(Operand const& o, int64_t matrices, int box_rows) {
  // Strides of extents of 1 must be valid too. An operand shared by the batch is one matrix.
  int64_t const all = o.batch_stride ? matrices : 1, size = sizeof(T);
  return {o.base,
          int(size),
          {o.cols, o.rows, all},
          {o.rows > 1 ? o.row_stride * size : 16, all > 1 ? o.batch_stride * size : 16},
          {int(128 / size), box_rows, 1},
          true};
}
template <class T>
Reason rejects_tma(Gemm const& g, Operand const& o) {
  if (Reason r = rejects_rows<T>(o)) return r;
  if ((o.rows > 1 && o.row_stride <= 0) || o.batch_stride < 0)
    return {"TMA takes no negative strides: pitch {}, batch stride {}", {o.row_stride, o.batch_stride}};
  constexpr int64_t most = INT32_MAX - 1024;  // the end of the last cluster's tiles must fit 31 bits too
  for (int64_t extent : {o.rows, o.cols})
    if (extent > most) return {"TMA coordinates have 31 bits, an extent of {} does not fit", {extent}};
  for (int64_t stride : {o.row_stride, o.batch_stride})
    if (stride >= (int64_t(1) << 40) / int64_t(sizeof(T)))
      return {"TMA strides have 40 bits, one of {} elements does not fit", {stride}};
  return too_many("TMA coordinates have 31 bits, {} matrices do not fit", 1, g.L(), {g.L()}, most);
}

// Stages of an operand as TMA fills them and wgmma reads them: rows of 128 bytes along the contiguous mode, swizzled.
// Tiles that are contiguous along m or n are slabs of 64 x 64 elements, one box each.
template <class T, Major major, int BLK_MN, int BLK_K, int PIPE>
struct StagesOf {
  using Stage = Shape<Int<BLK_MN>, Int<BLK_K>, Int<PIPE>>;
  static auto layout() {
    if constexpr (major == Major::K)
      return tile_to_shape(GMMA::Layout_K_SW128_Atom<T>{}, Stage{});
    else
      return tile_to_shape(GMMA::Layout_MN_SW128_Atom<T>{}, Stage{}, Step<_2, _1, _3>{});
  }
  using type = decltype(layout());  // (BLK_MN,BLK_K,PIPE)
};

}  // namespace inlay::kernels
