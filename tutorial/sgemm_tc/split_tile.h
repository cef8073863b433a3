// Family: GEMMs of fp32 on the tensor cores for f16. Threads write each element to shared memory as two f16 slices, hi
// and lo, whose sum it is but for the last bits; wgmma multiplies hi.hi, lo.hi and hi.lo. lo.lo is smaller than what
// fp32 rounds. Steps differ in how the sums are kept, and in the range of numbers that they take.
#pragma once
#include <inlay/tutorial/sgemm_tc/split_rows.h>

namespace inlay::kernels {

// Defaults; a step overrides what it changes.
struct SplitTileStep {
  static constexpr bool empties = false;      // adds the sum of 32 indices of K to another register, in fp32
  static constexpr bool separates = false;    // lo is scaled by 2^11; lo.hi and hi.lo have an accumulator of their own
  static constexpr bool scales_rows = false;  // scales rows of A and of B by powers of two
  static constexpr bool overlaps = false;     // empties one accumulator while wgmma adds to the other one
};

template <class Step>
struct SplitTile : GemmGrid<128, 128> {
  using Grid = GemmGrid<128, 128>;
  static constexpr int BLK = SplitRows::BLK, BLK_K = SplitRows::BLK_K, hi = 0, lo = 1;
  static constexpr float lo_scale = Step::separates ? 2048 : 1;
  static constexpr int64_t period = BLK_K;  // a block repeats its accesses after this many indices of K
  static constexpr LaunchInfo launch_info{.threads = SplitRows::threads,
                                          .min_blocks = 1};  // two warpgroups, 64 rows of D each
  using TileD = Shape<Int<BLK>, Int<BLK>>;
  // Rows of 128 bytes, whose 16-byte chunks are permuted by wgmma's swizzle: (BLK,BLK_K,slice).
  using Slices = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<Int<BLK>, Int<BLK_K>, _2>{}));
  struct Smem {
    alignas(1024) half_t A[cosize_v<Slices>];
    alignas(1024) half_t B[cosize_v<Slices>];
    int exponents_A[BLK], exponents_B[BLK];  // of the powers of two by which rows are scaled; from step 04 on
    static void members(auto name) {
      name("A", &Smem::A), name("B", &Smem::B);
      name("exponents A", &Smem::exponents_A), name("exponents B", &Smem::exponents_B);
    }
  };

  static SplitTile make(Gemm const& g, auto const&) { return {Grid::make(g)}; }
  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = rejects_wgmma(device)) return r;
    if (Reason r = Grid::rejects(g, device)) return r;
    if (g.K() == 0 || g.elements() == 0) return {};
    for (Operand const* o : {&g.A, &g.B})
      if (Reason r = rejects_rows<float>(*o)) return r;
    if (g.K() % 4) return {"K is {}, no multiple of the 4 elements that a thread loads at once", {g.K()}};
    return {};
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto const here = this->at(block.block_index());
    SplitRows const A{here.A, this->g.A.row_stride, here.K, here.rows},
        B{here.B, this->g.B.row_stride, here.K, here.cols};
    if constexpr (Step::scales_rows) {
      A.find_exponents(block, smem.exponents_A), B.find_exponents(block, smem.exponents_B);
      block.sync();
    }
    Tensor sA = make_tensor(make_smem_ptr(smem.A), Slices{});  // (BLK,BLK_K,slice)
    Tensor sB = make_tensor(make_smem_ptr(smem.B), Slices{});  // (BLK,BLK_K,slice)
    auto mma = make_tiled_mma(MMA_Atom<On<Block, Wgmma<half_t, BLK>>>{}, Layout<Shape<_2, _1, _1>>{});
    auto thr_mma = mma.get_slice(int(block.thread_rank()));
    Tensor tCrA = thr_mma.make_fragment_A(thr_mma.partition_A(sA));  // (MMA,MMA_M,MMA_K,slice), descriptors
    Tensor tCrB = thr_mma.make_fragment_B(thr_mma.partition_B(sB));  // (MMA,MMA_N,MMA_K,slice), descriptors
    Tensor sum = partition_fragment_C(mma, TileD{});                 // (MMA,MMA_M,MMA_N)
    Tensor chunk = partition_fragment_C(mma, TileD{});               // (MMA,MMA_M,MMA_N): of 32 indices of K
    Tensor corrections = partition_fragment_C(mma, TileD{});         // (MMA,MMA_M,MMA_N): 2^11 (lo.hi + hi.lo)
    clear(sum), clear(corrections);
    CUTE_NO_UNROLL
    for (int64_t k = 0; k < here.K; k += BLK_K) {
      Tensor tXrA = A.load(block, k);  // (CPY,CPY_M,CPY_K)
      Tensor tXrB = B.load(block, k);  // (CPY,CPY_M,CPY_K)
      SplitRows::split<Step::scales_rows>(block, tXrA, smem.A, smem.exponents_A, lo_scale);
      SplitRows::split<Step::scales_rows>(block, tXrB, smem.B, smem.exponents_B, lo_scale);
      block.fence_proxy_async();  // threads write through the generic proxy, and wgmma reads through the async proxy
      block.sync();
      multiply(block, mma, tCrA, tCrB, sum, chunk, corrections);
      block.sync();  // both warpgroups have multiplied the tiles
    }
    if constexpr (Step::separates) {
      CUTE_UNROLL
      for (int i = 0; i < size(sum); ++i) sum(i) = fmaf(corrections(i), 1 / lo_scale, sum(i));
    }
    if constexpr (Step::scales_rows) unscale(block, smem, mma, sum);
    finish_fragment<float, Epilogues::plain>(block, this->g, thr_mma, TileD{}, sum, here.m, here.n, here.matrix);
    store_fragment<float, Epilogues::plain>(block, this->g, thr_mma, TileD{}, sum, here.m, here.n, here.matrix);
  }

 private:
  // Adds A B of the tiles in shared memory, 16 indices of K an instruction.
  template <class Block, class Mma, class RA, class RB, class RD>
  CUTE_DEVICE static void multiply(Block block, Mma& mma, RA const& tCrA, RB const& tCrB, RD& sum, RD& chunk,
                                   RD& corrections) {
    constexpr int all = size<2>(RA{}), at_once = Step::empties ? 2 : all;  // instructions along K
    constexpr int in_flight = Step::overlaps ? 1 : 0;  // groups beside an accumulator that is emptied
    RD& now = Step::empties ? chunk : sum;
    if constexpr (Step::separates) warpgroup_fence_operand(corrections);
    CUTE_UNROLL
    for (int first = 0; first < all; first += at_once) {
      auto const add = [&](RD& to, int a, int b) {  // slice a of A, slice b of B
        CUTE_UNROLL
        for (int i = first; i < first + at_once; ++i) {
          gemm(mma, tCrA(_, _, i, a), tCrB(_, _, i, b), to);
          mma.accumulate_ = GMMA::ScaleOut::One;
        }
      };
      warpgroup_fence_operand(now);
      block.wgmma_fence();
      if constexpr (Step::empties) mma.accumulate_ = GMMA::ScaleOut::Zero;  // for the first instruction
      if constexpr (Step::separates) {
        add(now, hi, hi);
        if constexpr (Step::overlaps) block.wgmma_commit(), block.wgmma_fence();
        add(corrections, lo, hi), add(corrections, hi, lo);
      } else {  // small sums first: what is truncated is a share of the sum
        add(now, lo, hi), add(now, hi, lo), add(now, hi, hi);
      }
      block.wgmma_commit();
      block.wgmma_wait(Int<in_flight>{});
      warpgroup_fence_operand(now);
      if constexpr (Step::empties) {
        CUTE_UNROLL
        for (int i = 0; i < size(sum); ++i) sum(i) += chunk(i);
      }
    }
    if constexpr (Step::overlaps) block.wgmma_wait(Int<0>{});
    if constexpr (Step::separates) warpgroup_fence_operand(corrections);
  }

  // Undoes the scales of the rows of A and of B in the sums.
  template <class Block, class Mma, class RD>
  CUTE_DEVICE static void unscale(Block block, Smem& smem, Mma const& mma, RD& sum) {
    Tensor tCcD =
        mma.get_slice(int(block.thread_rank())).partition_C(make_identity_tensor(TileD{}));  // (MMA,MMA_M,MMA_N)
    Copy_Atom<On<Block, UniversalCopy<int>>, int> atom;
    Copy_Atom<On<Block, UniversalCopy<Bytes<8>>>, Bytes<8>> pair;
    int of_rows[2];  // a thread has pairs of columns in two rows
    CUTE_UNROLL
    for (int r = 0; r < 2; ++r)
      copy_one(atom, true, make_smem_ptr(smem.exponents_A + get<0>(tCcD(2 * r))), &of_rows[r]);
    CUTE_UNROLL
    for (int i = 0; i < size(sum); i += 4) {
      Adjacent<2, int> of_columns;
      int const* const from = smem.exponents_B + get<1>(tCcD(i));
      copy_one(pair, true, make_smem_ptr(reinterpret_cast<Bytes<8> const*>(from)), &of_columns.word);
      CUTE_UNROLL
      for (int j = 0; j < 4; ++j) sum(i + j) = ldexpf(sum(i + j), -of_rows[j / 2] - of_columns.element[j % 2]);
    }
  }
};

}  // namespace inlay::kernels
