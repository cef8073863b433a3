// Family: TMA fills a ring of stages, and one or two consumer warpgroups multiply them by wgmma.
// Steps differ in the tile, the number of consumers, the grid, the cluster, and how D is stored.
#pragma once
#include <inlay/kernels/gemm/tensor/stage_loop.h>
#include <inlay/kernels/gemm/tensor/staged_output.h>
#include <inlay/kernels/gemm/tensor/tile_bands.h>

namespace inlay::kernels {

// Defaults; a step overrides what it changes.
struct WgmmaRingStep {
  static constexpr int BLK_N = 128, PIPE = 3;
  static constexpr int consumers = 1;          // warpgroups that multiply
  static constexpr int min_blocks = 2;         // per SM: bounds the registers
  static constexpr bool persistent = false;    // min_blocks blocks per SM loop over the tiles
  static constexpr int band = 0;               // tiles along n per band (tile order); 0: one band
  static constexpr int cluster = 1;            // blocks along m; each loads a share of B for all
  static constexpr bool any_cluster = false;   // instead, cluster_of(g, device, config) says the blocks along m and n
  static constexpr bool any_columns = false;   // instead of BLK_N columns, columns_of(g, device, config), some fewer
  static constexpr bool follows = false;       // launched before the kernel before it has ended
  static constexpr bool takes_groups = false;  // of rows, instead of a batch; no cluster along m, and whole tiles
  // D goes through shared memory if its rows are contiguous and it is not f32: by TMA if that takes it, else element by
  // element.
  static constexpr bool stores_by_tma = false;
  static constexpr Epilogues epilogues = Epilogues::plain;
};

template <class Step, class T, Major MajorA = Major::K, Major MajorB = Major::K>
struct WgmmaRing {
  static constexpr int consumers = Step::consumers, PIPE = Step::PIPE;
  static constexpr int BLK_M = 128, BLK_N = Step::BLK_N, BLK_K = 64;
  static constexpr bool clusters = Step::any_cluster || Step::cluster > 1;
  static constexpr LaunchInfo launch_info{
      .threads = 128 * (consumers + 1), .min_blocks = Step::min_blocks, .clusters = clusters, .follows = Step::follows};
  using SmemA = typename StagesOf<T, MajorA, BLK_M, BLK_K, PIPE>::type;  // (BLK_M,BLK_K,PIPE)
  using SmemB = typename StagesOf<T, MajorB, BLK_N, BLK_K, PIPE>::type;  // (BLK_N,BLK_K,PIPE)
  using TileD = Shape<Int<BLK_M>, Int<BLK_N>>;
  using Output = StagedOutput<Step, T>;
  struct Ring {
    alignas(1024) T A[cosize_v<SmemA>];
    alignas(1024) T B[cosize_v<SmemB>];
    alignas(8) uint64_t full[PIPE];  // mbarriers: the stage is loaded
    uint64_t empty[PIPE];            // all consumer warps of the cluster have multiplied it
    static void members(auto name) {
      name("A", &Ring::A), name("B", &Ring::B), name("full", &Ring::full), name("empty", &Ring::empty);
    }
  };
  struct RingAndD : Ring {
    alignas(1024) T D[cosize_v<typename Output::Smem>];
    static void members(auto name) { Ring::members(name), name("D", &RingAndD::D); }
  };
  using Smem = std::conditional_t<Step::stores_by_tma, RingAndD, Ring>;

  Gemm g;
  CUtensorMap mapA, mapB;
  Output output;                   // with the columns of a tile; the stages behind them are not multiplied
  int log2_along_m, log2_along_n;  // blocks of a cluster
  int tiles_m, tiles_n, band;      // tiles of clusters
  int grid;                        // clusters
  int slice_k;                     // extent of each slice of K; the last one may be shorter

  static WgmmaRing make(Gemm const& g, auto const& setting) {
    ClusterShape shape{Step::cluster, 1};
    if constexpr (Step::any_cluster) shape = Step::cluster_of(g, setting.device, setting.config);
    int columns = BLK_N;
    if constexpr (Step::any_columns) columns = Step::columns_of(g, setting.device, setting.config);
    int const tiles_m = int(g.groups ? most_tiles_m(g, BLK_M) : ceil_div(g.M(), BLK_M * shape.m)),
              tiles_n = int(ceil_div(g.N(), columns * shape.n));
    int64_t const clusters = int64_t(tiles_m) * tiles_n * g.L() * g.slices,
                  resident = resident_clusters(setting.device, shape) * Step::min_blocks;
    // An operand is loaded in `shares`: of its rows where they are contiguous along K, else of the indices of K.
    auto const map = [&](Operand const& o, Major major, int rows, int shares) {
      return setting.encode(tma_tensor<T>(contiguous_last(o, major), std::max(g.L(), g.groups),
                                          (major == Major::K ? rows : BLK_K) / shares));
    };
    return {g,
            map(g.A, MajorA, BLK_M, shape.n),
            map(g.B, MajorB, columns, shape.m),
            Output::make(g, columns, setting),
            std::countr_zero(unsigned(shape.m)),
            std::countr_zero(unsigned(shape.n)),
            tiles_m,
            tiles_n,
            Step::band ? cute::min(cute::max(Step::band / shape.n, 1), tiles_n) : tiles_n,
            int(Step::persistent ? cute::min(clusters, resident) : clusters),
            int(g.slices > 1 ? g.slice_K : g.K())};
  }
  int64_t blocks() const { return int64_t(grid) * cluster_blocks(); }
  void relocate(auto const& at) {
    relocate_operands(g, at);
    at.map(mapA, g.A.base), at.map(mapB, g.B.base);
    output.relocate(g, at);
  }
  int cluster() const requires(clusters) { return cluster_blocks(); }
  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = rejects_type<T, Step::epilogues>(Step::takes_groups ? without_groups(g) : g)) return r;
    if (Reason r = rejects_wgmma(device)) return r;
    if (g.elements() == 0) return {};
    if constexpr (Step::takes_groups) {
      if (g.L() > 1) return {"the kernel takes groups of rows, and no batch of {} matrices", {g.L()}};
      if (Reason r = rejects_groups(g, BLK_M, BLK_N)) return r;
    }
    if (g.K() == 0) return {"K is 0: there is nothing to multiply"};
    if (Reason r = rejects_tma<T>(g, contiguous_last(g.A, MajorA))) return r;
    if (Reason r = rejects_tma<T>(g, contiguous_last(g.B, MajorB))) return r;
    constexpr int least = BLK_N - (Step::any_columns ? model::kFewerColumns : 0);
    int64_t const m = ceil_div(g.M(), int64_t(BLK_M)), n = ceil_div(g.N(), int64_t(least));
    return too_many("{} x {} tiles in {} matrices are more than 31 bits count", __int128(m) * n * g.slices, g.L(),
                    {m, n, g.L()}, kMostBlocks / 2);
  }

  // ---- device

  // Blocks of the cluster. Those along n multiply the same rows of A and each loads a share of them for
  // all; those along m share B.
  CUTE_HOST_DEVICE int along_m() const { return Step::any_cluster ? 1 << log2_along_m : Step::cluster; }
  CUTE_HOST_DEVICE int along_n() const { return Step::any_cluster ? 1 << log2_along_n : 1; }
  CUTE_HOST_DEVICE int cluster_blocks() const { return along_m() * along_n(); }
  CUTE_HOST_DEVICE int tile_columns() const { return output.tile_columns(); }
  CUTE_HOST_DEVICE int cluster_of(int block) const {
    return Step::any_cluster ? block >> (log2_along_m + log2_along_n) : block / Step::cluster;
  }
  CUTE_HOST_DEVICE int rank_of(int block) const { return block & (cluster_blocks() - 1); }
  CUTE_HOST_DEVICE int at_m(int rank) const { return rank & (along_m() - 1); }
  CUTE_HOST_DEVICE int at_n(int rank) const { return Step::any_cluster ? rank >> log2_along_m : 0; }

  struct Place {
    TilePlace D;
    int l;            // matrix of the batch, or of B for a group
    int k, end_of_k;  // indices of the slice
  };
  CUTE_HOST_DEVICE int tiles() const { return tiles_m * tiles_n * int(g.L()) * g.slices; }
  // Where the tiles of a cluster, one after the other, lie.
  struct OneGroup {};
  using Groups = std::conditional_t<Step::takes_groups, RowGroups<BLK_M>, OneGroup>;
  template <class Block>
  CUTE_DEVICE void find(Block block, Groups& groups, int tile) const {
    if constexpr (Step::takes_groups) groups.find(block, g, tile, tiles_n);
  }
  // Whether there is this tile, of which find() knows.
  CUTE_DEVICE bool has(Groups const& groups, int tile) const {
    if constexpr (Step::takes_groups)
      return groups.is_inside(g);
    else
      return tile < tiles();
  }
  // tile: index of a cluster's tile. rank: of the block in the cluster.
  CUTE_DEVICE Place place(Groups const& groups, int tile, int rank) const {
    if constexpr (Step::takes_groups) {
      TileCoord const at = tile_in_bands(tile - groups.first_tile, groups.tiles_m(), tiles_n, band);
      int const m = groups.first_row + at.m * BLK_M;
      return {{m, (at.n * along_n() + at_n(rank)) * BLK_N, 0, groups.end_row - m}, groups.group, 0, int(g.K())};
    } else {
      TileCoord const at = tile_in_bands(tile, tiles_m, tiles_n, band);
      int const slice = at.matrix / int(g.L());
      return {{(at.m * along_m() + at_m(rank)) * BLK_M, (at.n * along_n() + at_n(rank)) * tile_columns(), at.matrix, 0},
              at.matrix % int(g.L()),
              slice * slice_k,
              cute::min(slice * slice_k + slice_k, int(g.K()))};
    }
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto* const full = reinterpret_cast<typename Block::Mbarrier*>(smem.full);
    auto* const empty = reinterpret_cast<typename Block::Mbarrier*>(smem.empty);
    if (block.thread_rank() == 0) {
      block.prefetch(mapA), block.prefetch(mapB);
      for (int s = 0; s < PIPE; ++s) full[s].init(1), empty[s].init(4 * consumers * (along_m() + along_n() - 1));
      block.fence_barrier_init();
    }
    if constexpr (Step::follows) block.griddep_wait();
    sync_all(block);
    if (block.thread_rank() < 128 * consumers) {
      block.setmaxnreg_inc(Int < consumers == 1 ? 208 : 232 > {});
      multiply(block, smem, full, empty);
    } else {
      block.setmaxnreg_dec(Int<40>{});
      if (block.thread_rank() == 128 * consumers) fill(block, smem, full, empty);
    }
    if (cluster_blocks() > 1) sync_all(block);  // other blocks arrive at this block's mbarriers
  }

 private:
  template <class Block>
  CUTE_DEVICE void sync_all(Block block) const {
    if (cluster_blocks() > 1)
      block.sync_cluster(Int<launch_info.threads>{});
    else
      block.sync();
  }

  // What a block loads of a stage's (ROWS,BLK_K) of an operand, for the blocks of the cluster whose bits are set: rows
  // from `first` on if they are contiguous along K, else indices of K.
  struct Share {
    int first;
    unsigned blocks;
    bool is_all;
  };
  // One thread loads the stages of a block: its share of A for the blocks along n, and of B for those along m.
  template <class Block, class Mbarrier>
  CUTE_DEVICE void fill(Block block, Smem& smem, Mbarrier* full, Mbarrier* empty) const {
    int const rank = rank_of(int(block.block_index())), m = at_m(rank), n = at_n(rank);
    Share const share_A{n * ((MajorA == Major::K ? BLK_M : BLK_K) >> log2_along_n),
                        (along_n() > 1 ? 1u | 1u << along_m() : 1u) << m, along_n() == 1},
        share_B{m * ((MajorB == Major::K ? tile_columns() : BLK_K) / along_m()),
                (along_m() > 1 ? 3u : 1u) << n * along_m(), along_m() == 1};
    int const stage_bytes = (BLK_M + (MajorB == Major::K ? tile_columns() : BLK_N)) * BLK_K * int(sizeof(T));
    StageOfRing<PIPE> at;
    Groups groups;
    if constexpr (Step::takes_groups) groups.begin(block, g);
    CUTE_NO_UNROLL
    for (int tile = cluster_of(int(block.block_index()));; tile += grid) {
      find(block, groups, tile);
      if (!has(groups, tile)) break;
      Place const here = place(groups, tile, rank);
      int const matrix_A = g.A.batch_stride ? here.l : 0, matrix_B = g.B.batch_stride ? here.l : 0;
      CUTE_NO_UNROLL
      for (int k = here.k; k < here.end_of_k; k += BLK_K) {
        auto& loaded = full[at.stage];
        empty[at.stage].wait(at.phase ^ 1);
        loaded.arrive_and_expect_tx(stage_bytes);
        load<MajorA, BLK_M>(block, mapA, loaded, smem.A + at.stage * (BLK_M * BLK_K), here.D.m, k, matrix_A, share_A);
        load<MajorB, BLK_N>(block, mapB, loaded, smem.B + at.stage * (BLK_N * BLK_K), here.D.n, k, matrix_B, share_B);
        at.advance();
      }
    }
    if constexpr (Step::follows) block.griddep_launch_dependents();
  }

  // Loads a share of (ROWS,BLK_K) of an operand, from (row,k) of matrix l.
  template <Major major, int ROWS, class Block, class Mbarrier>
  CUTE_DEVICE static void load(Block block, CUtensorMap const& map, Mbarrier& full, T* to, int row, int k, int l,
                               Share const& share) {
    auto const box = [&](T* smem, int c0, int c1) {
      if (share.is_all)
        block.tma_load(map, full, smem, c0, c1, l);
      else
        block.tma_load_multicast(map, full, smem, c0, c1, l, share.blocks);
    };
    static_assert(BLK_K == 64);  // a row of `to`, along K or along the other mode
    to += share.first * 64;
    if constexpr (major == Major::K) {
      box(to, k, row + share.first);
    } else {
      CUTE_UNROLL
      for (int slab = 0; slab < ROWS; slab += 64) box(to + slab * BLK_K, row + slab, k + share.first);
    }
  }

  // The consumers compute the tiles of the block, 64 rows a warpgroup and instruction.
  template <class Block, class Mbarrier>
  CUTE_DEVICE void multiply(Block block, Smem& smem, Mbarrier* full, Mbarrier* empty) const {
    Tensor sA = make_tensor(make_smem_ptr(smem.A), SmemA{});  // (BLK_M,BLK_K,PIPE)
    Tensor sB = make_tensor(make_smem_ptr(smem.B), SmemB{});  // (BLK_N,BLK_K,PIPE)
    auto const mma_of = []<int N>(Int<N>) {
      return make_tiled_mma(MMA_Atom<On<Block, typename WgmmaOfColumns<T, N, MajorA, MajorB>::type>>{},
                            Layout<Shape<Int<consumers>, _1, _1>>{});
    };
    auto const thr_mma = mma_of(Int<BLK_N>{}).get_slice(int(block.thread_rank()));
    Tensor tCrA = thr_mma.make_fragment_A(thr_mma.partition_A(sA));  // (MMA,MMA_M,MMA_K,PIPE), descriptors
    Tensor tCrB = thr_mma.make_fragment_B(thr_mma.partition_B(sB));  // (MMA,MMA_N,MMA_K,PIPE), descriptors
    int const lane = int(block.thread_rank()) % 32;
    int const rank = rank_of(int(block.block_index()));
    // Lane r tells block r that a warp has multiplied a stage which that block loads a share of.
    bool const tells = lane < cluster_blocks() && (at_m(lane) == at_m(rank) || at_n(lane) == at_n(rank));
    auto release = [&](int stage) {
      if (cluster_blocks() > 1) {
        if (tells) empty[stage].arrive(unsigned(lane));
      } else if (lane == 0) {
        empty[stage].arrive();
      }
    };
    StageOfRing<PIPE> at;
    int tile = cluster_of(int(block.block_index()));
    Groups groups;
    if constexpr (Step::takes_groups) groups.begin(block, g);
    find(block, groups, tile);
    Place next{};  // computed while TMA loads the first stages
    if (!Step::takes_groups || has(groups, tile)) next = place(groups, tile, rank);
    CUTE_NO_UNROLL
    for (; has(groups, tile); tile += grid) {
      Place const here = next;
      Tensor tCrD = partition_fragment_C(mma_of(Int<BLK_N>{}), TileD{});  // (MMA,MMA_M,MMA_N)
      auto const sum = [&]<int N>(Int<N>) {
        auto mma = mma_of(Int<N>{});
        Tensor sums = first_columns<N>(tCrD);
        multiply_stages(block, full, at, (here.end_of_k - here.k + BLK_K - 1) / BLK_K, mma, tCrA, tCrB, sums, release);
        find(block, groups, tile + grid);
        if (has(groups, tile + grid)) {  // computed while wgmma multiplies the last stage
          next = place(groups, tile + grid, rank);
          compute_now(next.D.m, next.D.n, next.l, next.D.matrix, next.k, next.end_of_k);
        }
        await_stages(block, at, sums, release);
      };
      if constexpr (Step::any_columns)
        with_columns<BLK_N>(output.columns, sum);
      else
        sum(Int<BLK_N>{});
      finish_fragment<T, Step::epilogues>(block, g, thr_mma, TileD{}, tCrD, here.D.m, here.D.n, here.D.matrix,
                                          tile_columns(), Output::rows_of(here.D));
      if constexpr (Step::stores_by_tma)
        if (output.is_staged) {
          output.store(block, g, smem.D, here.D, tCrD);
          continue;
        }
      store_fragment<T, Step::epilogues, Step::stores_by_tma>(block, g, thr_mma, TileD{}, tCrD, here.D.m, here.D.n,
                                                              here.D.matrix, tile_columns(), Output::rows_of(here.D));
    }
    if constexpr (Step::stores_by_tma) block.tma_store_wait(Int<0>{});
  }
};

// The ring for operands that are contiguous along m, n or K, without packing.
template <class Step, class T>
struct ByMajors {
  template <class F>
  static auto with(Gemm const& g, Device const&, Config const&, F const& f) {
    auto const of = [&]<Major A, Major B>(constant<Major, A>, constant<Major, B>) {
      return f(std::type_identity<WgmmaRing<Step, T, A, B>>{});
    };
    auto const with_A = [&](auto A) {
      return loads_along_K(g.B) ? of(A, constant<Major, Major::K>{}) : of(A, constant<Major, Major::MN>{});
    };
    return loads_along_K(g.A) ? with_A(constant<Major, Major::K>{}) : with_A(constant<Major, Major::MN>{});
  }
};

}  // namespace inlay::kernels
