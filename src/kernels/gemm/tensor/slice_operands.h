// Writes fp32 operands as sums of 16-bit slices, contiguous along K, for tensor cores.
#pragma once
#include <inlay/kernels/gemm/tensor/f16_slices.h>
#include <inlay/kernels/gemm/tensor/sliced_operand.h>

namespace inlay::kernels {

// Slices both operands. 32 to 256 lanes of a block slice a row that is contiguous along K, of which up to 8192 elements stay in registers,
// because f16 slices need the largest one first. Other rows are sliced BLK_M at a time by a block, or a part of their K where nothing is
// needed first: elements along the rows are loaded together, and written along K by way of shared memory. Step: the kernel, whose name
// its symbols have.
template <class Step, class T>
struct SliceOperands {
  static constexpr int threads = 256, slices = kSlices<T>, at_once = 8;
  static constexpr int held = 4;  // vectors of a row's `at_once` elements in the registers of a lane
  static constexpr bool scales = kScalesRows<T>;
  // A tile of rows that are not contiguous along K. Where all of K is needed first, few rows make many blocks.
  static constexpr int BLK_M = scales ? 16 : 32, BLK_K = 8192 / BLK_M;
  static constexpr LaunchInfo launch_info{.threads = threads, .follows = true};
  struct Smem {
    float tile[BLK_M * (BLK_K + 1)];  // (BLK_M,BLK_K), one float of padding a row
    unsigned most[threads];           // (BLK_M,threads / BLK_M): the largest |x| of a row's parts, as bits
    static void members(auto name) { name("tile", &Smem::tile), name("most", &Smem::most); }
  };
  struct Work {
    Operand from;  // (rows,K,matrices), f32
    SlicedOperand to;
    int64_t groups;  // of rows, in a matrix
    int64_t parts;   // of K, for a block each
    int lanes;       // of a row along K; 0: the rows are not contiguous along K
    bool vectors;

    static Work make(Operand const& from, SlicedOperand const& to) {
      bool const along_K = from.row_stride != 1 || from.col_stride == 1;
      bool const vectors = from.col_stride == 1 && from.row_stride % 4 == 0 && from.batch_stride % 4 == 0 &&
                           from.misalignment_bytes() == 0;
      int const lanes =
          !along_K ? 0 : int(std::clamp<int64_t>(std::bit_ceil(uint64_t(from.cols)) / (held * at_once), 32, threads));
      return {from,
              to,
              ceil_div(from.rows, int64_t(along_K ? rows_at_once(lanes) : BLK_M)),
              along_K || scales ? 1 : ceil_div(from.cols, int64_t(BLK_K)),
              lanes,
              vectors};
    }
    CUTE_HOST_DEVICE static int rows_at_once(int lanes) { return cute::max(threads / lanes, 4); }
    static Work none(Operand const& from, SlicedOperand const& to) { return {from, to, 0, 0, 0, false}; }
    CUTE_HOST_DEVICE int64_t blocks() const { return groups * parts * from.matrices; }
  };
  Work A, B;
  unsigned const* refusals;  // one for each matrix of the batch: slices what is refused elsewhere. Null: slices all
  int matrices;              // refusals
  int64_t grid;              // blocks, each of which slices every grid-th of the works' blocks

  static SliceOperands make(Work const& A, Work const& B, unsigned const* refusals, int64_t matrices, int sm_count) {
    // A grid that mostly ends at once is small; in a batch each block would have to look at each matrix.
    int64_t const all = A.blocks() + B.blocks(), few = int64_t(sm_count) * 4;
    return {A, B, refusals, int(matrices), refusals && matrices == 1 ? std::min(all, few) : all};
  }
  int64_t blocks() const { return grid; }
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
  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_wait();
    if constexpr (scales) return slice(block, smem, block.block_index());  // refuses, and is never refused
    if (matrices == 1 && !needs(block, A, 0)) return;
    CUTE_NO_UNROLL
    for (int64_t i = block.block_index(); i < A.blocks() + B.blocks(); i += grid) {
      if (i != block.block_index()) block.sync();  // all threads have read shared memory
      slice(block, smem, i);
    }
  }

 private:
  // What block number i slices of A, or behind its blocks of B.
  template <class Block>
  CUTE_DEVICE void slice(Block block, Smem& smem, int64_t i) const {
    bool const is_A = i < A.blocks();
    Work const work = is_A ? A : B;
    int64_t const index = i - (is_A ? 0 : A.blocks());
    int64_t const part = index % work.parts, group = index / work.parts % work.groups,
                  l = index / work.parts / work.groups;
    if (matrices > 1 && !needs(block, work, l)) return;
    if (work.lanes == 0) return slice_rows(block, smem, work, l, group * BLK_M, part);
    int const rows = Work::rows_at_once(work.lanes), step = threads / work.lanes;
    CUTE_NO_UNROLL
    for (int row = int(block.thread_rank()) / work.lanes; row < rows; row += step)
      slice_row(block, smem, work, l, group * rows + row);
  }
  // Whether any matrix of the batch that uses matrix l of the operand is refused elsewhere.
  template <class Block>
  CUTE_DEVICE bool needs(Block block, Work const& work, int64_t l) const {
    if (!refusals) return true;
    Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> atom;
    int64_t const first = work.from.matrices > 1 ? l : 0, last = work.from.matrices > 1 ? l + 1 : matrices;
    bool any = false;
    CUTE_NO_UNROLL
    for (int64_t i = first; i < last; i += 32) {
      int64_t const mine = i + block.thread_rank() % 32;
      unsigned refusal = 0;
      copy_one(atom, mine < last, make_gmem_ptr(refusals + mine), &refusal);
      any |= refusal != 0;
    }
    return block.any(any);
  }

  // The next slice of x: rounded, but a bf16 that would become infinite loses its last bits instead.
  CUTE_HOST_DEVICE static T next_slice(float x) {
    T const y = T(x);
    if (!scales && ScaledRow::size_bits(float(y)) == 0x7f800000u && ScaledRow::size_bits(x) < 0x7f800000u)
      return T(std::bit_cast<float>(std::bit_cast<unsigned>(x) & 0xffff0000u));
    return y;
  }
  // Writes the slices of eight elements of a row from k on, and adds what they lose. Element by element: of pairs that are made together,
  // as on the chip (bf16_slices.h), the compiler stores 8 bytes at a time.
  template <class Block>
  CUTE_DEVICE void put(Block, Work const& work, float const (&x)[at_once], float scale, int64_t l, int64_t row,
                       int64_t k, bool on, ScaledRow& known) const {
    Slice s[slices];
    CUTE_UNROLL
    for (int i = 0; i < at_once; ++i) {
      float rest = x[i] * scale;
      known.sum += fabsf(rest), known.whole += fabsf(rest) >= 0x1p-14f;
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
  // Replaces what each warp knows of a row by what its lanes know.
  template <class Block>
  CUTE_DEVICE static void join_warps(Block block, Smem& smem, int lanes, ScaledRow& known) {
    Copy_Atom<On<Block, UniversalCopy<float>>, float> element;
    Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> word;
    int const rank = int(block.thread_rank()), warp = rank / 32, first = rank / lanes * (lanes / 32);
    float const counted = float(known.whole);
    bool const on = rank % 32 == 0;
    block.sync();
    copy_one(word, on, &known.most, make_smem_ptr(smem.most + warp));
    copy_one(element, on, &known.sum, make_smem_ptr(smem.tile + warp));
    copy_one(element, on, &known.lost, make_smem_ptr(smem.tile + 8 + warp));
    copy_one(element, on, &counted, make_smem_ptr(smem.tile + 16 + warp));
    block.sync();
    known = {};
    float whole = 0;
    CUTE_NO_UNROLL
    for (int w = first; w < first + lanes / 32; ++w) {
      unsigned most = 0;
      float of_warp[3];
      copy_one(word, true, make_smem_ptr(smem.most + w), &most);
      CUTE_UNROLL
      for (int i = 0; i < 3; ++i) copy_one(element, true, make_smem_ptr(smem.tile + 8 * i + w), &of_warp[i]);
      known.most = cute::max(known.most, most);
      known.sum += of_warp[0], known.lost += of_warp[1], whole += of_warp[2];
    }
    known.whole = int(whole);
  }
  // Replaces what each lane knows of a row by what `lanes` lanes know.
  template <class Block>
  CUTE_DEVICE static void join_lanes(Block block, int lanes, ScaledRow& known) {
    for (int mask = lanes / 2; mask > 0; mask /= 2) {
      known.most = cute::max(known.most, block.shfl_xor(known.most, mask));
      known.sum += block.shfl_xor(known.sum, mask), known.lost += block.shfl_xor(known.lost, mask);
      known.whole += block.shfl_xor(known.whole, mask);
    }
  }
  template <class Block>
  CUTE_DEVICE void put_factor(Block, Work const& work, ScaledRow const& known, float scale, int64_t l, int64_t row,
                              bool on) const {
    float const factor = known.refuses(work.from.cols) ? -1.f : 1 / scale;
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    copy_one(atom, on, &factor, make_gmem_ptr(work.to.factors + (l * work.from.rows + row)));
  }

  template <class Block>
  CUTE_DEVICE void slice_row(Block block, Smem& smem, Work const& work, int64_t l, int64_t row) const {
    Operand const& o = work.from;
    int const lanes = work.lanes, lane = int(block.thread_rank()) % lanes;
    bool const exists = row < o.rows;
    float const* const from = o.as<float const>() + (l * o.batch_stride + row * o.row_stride);
    Copy_Atom<On<Block, UniversalCopy<Bytes<16>>>, Bytes<16>> vector;
    Copy_Atom<On<Block, UniversalCopy<float>>, float> element;
    auto const load_vectors = [&](int64_t k, bool on, Floats(&x)[2]) {
      CUTE_UNROLL
      for (int i = 0; i < 2; ++i)
        copy_one(vector, on, make_gmem_ptr(reinterpret_cast<Bytes<16> const*>(from + (k + 4 * i))), &x[i].word);
    };
    // A row of contiguous elements that does not begin at a vector: those around eight elements, if they lie in the row.
    int const shift = o.col_stride == 1 ? int(reinterpret_cast<uintptr_t>(from) / sizeof(float) % 4) : -1;
    auto const load_shifted = [&](int64_t k, Floats(&x)[2]) {
      float around[12];
      CUTE_UNROLL
      for (int i = 0; i < 3; ++i) {
        Floats v;
        copy_one(vector, exists, make_gmem_ptr(reinterpret_cast<Bytes<16> const*>(from + (k - shift + 4 * i))),
                 &v.word);
        CUTE_UNROLL
        for (int e = 0; e < 4; ++e) around[4 * i + e] = v.x[e];
      }
      CUTE_UNROLL
      for (int i = 0; i < 10; ++i) around[i] = shift & 2 ? around[i + 2] : around[i];
      CUTE_UNROLL
      for (int i = 0; i < at_once; ++i) x[i / 4].x[i % 4] = shift & 1 ? around[i + 1] : around[i];
    };
    // Eight elements of the row from k on; zeros behind K.
    auto const load = [&](int64_t k, Floats(&x)[2]) {
      if (work.vectors && k + at_once <= o.cols) return load_vectors(k, exists, x);
      if (shift >= 0 && k >= shift && k - shift + 12 <= o.cols) return load_shifted(k, x);
      CUTE_UNROLL
      for (int i = 0; i < at_once; ++i)
        copy_one(element, exists && k + i < o.cols, make_gmem_ptr(from + (k + i) * o.col_stride), &x[i / 4].x[i % 4]);
    };
    // Calls f(eight elements, their k) for those of the lane: a stride at a time, or of a row of vectors and up to `held` strides, which are
    // all loaded first and stay in registers.
    int64_t const stride = lanes * at_once, end = work.to.slices.row_stride;
    bool const holds = work.vectors && o.cols % at_once == 0 && end <= held * stride;
    Floats x[held][2];
    if (holds) {
      CUTE_UNROLL
      for (int i = 0; i < held; ++i)
        load_vectors(lane * at_once + i * stride, exists && lane * at_once + i * stride < o.cols, x[i]);
    }
    auto const each = [&](auto const& f) {
      auto const eight = [&](Floats const(&y)[2], int64_t k) {
        float const all[] = {y[0].x[0], y[0].x[1], y[0].x[2], y[0].x[3], y[1].x[0], y[1].x[1], y[1].x[2], y[1].x[3]};
        f(all, k);
      };
      if (holds) {
        CUTE_UNROLL
        for (int i = 0; i < held; ++i)
          if (i * stride < end) eight(x[i], lane * at_once + i * stride);
        return;
      }
      CUTE_NO_UNROLL
      for (int64_t k = lane * at_once; k - lane * at_once < end; k += stride) {
        Floats y[2];
        load(k, y);
        eight(y, k);
      }
    };
    ScaledRow known;
    float scale = 1;
    if constexpr (scales) {
      each([&](float const(&y)[at_once], int64_t) {
        CUTE_UNROLL
        for (int i = 0; i < at_once; ++i) known.most = cute::max(known.most, ScaledRow::size_bits(y[i]));
      });
      join_lanes(block, 32, known);
      if (lanes > 32) join_warps(block, smem, lanes, known);
      scale = known.scale();
    }
    each([&](float const(&y)[at_once], int64_t k) {
      put(block, work, y, scale, l, row, k, exists && k < work.to.slices.row_stride, known);
    });
    if constexpr (scales) {
      join_lanes(block, 32, known);
      if (lanes > 32) join_warps(block, smem, lanes, known);
      put_factor(block, work, known, scale, l, row, exists && lane == 0);
    }
  }

  // Slices BLK_M rows from `first` on: a part of K, or all of it if it is one.
  template <class Block>
  CUTE_DEVICE void slice_rows(Block block, Smem& smem, Work const& work, int64_t l, int64_t first, int64_t part) const {
    // A warp loads BLK_K / 8 indices of K, 32 / BLK_M of them at a time, all in flight together. `lanes` lanes write a row.
    constexpr int in_warp = BLK_K / 8, together = 32 / BLK_M, loads = in_warp / together, lanes = threads / BLK_M;
    Operand const& o = work.from;
    int const rank = int(block.thread_rank()), of_lane = rank % BLK_M;
    int const k_of_lane = rank / 32 * in_warp + rank % 32 / BLK_M;
    bool const exists = first + of_lane < o.rows;
    float const* const from = o.as<float const>() + (l * o.batch_stride + (first + of_lane) * o.row_stride);
    Copy_Atom<On<Block, UniversalCopy<float>>, float> element;
    Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> word;
    auto const load = [&](int64_t k, float(&x)[loads]) {
      CUTE_UNROLL
      for (int i = 0; i < loads; ++i) {
        int64_t const at = k + k_of_lane + i * together;
        x[i] = 0;
        copy_one(element, exists && at < o.cols, make_gmem_ptr(from + at * o.col_stride), &x[i]);
      }
    };
    int const row = rank / lanes;  // of those that write it
    bool const writes = first + row < o.rows;
    ScaledRow known;
    float scale = 1;
    if constexpr (scales) {
      unsigned most = 0;
      CUTE_NO_UNROLL
      for (int64_t k = 0; k < o.cols; k += BLK_K) {
        float x[loads];
        load(k, x);
        CUTE_UNROLL
        for (int i = 0; i < loads; ++i) most = cute::max(most, ScaledRow::size_bits(x[i]));
      }
      copy_one(word, true, &most, make_smem_ptr(smem.most + (of_lane * lanes + rank / BLK_M)));
      block.sync();
      CUTE_UNROLL
      for (int i = 0; i < lanes; ++i) {
        unsigned of_part = 0;
        copy_one(word, true, make_smem_ptr(smem.most + (row * lanes + i)), &of_part);
        known.most = cute::max(known.most, of_part);
      }
      scale = known.scale();
    }
    int64_t const end = work.to.slices.row_stride;
    CUTE_NO_UNROLL
    for (int64_t k = part * BLK_K; k < end; k += work.parts * BLK_K) {
      float x[loads];
      load(k, x);
      CUTE_UNROLL
      for (int i = 0; i < loads; ++i)
        copy_one(element, true, &x[i], make_smem_ptr(smem.tile + (of_lane * (BLK_K + 1) + k_of_lane + i * together)));
      block.sync();
      CUTE_UNROLL
      for (int step = 0; step < BLK_K; step += lanes * at_once) {
        float y[at_once];
        int const at = step + rank % lanes * at_once;
        CUTE_UNROLL
        for (int i = 0; i < at_once; ++i)
          copy_one(element, true, make_smem_ptr(smem.tile + (row * (BLK_K + 1) + at + i)), &y[i]);
        put(block, work, y, scale, l, first + row, k + at, writes && k + at < end, known);
      }
      block.sync();
    }
    if constexpr (scales) {
      join_lanes(block, lanes, known);
      put_factor(block, work, known, scale, l, first + row, writes && rank % lanes == 0);
    }
  }
};

}  // namespace inlay::kernels
