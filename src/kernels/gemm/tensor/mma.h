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

// Writes the accumulators of a TiledMMA of m16n8k16 to the tile of D from registers. A thread has pairs of neighbours
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
