// Writes fp32 operands as sums of 16-bit slices, contiguous along K, for tensor cores.
#pragma once
#include <inlay/kernels/common/gemm_grid.h>

namespace inlay::kernels {

// How many slices of type T an fp32 number is written as. bf16: h + m + l, each the rounded rest of the one before, exact but for what l
// rounds. f16: hi + lo / 2^11 of the number times a power of two for its row, which brings the largest of a row near 2^15.
template <class T>
inline constexpr int kSlices = std::is_same_v<T, half_t> ? 2 : 3;
template <class T>
inline constexpr bool kScalesRows = std::is_same_v<T, half_t>;

// The slices of an operand in a workspace: matrices one after the other, all of the first slice, then those of the second, with a pitch of
// whole lines. For f16 also a number for each row, by which its sums are multiplied; negative: the row refuses f16 slices.
struct SlicedOperand {
  Operand slices;  // (rows,K rounded up to whole lines,matrices * slices)
  float* factors = nullptr;

  template <class T>
  static SlicedOperand at(Operand const& o, char* to) {
    SlicedOperand s{o, nullptr};
    s.slices.base = to, s.slices.type = type_of<T>, s.slices.matrices = o.matrices * kSlices<T>;
    s.slices.cols = s.slices.row_stride = round_up(o.cols, 64), s.slices.col_stride = 1;  // zeros behind K
    s.slices.batch_stride = o.rows * s.slices.row_stride;
    if (kScalesRows<T>) s.factors = reinterpret_cast<float*>(to + slice_bytes(s));
    return s;
  }
  static int64_t slice_bytes(SlicedOperand const& s) {
    return round_up(s.slices.matrices * s.slices.batch_stride * 2, 256);
  }
  template <class T>
  static int64_t bytes(Operand const& o) {
    return slice_bytes(at<T>(o, nullptr)) + (kScalesRows<T> ? round_up(o.rows * o.matrices * 4, 256) : 0);
  }
  void place(auto const& at) { slices.base = at(slices.base), factors = at(factors); }
};

// Slices both operands. A block slices four rows that are contiguous along K one after the other, or each of its warps a short one: f16
// slices need the largest element first, and the second time the row comes from the L1. Other rows are sliced 32 at a time by a block:
// elements along the rows are loaded together, and written along K by way of shared memory. Step: the kernel, whose name its symbols have.
template <class Step, class T>
struct SliceOperands {
  static constexpr int threads = 256, slices = kSlices<T>, BLK_K = 64, at_once = 8;
  static constexpr bool scales = kScalesRows<T>;
  static constexpr LaunchInfo launch_info{.threads = threads, .follows = true};
  struct Smem {
    float tile[32 * (BLK_K + 1)];  // (32,BLK_K), one float of padding a row
    unsigned most[8 * 32];         // (8,32): the largest |x| of a row's parts, as bits
    static void members(auto name) { name("tile", &Smem::tile), name("most", &Smem::most); }
  };
  struct Work {
    Operand from;  // (rows,K,matrices), f32
    SlicedOperand to;
    int64_t groups;  // of rows, in a matrix: a block each
    bool along_K, vectors, short_rows;

    static Work make(Operand const& from, SlicedOperand const& to) {
      bool const along_K = from.row_stride != 1 || from.col_stride == 1;
      bool const short_rows = from.cols <= 2048, vectors = from.col_stride == 1 && from.row_stride % 4 == 0 &&
                                                           from.batch_stride % 4 == 0 && from.misalignment_bytes() == 0;
      return {from, to, ceil_div(from.rows, int64_t(!along_K ? 32 : short_rows ? 8 : 4)), along_K, vectors, short_rows};
    }
    CUTE_HOST_DEVICE int64_t blocks() const { return groups * from.matrices; }
  };
  Work A, B;
  unsigned const* refusals;  // one for each matrix of the batch: slices what is refused elsewhere. Null: slices all
  int matrices;              // refusals

  int64_t blocks() const { return A.blocks() + B.blocks(); }
  void place(auto const& at) {
    A.from.base = at(A.from.base), B.from.base = at(B.from.base), refusals = at(refusals);
    A.to.place(at), B.to.place(at);
  }

  // ---- device
  union Floats {
    Bytes<16> word{};
    float x[4];
  };
  union Slice {
    Bytes<16> word{};
    T x[at_once];
  };
  struct Row {
    unsigned most = 0;  // |x| as bits
    float sum = 0, lost = 0;
    int nonzeros = 0;
  };
  CUTE_HOST_DEVICE static unsigned bits(float x) {
    union {
      float f;
      unsigned u;
    } const v{x};
    return v.u;
  }
  CUTE_HOST_DEVICE static float as_float(unsigned u) {
    union {
      unsigned u;
      float f;
    } const v{.u = u};
    return v.f;
  }
  // The power of two, from 2^-63 to 2^63, that brings `most` to 2^14 or more, below 2^15. Two of them multiplied are finite.
  CUTE_HOST_DEVICE static int exponent(unsigned most) { return most ? 141 - int(most >> 23) : 0; }
  CUTE_HOST_DEVICE static float power(int exponent) {
    return as_float(unsigned(cute::max(-63, cute::min(exponent, 63)) + 127) << 23);
  }
  // Whether the f16 slices of a row may lose more than cuBLAS's fp32 does, which was measured (docs/05_results.md): if many elements are
  // far below the largest one, whose scale leaves no bits for them; if more than half are zero, for which fp32 rounds nothing; and if K is
  // so small that the truncation of the tensor cores is seen.
  CUTE_HOST_DEVICE static bool refuses(Row const& row, int64_t K) {
    int const e = exponent(row.most);
    return !(row.most < 0x7f800000u && e >= -63 && e <= 63 && K >= 64 && row.lost <= .5f / 8388608 * row.sum &&
             2 * int64_t(row.nonzeros) >= K);
  }
  // The next slice of x: rounded, but one that would become infinite loses its last bits instead.
  CUTE_HOST_DEVICE static T next_slice(float x) {
    T const y = T(x);
    if (!scales && (bits(float(y)) & 0x7fffffffu) == 0x7f800000u && (bits(x) & 0x7fffffffu) < 0x7f800000u)
      return T(as_float(bits(x) & 0xffff0000u));
    return y;
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_wait();
    bool const is_A = block.block_index() < A.blocks();
    Work const work = is_A ? A : B;
    int64_t const index = block.block_index() - (is_A ? 0 : A.blocks()), l = index / work.groups,
                  group = index % work.groups;
    if (!needs(block, work, l)) return;
    if (!work.along_K) return slice_rows(block, smem, work, l, group * 32);
    if (work.short_rows) return slice_row(block, smem, work, l, group * 8 + block.thread_rank() / 32);
    CUTE_NO_UNROLL
    for (int64_t row = group * 4; row < cute::min(group * 4 + 4, work.from.rows); ++row)
      slice_row(block, smem, work, l, row);
  }

 private:
  // Whether any matrix of the batch that uses matrix l of the operand is refused elsewhere.
  template <class Block>
  CUTE_DEVICE bool needs(Block, Work const& work, int64_t l) const {
    if (!refusals) return true;
    Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> atom;
    unsigned any = 0;
    CUTE_NO_UNROLL
    for (int64_t i = work.from.matrices > 1 ? l : 0; i < (work.from.matrices > 1 ? l + 1 : matrices); ++i) {
      unsigned refusal = 0;
      copy_one(atom, true, make_gmem_ptr(refusals + i), &refusal);
      any |= refusal;
    }
    return any != 0;
  }

  // Writes the slices of eight elements of a row from k on, and adds what they lose.
  template <class Block>
  CUTE_DEVICE void put(Block, Work const& work, float const (&x)[at_once], float scale, int64_t l, int64_t row,
                       int64_t k, bool on, Row& known) const {
    Slice s[slices];
    CUTE_UNROLL
    for (int i = 0; i < at_once; ++i) {
      float rest = x[i] * scale;
      known.sum += fabsf(rest), known.nonzeros += rest != 0;
      CUTE_UNROLL
      for (int j = 0; j < slices; ++j) {
        T const part = next_slice(rest);
        s[j].x[i] = part;
        rest -= float(part);
        if (scales && j == 0) rest *= 2048;
      }
      known.lost += fabsf(rest) * (1.f / 2048);
    }
    Copy_Atom<On<Block, UniversalCopy<Bytes<16>>>, Bytes<16>> atom;
    Operand const& o = work.to.slices;
    CUTE_UNROLL
    for (int j = 0; j < slices; ++j) {
      T* const at = o.as<T>() + ((j * work.from.matrices + l) * o.batch_stride + row * o.row_stride + k);
      copy_one(atom, on, &s[j].word, make_gmem_ptr(reinterpret_cast<Bytes<16>*>(at)));
    }
  }
  // Replaces what each warp knows of a row by what the block knows.
  template <class Block>
  CUTE_DEVICE static void join_warps(Block block, Smem& smem, Row& known) {
    Copy_Atom<On<Block, UniversalCopy<float>>, float> element;
    Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> word;
    int const rank = int(block.thread_rank()), warp = rank / 32;
    float const counted = float(known.nonzeros);
    bool const on = rank % 32 == 0;
    block.sync();
    copy_one(word, on, &known.most, make_smem_ptr(smem.most + warp));
    copy_one(element, on, &known.sum, make_smem_ptr(smem.tile + warp));
    copy_one(element, on, &known.lost, make_smem_ptr(smem.tile + 8 + warp));
    copy_one(element, on, &counted, make_smem_ptr(smem.tile + 16 + warp));
    block.sync();
    known = {};
    float nonzeros = 0;
    CUTE_UNROLL
    for (int w = 0; w < 8; ++w) {
      unsigned most = 0;
      float of_warp[3];
      copy_one(word, true, make_smem_ptr(smem.most + w), &most);
      CUTE_UNROLL
      for (int i = 0; i < 3; ++i) copy_one(element, true, make_smem_ptr(smem.tile + 8 * i + w), &of_warp[i]);
      known.most = cute::max(known.most, most);
      known.sum += of_warp[0], known.lost += of_warp[1], nonzeros += of_warp[2];
    }
    known.nonzeros = int(nonzeros);
  }
  // Replaces what each lane knows of a row by what `lanes` lanes know.
  template <class Block>
  CUTE_DEVICE static void join_lanes(Block block, int lanes, Row& known) {
    for (int mask = lanes / 2; mask > 0; mask /= 2) {
      known.most = cute::max(known.most, block.shfl_xor(known.most, mask));
      known.sum += block.shfl_xor(known.sum, mask), known.lost += block.shfl_xor(known.lost, mask);
      known.nonzeros += block.shfl_xor(known.nonzeros, mask);
    }
  }
  template <class Block>
  CUTE_DEVICE void put_factor(Block, Work const& work, Row const& known, float scale, int64_t l, int64_t row,
                              bool on) const {
    float const factor = refuses(known, work.from.cols) ? -1.f : 1 / scale;
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    copy_one(atom, on, &factor, make_gmem_ptr(work.to.factors + (l * work.from.rows + row)));
  }

  template <class Block>
  CUTE_DEVICE void slice_row(Block block, Smem& smem, Work const& work, int64_t l, int64_t row) const {
    Operand const& o = work.from;
    int const lanes = work.short_rows ? 32 : threads, lane = int(block.thread_rank()) % lanes;
    bool const exists = row < o.rows;
    float const* const from = o.as<float const>() + (l * o.batch_stride + row * o.row_stride);
    Copy_Atom<On<Block, UniversalCopy<Bytes<16>>>, Bytes<16>> vector;
    Copy_Atom<On<Block, UniversalCopy<float>>, float> element;
    auto const each = [&](auto const& f) {
      CUTE_NO_UNROLL
      for (int64_t k = lane * at_once; k - lane * at_once < work.to.slices.row_stride; k += lanes * at_once) {
        Floats x[2];
        if (work.vectors && k + at_once <= o.cols) {
          CUTE_UNROLL
          for (int i = 0; i < 2; ++i)
            copy_one(vector, exists, make_gmem_ptr(reinterpret_cast<Bytes<16> const*>(from + (k + 4 * i))), &x[i].word);
        } else {
          CUTE_UNROLL
          for (int i = 0; i < at_once; ++i)
            copy_one(element, exists && k + i < o.cols, make_gmem_ptr(from + (k + i) * o.col_stride),
                     &x[i / 4].x[i % 4]);
        }
        float const eight[] = {x[0].x[0], x[0].x[1], x[0].x[2], x[0].x[3], x[1].x[0], x[1].x[1], x[1].x[2], x[1].x[3]};
        f(eight, k);
      }
    };
    Row known;
    float scale = 1;
    if constexpr (scales) {
      each([&](float const(&x)[at_once], int64_t) {
        CUTE_UNROLL
        for (int i = 0; i < at_once; ++i) known.most = cute::max(known.most, bits(x[i]) & 0x7fffffffu);
      });
      join_lanes(block, 32, known);
      if (!work.short_rows) join_warps(block, smem, known);
      scale = power(exponent(known.most));
    }
    each([&](float const(&x)[at_once], int64_t k) {
      put(block, work, x, scale, l, row, k, exists && k < work.to.slices.row_stride, known);
    });
    if constexpr (scales) {
      join_lanes(block, 32, known);
      if (!work.short_rows) join_warps(block, smem, known);
      put_factor(block, work, known, scale, l, row, exists && lane == 0);
    }
  }

  template <class Block>
  CUTE_DEVICE void slice_rows(Block block, Smem& smem, Work const& work, int64_t l, int64_t first) const {
    Operand const& o = work.from;
    int const rank = int(block.thread_rank()), warp = rank / 32, lane = rank % 32;
    float const* const from = o.as<float const>() + (l * o.batch_stride + (first + lane) * o.row_stride);
    Copy_Atom<On<Block, UniversalCopy<float>>, float> element;
    Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> word;
    // Eight elements of the lane's row from k + 8 * warp on.
    auto const load = [&](int64_t k, float(&x)[at_once]) {
      CUTE_UNROLL
      for (int i = 0; i < at_once; ++i) {
        int64_t const at = k + warp * at_once + i;
        x[i] = 0;
        copy_one(element, first + lane < o.rows && at < o.cols, make_gmem_ptr(from + at * o.col_stride), &x[i]);
      }
    };
    int const row = rank / 8;  // of the eight lanes that write it
    Row known;
    float scale = 1;
    if constexpr (scales) {
      unsigned most = 0;
      CUTE_NO_UNROLL
      for (int64_t k = 0; k < o.cols; k += BLK_K) {
        float x[at_once];
        load(k, x);
        CUTE_UNROLL
        for (int i = 0; i < at_once; ++i) most = cute::max(most, bits(x[i]) & 0x7fffffffu);
      }
      copy_one(word, true, &most, make_smem_ptr(smem.most + (warp * 32 + lane)));
      block.sync();
      CUTE_UNROLL
      for (int w = 0; w < 8; ++w) {
        unsigned of_warp = 0;
        copy_one(word, true, make_smem_ptr(smem.most + (w * 32 + row)), &of_warp);
        known.most = cute::max(known.most, of_warp);
      }
      scale = power(exponent(known.most));
    }
    CUTE_NO_UNROLL
    for (int64_t k = 0; k < work.to.slices.row_stride; k += BLK_K) {
      float x[at_once];
      load(k, x);
      CUTE_UNROLL
      for (int i = 0; i < at_once; ++i)
        copy_one(element, true, &x[i], make_smem_ptr(smem.tile + (lane * (BLK_K + 1) + warp * at_once + i)));
      block.sync();
      CUTE_UNROLL
      for (int i = 0; i < at_once; ++i)
        copy_one(element, true, make_smem_ptr(smem.tile + (row * (BLK_K + 1) + rank % 8 * at_once + i)), &x[i]);
      block.sync();
      put(block, work, x, scale, l, first + row, k + rank % 8 * at_once, first + row < o.rows, known);
    }
    if constexpr (scales) {
      join_lanes(block, 8, known);
      put_factor(block, work, known, scale, l, first + row, first + row < o.rows && rank % 8 == 0);
    }
  }
};

// For each matrix of a batch: 1 if a row of A or B refuses f16 slices, else 0.
template <class Step>
struct Refusals {
  SlicedOperand A, B;
  unsigned* refusals;
  int matrices;
  static constexpr int threads = 1024, at_once = 8;
  static constexpr LaunchInfo launch_info{.threads = threads, .follows = true};
  struct Smem {
    unsigned of_warp[threads / 32];
    static void members(auto name) { name("of_warp", &Smem::of_warp); }
  };
  int64_t blocks() const { return matrices; }
  void place(auto const& at) { A.place(at), B.place(at), refusals = at(refusals); }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_wait();
    int const rank = int(block.thread_rank());
    bool refused = false;
    auto const look = [&](SlicedOperand const& o) {
      Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
      int64_t const rows = o.slices.rows, first = o.slices.matrices > kSlices<half_t> ? block.block_index() * rows : 0;
      CUTE_NO_UNROLL
      for (int64_t row = 0; row < rows; row += at_once * threads) {
        float factor[at_once] = {};
        CUTE_UNROLL
        for (int i = 0; i < at_once; ++i)
          copy_one(atom, row + i * threads + rank < rows, make_gmem_ptr(o.factors + (first + row + i * threads + rank)),
                   &factor[i]);
        CUTE_UNROLL
        for (int i = 0; i < at_once; ++i) refused |= factor[i] < 0;
      }
    };
    look(A), look(B);
    Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> atom;
    unsigned any = block.any(refused);
    copy_one(atom, rank % 32 == 0, &any, make_smem_ptr(smem.of_warp + rank / 32));
    block.sync();
    CUTE_UNROLL
    for (int w = 0; w < threads / 32; ++w) {
      unsigned x = 0;
      copy_one(atom, true, make_smem_ptr(smem.of_warp + w), &x);
      any |= x;
    }
    copy_one(atom, rank == 0, &any, make_gmem_ptr(refusals + block.block_index()));
  }
};

}  // namespace inlay::kernels
