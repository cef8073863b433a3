// Family: fp32 GEMM on tensor cores without slices in memory. cp.async brings tiles of the fp32 operands to shared
// memory; bf16 slices of A are made in the registers of the warps that multiply them, slices of B are written to shared
// memory by warpgroups that also load. Sums are those of split_ring.h: of first slices in fp32 registers every 32
// indices of K, of others apart.
#pragma once
#include <inlay/kernels/gemm/tensor/bf16_slices.h>
#include <inlay/kernels/gemm/tensor/cluster_sums.h>
#include <inlay/kernels/gemm/tensor/mma.h>
#include <inlay/kernels/gemm/tensor/split_stages.h>
#include <inlay/kernels/gemm/tensor/staged_sums.h>
#include <inlay/kernels/gemm/tensor/tile_bands.h>

namespace inlay::kernels {

// wgmma of 64 x N x 16 with A in registers.
template <class T, int N>
using WgmmaOfRegisters =
    decltype(GMMA::rs_op_selector<T, T, float, Shape<_64, Int<N>, _16>, GMMA::Major::K, GMMA::Major::K>());

// Step: BLK_N, PIPE.
template <class Step, bool A_along_K, bool B_along_K>
struct SplitUnpacked : GemmGrid<128, Step::BLK_N> {
  using Grid = GemmGrid<128, Step::BLK_N>;
  static constexpr int BLK_M = 128, BLK_N = Step::BLK_N, BLK_K = 32, PIPE = Step::PIPE, slices = 3;
  // Warpgroups. A step is 32 indices of K of a tile of D; the fillers load and slice every other one.
  static constexpr int consumers = 2, fillers = 2;
  static constexpr int ahead = (PIPE - 2) / fillers;  // steps that a filler is loading
  using Bands = TileBands<1024 / BLK_N>;
  static constexpr LaunchInfo launch_info{
      .threads = 128 * (consumers + fillers), .min_blocks = 1, .clusters = true, .follows = true};
  static_assert(PIPE % fillers == 0);
  using StageA = SplitStage<BLK_M, A_along_K>;
  using StageB = SplitStage<BLK_N, B_along_K>;
  // Rows of 64 bytes, whose 16-byte chunks are permuted by wgmma's swizzle.
  using Slices = decltype(tile_to_shape(GMMA::Layout_K_SW64_Atom<bfloat16_t>{},
                                        Shape<Int<BLK_N>, Int<BLK_K>, Int<slices * PIPE>>{}));  // (BLK_N,BLK_K,slice)
  using TileD = Shape<Int<BLK_M>, Int<BLK_N>>;
  using Staged = StagedSums<32>;
  struct Smem {
    alignas(1024) bfloat16_t slices[cosize_v<Slices>];  // of B
    alignas(128) float A[PIPE * StageA::floats];
    alignas(128) float B[PIPE * StageB::floats];
    alignas(16) float staged[4 * consumers * Staged::floats];  // sums on their way to D
    alignas(8) uint64_t full[PIPE];                            // mbarriers: A is loaded and B is sliced
    uint64_t empty[PIPE];                                      // all warps have multiplied the stage
    static void members(auto name) {
      name("slices", &Smem::slices), name("A", &Smem::A), name("B", &Smem::B), name("staged", &Smem::staged),
          name("full", &Smem::full), name("empty", &Smem::empty);
    }
  };
  static_assert(sizeof(Smem) <= 227 << 10);  // what a block may have
  bool vectors_A, vectors_B;
  int parts;  // blocks of a cluster, which split the K of a tile
  // tiles: of all split-K slices. grid: clusters, each of which computes every grid-th tile, or one if it has several
  // blocks.
  int tiles, grid;

  static SplitUnpacked make(Gemm const& g, int parts, Device const& device) {
    Grid const all = Grid::make(g);
    int const tiles = int(all.blocks());
    return {all,
            vectors(g.A, g.L()) == (A_along_K ? Vectors::k : Vectors::rows),
            vectors(g.B, g.L()) == (B_along_K ? Vectors::k : Vectors::rows),
            parts,
            tiles,
            parts > 1 ? tiles : std::min(tiles, device.sm_count)};
  }
  int64_t blocks() const { return int64_t(grid) * parts; }
  int cluster() const { return parts; }
  CUTE_HOST_DEVICE Bands order() const { return {this->tiles_m, this->tiles_n}; }
  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = rejects_wgmma(device)) return r;
    if (Reason r = Grid::rejects(g, device)) return r;
    if (g.elements() == 0) return {};
    if (g.K() == 0) return {"K is 0: there is nothing to multiply"};
    if (g.K() > INT32_MAX / 2) return {"K = {} is more than a block counts", {g.K()}};
    int64_t const m = ceil_div(g.M(), int64_t(BLK_M)), n = ceil_div(g.N(), int64_t(BLK_N));
    return too_many("{} x {} tiles in {} matrices are more than 31 bits count", __int128(m) * n, g.L(), {m, n, g.L()},
                    kMostBlocks / 2);
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto* const full = reinterpret_cast<typename Block::Mbarrier*>(smem.full);
    auto* const empty = reinterpret_cast<typename Block::Mbarrier*>(smem.empty);
    if (block.thread_rank() == 0) {
      // One arrival a warp: of the filler that fills the stage, and of all consumers.
      for (int s = 0; s < PIPE; ++s) full[s].init(4), empty[s].init(4 * consumers);
      block.fence_barrier_init();
    }
    block.griddep_wait();
    block.sync();
    if (block.thread_rank() < 128 * consumers) {
      block.setmaxnreg_inc(Int<184>{});
      multiply(block, smem, full, empty);
    } else {
      block.setmaxnreg_dec(Int<72>{});
      fill(block, smem, full, empty);
    }
  }

 private:
  // The place of a tile; of its K, the block's part.
  CUTE_HOST_DEVICE typename Grid::At tile_at(int tile, unsigned block_index) const {
    auto const c = order().at(tile);
    auto here = this->at(unsigned((c.matrix * this->tiles_m + c.m) * this->tiles_n + c.n));
    if (parts > 1) {
      int const steps = (steps_of(here) + parts - 1) / parts;
      int64_t const k = int64_t(block_index % unsigned(parts)) * steps * BLK_K;
      here.A += k * this->g.A.col_stride, here.B += k * this->g.B.col_stride;
      here.K = cute::max(int64_t(0), cute::min(here.K - k, int64_t(steps * BLK_K)));
    }
    return here;
  }
  CUTE_HOST_DEVICE static int steps_of(typename Grid::At const& here) { return (int(here.K) + BLK_K - 1) / BLK_K; }

  // The steps that a filler loads: every `fillers`-th of those of all tiles of the block, one after the other.
  template <class Block>
  struct Loads {
    SplitUnpacked const& kernel;
    Block block;
    int tile, step;   // of the next load
    int steps, rank;  // of the tile; of the thread in its warpgroup
    SplitProducer<Block, BLK_M, A_along_K, 128, fillers> A;
    SplitProducer<Block, BLK_N, B_along_K, 128, fillers> B;

    CUTE_DEVICE Loads(SplitUnpacked const& kernel, Block block, int filler, int rank)
        : kernel(kernel),
          block(block),
          tile(int(block.block_index()) / kernel.parts),
          step(filler),
          steps(0),
          rank(rank) {
      begin();
      find();
    }
    CUTE_DEVICE bool any() const { return tile < kernel.tiles; }
    CUTE_DEVICE void next(float* to_A, float* to_B) {
      A.issue(to_A), B.issue(to_B);
      step += fillers;
      find();
    }

   private:
    // Goes on to the tile that has the step.
    CUTE_DEVICE void find() {
      CUTE_NO_UNROLL
      while (step >= steps && any()) {
        step -= steps, tile += kernel.grid;
        begin();
      }
    }
    CUTE_DEVICE void begin() {
      if (!any()) return;
      Gemm const& g = kernel.g;
      auto const here = kernel.tile_at(tile, block.block_index());
      steps = steps_of(here);
      A.begin({here.A, g.A.row_stride, g.A.col_stride, here.rows, int(here.K)}, kernel.vectors_A, rank, step);
      B.begin({here.B, g.B.row_stride, g.B.col_stride, here.cols, int(here.K)}, kernel.vectors_B, rank, step);
    }
  };

  // A filler loads steps, and slices those of B that have landed.
  template <class Block, class Mbarrier>
  CUTE_DEVICE void fill(Block block, Smem& smem, Mbarrier* full, Mbarrier* empty) const {
    int const rank = int(block.thread_rank()) % 128, filler = int(block.thread_rank()) / 128 - consumers;
    Loads<Block> loads(*this, block, filler, rank);
    int stage = filler, free = filler, phase = 1;  // of `free`, in which nothing has been
    int landing = 0;                               // steps
    auto const load = [&] {
      if (loads.any()) {
        empty[free].wait(phase);
        loads.next(smem.A + free * StageA::floats, smem.B + free * StageB::floats);
        if ((free += fillers) >= PIPE) free -= PIPE, phase ^= 1;
        ++landing;
      }
      block.cp_async_fence();
    };
    CUTE_NO_UNROLL
    for (int i = 0; i < ahead; ++i) load();
    CUTE_NO_UNROLL
    for (; landing > 0; --landing) {
      block.cp_async_wait(Int<ahead - 1>{});
      sync_warpgroup(block, filler);  // the step has landed for all threads of the warpgroup
      slice_B(block, smem, stage, rank);
      block.fence_proxy_async();  // threads write through the generic proxy, and wgmma reads through the async proxy
      block.syncwarp();
      if (rank % 32 == 0) full[stage].arrive();
      load();
      if ((stage += fillers) >= PIPE) stage -= PIPE;
    }
    block.cp_async_wait(Int<0>{});
    block.griddep_launch_dependents();
  }

  // Writes the slices of a stage of B to shared memory; each thread has 16 indices of K of a row. They are permuted as
  // those of A in registers are (load_A): the indices 2t, 2t + 1, 2t + 8 and 2t + 9 of wgmma's lane t are 4t to 4t + 3
  // of the operand, so that a lane loads them at once. A sum needs no more than the same order in both operands.
  template <class Block>
  CUTE_DEVICE static void slice_B(Block block, Smem& smem, int stage, int rank) {
    constexpr int items = BLK_N * BLK_K / 16, chunk = 8;  // elements
    Copy_Atom<On<Block, UniversalCopy<Bytes<16>>>, Bytes<16>> atom;
    union Chunk {
      Bytes<16> word{};
      uint32_t pair[4];
    };
    CUTE_UNROLL
    for (int first = 0; first < items; first += 128) {
      int const item = first + rank, row = int(unsigned(item) % BLK_N), k = int(unsigned(item) / BLK_N) * 16;
      if (items % 128 && item >= items) return;  // whole warps
      Chunk chunks[slices][2];
      CUTE_UNROLL
      for (int t = 0; t < 4; ++t) {
        float x[4];
        StageB::load(block, smem.B + stage * StageB::floats + StageB::offset(row, k + 4 * t), x);
        CUTE_UNROLL
        for (int half = 0; half < 2; ++half) {
          uint32_t pair[slices];
          slice_pair(x[2 * half], x[2 * half + 1], pair);
          CUTE_UNROLL
          for (int s = 0; s < slices; ++s) chunks[s][half].pair[t] = pair[s];
        }
      }
      CUTE_UNROLL
      for (int s = 0; s < slices; ++s) CUTE_UNROLL
      for (int half = 0; half < 2; ++half) {
        bfloat16_t* const to = smem.slices + ((stage * slices + s) * BLK_N + row) * BLK_K;
        int const place = (k / chunk + half) ^ (row >> 1 & 3);
        copy_one(atom, true, &chunks[s][half].word, make_smem_ptr(reinterpret_cast<Bytes<16>*>(to + place * chunk)));
      }
    }
  }

  template <class Block, class Mbarrier>
  CUTE_DEVICE void multiply(Block block, Smem& smem, Mbarrier* full, Mbarrier* empty) const {
    int const rank = int(block.thread_rank());
    auto mma = make_tiled_mma(MMA_Atom<On<Block, WgmmaOfRegisters<bfloat16_t, BLK_N>>>{},
                              Layout<Shape<Int<consumers>, _1, _1>>{});
    Tensor sB = make_tensor(make_smem_ptr(smem.slices), Slices{});  // (BLK_N,BLK_K,slice)
    auto thr_mma = mma.get_slice(rank);
    Tensor tCrB = thr_mma.make_fragment_B(thr_mma.partition_B(sB));  // (MMA,MMA_N,MMA_K,slice), descriptors
    Tensor sum = partition_fragment_C(mma, TileD{});     // (MMA,MMA_M,MMA_N): what has left the tensor cores
    Tensor chunk = partition_fragment_C(mma, TileD{});   // (MMA,MMA_M,MMA_N): first slices, 32 of K
    Tensor others = partition_fragment_C(mma, TileD{});  // (MMA,MMA_M,MMA_N): other slices
    using Shape_A = Shape<Shape<_2, _2, _2>, _1, Int<BLK_K / 16>, Int<slices>>;
    Tensor even = make_tensor<bfloat16_t>(Shape_A{});  // (MMA,MMA_M,MMA_K,slice): A of every other step
    Tensor odd = make_tensor<bfloat16_t>(Shape_A{});   // (MMA,MMA_M,MMA_K,slice)
    unsigned const row = unsigned(rank) / 32 * 16 + unsigned(rank) % 32 / 4, k = unsigned(rank) % 4 * 4;
    unsigned const of_row[] = {StageA::offset(row, k), StageA::offset(row + 8, k)};
    int stage = 0, phase = 0, before = -1;  // before: the stage of the last step
    auto const release = [&](int of) {
      block.syncwarp();  // all lanes have loaded A
      if (rank % 32 == 0) empty[of].arrive();
    };
    auto const multiply_step = [&](auto& now, auto& next, bool more) {
      auto const multiply_pair = [&](int a, int b, auto& to) {
        CUTE_UNROLL
        for (int i = 0; i < BLK_K / 16; ++i) {
          gemm(mma, now(_, _, i, a), tCrB(_, _, i, stage * slices + b), to);
          mma.accumulate_ = GMMA::ScaleOut::One;
        }
      };
      warpgroup_fence_operand(now), warpgroup_fence_operand(chunk), warpgroup_fence_operand(others);
      block.wgmma_fence();
      mma.accumulate_ = GMMA::ScaleOut::Zero;
      multiply_pair(0, 0, chunk);
      block.wgmma_commit();
      block.wgmma_fence();
      multiply_pair(1, 0, others), multiply_pair(0, 1, others), multiply_pair(1, 1, others);
      multiply_pair(2, 0, others), multiply_pair(0, 2, others);
      block.wgmma_commit();
      block.wgmma_wait(Int<2>{});  // all of the step before
      if (before >= 0) release(before);
      before = stage;
      if (++stage == PIPE) stage = 0, phase ^= 1;
      if (more) {
        float x[elements_A];
        full[stage].wait(phase);
        load_A(block, smem.A + stage * StageA::floats, of_row, x);
        slice_A(x, next);
      }
      block.wgmma_wait(Int<1>{});
      warpgroup_fence_operand(chunk);
      CUTE_UNROLL
      for (int i = 0; i < size(sum); ++i) sum(i) += chunk(i);
    };
    CUTE_NO_UNROLL
    for (int tile = int(block.block_index()) / parts; tile < tiles; tile += grid) {
      auto const here = tile_at(tile, block.block_index());
      int const steps = steps_of(here);
      clear(sum), clear(others);
      if (steps > 0) {
        float x[elements_A];
        full[stage].wait(phase);
        load_A(block, smem.A + stage * StageA::floats, of_row, x);
        slice_A(x, even);
      }
      CUTE_NO_UNROLL
      for (int step = 0; step < steps; step += 2) {
        multiply_step(even, odd, step + 1 < steps);
        if (step + 1 < steps) multiply_step(odd, even, step + 2 < steps);
      }
      block.wgmma_wait(Int<0>{});
      warpgroup_fence_operand(others);
      if (before >= 0) release(before);
      before = -1;
      CUTE_UNROLL
      for (int i = 0; i < size(sum); ++i) sum(i) += others(i);
      if (parts > 1) {
        using Sums = ClusterSums<BLK_M, BLK_N, 128 * consumers>;
        static_assert(Sums::floats <= PIPE * StageA::floats);
        // Both warpgroups have multiplied all stages, which the sums overwrite.
        block.sync(Int<3>{}, Int<128 * consumers>{});
        return Sums::add(block, this->g, parts, smem.A, mma, sum, here);
      }
      Staged::store(block, this->g, smem.staged, mma, TileD{}, sum, here.m, here.n, here.matrix);
    }
  }

  static constexpr int elements_A = BLK_M * BLK_K / (128 * consumers);  // of a thread
  // Loads a thread's elements of A of a step: for each 16 indices of K, four adjacent ones of each of two rows. of_row:
  // where those of either row begin in the stage.
  template <class Block>
  CUTE_DEVICE static void load_A(Block block, float const* stage, unsigned const (&of_row)[2], float (&x)[elements_A]) {
    CUTE_UNROLL
    for (int i = 0; i < elements_A / 4; ++i)
      StageA::load(block, stage + of_row[i % 2] + i / 2 * StageA::half, x + 4 * i);
  }
  // of: (MMA,MMA_M,MMA_K,slice).
  template <class RA>
  CUTE_DEVICE static void slice_A(float const (&x)[elements_A], RA& of) {
    Tensor words = recast<uint32_t>(of);  // ((1,row,half),MMA_M,MMA_K,slice)
    CUTE_UNROLL
    for (int i = 0; i < elements_A / 2; ++i) {
      uint32_t pair[slices];
      slice_pair(x[2 * i], x[2 * i + 1], pair);
      CUTE_UNROLL
      for (int s = 0; s < slices; ++s) words(make_coord(0, i / 2 % 2, i % 2), 0, i / 4, s) = pair[s];
    }
  }
};

}  // namespace inlay::kernels
