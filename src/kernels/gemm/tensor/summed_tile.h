// A tile of D whose K is shared by the blocks of a cluster: each writes its sums to shared memory, and stores a part of
// the tile, for which it adds the sums of all blocks in the order of K.
#pragma once
#include <inlay/block/quad_ops.h>
#include <inlay/kernels/gemm/tensor/fragment_epilogue.h>

namespace inlay::kernels {

// T: the type of D unless that is f32. Called by threads 0 to `threads` - 1 of each block.
template <class T, int BLK_M, int BLK_N, int threads>
struct SummedTile {
  // Sums lie as the elements of D do, in rows: threads of a warp store whole sectors. Pitches in floats; the padding
  // keeps the lanes of a store in different banks.
  static constexpr int pitch_n = BLK_N + 8, pitch_m = BLK_M + 4;
  static constexpr int floats = cute::max(BLK_M * pitch_n, BLK_N* pitch_m);

  static constexpr bool along_m(Operand const& D) { return D.row_stride == 1 && D.col_stride != 1; }

  // Writes the accumulators of a TiledMMA to `sums`, 16-byte aligned.
  template <class Block, class TiledMma, class RD>
  CUTE_DEVICE static void put(Block block, Operand const& D, float* sums, TiledMma const& mma, RD const& sum) {
    Tensor tCcD =
        mma.get_slice(int(block.thread_rank())).partition_C(make_identity_tensor(Shape<Int<BLK_M>, Int<BLK_N>>{}));
    auto const write = [&]<int V>(Int<V>, int step_m, int step_n) {
      using Word = decltype(Adjacent<V, float>::word);
      Copy_Atom<On<Block, UniversalCopy<Word>>, Word> atom;
      CUTE_UNROLL
      for (int i = 0; i < int(size(RD{})); i += V) {
        Adjacent<V, float> x;
        CUTE_UNROLL
        for (int v = 0; v < V; ++v) x.element[v] = sum(i + v);
        float* const to = sums + (get<0>(tCcD(i)) * step_m + get<1>(tCcD(i)) * step_n);
        copy_one(atom, true, &x.word, make_smem_ptr(reinterpret_cast<Word*>(to)));
      }
    };
    along_m(D) ? write(_1{}, 1, pitch_m) : write(_2{}, pitch_n, 1);
  }

  // Stores part `part` of `parts`, 1, 2, 4 or 8, of the tile at (m,n) of a matrix of D. `sums` is where put() has
  // written in this block; the other blocks of the cluster have written theirs at the same offset of their shared
  // memory. columns: of the tile, a multiple of four.
  template <class Block>
  CUTE_DEVICE static void store(Block block, Gemm const& g, int parts, int part, float const* sums, int64_t m,
                                int64_t n, int64_t matrix, int columns) {
    auto const as = [&]<class X>(std::type_identity<X>) {
      auto const of = [&](auto PARTS) { store_part<X, PARTS>(block, g, part, sums, m, n, matrix, columns); };
      if (parts == 1) return of(_1{});
      if (parts == 2) return of(_2{});
      parts == 4 ? of(_4{}) : of(_8{});
    };
    if (g.D.type == f32)
      as(std::type_identity<float>{});
    else
      as(std::type_identity<T>{});
  }

 private:
  // A thread stores quads of one column, `step` rows apart.
  template <class X, int PARTS, class Block>
  CUTE_DEVICE static void store_part(Block block, Gemm const& g, int part, float const* sums, int64_t m, int64_t n,
                                     int64_t matrix, int columns) {
    constexpr int share = BLK_M * BLK_N / 4 / PARTS, all = cute::max(share / threads, 1),
                  at_once = cute::min(all, PARTS > 2 ? 2 : 4);
    static_assert(all % at_once == 0);
    if (share < threads && int(block.thread_rank()) >= share) return;  // whole warps
    bool const is_along_m = along_m(g.D);
    auto const rows_first = [&](Operand const& o) { return is_along_m ? transposed(o) : o; };
    Operand const D = rows_first(g.D), C = rows_first(g.addend());
    int const log2_quads = is_along_m ? std::countr_zero(unsigned(BLK_M / 4)) : std::countr_zero(unsigned(BLK_N / 4)),
              pitch = is_along_m ? pitch_m : pitch_n, step = threads >> log2_quads;
    int const quad = part * share + int(block.thread_rank()), row = quad >> log2_quads,
              col = (quad & ((1 << log2_quads) - 1)) * 4;
    int64_t const at_row = (is_along_m ? n : m) + row, at_col = (is_along_m ? m : n) + col;
    auto const place = [&](Operand const& o) {
      return matrix * o.batch_stride + at_row * o.row_stride + at_col * o.col_stride;
    };
    int64_t to = place(D), old = place(C);  // elements: of pointers that change, nvcc forgets that they are global
    float const* from = sums + row * pitch + col;
    bool const words = takes_words<X>(D), old_words = takes_words<X>(C);
    // Elements of the quad that are in D and in the tile, none: 0 or less; rows of both from the row on.
    int const cols = int(cute::min(D.cols - at_col, int64_t(is_along_m || col < columns ? 4 : 0)));
    int64_t rows = cute::min(D.rows - at_row, int64_t(is_along_m ? columns - row : BLK_M));
    CUTE_NO_UNROLL
    for (int first = 0; first < all; first += at_once) {
      Adjacent<4, X> x[at_once];
      Quad total[at_once];
      auto const each = [&](auto const& f) {
        CUTE_UNROLL
        for (int i = 0; i < at_once; ++i) f(i, rows > i * step ? cols : 0);
      };
      if (g.epilogue.beta != 0)
        each([&](int i, int left) {
          access(block, old_words, left, g.addend().as<X>() + (old + i * step * C.row_stride), C.col_stride,
                 [&](auto atom, bool on, auto* memory, int v) {
                   copy_one(atom, on, make_gmem_ptr(memory), reinterpret_cast<decltype(memory)>(&x[i]) + v);
                 });
        });
      gather<PARTS>(block, from, step * pitch, total);
      each([&](int i, int) {
        CUTE_UNROLL
        for (int v = 0; v < 4; ++v) total[i].x[v] = scaled(g.epilogue, total[i].x[v], float(x[i].element[v]));
      });
      activate<4 * at_once>(g.epilogue.activation, [&](int i) -> float& { return total[i / 4].x[i % 4]; });
      each([&](int i, int left) {
        CUTE_UNROLL
        for (int v = 0; v < 4; ++v) x[i].element[v] = X(total[i].x[v]);
        access(block, words, left, g.D.as<X>() + (to + i * step * D.row_stride), D.col_stride,
               [&](auto atom, bool on, auto* memory, int v) {
                 copy_one(atom, on, reinterpret_cast<decltype(memory)>(&x[i]) + v, make_gmem_ptr(memory));
               });
      });
      from += at_once * step * pitch, rows -= at_once * step;
      to += at_once * step * D.row_stride, old += at_once * step * C.row_stride;
    }
  }

  // Whether four elements from a multiple of four on lie in one aligned word, and rows end with such a word.
  template <class X>
  CUTE_HOST_DEVICE static bool takes_words(Operand const& o) {
    return o.col_stride == 1 && o.row_stride % 4 == 0 && o.cols % 4 == 0 && o.batch_stride % 4 == 0 &&
           reinterpret_cast<uintptr_t>(o.base) % (4 * sizeof(X)) == 0;
  }
  // Calls f(atom, on, memory, number) for a quad of which `left` elements are inside, in one access or in four.
  template <class Block, class X>
  CUTE_DEVICE static void access(Block, bool words, int left, X* memory, int64_t stride, auto const& f) {
    using Word = decltype(Adjacent<4, X>::word);
    if (words)
      return f(Copy_Atom<On<Block, UniversalCopy<Word>>, Word>{}, left > 0, reinterpret_cast<Word*>(memory), 0);
    CUTE_UNROLL
    for (int v = 0; v < 4; ++v) f(Copy_Atom<On<Block, UniversalCopy<X>>, X>{}, v < left, memory + v * stride, v);
  }

  // The sums of quads `distance` floats apart over the blocks of the cluster, in their order.
  template <int PARTS, int count, class Block>
  CUTE_DEVICE static void gather(Block block, float const* from, int distance, Quad (&total)[count]) {
    Quad x[PARTS][count];
    CUTE_UNROLL
    for (int p = 0; p < PARTS; ++p) CUTE_UNROLL
    for (int i = 0; i < count; ++i) {
      auto const* const own = reinterpret_cast<Quad const*>(from + i * distance);
      if constexpr (PARTS == 1)
        copy_one(Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad>{}, true, make_smem_ptr(own), &x[p][i]);
      else
        copy_one(Copy_Atom<On<Block, LoadCluster<Quad>>, Quad>{}, true, make_smem_ptr(block.peer(own, p)), &x[p][i]);
    }
    CUTE_UNROLL
    for (int i = 0; i < count; ++i) {
      total[i] = {};
      CUTE_UNROLL
      for (int p = 0; p < PARTS; ++p) CUTE_UNROLL
      for (int v = 0; v < 4; ++v) total[i].x[v] += x[p][i].x[v];
    }
  }
};

}  // namespace inlay::kernels
