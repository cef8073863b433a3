// What the GEMM kernels on tensor cores share: element types, instructions, and the way from accumulators to D.
#pragma once
#include <inlay/block/matrix_ops.h>
#include <inlay/kernels/common/epilogue.h>

namespace inlay::kernels {

// Kernel<T> for the type of the operands, bf16 or f16.
template <template <class> class Kernel>
struct ByHalfType {
  static constexpr int64_t period = Kernel<bfloat16_t>::BLK_K;  // of a block's accesses along K
  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& f) {
    if (g.D.type == bf16) kernels::launches<Kernel<bfloat16_t>>(g, setting, f);
    if (g.D.type == f16) kernels::launches<Kernel<half_t>>(g, setting, f);
  }
  static Reason rejects(Gemm const& g, Device const& device) {
    return g.D.type == f16 ? Kernel<half_t>::rejects(g, device) : Kernel<bfloat16_t>::rejects(g, device);
  }
};

// mma.sync.m16n8k16 with sums in fp32.
template <class T>
using Mma = std::conditional_t<std::is_same_v<T, half_t>, SM80_16x8x16_F32F16F16F32_TN, SM80_16x8x16_F32BF16BF16F32_TN>;

inline Reason rejects_wgmma(Device const& device) {
  if (device.compute_capability == 90) return {};
  return {"wgmma exists on compute capability 9.0 alone, not on {}.{}",
          {device.compute_capability / 10, device.compute_capability % 10}};
}

// Why an operand cannot be loaded in aligned vectors of 16 bytes along K.
template <class T>
Reason rejects_vectors_along_k(Gemm const& g, Operand const& o) {
  constexpr int64_t vector = 16 / sizeof(T);
  if (o.col_stride != 1) return {"an operand is not contiguous along K: its stride is {}", {o.col_stride}};
  if (o.cols % vector || (o.rows > 1 && o.row_stride % vector) || (g.L() > 1 && o.batch_stride % vector))
    return {"K {}, pitch {} and batch stride {} of an operand are not all multiples of 16 bytes",
            {o.cols, o.row_stride, o.batch_stride}};
  if (o.misalignment_bytes()) return {"an operand begins {} bytes past a multiple of 16", {o.misalignment_bytes()}};
  return {};
}

// Copies the tiles of an operand that is contiguous along K to stages of 64 elements along K, one tile after the other, by
// cp.async of 16 bytes; zeros beyond the edge. Called by 128 threads.
template <class Block, class T, class Stages>
struct AsyncTiles {
  static constexpr int BLK_K = size<1>(Stages{});
  static_assert(BLK_K == 64);
  using Tile = Shape<Int<size<0>(Stages{})>, Int<BLK_K>>;
  using Load = decltype(make_tiled_copy(Copy_Atom<On<Block, SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>>, T>{},
                                        Layout<Shape<_16, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _8>>{}));
  using From = decltype(make_tensor(make_gmem_ptr((T const*)nullptr), Tile{}, make_stride(int64_t(), _1{})));
  using To = decltype(make_tensor(make_smem_ptr((T*)nullptr), Stages{}));
  decltype(Load{}.get_slice(0).partition_S(From{})) tg;                        // (CPY,CPY_M,CPY_K)
  decltype(Load{}.get_slice(0).partition_S(make_identity_tensor(Tile{}))) tc;  // (CPY,CPY_M,CPY_K) -> (m,k)
  decltype(Load{}.get_slice(0).partition_D(To{})) ts;                          // (CPY,CPY_M,CPY_K,PIPE)
  int rows;                                                                    // of the tile inside the operand
  int64_t K;                                                                   // indices that are left

  CUTE_DEVICE AsyncTiles(Block block, T const* from, int64_t pitch, int rows, int64_t K, To const& to)
      : tg(slice(block).partition_S(make_tensor(make_gmem_ptr(from), Tile{}, make_stride(pitch, _1{})))),
        tc(slice(block).partition_S(make_identity_tensor(Tile{}))),
        ts(slice(block).partition_D(to)),
        rows(rows),
        K(K) {}
  CUTE_DEVICE void next(int stage) {
    auto const edge = make_coord(rows, K);
    Tensor in = lazy::transform(tc, [&](auto const& c) { return elem_less(c, edge); });
    copy_if(Load{}, in, tg, ts(_, _, _, stage));
    tg.data() = tg.data() + Int<BLK_K>{};
    K -= BLK_K;
  }

 private:
  CUTE_DEVICE static auto slice(Block block) { return Load{}.get_slice(int(block.thread_rank())); }
};

// wgmma of 64 x N x 16 with both operands in shared memory and sums in fp32.
template <class T, int N, GMMA::Major A = GMMA::Major::K, GMMA::Major B = GMMA::Major::K>
using Wgmma = decltype(GMMA::ss_op_selector<T, T, float, Shape<_64, Int<N>, _16>, A, B>());

// Scales V adjacent sums of one thread, rounds them to T and writes them to D with one access of V elements, if `on`.
template <int V, class T, class Block>
CUTE_DEVICE void store_rounded(Block, Epilogue const& e, bool on, float const (&sums)[V], T* d) {
  using Word = Bytes<V* int(sizeof(T))>;
  Copy_Atom<On<Block, UniversalCopy<Word>>, Word> atom;
  union {
    Word word;
    T element[V];
  } x;
  x.word = Word{};
  if (e.beta != 0) copy_one(atom, on, make_gmem_ptr(reinterpret_cast<Word*>(d)), &x.word);
  CUTE_UNROLL
  for (int v = 0; v < V; ++v) x.element[v] = T(scaled(e, sums[v], float(x.element[v])));
  copy_one(atom, on, &x.word, make_gmem_ptr(reinterpret_cast<Word*>(d)));
}

// Writes the accumulators of a TiledMMA to the tile of D from registers. A thread has pairs of neighbours
// along n, which it writes together if every pair of D is aligned.
template <class Block, class T, class TiledMma, class GD, class RD>
CUTE_DEVICE void store_fragment(Block block, Gemm const& g, TiledMma const& mma, GD const& gD, RD const& tCrD, int rows,
                                int cols) {
  auto thr_mma = mma.get_slice(int(block.thread_rank()));
  Tensor tCgD = thr_mma.partition_C(gD);                               // (MMA,MMA_M,MMA_N)
  Tensor tCcD = thr_mma.partition_C(make_identity_tensor(shape(gD)));  // (MMA,MMA_M,MMA_N) -> (m,n)
  bool const pairs = g.D.col_stride == 1 && g.D.row_stride % 2 == 0 && g.N() % 2 == 0 &&
                     (g.L() == 1 || g.D.batch_stride % 2 == 0) && reinterpret_cast<uintptr_t>(g.D.base) % 4 == 0;
  auto const edge = make_coord(rows, cols);
  CUTE_UNROLL
  for (int m = 0; m < size<1>(tCrD); ++m) {
    CUTE_UNROLL
    for (int n = 0; n < size<2>(tCrD); ++n) {
      CUTE_UNROLL
      for (int i = 0; i < size<0>(tCrD); i += 2) {
        float const sums[2] = {tCrD(i, m, n), tCrD(i + 1, m, n)};
        if (pairs) {
          store_rounded<2>(block, g.epilogue, elem_less(tCcD(i, m, n), edge), sums, raw_pointer_cast(&tCgD(i, m, n)));
        } else {
          CUTE_UNROLL
          for (int j = 0; j < 2; ++j)
            store_rounded<1, T>(block, g.epilogue, elem_less(tCcD(i + j, m, n), edge), {sums[j]},
                                raw_pointer_cast(&tCgD(i + j, m, n)));
        }
      }
    }
  }
}

}  // namespace inlay::kernels
