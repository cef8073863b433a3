// Family: small tiles, whose K is shared by the blocks of a cluster. TMA fills a ring of stages, one or two warpgroups
// multiply them by wgmma, and the blocks add their sums through distributed shared memory.
#pragma once
#include <inlay/kernels/gemm/tensor/stage_loop.h>
#include <inlay/kernels/gemm/tensor/summed_tile.h>

namespace inlay::kernels {

// Step: BLK_M (64 or 128), BLK_N, PIPE, the tile and the stages of K; min_blocks, the blocks of a multiprocessor;
// columns_of(g, device, config), how many columns of the tile are used: all of them or, of 64 and more, some fewer.
template <class Step, class T, Major MajorA, Major MajorB>
struct WgmmaCluster {
  static constexpr int BLK_M = Step::BLK_M, BLK_N = Step::BLK_N, BLK_K = 64, PIPE = Step::PIPE;
  static constexpr int consumers = BLK_M / 64, multiplying = 128 * consumers;  // warpgroups and threads that multiply
  static constexpr int kMostParts = 8;
  static constexpr LaunchInfo launch_info{
      .threads = multiplying + 32, .min_blocks = Step::min_blocks, .clusters = true, .follows = true};
  using SmemA = typename StagesOf<T, MajorA, BLK_M, BLK_K, PIPE>::type;  // (BLK_M,BLK_K,PIPE)
  using SmemB = typename StagesOf<T, MajorB, BLK_N, BLK_K, PIPE>::type;  // (BLK_N,BLK_K,PIPE)
  using Sums = SummedTile<T, BLK_M, BLK_N, multiplying>;
  static constexpr int of_A = cosize_v<SmemA>, of_B = cosize_v<SmemB>;
  struct Smem {
    // The stages of A, then those of B. When all are multiplied, the tile's sums in fp32 overwrite them.
    alignas(1024) T stages[cute::max(of_A + of_B, Sums::floats* int(sizeof(float) / sizeof(T)))];
    alignas(8) uint64_t full[PIPE];  // mbarriers: the stage is loaded
    uint64_t empty[PIPE];            // all warps have multiplied it
    static void members(auto name) {
      name("stages", &Smem::stages), name("full", &Smem::full), name("empty", &Smem::empty);
    }
  };
  static_assert(Step::min_blocks * (sizeof(Smem) + 1024) <= 228 << 10);  // of a multiprocessor

  Gemm g;
  CUtensorMap mapA, mapB;
  int columns;           // of a tile
  int parts;             // blocks of a cluster
  int tiles_m, tiles_n;  // tiles of clusters; those along m come one after the other
  int part_k;            // indices of K of a block; the last one may have fewer

  // With Gemm::slice_K each block of a cluster has a slice, else one block has all of K.
  static WgmmaCluster make(Gemm const& g, auto const& setting) {
    auto const map = [&](Operand const& o, Major major, int rows) {
      return setting.encode(tma_tensor<T>(contiguous_last(o, major), g.L(), major == Major::K ? rows : BLK_K));
    };
    int const columns = Step::columns_of(g, setting.device, setting.config);
    return {g,
            map(g.A, MajorA, BLK_M),
            map(g.B, MajorB, columns),
            columns,
            int(parts_of(g)),
            int(ceil_div(g.M(), BLK_M)),
            int(ceil_div(g.N(), columns)),
            int(g.slice_K ? g.slice_K : g.K())};
  }
  static int64_t parts_of(Gemm const& g) { return g.slice_K ? ceil_div(g.K(), g.slice_K) : 1; }
  int64_t blocks() const { return int64_t(tiles_m) * tiles_n * g.L() * parts; }
  int cluster() const { return parts; }
  void relocate(auto const& at) {
    relocate_operands(g, at);
    at.map(mapA, g.A.base), at.map(mapB, g.B.base);
  }
  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = rejects_type<T, Epilogues::full>(g)) return r;
    if (Reason r = rejects_wgmma(device)) return r;
    if (g.elements() == 0) return {};
    if (g.K() == 0) return {"K is 0: there is nothing to multiply"};
    if (g.slices > 1) return {"it adds its slices of K itself"};
    int64_t const parts = parts_of(g);
    if (parts > kMostParts || !std::has_single_bit(uint64_t(parts)) || g.slice_K % BLK_K)
      return {"K is in {} slices of {}, and a cluster has 1, 2, 4 or 8 blocks", {parts, g.slice_K}};
    if (Reason r = rejects_tma<T>(g, contiguous_last(g.A, MajorA))) return r;
    if (Reason r = rejects_tma<T>(g, contiguous_last(g.B, MajorB))) return r;
    int64_t const m = ceil_div(g.M(), int64_t(BLK_M)),
                  n = ceil_div(g.N(), int64_t(BLK_N < 64 ? BLK_N : BLK_N - model::kFewerColumns));
    return too_many("{} x {} tiles in {} matrices are more than 31 bits count", __int128(m) * n * parts, g.L(),
                    {m, n, g.L()}, kMostBlocks / 2);
  }

  // ---- device

  struct Place {
    int m, n, l;  // first row and column of the tile, matrix of the batch
    int part, k, end_of_k;
  };
  CUTE_HOST_DEVICE Place place(int block) const {
    int const tile = block / parts, part = block % parts, at = tile / tiles_m;
    return {tile % tiles_m * BLK_M, at % tiles_n * columns,
            at / tiles_n,           part,
            part * part_k,          cute::min(part * part_k + part_k, int(g.K()))};
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto* const full = reinterpret_cast<typename Block::Mbarrier*>(smem.full);
    auto* const empty = reinterpret_cast<typename Block::Mbarrier*>(smem.empty);
    int const rank = int(block.thread_rank());
    block.griddep_launch_dependents();
    if (rank == 0) {
      block.prefetch(mapA), block.prefetch(mapB);
      for (int s = 0; s < PIPE; ++s) full[s].init(1), empty[s].init(4 * consumers);
      block.fence_barrier_init();
    }
    block.griddep_wait();
    block.sync();
    Place const here = place(int(block.block_index()));
    auto* const sums = reinterpret_cast<float*>(smem.stages);
    if (rank < multiplying) {
      multiply(block, smem, full, empty, here, sums);
    } else {
      if (rank == multiplying) fill(block, smem, full, empty, here);
      block.syncwarp();
    }
    if (parts > 1)
      block.sync_cluster(Int<launch_info.threads>{});
    else
      block.sync();
    if (rank < multiplying) Sums::store(block, g, parts, here.part, sums, here.m, here.n, here.l, columns);
    if (parts > 1) block.sync_cluster(Int<launch_info.threads>{});  // no block exits while others read its sums
  }

 private:
  // One thread loads the stages.
  template <class Block, class Mbarrier>
  CUTE_DEVICE void fill(Block block, Smem& smem, Mbarrier* full, Mbarrier* empty, Place const& here) const {
    int const stage_bytes = (BLK_M + (MajorB == Major::K ? columns : BLK_N)) * BLK_K * int(sizeof(T));
    int const matrix_A = g.A.batch_stride ? here.l : 0, matrix_B = g.B.batch_stride ? here.l : 0;
    StageOfRing<PIPE> at;
    CUTE_NO_UNROLL
    for (int k = here.k; k < here.end_of_k; k += BLK_K) {
      empty[at.stage].wait(at.phase ^ 1);
      full[at.stage].arrive_and_expect_tx(stage_bytes);
      T *const A = smem.stages + at.stage * (BLK_M * BLK_K), *const B = smem.stages + of_A + at.stage * (BLK_N * BLK_K);
      load<MajorA, BLK_M>(block, mapA, full[at.stage], A, here.m, k, matrix_A);
      load<MajorB, BLK_N>(block, mapB, full[at.stage], B, here.n, k, matrix_B);
      at.advance();
    }
  }
  template <Major major, int ROWS, class Block, class Mbarrier>
  CUTE_DEVICE static void load(Block block, CUtensorMap const& map, Mbarrier& full, T* to, int row, int k, int l) {
    if constexpr (major == Major::K) {
      block.tma_load(map, full, to, k, row, l);
    } else {
      CUTE_UNROLL
      for (int slab = 0; slab < ROWS; slab += 64) block.tma_load(map, full, to + slab * BLK_K, row + slab, k, l);
    }
  }

  template <class Block, class Mbarrier>
  CUTE_DEVICE void multiply(Block block, Smem& smem, Mbarrier* full, Mbarrier* empty, Place const& here,
                            float* sums) const {
    Tensor sA = make_tensor(make_smem_ptr(smem.stages), SmemA{});         // (BLK_M,BLK_K,PIPE)
    Tensor sB = make_tensor(make_smem_ptr(smem.stages + of_A), SmemB{});  // (BLK_N,BLK_K,PIPE)
    auto const mma_of = []<int N>(Int<N>) {
      return make_tiled_mma(MMA_Atom<On<Block, typename WgmmaOfColumns<T, N, MajorA, MajorB>::type>>{},
                            Layout<Shape<Int<consumers>, _1, _1>>{});
    };
    auto const all = mma_of(Int<BLK_N>{});
    auto const thr_mma = all.get_slice(int(block.thread_rank()));
    Tensor tCrA = thr_mma.make_fragment_A(thr_mma.partition_A(sA));            // (MMA,MMA_M,MMA_K,PIPE), descriptors
    Tensor tCrB = thr_mma.make_fragment_B(thr_mma.partition_B(sB));            // (MMA,MMA_N,MMA_K,PIPE), descriptors
    Tensor tCrD = partition_fragment_C(all, Shape<Int<BLK_M>, Int<BLK_N>>{});  // (MMA,MMA_M,MMA_N)
    StageOfRing<PIPE> at;
    auto const release = [&](int stage) {
      if (block.thread_rank() % 32 == 0) empty[stage].arrive();
    };
    auto const sum = [&]<int N>(Int<N>) {
      auto mma = mma_of(Int<N>{});
      Tensor sums_of_N = first_columns<N>(tCrD);
      multiply_stages(block, full, at, (here.end_of_k - here.k + BLK_K - 1) / BLK_K, mma, tCrA, tCrB, sums_of_N,
                      release);
      await_stages(block, at, sums_of_N, release);
    };
    if constexpr (BLK_N >= 64)
      with_columns<BLK_N>(columns, sum);
    else
      sum(Int<BLK_N>{});
    block.sync(Int<1>{}, Int<multiplying>{});  // all warpgroups have multiplied the stages that the sums overwrite
    Sums::put(block, g.D, sums, all, tCrD);
  }
};

}  // namespace inlay::kernels
