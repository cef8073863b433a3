// The operands of small_tile.h in shared memory: lines of any alignment, copied by the widest accesses that all of them
// take.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/gemm/tensor/mma.h>

namespace inlay::kernels {

// The stages of one operand, ROWS of m or n by 64 along k, which `threads` threads fill. A line is what is contiguous.
template <class T, int ROWS, bool along_K, int threads>
struct SmallOperand {
  static constexpr int BLK_K = 64, lines = along_K ? ROWS : BLK_K, length = along_K ? BLK_K : ROWS;
  // The eight vectors of an ldmatrix lie in different banks.
  using Line = std::conditional_t<along_K, Layout<Shape<_8, Int<length>>, Stride<Int<length>, _1>>,
                                  Layout<Shape<Int<length>, _8>, Stride<_1, Int<length>>>>;
  using Swizzled =
      decltype(composition(std::conditional_t<length == 64, Swizzle<3, 3, 3>, Swizzle<2, 3, 3>>{}, Line{}));
  using Stage = decltype(tile_to_shape(Swizzled{}, Shape<Int<ROWS>, Int<BLK_K>>{}));  // (ROWS,BLK_K)
  using Ldmatrix = std::conditional_t<along_K, SM75_U32x4_LDSM_N, SM75_U16x8_LDSM_T>;
  static constexpr int elements = cosize_v<Stage>;

  T const* from;    // the tile's first element of the next stage
  int64_t pitch;    // elements between lines
  int rows;         // of the tile inside the operand
  int rank;         // of the thread
  int log2_vector;  // elements that one access copies: all lines are such vectors, at multiples of their bytes

  CUTE_DEVICE SmallOperand(Operand const& o, T const* from, int rows, int64_t K, int rank)
      : from(from), pitch(along_K ? o.row_stride : o.col_stride), rows(rows), rank(rank) {
    bool const is_one_line = (along_K ? o.rows : o.cols) == 1;
    unsigned const multiple = unsigned(reinterpret_cast<uintptr_t>(from) / sizeof(T)) |
                              (is_one_line ? 0 : unsigned(pitch)) | unsigned(along_K ? int(K) : rows);
    log2_vector = multiple % 8 == 0 ? 3 : multiple % 4 == 0 ? 2 : multiple % 2 == 0 ? 1 : 0;
  }
  // Fills a stage with the next K indices of k, at most 64; zeros beyond the edges, as far as multiply() reads.
  template <class Block>
  CUTE_DEVICE void next(Block block, T* stage, int K) {
    int const inside = along_K ? rows : K, filled = along_K ? ROWS : (K + 15) / 16 * 16,  // lines
        inside_line = along_K ? K : rows;
    CUTE_NO_UNROLL
    for (int half = 0; half < (along_K ? K : length); half += 32) {
      auto const fill = [&]<int V>(Int<V>) { fill_half<V>(block, stage, half, inside, filled, inside_line); };
      if (log2_vector == 3)
        fill(_8{});
      else if (log2_vector == 2)
        fill(_4{});
      else if (log2_vector == 1)
        fill(_2{});
      else
        fill(_1{});
    }
    from += along_K ? int64_t(BLK_K) : BLK_K * pitch;
  }

  // Where an element of a stage is: as Stage has it, in fewer instructions.
  CUTE_HOST_DEVICE static constexpr int offset(int line, int element) {
    return line * length + (element ^ (length == 64 ? line % 8 : line / 2 % 4) * 8);
  }
  static constexpr bool agrees_with_stage() {
    for (int line = 0; line < lines; ++line)
      for (int element = 0; element < length; element = element ? 2 * element : 1)
        if (offset(line, element) != (along_K ? Stage{}(line, element) : Stage{}(element, line))) return false;
    return true;
  }

 private:
  // Copies 32 elements of each line, from `half` on, V in one access.
  template <int V, class Block>
  CUTE_DEVICE void fill_half(Block block, T* stage, int half, int inside, int filled, int inside_line) const {
    using Word = Bytes<V* int(sizeof(T))>;
    constexpr int lanes = 32 / V, step = threads / lanes, rounds = lines / step,
                  at_once = cute::min(rounds, V == 1 && threads > 32 ? 16 : 8);
    int const thread = V == 8 && threads > 32 ? rank : behind_loop(rank);  // else addresses would wait in registers
    int const number = thread / lanes, element = half + thread % lanes * V;
    // Eight lanes fill two lines of 128 bytes that are four apart: their vectors lie in different banks.
    int const first = V == 8 && length == 64 ? number ^ (number ^ number / 4) % 2 * 5 : number;
    T const* at = from + (first * pitch + element);
    bool const on = element < inside_line;
    auto const each = [&](int done, auto const& f) {
      CUTE_UNROLL
      for (int i = 0; i < at_once; ++i) {
        // Vectors of 4 and 2 elements also fill lines that nothing reads: the branches would be up to 5 % more code.
        if ((V == 8 || V == 1) && !along_K && done + i * step >= filled) break;
        int const line = first + done + i * step;
        f(i, on && line < inside,
          make_smem_ptr(reinterpret_cast<Word*>(stage + (done * length + offset(first + i * step, element)))));
      }
    };
    auto const from_here = [&] {
      Word const* const here = reinterpret_cast<Word const*>(at);
      at += step * pitch;
      return block.gmem(here);
    };
    CUTE_NO_UNROLL
    for (int done = 0; done < (rounds > at_once ? filled : 1); done += at_once * step) {
      if constexpr (V > 1) {
        using Load =
            std::conditional_t<V == 8, SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<Word>, SM80_CP_ASYNC_CACHEALWAYS_ZFILL<Word>>;
        Copy_Atom<On<Block, Load>, Word> atom;
        each(done, [&](int, bool inside, auto to) { copy_one(atom, inside, from_here(), to); });
      } else {
        Copy_Atom<On<Block, LoadGlobal<Word>>, Word> load;
        Copy_Atom<On<Block, UniversalCopy<Word>>, Word> store;
        Word x[at_once]{};
        each(done, [&](int i, bool inside, auto) { copy_one(load, inside, from_here(), &x[i]); });
        each(done, [&](int i, bool, auto to) { copy_one(store, true, &x[i], to); });
      }
    }
  }
};

}  // namespace inlay::kernels
