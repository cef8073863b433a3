// Writes fp32 operands as sums of 16-bit slices, contiguous along K, for tensor cores.
#pragma once
#include <inlay/block/quad_ops.h>
#include <inlay/kernels/gemm/tensor/bf16_slices.h>
#include <inlay/kernels/gemm/tensor/f16_slices.h>
#include <inlay/kernels/gemm/tensor/sliced_operand.h>

namespace inlay::kernels {

// Slices both operands. 32 to 256 lanes of a block slice a row that is contiguous along K, of which up to 8192 elements
// stay in registers, because f16 slices need the largest one first. Other rows are sliced BLK_M at a time, a part of
// their K by a block; for f16 slices the blocks of a cluster have all of K. Elements along the rows are loaded
// together, and written along K by way of shared memory. Step: the kernel, whose name its symbols have.
template <class Step, class T>
struct SliceOperands {
  static constexpr int threads = 256, slices = kSlices<T>, at_once = 8;
  static constexpr int held = 4;  // vectors of a row's `at_once` elements in the registers of a lane
  static constexpr bool scales = kScalesRows<T>;
  // A tile of rows that are not contiguous along K. Where all of K is needed first, few rows leave long pieces of K.
  static constexpr int BLK_M = scales ? 16 : 32, BLK_K = 8192 / BLK_M, most_parts = 8;  // of a cluster
  static constexpr LaunchInfo launch_info{.threads = threads, .min_blocks = 3, .clusters = scales, .follows = true};
  struct Smem {
    float tile[BLK_M * (BLK_K + 1)];     // (BLK_M,BLK_K), one float of padding a row
    float most[threads];                 // (BLK_M,threads / BLK_M): the largest |x| of some of a row
    alignas(16) Quad of_rows[2][BLK_M];  // what the block knows of each row, or each warp
    static void members(auto name) {
      name("tile", &Smem::tile), name("most", &Smem::most), name("of_rows", &Smem::of_rows);
    }
  };
  struct Work {
    Operand from;  // (rows,K,matrices), f32
    SlicedOperand to;
    int64_t groups;  // of rows, in a matrix
    int64_t parts;   // of K, for a block each; 1 if the rows are contiguous along K
    int lanes;       // of a row along K; 0: the rows are not contiguous along K
    bool vectors;

    static Work make(Operand const& from, SlicedOperand const& to) {
      bool const along_K = is_along_K(from);
      bool const vectors = from.col_stride == 1 && from.row_stride % 4 == 0 && from.batch_stride % 4 == 0 &&
                           from.misalignment_bytes() == 0;
      int const lanes =
          !along_K ? 0 : int(std::clamp<int64_t>(std::bit_ceil(uint64_t(from.cols)) / (held * at_once), 32, threads));
      return {from,
              to,
              ceil_div(from.rows, int64_t(along_K ? rows_at_once(lanes) : BLK_M)),
              along_K ? 1 : parts_of(from.cols),
              lanes,
              vectors};
    }
    static int64_t parts_of(int64_t K) {
      int64_t const tiles = ceil_div(K, int64_t(BLK_K));
      return scales ? std::min<int64_t>(tiles, most_parts) : tiles;
    }
    CUTE_HOST_DEVICE static int rows_at_once(int lanes) { return cute::max(threads / lanes, 4); }
    static Work none(Operand const& from, SlicedOperand const& to) { return {from, to, 0, 0, 0, false}; }
    CUTE_HOST_DEVICE int64_t blocks() const { return groups * parts * from.matrices; }
  };
  Work A, B;
  int in_cluster;            // blocks
  unsigned const* refusals;  // one for each matrix of the batch: slices what is refused elsewhere. Null: slices all
  int matrices;              // refusals

  static SliceOperands make(Work const& A, Work const& B, unsigned const* refusals, int64_t matrices) {
    return {A, B, scales ? int(std::max(A.parts, B.parts)) : 1, refusals, int(matrices)};
  }
  int64_t blocks() const { return of_A() + round_up(B.blocks(), int64_t(in_cluster)); }
  int cluster() const requires(scales) { return in_cluster; }
  void relocate(auto const& at) {
    A.from.base = at(A.from.base), B.from.base = at(B.from.base), refusals = at(refusals);
    A.to.relocate(at), B.to.relocate(at);
  }

  // ---- device
  union Floats {
    Bytes<16> word{};
    float x[4];
  };
  union Slice {
    Quad quad{};
    uint32_t pairs[at_once / 2];
  };
  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_wait();
    slice(block, smem, block.block_index());
  }
  // Slices both operands, as one of any number of blocks.
  template <class Block>
  CUTE_DEVICE void slice_all(Block block, Smem& smem, int64_t blocks) const {
    static_assert(!scales);  // else a cluster slices rows together
    CUTE_NO_UNROLL
    for (int64_t i = block.block_index(); i < of_A() + B.blocks(); i += blocks) {
      if (i != block.block_index()) block.sync();  // all threads have read shared memory
      slice(block, smem, i);
    }
  }

 private:
  // Blocks that slice A, and up to a whole cluster.
  CUTE_HOST_DEVICE int64_t of_A() const { return round_up(A.blocks(), int64_t(in_cluster)); }
  // What block number i slices of A, or behind its blocks of B.
  template <class Block>
  CUTE_DEVICE void slice(Block block, Smem& smem, int64_t i) const {
    bool const is_A = i < of_A();
    Work const work = is_A ? A : B;
    int64_t const index = i - (is_A ? 0 : of_A());
    if (index >= work.blocks()) return;
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

  // Writes the slices of eight elements of a row from k on, and adds what they lose.
  template <class Block>
  CUTE_DEVICE void put(Block, Work const& work, float const (&x)[at_once], float scale, int64_t l, int64_t row,
                       int64_t k, bool on, ScaledRow& known) const {
    Slice s[slices];
    CUTE_UNROLL
    for (int i = 0; i < at_once; i += 2) {
      uint32_t pair[slices];
      if constexpr (scales)
        known.slice_pair(x[i] * scale, x[i + 1] * scale, pair);
      else
        slice_pair(x[i], x[i + 1], pair);
      CUTE_UNROLL
      for (int j = 0; j < slices; ++j) s[j].pairs[i / 2] = pair[j];
    }
    Copy_Atom<On<Block, StoreGlobal>, Quad> atom;
    Operand const& o = work.to.slices;
    CUTE_UNROLL
    for (int j = 0; j < slices; ++j) {
      T* const at = o.as<T>() + ((j * work.from.matrices + l) * o.batch_stride + row * o.row_stride + k);
      copy_one(atom, on, &s[j].quad, make_gmem_ptr(reinterpret_cast<Quad*>(at)));
    }
  }
  // What is known of a row, on its way through shared memory.
  CUTE_HOST_DEVICE static Quad quad_of(ScaledRow const& r) {
    return {{std::bit_cast<float>(r.most), r.sum, r.lost, r.whole}};
  }
  CUTE_HOST_DEVICE static void add(ScaledRow& r, Quad const& q) {
    r.most = cute::max(r.most, std::bit_cast<unsigned>(q.x[0]));
    r.sum += q.x[1], r.lost += q.x[2], r.whole += q.x[3];
  }
  // Replaces what each warp knows of a row by what its lanes know.
  template <class Block>
  CUTE_DEVICE static void join_warps(Block block, Quad* of_warps, int lanes, ScaledRow& known) {
    Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> atom;
    int const rank = int(block.thread_rank()), first = rank / lanes * (lanes / 32);
    block.sync();
    Quad x = quad_of(known);
    copy_one(atom, rank % 32 == 0, &x, make_smem_ptr(of_warps + rank / 32));
    block.sync();
    known = {};
    CUTE_NO_UNROLL
    for (int w = first; w < first + lanes / 32; ++w) {
      copy_one(atom, true, make_smem_ptr(of_warps + w), &x);
      add(known, x);
    }
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
    // A row of contiguous elements that does not begin at a vector: those around eight elements, if they lie in the
    // row.
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
    // Calls f(eight elements, their k) for those of the lane: a stride at a time, or of a row of vectors and up to
    // `held` strides, which are all loaded first and stay in registers. Any row of contiguous elements stays there if
    // its largest element is needed first.
    int64_t const stride = lanes * at_once, end = work.to.slices.row_stride;
    bool const vectors = work.vectors && o.cols % at_once == 0,
               holds = (vectors || (scales && o.col_stride == 1)) && end <= held * stride;
    Floats x[held][2];
    if (holds && vectors) {
      CUTE_UNROLL
      for (int i = 0; i < held; ++i)
        load_vectors(lane * at_once + i * stride, exists && lane * at_once + i * stride < o.cols, x[i]);
    } else if (holds) {
      CUTE_UNROLL
      for (int i = 0; i < held; ++i)
        if (i * stride < end) load(lane * at_once + i * stride, x[i]);
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
      if (lanes > 32) join_warps(block, smem.of_rows[0], lanes, known);
      scale = known.scale();
    }
    each([&](float const(&y)[at_once], int64_t k) {
      put(block, work, y, scale, l, row, k, exists && k < work.to.slices.row_stride, known);
    });
    if constexpr (scales) {
      join_lanes(block, 32, known);
      if (lanes > 32) join_warps(block, smem.of_rows[0], lanes, known);
      put_factor(block, work, known, scale, l, row, exists && lane == 0);
    }
  }

  // Slices BLK_M rows from `first` on, a part of their K.
  template <class Block>
  CUTE_DEVICE void slice_rows(Block block, Smem& smem, Work const& work, int64_t l, int64_t first, int64_t part) const {
    // A warp loads BLK_K / 8 indices of K, 32 / BLK_M of them at a time, 16 times in flight together. `lanes` lanes
    // write a row.
    constexpr int in_warp = BLK_K / 8, together = 32 / BLK_M, in_flight = 16 * together, lanes = threads / BLK_M;
    Operand const& o = work.from;
    int const rank = int(block.thread_rank()), of_lane = rank % BLK_M;
    int const k_of_lane = rank / 32 * in_warp + rank % 32 / BLK_M;
    int64_t const all_k = work.to.slices.row_stride, length = round_up(ceil_div(all_k, work.parts), int64_t(64)),
                  begin = part * length, end = cute::min(begin + length, all_k), end_x = cute::min(end, o.cols);
    bool const exists = first + of_lane < o.rows;
    float const* const from = o.as<float const>() + (l * o.batch_stride + (first + of_lane) * o.row_stride);
    Copy_Atom<On<Block, UniversalCopy<float>>, float> element;
    // Loads a tile to shared memory and calls f for the elements of the thread.
    auto const load = [&](int64_t k, auto const& f) {
      CUTE_NO_UNROLL
      for (int at = k_of_lane; at < k_of_lane + in_warp; at += in_flight) {
        float x[16] = {};
        int const left = exists ? int(cute::min(end_x - k, int64_t(BLK_K))) - at : 0;  // indices of K
        float const* const first_x = from + (k + at) * o.col_stride;
        CUTE_UNROLL
        for (int i = 0; i < 16; ++i)
          copy_one(element, i * together < left, make_gmem_ptr(first_x + i * (together * o.col_stride)), &x[i]);
        CUTE_UNROLL
        for (int i = 0; i < 16; ++i) {
          f(x[i]);
          copy_one(element, true, &x[i], make_smem_ptr(smem.tile + (of_lane * (BLK_K + 1) + at + i * together)));
        }
      }
    };
    int const row = rank / lanes;  // of those that it writes
    bool const writes = first + row < o.rows;
    ScaledRow known;
    float scale = 1;
    if constexpr (scales) {
      unsigned most = 0;
      CUTE_NO_UNROLL
      for (int64_t k = begin; k < end; k += BLK_K)
        load(k, [&](float x) { most = cute::max(most, ScaledRow::size_bits(x)); });
      float x = std::bit_cast<float>(most);
      copy_one(element, true, &x, make_smem_ptr(smem.most + (of_lane * lanes + rank / BLK_M)));
      block.sync();
      copy_one(element, true, make_smem_ptr(smem.most + rank), &x);
      known.most = std::bit_cast<unsigned>(x);
      join_parts(block, smem.of_rows[0], work.parts, known);
      scale = known.scale();
    }
    // Backwards: the last tile is still in shared memory.
    int64_t const last = begin + (end - 1 - begin) / BLK_K * BLK_K;
    CUTE_NO_UNROLL
    for (int64_t k = last; begin < end && k >= begin; k -= BLK_K) {
      if (!scales || k < last) load(k, [](float) {});
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
      join_parts(block, smem.of_rows[1], work.parts, known);
      put_factor(block, work, known, scale, l, first + row, writes && rank % lanes == 0 && part == 0);
      block.sync_cluster(Int<threads>{});  // no block exits while others read its shared memory
    }
  }
  // Replaces what each thread of a cluster of `parts` blocks knows of its row by what all of them know. of_rows:
  // (BLK_M), shared.
  template <class Block>
  CUTE_DEVICE static void join_parts(Block block, Quad* of_rows, int64_t parts, ScaledRow& known) {
    constexpr int lanes = threads / BLK_M;
    static_assert(most_parts <= lanes);
    Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> own;
    Copy_Atom<On<Block, LoadCluster<Quad>>, Quad> peer;
    int const row = int(block.thread_rank()) / lanes, lane = int(block.thread_rank()) % lanes;
    join_lanes(block, lanes, known);
    Quad x = quad_of(known);
    copy_one(own, lane == 0, &x, make_smem_ptr(of_rows + row));
    block.sync_cluster(Int<threads>{});
    x = {}, known = {};
    copy_one(peer, lane < parts, make_smem_ptr(block.peer(of_rows + row, lane < parts ? lane : 0)), &x);
    add(known, x);
    join_lanes(block, lanes, known);
  }
};

}  // namespace inlay::kernels
