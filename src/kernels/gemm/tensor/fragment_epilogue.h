// Epilogues of the tensor-core GEMMs: the accumulators of a TiledMMA become elements of D in registers, and are stored.
#pragma once
#include <inlay/block/matrix_ops.h>
#include <inlay/kernels/common/epilogue.h>

namespace inlay::kernels {

// Whether each V elements of rows of o, from a multiple of V on, are an aligned vector, and all `cols` are such
// vectors.
template <int V, class T>
CUTE_HOST_DEVICE bool takes_adjacent(Operand const& o, int64_t cols) {
  return o.col_stride == 1 && o.row_stride % V == 0 && cols % V == 0 && o.batch_stride % V == 0 &&
         reinterpret_cast<uintptr_t>(o.base) % (V * sizeof(T)) == 0;
}

// V adjacent elements, which one access copies.
template <int V, class T>
union Adjacent {
  Bytes<V* int(sizeof(T))> word{};
  T element[V];
};

// Loads what beta scales, if it is added, for N sums of a thread from number `first` on; tCc: their coordinates. Zeros
// beyond the edge. pairs: loads two elements at once if all pairs are aligned.
template <class T, bool pairs, int N, class Block, class C>
CUTE_DEVICE void load_addend(Block, Gemm const& g, C const& tCc, int first, auto const& edge, int64_t m, int64_t n,
                             int64_t matrix, float (&old)[N]) {
  Operand const& o = g.addend();
  T const* const tile = o.as<T const>() + (matrix * o.batch_stride + m * o.row_stride + n * o.col_stride);
  auto const load = [&]<int V>(Int<V>) {
    using Word = decltype(Adjacent<V, T>::word);
    Copy_Atom<On<Block, UniversalCopy<Word>>, Word> atom;
    Adjacent<V, T> x[N / V];
    CUTE_UNROLL
    for (int i = 0; i < N / V; ++i) {
      auto const c = tCc(first + i * V);
      T const* const at = tile + (get<0>(c) * o.row_stride + get<1>(c) * o.col_stride);
      copy_one(atom, elem_less(c, edge), make_gmem_ptr(reinterpret_cast<Word const*>(at)), &x[i].word);
    }
    CUTE_UNROLL
    for (int i = 0; i < N; ++i) old[i] = float(x[i / V].element[i % V]);
  };
  if constexpr (pairs)
    if (takes_adjacent<2, T>(o, g.N())) return load(_2{});
  load(_1{});
}

// Whether what beta scales is one number for each row of D, or one aligned pair for each two columns.
CUTE_HOST_DEVICE bool repeats_column(Operand const& o) { return o.col_stride == 0 && o.batch_stride == 0; }
template <class T>
CUTE_HOST_DEVICE bool repeats_pairs(Operand const& o, int64_t cols) {
  return o.row_stride == 0 && o.batch_stride == 0 && takes_adjacent<2, T>(o, cols);
}

// Scales N sums and adds a bias of type T, a column or a row that D repeats: each of its elements is loaded once, and
// all loads of a thread are in flight. Returns false, and does nothing, for another addend.
template <class T, class Block, class C, class RD>
CUTE_DEVICE bool add_bias(Block, Gemm const& g, C const& tCc, auto const& edge, int64_t m, int64_t n, RD& sums) {
  Operand const& o = g.addend();
  // Four accumulators that follow one another are of two columns in two rows, eight apart.
  constexpr int of_one = int(size<0>(RD{})), rows = int(size<1>(RD{})), all = int(size(RD{}));
  auto const first_of_rows = [&](int r) { return r / 2 * of_one + r % 2 * 2; };
  auto const first_of_pair = [&](int p) { return p / (of_one / 4) * rows * of_one + p % (of_one / 4) * 4; };
  if (repeats_column(o)) {
    Copy_Atom<On<Block, UniversalCopy<T>>, T> atom;
    T x[2 * rows];
    CUTE_UNROLL
    for (int r = 0; r < 2 * rows; ++r) {
      int64_t const row = get<0>(tCc(first_of_rows(r)));
      x[r] = T(0);
      copy_one(atom, row < get<0>(edge), make_gmem_ptr(o.as<T const>() + (m + row) * o.row_stride), &x[r]);
    }
    CUTE_UNROLL
    for (int i = 0; i < all; ++i) sums(i) = scaled(g.epilogue, sums(i), float(x[i / of_one % rows * 2 + i / 2 % 2]));
    return true;
  }
  if (!repeats_pairs<T>(o, get<1>(edge))) return false;
  using Word = decltype(Adjacent<2, T>::word);
  Copy_Atom<On<Block, UniversalCopy<Word>>, Word> atom;
  constexpr int pairs = all / rows / 4;
  Adjacent<2, T> x[pairs];
  CUTE_UNROLL
  for (int p = 0; p < pairs; ++p) {
    int64_t const column = get<1>(tCc(first_of_pair(p)));
    copy_one(atom, column < get<1>(edge), make_gmem_ptr(reinterpret_cast<Word const*>(o.as<T const>() + (n + column))),
             &x[p].word);
  }
  CUTE_UNROLL
  for (int i = 0; i < all; ++i)
    sums(i) = scaled(g.epilogue, sums(i), float(x[i / (rows * of_one) * (of_one / 4) + i % of_one / 4].element[i % 2]));
  return true;
}

// Makes the elements of D of the sums in the accumulators of a TiledMMA, in fp32: the tile at (m,n) of a matrix of D.
// pairs: of load_addend, which loads at most `most` elements at once. columns, rows: of the tile, if it has fewer than
// the accumulators.
template <class T, Epilogues epilogues, bool pairs = true, int most = 32, class Block, class ThrMma, class Tile,
          class RD>
CUTE_DEVICE void finish_fragment(Block block, Gemm const& g, ThrMma const& thr_mma, Tile const& tile, RD& tCrD,
                                 int64_t m, int64_t n, int64_t matrix, int64_t columns = INT64_MAX,
                                 int64_t rows = INT64_MAX) {
  Epilogue const& e = g.epilogue;
  Tensor tCcD = thr_mma.partition_C(make_identity_tensor(tile));  // (MMA,MMA_M,MMA_N)
  auto const edge = make_coord(cute::min(g.M() - m, rows), cute::min(g.N() - n, columns));
  constexpr int all = size(RD{}),
                at_once = cute::min(all, epilogues == Epilogues::plain ? 8 : most);  // loads in flight
  static_assert(all % at_once == 0);
  // Apart: a sum costs one multiplication here, and the instructions lie together. Kernels with plain epilogues would
  // spill.
  if constexpr (epilogues == Epilogues::full)
    if (e.beta == 0 && e.activation == Activation::none) {
      if (e.alpha == 1) return;
      CUTE_UNROLL
      for (int i = 0; i < all; ++i) tCrD(i) *= e.alpha;
      return;
    }
  bool is_added = false;
  if constexpr (epilogues == Epilogues::full)
    if (e.beta != 0 && g.D.type == type_of<T>) is_added = add_bias<T>(block, g, tCcD, edge, m, n, tCrD);
  CUTE_UNROLL
  for (int first = 0; first < all; first += at_once) {
    if (e.beta == 0) {
      CUTE_UNROLL
      for (int i = 0; i < at_once; ++i) tCrD(first + i) *= e.alpha;
    } else if (!is_added) {
      float old[at_once];
      bool is_f32 = false;
      if constexpr (epilogues == Epilogues::full) is_f32 = g.D.type == f32;
      if (is_f32)
        load_addend<float, pairs>(block, g, tCcD, first, edge, m, n, matrix, old);
      else
        load_addend<T, pairs>(block, g, tCcD, first, edge, m, n, matrix, old);
      CUTE_UNROLL
      for (int i = 0; i < at_once; ++i) tCrD(first + i) = scaled(e, tCrD(first + i), old[i]);
    }
    if constexpr (epilogues == Epilogues::full)
      activate<at_once>(e.activation, [&](int i) -> float& { return tCrD(first + i); });
  }
}

// Writes finished elements from the registers of a TiledMMA to the tile at (m,n) of a matrix of D, which is f32 or of
// type T. A thread holds pairs that are adjacent along n; it writes a pair in one access if every pair of D is aligned.
// stages_rows: a D of type T whose rows are contiguous does not come here. columns, rows: as above.
template <class T, Epilogues epilogues, bool stages_rows = false, class Block, class ThrMma, class Tile, class RD>
CUTE_DEVICE void store_fragment(Block, Gemm const& g, ThrMma const& thr_mma, Tile const& tile, RD const& tCrD,
                                int64_t m, int64_t n, int64_t matrix, int64_t columns = INT64_MAX,
                                int64_t rows = INT64_MAX) {
  Tensor tCcD = thr_mma.partition_C(make_identity_tensor(tile));  // (MMA,MMA_M,MMA_N)
  auto const edge = make_coord(cute::min(g.M() - m, rows), cute::min(g.N() - n, columns));
  auto const store = [&]<class X, int V>(X* D, Int<V>) {
    using Word = decltype(Adjacent<V, X>::word);
    Copy_Atom<On<Block, UniversalCopy<Word>>, Word> atom;
    X* const first = D + (matrix * g.D.batch_stride + m * g.D.row_stride + n * g.D.col_stride);
    CUTE_UNROLL
    for (int i = 0; i < int(size(RD{})); i += V) {
      Adjacent<V, X> x;
      CUTE_UNROLL
      for (int v = 0; v < V; ++v) x.element[v] = X(tCrD(i + v));
      auto const c = tCcD(i);
      X* const at = first + (get<0>(c) * g.D.row_stride + get<1>(c) * g.D.col_stride);
      copy_one(atom, elem_less(c, edge), &x.word, make_gmem_ptr(reinterpret_cast<Word*>(at)));
    }
  };
  auto const as = [&]<class X>(X* D) {
    // Pairs of f32 behind mma.sync would be split by the compiler.
    if constexpr (stages_rows != std::is_same_v<X, T>)
      if (takes_adjacent<2, X>(g.D, g.N())) return store(D, _2{});
    store(D, _1{});
  };
  if constexpr (epilogues == Epilogues::full)
    if (g.D.type == f32) return as(g.D.as<float>());
  as(g.D.as<T>());
}

// store_fragment for a D of type T whose rows are aligned vectors of four elements: lanes side by side exchange pairs,
// so that four lanes write 32 bytes of a row. The TiledMMA of thr_mma gives a warp 16 columns that lie together.
template <class T, class Block, class ThrMma, class Tile, class RD>
CUTE_DEVICE void store_quads(Block block, Gemm const& g, ThrMma const& thr_mma, Tile const& tile, RD const& tCrD,
                             int64_t m, int64_t n, int64_t matrix, int cols, int rows) {
  using Word = decltype(Adjacent<4, T>::word);
  Copy_Atom<On<Block, UniversalCopy<Word>>, Word> atom;
  Tensor tCcD = thr_mma.partition_C(make_identity_tensor(tile));  // (MMA,MMA_M,MMA_N)
  bool const is_odd = block.thread_rank() % 2;
  T* const first = g.D.as<T>() + (matrix * g.D.batch_stride + m * g.D.row_stride + n);
  int const aside = is_odd ? 6 : 0;  // the second eight columns begin here: of the 16, odd lanes write those
  CUTE_UNROLL
  for (int i = 0; i < size<1>(tCrD); ++i) CUTE_UNROLL
  for (int half = 0; half < 2; ++half) {
    int const row = get<0>(tCcD(half * 2, i, 0));
    T* const to = first + row * g.D.row_stride;
    CUTE_UNROLL
    for (int j = 0; j < size<2>(tCrD); j += 2) {
      auto const pair = [&](int j) {
        Adjacent<2, T> x;
        x.element[0] = T(tCrD(half * 2, i, j)), x.element[1] = T(tCrD(half * 2 + 1, i, j));
        return x.word;
      };
      uint32_t const low = pair(j), high = pair(j + 1), other = block.shfl_xor(is_odd ? low : high, 1);
      Adjacent<4, T> out;
      out.word = is_odd ? Word(high) << 32 | other : Word(other) << 32 | low;
      int const column = get<1>(tCcD(half * 2, i, j)) + aside;
      copy_one(atom, row < rows && column < cols, &out.word, make_gmem_ptr(reinterpret_cast<Word*>(to + column)));
    }
  }
}

}  // namespace inlay::kernels
