// Family: TMA fills a ring of stages, one or two warpgroups multiply them by wgmma. Steps differ in the tile, in the number of
// warpgroups that multiply, and in the grid.
#pragma once
#include <inlay/kernels/gemm/tensor/mma.h>

namespace inlay::kernels {

// Defaults; a step overrides what it changes.
struct WgmmaRingStep {
  static constexpr int BLK_N = 128, PIPE = 3;
  static constexpr int consumers = 1;       // warpgroups that multiply
  static constexpr int min_blocks = 2;      // per SM: bounds the registers
  static constexpr bool persistent = false;  // as many blocks as the GPU holds; each computes one tile after the other
  static constexpr int band = 0;            // tiles of a band along n, in which consecutive tiles lie; 0: all
};

// The TMA tensor of an operand that is contiguous along K: (K,rows,L), in boxes of 64 x `rows`.
template <class T>
TmaTensor tma_along_k(Operand const& o, int64_t matrices, int rows) {
  // TMA checks the strides of extents of 1 too, so those get a valid one. An operand that a batch shares is one matrix.
  int64_t const all = o.batch_stride ? matrices : 1, size = sizeof(T);
  return {o.base, int(size), {o.cols, o.rows, all}, {o.rows > 1 ? o.row_stride * size : 16, all > 1 ? o.batch_stride * size : 16},
          {64, rows, 1}, true};
}
template <class T>
Reason rejects_tma_along_k(Gemm const& g, Operand const& o) {
  constexpr int64_t vector = 16 / sizeof(T);
  if (o.cols > 1 && o.col_stride != 1) return {"an operand is not contiguous along K: its stride is {}", {o.col_stride}};
  if ((o.rows > 1 && (o.row_stride % vector || o.row_stride <= 0)) ||
      (g.L() > 1 && (o.batch_stride % vector || o.batch_stride < 0)))
    return {"pitch {} and batch stride {} of an operand are not multiples of 16 bytes", {o.row_stride, o.batch_stride}};
  if (o.misalignment_bytes()) return {"an operand begins {} bytes past a multiple of 16", {o.misalignment_bytes()}};
  for (int64_t extent : {o.rows, o.cols, g.L()})
    if (extent > INT32_MAX) return {"TMA coordinates have 31 bits, an extent of {} does not fit", {extent}};
  return {};
}

template <class Step, class T>
struct WgmmaRing {
  static constexpr int consumers = Step::consumers, PIPE = Step::PIPE;
  static constexpr int BLK_M = 128, BLK_N = Step::BLK_N, BLK_K = 64;
  static constexpr LaunchInfo launch_info{.threads = 128 * (consumers + 1), .min_blocks = Step::min_blocks};
  using Rows = GMMA::Layout_K_SW128_Atom<T>;
  using SmemA = decltype(tile_to_shape(Rows{}, Shape<Int<BLK_M>, Int<BLK_K>, Int<PIPE>>{}));  // (BLK_M,BLK_K,PIPE)
  using SmemB = decltype(tile_to_shape(Rows{}, Shape<Int<BLK_N>, Int<BLK_K>, Int<PIPE>>{}));  // (BLK_N,BLK_K,PIPE)
  struct Smem {
    alignas(1024) T A[cosize_v<SmemA>];
    alignas(1024) T B[cosize_v<SmemB>];
    alignas(8) uint64_t full[PIPE];  // the stage has landed
    uint64_t empty[PIPE];            // all warps have multiplied it
    static void members(auto name) {
      name("A", &Smem::A), name("B", &Smem::B), name("full", &Smem::full), name("empty", &Smem::empty);
    }
  };
  static constexpr int kStageBytes = int(sizeof(Smem::A) + sizeof(Smem::B)) / PIPE;

  Gemm g;
  CUtensorMap mapA, mapB;
  int tiles_m, tiles_n, band, grid;

  static WgmmaRing make(Gemm const& g, auto const& setting) {
    int const tiles_m = int(ceil_div(g.M(), BLK_M)), tiles_n = int(ceil_div(g.N(), BLK_N));
    int64_t const tiles = int64_t(tiles_m) * tiles_n * g.L(), resident = setting.device.sm_count * Step::min_blocks;
    return {g,
            setting.encode(tma_along_k<T>(g.A, g.L(), BLK_M)),
            setting.encode(tma_along_k<T>(g.B, g.L(), BLK_N)),
            tiles_m,
            tiles_n,
            Step::band ? Step::band : tiles_n,
            int(Step::persistent ? cute::min(tiles, resident) : tiles)};
  }
  int64_t blocks() const { return grid; }
  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = rejects_type<T>(g)) return r;
    if (Reason r = rejects_wgmma(device)) return r;
    if (g.elements() == 0) return {};
    if (g.K() == 0) return {"K is 0: there is nothing to multiply"};
    if (Reason r = rejects_tma_along_k<T>(g, g.A)) return r;
    if (Reason r = rejects_tma_along_k<T>(g, g.B)) return r;
    int64_t const m = ceil_div(g.M(), int64_t(BLK_M)), n = ceil_div(g.N(), int64_t(BLK_N));
    return too_many("{} x {} tiles in {} matrices are more than 31 bits count", __int128(m) * n, g.L(), {m, n, g.L()},
                    kMostBlocks / 2);
  }

  // ---- device
  struct Place {
    int m, n, l;  // first row and column of the tile, matrix of the batch
  };
  CUTE_HOST_DEVICE int tiles() const { return tiles_m * tiles_n * int(g.L()); }
  CUTE_HOST_DEVICE Place place(int tile) const {
    int const l = tile / (tiles_m * tiles_n), t = tile % (tiles_m * tiles_n);
    int const first = t / (band * tiles_m) * band, width = cute::min(band, tiles_n - first), in_band = t - first * tiles_m;
    return {in_band / width * BLK_M, (first + in_band % width) * BLK_N, l};
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto* const full = reinterpret_cast<typename Block::Mbarrier*>(smem.full);
    auto* const empty = reinterpret_cast<typename Block::Mbarrier*>(smem.empty);
    if (block.thread_rank() == 0) {
      for (int s = 0; s < PIPE; ++s) full[s].init(1), empty[s].init(4 * consumers);
      block.fence_barrier_init();
    }
    block.sync();
    if (block.thread_rank() < 128 * consumers) {
      block.setmaxnreg_inc(Int<consumers == 1 ? 208 : 232>{});
      multiply(block, smem, full, empty);
    } else {
      block.setmaxnreg_dec(Int<40>{});
      if (block.thread_rank() == 128 * consumers) fill(block, smem, full, empty);
    }
  }

 private:
  // One thread loads the stages of all tiles of the block.
  template <class Block, class Mbarrier>
  CUTE_DEVICE void fill(Block block, Smem& smem, Mbarrier* full, Mbarrier* empty) const {
    int stage = 0, phase = 0;
    CUTE_NO_UNROLL
    for (int tile = int(block.block_index()); tile < tiles(); tile += grid) {
      Place const here = place(tile);
      CUTE_NO_UNROLL
      for (int k = 0; k < int(g.K()); k += BLK_K) {
        empty[stage].wait(phase ^ 1);
        full[stage].arrive_and_expect_tx(kStageBytes);
        block.tma_load(mapA, full[stage], smem.A + stage * (BLK_M * BLK_K), k, here.m, g.A.batch_stride ? here.l : 0);
        block.tma_load(mapB, full[stage], smem.B + stage * (BLK_N * BLK_K), k, here.n, g.B.batch_stride ? here.l : 0);
        if (++stage == PIPE) stage = 0, phase ^= 1;
      }
    }
  }

  // The consumers compute the tiles of the block, 64 rows a warpgroup and instruction.
  template <class Block, class Mbarrier>
  CUTE_DEVICE void multiply(Block block, Smem& smem, Mbarrier* full, Mbarrier* empty) const {
    Tensor sA = make_tensor(make_smem_ptr(smem.A), SmemA{});  // (BLK_M,BLK_K,PIPE)
    Tensor sB = make_tensor(make_smem_ptr(smem.B), SmemB{});  // (BLK_N,BLK_K,PIPE)
    auto mma = make_tiled_mma(MMA_Atom<On<Block, Wgmma<T, BLK_N>>>{}, Layout<Shape<Int<consumers>, _1, _1>>{});
    auto thr_mma = mma.get_slice(int(block.thread_rank()));
    Tensor tCrA = thr_mma.make_fragment_A(thr_mma.partition_A(sA));  // (MMA,MMA_M,MMA_K,PIPE), descriptors
    Tensor tCrB = thr_mma.make_fragment_B(thr_mma.partition_B(sB));  // (MMA,MMA_N,MMA_K,PIPE), descriptors
    bool const signals = block.thread_rank() % 32 == 0;              // for its warp, that a stage has been multiplied
    int stage = 0, phase = 0;
    CUTE_NO_UNROLL
    for (int tile = int(block.block_index()); tile < tiles(); tile += grid) {
      Place const here = place(tile);
      Tensor gD = make_tensor(make_gmem_ptr(g.D.as<T>() + (here.l * g.D.batch_stride + here.m * g.D.row_stride +
                                                           here.n * g.D.col_stride)),
                              Shape<Int<BLK_M>, Int<BLK_N>>{},
                              make_stride(g.D.row_stride, g.D.col_stride));  // (BLK_M,BLK_N)
      Tensor tCrD = thr_mma.partition_fragment_C(gD);                       // (MMA,MMA_M,MMA_N)
      mma.accumulate_ = GMMA::ScaleOut::Zero;                               // the first instruction ignores tCrD
      int last = -1;                                                        // stage that may still be in flight
      CUTE_NO_UNROLL
      for (int k = 0; k < int(g.K()); k += BLK_K) {
        full[stage].wait(phase);
        warpgroup_fence_operand(tCrD);
        block.wgmma_fence();
        CUTE_UNROLL
        for (int i = 0; i < size<2>(tCrA); ++i) {
          gemm(mma, tCrA(_, _, i, stage), tCrB(_, _, i, stage), tCrD);
          mma.accumulate_ = GMMA::ScaleOut::One;
        }
        block.wgmma_commit();
        block.wgmma_wait(Int<1>{});
        warpgroup_fence_operand(tCrD);
        if (last >= 0 && signals) empty[last].arrive();
        last = stage;
        if (++stage == PIPE) stage = 0, phase ^= 1;
      }
      block.wgmma_wait(Int<0>{});
      warpgroup_fence_operand(tCrD);
      if (signals) empty[last].arrive();
      store_fragment<Block, T>(block, g, mma, gD, tCrD, int(cute::min(g.M() - here.m, int64_t(BLK_M))),
                               int(cute::min(g.N() - here.n, int64_t(BLK_N))));
    }
  }
};

}  // namespace inlay::kernels
