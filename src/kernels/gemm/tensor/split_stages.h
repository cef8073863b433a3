// Tiles of fp32 operands in shared memory, from which bf16 slices are made (bf16_slices.h), and how cp.async fills
// them.
#pragma once
#include <inlay/kernels/common/producer.h>

namespace inlay::kernels {

// A tile of an operand in a stage: BLK rows, 32 indices of K, in one of two orders. along_K: 16 indices of K of a row
// are contiguous, 64 bytes, whose four vectors are permuted, so that lanes of eight rows have different banks.
// Otherwise rows are contiguous for each k, and permuted so that lanes of four different k have different banks.
template <int BLK, bool along_K>
struct SplitStage {
  static constexpr int BLK_K = 32, half = BLK * 16 + (along_K ? 16 : 0), floats = 2 * half;
  static_assert(BLK % 32 == 0);
  CUTE_HOST_DEVICE static unsigned offset(unsigned row, unsigned k) {
    return k / 16 * half +
           (along_K ? row * 16 + (k / 4 % 4 ^ row / 2 % 4) * 4 + k % 4 : k % 16 * BLK + (row ^ (k / 4 % 4 * 8)));
  }
  // Loads four elements of a row, of which the first, whose k is a multiple of four, is at `from`.
  template <class Block>
  CUTE_DEVICE static void load(Block, float const* from, float* x) {
    if constexpr (along_K) {
      Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> atom;
      Quad q;
      copy_one(atom, true, make_smem_ptr(reinterpret_cast<Quad const*>(from)), &q);
      CUTE_UNROLL
      for (int i = 0; i < 4; ++i) x[i] = q.x[i];
    } else {
      Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
      CUTE_UNROLL
      for (int i = 0; i < 4; ++i) copy_one(atom, true, make_smem_ptr(from + i * BLK), &x[i]);
    }
  }
};

// Copies tiles of an operand to stages by cp.async, with zeros beyond its edges: 16 bytes an access, or four. Threads
// lie along the contiguous mode of a stage first. `every`: of the tiles along K it copies the first, and then every
// other, every third...
template <class Block, int BLK, bool along_K, int threads, int every>
class SplitProducer {
  using Stage = SplitStage<BLK, along_K>;
  static constexpr int fast_extent = along_K ? Stage::BLK_K : BLK;
  Part left;  // from the thread's first row and index of K on
  int row = 0, k = 0;
  bool vectors = false;

 public:
  CUTE_DEVICE void begin(Part const& part, bool in_vectors, int rank, int first_tile) {
    left = part, vectors = in_vectors;
    unsigned const of_row = unsigned(vectors ? fast_extent / 4 : fast_extent),
                   fast = unsigned(rank) % of_row * (vectors ? 4 : 1), slow = unsigned(rank) / of_row;
    row = int(along_K ? slow : fast), k = int(along_K ? fast : slow);
    left.data += row * left.stride + k * left.stride_k, left.rows -= row, left.K -= k;
    skip(first_tile);
  }
  CUTE_DEVICE void issue(float* stage) {
    if (vectors)
      copy<4, AsyncVector>(stage);
    else
      copy<1, AsyncElement>(stage);
    skip(every);
  }

 private:
  CUTE_DEVICE void skip(int tiles) {
    left.data += tiles * Stage::BLK_K * left.stride_k;
    left.K -= tiles * Stage::BLK_K;
  }
  template <int V, class Op>
  CUTE_DEVICE void copy(float* stage) const {
    using Word = Bytes<4 * V>;
    constexpr int lanes = fast_extent / V, by = threads / lanes, times = (along_K ? BLK : Stage::BLK_K) / by;
    static_assert(lanes * by == threads && times >= 1);
    constexpr int kinds = along_K && by < 8 ? 8 / by : 1;  // rows eight apart are permuted alike
    Copy_Atom<On<Block, Op>, Word> atom;
    int64_t const stride = by * (along_K ? left.stride : left.stride_k);
    unsigned to[kinds];
    CUTE_UNROLL
    for (int i = 0; i < kinds; ++i) to[i] = Stage::offset(row + i * by, k);
    float const* from = left.data;
    // If all of many copies were unrolled, the compiler would keep their addresses in registers.
#ifdef __CUDACC__
#pragma unroll(times <= 8 ? times : 4)
#endif
    for (int i = 0; i < times; ++i) {
      bool const on = along_K ? i * by < left.rows && left.K > 0 : i * by < left.K && left.rows > 0;
      unsigned const at = along_K ? to[i % kinds] + i / kinds * kinds * by * 16 : Stage::offset(row, k + i * by);
      copy_one(atom, on, make_gmem_ptr(reinterpret_cast<Word const*>(from)),
               make_smem_ptr(reinterpret_cast<Word*>(stage + at)));
      from += stride;
    }
  }
};

}  // namespace inlay::kernels
