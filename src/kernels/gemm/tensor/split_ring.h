// Family: 16-bit slices of fp32 operands (slice_operands.h) are multiplied on tensor cores, with sums as accurate as
// fp32's. Tensor cores add with truncation, so that their sums drift: sums of first slices are added to fp32 registers
// every 32 indices of K, while other slices, which have an accumulator of their own, keep the tensor cores busy. Where
// tiles are few and K is long, each block of a cluster computes a split-K slice of a tile of 64 columns. Where the
// batch has tiles enough, a block computes one split-K slice after the other, so that the sums are the same.
#pragma once
#include <inlay/block/part_of_block.h>
#include <inlay/block/prefetch_l2.h>
#include <inlay/kernels/gemm/tensor/cluster_sums.h>
#include <inlay/kernels/gemm/tensor/slice_refusals.h>
#include <inlay/kernels/gemm/tensor/staged_sums.h>
#include <inlay/kernels/gemm/tensor/tile_bands.h>
#include <inlay/kernels/gemm/tensor/tma_operand.h>

namespace inlay::kernels {

// Makes the bf16 slices that replace f16 slices which are refused; nothing replaces bf16 slices.
struct NoSlices {
  void relocate(auto const&) {}
};
template <class Step, class T>
using OtherSlices = std::conditional_t<kScalesRows<T>, SliceOperands<Step, bfloat16_t>, NoSlices>;

// T: half_t, two slices of which three pairs are multiplied, or bfloat16_t, three slices and six pairs. CLUSTER_:
// blocks of a cluster, each of which computes rows of its own; 0: as many as there are split-K slices, each of which
// computes one of the same tile.
template <class Step, class T, int BLK_N_, int CLUSTER_>
struct SplitRing {
  static constexpr bool shares_tile = CLUSTER_ == 0, splits_K = BLK_N_ == 64;
  static constexpr int CLUSTER = shares_tile ? 1 : CLUSTER_;
  static constexpr int slices = kSlices<T>, consumers = 2, BLK_M = 128, BLK_N = BLK_N_, BLK_K = 64;
  static constexpr int PIPE = BLK_N == 128 ? 6 : 8;  // stages, each of one slice of A and of B
  using Others = OtherSlices<Step, T>;
  static constexpr LaunchInfo launch_info{
      .threads = 128 * (consumers + 1), .min_blocks = 1, .clusters = CLUSTER_ != 1, .follows = true};
  using SmemA = typename StagesOf<T, Major::K, BLK_M, BLK_K, PIPE>::type;  // (BLK_M,BLK_K,PIPE)
  using SmemB = typename StagesOf<T, Major::K, BLK_N, BLK_K, PIPE>::type;  // (BLK_N,BLK_K,PIPE)
  using TileD = Shape<Int<BLK_M>, Int<BLK_N>>;
  using Staged = StagedSums<BLK_N>;
  struct Smem {
    alignas(1024) T A[cosize_v<SmemA>];
    alignas(1024) T B[cosize_v<SmemB>];
    alignas(8) uint64_t full[PIPE];                            // mbarriers: the stage is loaded
    uint64_t empty[PIPE];                                      // all consumer warps of the cluster have multiplied it
    alignas(16) float staged[4 * consumers * Staged::floats];  // sums on their way to D
    float factors[consumers][64 + BLK_N];                      // of the rows of A that a warpgroup multiplies, and of B
    unsigned refused[4 * (consumers + 1)];                     // (warps)
    static void members(auto name) {
      name("A", &Smem::A), name("B", &Smem::B), name("full", &Smem::full), name("empty", &Smem::empty),
          name("staged", &Smem::staged), name("factors", &Smem::factors), name("refused", &Smem::refused);
    }
  };
  static_assert(sizeof(Smem) <= 227 << 10);  // what a block may have
  static_assert(CLUSTER == 1 || !splits_K);
  static_assert(splits_K || !shares_tile);
  static constexpr int kStageBytes = int(sizeof(Smem::A) + sizeof(Smem::B)) / PIPE;

  Gemm g;  // with its fp32 operands
  SlicedOperand A, B;
  CUtensorMap mapA, mapB;
  unsigned* refusals;  // of each matrix: computes those with `refusal`. Null: computes all
  unsigned refusal;
  Others others;
  TileBands<8> order;  // of the tiles of clusters
  int split_K;         // split-K slices of a tile
  int grid;            // clusters

  static SplitRing make(Gemm const& g, SlicedOperand const& A, SlicedOperand const& B, unsigned* refusals,
                        unsigned refusal, Others const& others, int split_K, auto const& setting) {
    int const tiles_m = int(ceil_div(g.M(), BLK_M * CLUSTER)), tiles_n = int(ceil_div(g.N(), BLK_N));
    int64_t const clusters = int64_t(tiles_m) * tiles_n * g.L(),
                  resident = std::max(setting.device.sm_count / CLUSTER, 1);
    auto const map = [&](SlicedOperand const& o, int rows) {
      return setting.encode(tma_tensor<T>(o.slices, o.slices.matrices, rows));
    };
    return {g,
            A,
            B,
            map(A, BLK_M),
            map(B, BLK_N / CLUSTER),
            refusals,
            refusal,
            others,
            {tiles_m, tiles_n},
            split_K,
            int(shares_tile ? clusters : cute::min(clusters, resident))};
  }
  CUTE_HOST_DEVICE int64_t blocks() const { return int64_t(grid) * in_cluster(); }
  int cluster() const requires(launch_info.clusters) { return in_cluster(); }
  void relocate(auto const& at) {
    relocate_operands(g, at);
    A.relocate(at), B.relocate(at), others.relocate(at), refusals = at(refusals);
    at.map(mapA, A.slices.base), at.map(mapB, B.slices.base);
  }

  // ---- device
  // Whether the blocks look for the refusal of the one matrix of a batch, instead of reading it.
  CUTE_HOST_DEVICE bool looks_for_refusals() const { return kScalesRows<T> && refusals && g.L() == 1; }
  struct Place {
    int m, n, matrix;  // first row and column of the tile, matrix of the batch
    int rows, cols;    // of the tile, inside D
    int first, end;    // split-K slices first to end - 1, which the block computes
  };
  CUTE_HOST_DEVICE int tiles() const { return order.of_matrix() * int(g.L()); }
  CUTE_HOST_DEVICE int parts() const { return splits_K ? split_K : 1; }
  CUTE_HOST_DEVICE int in_cluster() const { return shares_tile ? parts() : CLUSTER; }
  CUTE_HOST_DEVICE Place place(int tile, int rank) const {
    auto const at = order.at(tile);
    int const m = (at.m * CLUSTER + rank % CLUSTER) * BLK_M, n = at.n * BLK_N;
    return {m,
            n,
            at.matrix,
            int(cute::min(g.M() - m, int64_t(BLK_M))),
            int(cute::min(g.N() - n, int64_t(BLK_N))),
            shares_tile ? rank : 0,
            shares_tile ? rank + 1 : parts()};
  }
  // The first index of a split-K slice: a multiple of BLK_K, as the end of the last one is.
  CUTE_HOST_DEVICE int begin_of(int part) const {
    int const steps = (int(g.K()) + BLK_K - 1) / BLK_K;
    return steps * part / parts() * BLK_K;
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto* const full = reinterpret_cast<typename Block::Mbarrier*>(smem.full);
    auto* const empty = reinterpret_cast<typename Block::Mbarrier*>(smem.empty);
    if (block.thread_rank() == 0) {
      block.prefetch(mapA), block.prefetch(mapB);
      for (int s = 0; s < PIPE; ++s) full[s].init(1), empty[s].init(4 * consumers * CLUSTER);
      block.fence_barrier_init();
    }
    block.griddep_wait();
    unsigned const of_first = look(block, smem);
    if (of_first != refusal) return make_others(block, smem);
    sync_all(block);
    if (block.thread_rank() < 128 * consumers) {
      block.setmaxnreg_inc(Int<232>{});
      multiply(block, smem, full, empty, of_first);
    } else {
      block.setmaxnreg_dec(Int<40>{});
      // All other threads exit, and the branches are of whole warps, as the compiler knows by shfl: fill() then keeps
      // its addresses in uniform registers. Else each of its steps moves them there and waits: 7 % of GEMMs in tiles of
      // 64 columns on an H200.
      int const warp = block.shfl(int(block.thread_rank()) / 32, 0);
      if (warp != 4 * consumers) {
        if (warp == 4 * consumers + 1 && prefetches_addend()) prefetch_addend(block, of_first);
        return;
      }
      if (block.thread_rank() != 128 * consumers) return;
      fill(block, smem, full, empty, of_first);
    }
    if constexpr (CLUSTER > 1)
      block.sync_cluster(Int<128 * consumers + 1>{});  // other blocks arrive at this block's mbarriers
  }

 private:
  template <class Block>
  CUTE_DEVICE static void sync_all(Block block) {
    if constexpr (CLUSTER > 1)
      block.sync_cluster(Int<launch_info.threads>{});
    else
      block.sync();
  }
  // Whether the one matrix of a batch is refused; of the kernels that ask it, the first looks, and its block 0 tells
  // those behind it.
  template <class Block>
  CUTE_DEVICE unsigned look(Block block, Smem& smem) const {
    if (!refusals || g.L() > 1) return refusal;
    Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> atom;
    unsigned refused = 0;
    if constexpr (kScalesRows<T>) {
      constexpr int threads = launch_info.threads;
      refused = any_of_block<threads>(block, smem.refused, sees_refusal<threads>(block, A, B, 0));
      copy_one(atom, block.block_index() == 0 && block.thread_rank() == 0, &refused, make_gmem_ptr(refusals));
    } else {
      copy_one(atom, true, make_gmem_ptr(refusals), &refused);
    }
    return refused;
  }
  // Makes what the kernel behind this one multiplies of a matrix that is refused.
  template <class Block>
  CUTE_DEVICE void make_others(Block block, Smem& smem) const {
    if constexpr (kScalesRows<T>) {
      static_assert(Others::threads == 128 * consumers && sizeof(typename Others::Smem) <= sizeof(Smem::A));
      if (block.thread_rank() < Others::threads)
        others.slice_all(PartOfBlock<Block, 3, Others::threads>{block},
                         *reinterpret_cast<typename Others::Smem*>(smem.A), blocks());
    }
  }
  // Calls f(place) for each tile of the block whose matrix has the refusal. of_first: what look() returned.
  template <class Block>
  CUTE_DEVICE void for_each_tile(Block block, unsigned of_first, auto const& f) const {
    Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> atom;
    unsigned of_matrix = of_first;
    int known = g.L() == 1 ? 0 : -1;  // the matrix of of_matrix
    int const blocks = in_cluster();
    CUTE_NO_UNROLL
    for (int tile = int(block.block_index()) / blocks; tile < tiles(); tile += grid) {
      Place const here = place(tile, int(block.block_index()) % blocks);
      if (refusals && here.matrix != known)
        copy_one(atom, true, make_gmem_ptr(refusals + here.matrix), &of_matrix), known = here.matrix;
      if (of_matrix == refusal) {
        f(here);
      } else {  // on to the next matrix
        int const ahead = (here.matrix + 1) * order.of_matrix() - tile;
        tile += (ahead - 1) / grid * grid;
      }
    }
  }

  // A warp brings the old elements of each tile to the L2 when the tile begins, because the threads that add them have
  // few loads in flight. With a longer K they are little beside the slices, which might leave the L2 for them.
  CUTE_HOST_DEVICE bool prefetches_addend() const {
    return g.epilogue.beta != 0 && g.D.col_stride == 1 && g.K() <= 2048 && !shares_tile;
  }
  template <class Block>
  CUTE_DEVICE static void begin_tile(Block block) {
    block.sync(Int<4>{}, Int<128 * consumers + 32>{});
  }
  template <class Block>
  CUTE_DEVICE void prefetch_addend(Block block, unsigned of_first) const {
    constexpr int lines = BLK_N * 4 / 128 + 1;  // of a row, which may begin anywhere in one
    for_each_tile(block, of_first, [&](Place const& here) {
      begin_tile(block);
      float const* const D = g.D.as<float>() + (here.matrix * g.D.batch_stride + here.m * g.D.row_stride + here.n);
      CUTE_NO_UNROLL
      for (int line = int(block.thread_rank()) % 32; line < here.rows * lines; line += 32)
        prefetch_l2(D + (line / lines * g.D.row_stride + cute::min(line % lines * 32, here.cols - 1)));
      block.syncwarp();  // the barrier above is of whole warps
    });
  }

  template <class Block, class Mbarrier>
  CUTE_DEVICE void fill(Block block, Smem& smem, Mbarrier* full, Mbarrier* empty, unsigned of_first) const {
    constexpr int share = BLK_N / CLUSTER;  // rows of B
    int const rank = int(block.block_index()) % CLUSTER;
    // Matrices of a slice; the batch may share one.
    int const matrices_A = int(g.A.matrices), matrices_B = int(g.B.matrices);
    int stage = 0, phase = 0;
    for_each_tile(block, of_first, [&](Place const& here) {
      int const end = begin_of(here.end);
      CUTE_NO_UNROLL
      for (int k = begin_of(here.first); k < end; k += BLK_K) {
        CUTE_UNROLL
        for (int slice = 0; slice < slices; ++slice) {
          empty[stage].wait(phase ^ 1);
          full[stage].arrive_and_expect_tx(kStageBytes);
          block.tma_load(mapA, full[stage], smem.A + stage * (BLK_M * BLK_K), k, here.m,
                         slice * matrices_A + (matrices_A > 1 ? here.matrix : 0));
          T* const to = smem.B + (stage * BLK_N + rank * share) * BLK_K;
          int const l = slice * matrices_B + (matrices_B > 1 ? here.matrix : 0);
          if constexpr (CLUSTER > 1)
            block.tma_load_multicast(mapB, full[stage], to, k, here.n + rank * share, l, (1u << CLUSTER) - 1);
          else
            block.tma_load(mapB, full[stage], to, k, here.n, l);
          if (++stage == PIPE) stage = 0, phase ^= 1;
        }
      }
    });
    block.griddep_launch_dependents();
  }

  template <class Block, class Mbarrier>
  CUTE_DEVICE void multiply(Block block, Smem& smem, Mbarrier* full, Mbarrier* empty, unsigned of_first) const {
    Tensor sA = make_tensor(make_smem_ptr(smem.A), SmemA{});  // (BLK_M,BLK_K,PIPE)
    Tensor sB = make_tensor(make_smem_ptr(smem.B), SmemB{});  // (BLK_N,BLK_K,PIPE)
    auto mma = make_tiled_mma(MMA_Atom<On<Block, Wgmma<T, BLK_N>>>{}, Layout<Shape<Int<consumers>, _1, _1>>{});
    auto thr_mma = mma.get_slice(int(block.thread_rank()));
    Tensor tCrA = thr_mma.make_fragment_A(thr_mma.partition_A(sA));  // (MMA,MMA_M,MMA_K,PIPE), descriptors
    Tensor tCrB = thr_mma.make_fragment_B(thr_mma.partition_B(sB));  // (MMA,MMA_N,MMA_K,PIPE), descriptors
    int const lane = int(block.thread_rank()) % 32;
    auto release = [&](int stage) {
      if constexpr (CLUSTER > 1) {
        if (lane < CLUSTER) empty[stage].arrive(unsigned(lane));
      } else if (lane == 0) {
        empty[stage].arrive();
      }
    };
    int stage = 0, phase = 0;
    // sum: (MMA,MMA_M,MMA_N), what has left the tensor cores, at last all of a split-K slice.
    auto const multiply_part = [&](Place const& here, int part, auto& sum) {
      Tensor chunk = partition_fragment_C(mma, TileD{});   // (MMA,MMA_M,MMA_N): first slices, 32 of K
      Tensor others = partition_fragment_C(mma, TileD{});  // (MMA,MMA_M,MMA_N): other slices
      clear(sum);
      auto accumulate_others = GMMA::ScaleOut::Zero;
      int before[slices];  // stages of the last 64 of K
      CUTE_UNROLL
      for (int s = 0; s < slices; ++s) before[s] = -1;
      auto const multiply_pair = [&](auto& to, int a, int b, int first, int last, GMMA::ScaleOut& accumulate) {
        CUTE_UNROLL
        for (int i = first; i < last; ++i) {
          mma.accumulate_ = accumulate;
          gemm(mma, tCrA(_, _, i, a), tCrB(_, _, i, b), to);
          accumulate = GMMA::ScaleOut::One;
        }
      };
      // First slices begin an accumulation; it goes to `sum` while the tensor cores multiply other slices.
      auto const begin_chunk = [&](int at, int half) {
        auto accumulate = GMMA::ScaleOut::Zero;
        warpgroup_fence_operand(chunk);
        block.wgmma_fence();
        multiply_pair(chunk, at, at, 2 * half, 2 * half + 2, accumulate);
        block.wgmma_commit();
      };
      auto const end_chunk = [&] {
        block.wgmma_commit();
        block.wgmma_wait(Int<1>{});
        warpgroup_fence_operand(chunk);
        CUTE_UNROLL
        for (int i = 0; i < size(sum); ++i) sum(i) += chunk(i);
      };
      int const end = behind_loop(begin_of(part + 1));  // a division, which the compiler would repeat in each step
      CUTE_NO_UNROLL
      for (int k = begin_of(part); k < end; k += BLK_K) {
        int at[slices], phase_of[slices];
        CUTE_UNROLL
        for (int s = 0; s < slices; ++s) {
          at[s] = stage, phase_of[s] = phase;
          if (++stage == PIPE) stage = 0, phase ^= 1;
        }
        full[at[0]].wait(phase_of[0]);
        begin_chunk(at[0], 0);
        full[at[1]].wait(phase_of[1]);
        warpgroup_fence_operand(others);
        block.wgmma_fence();
        multiply_pair(others, at[1], at[0], 0, 4, accumulate_others);
        if constexpr (slices == 3) multiply_pair(others, at[0], at[1], 0, 4, accumulate_others);
        end_chunk();
        CUTE_UNROLL
        for (int s = 0; s < slices; ++s)
          if (before[s] >= 0) release(before[s]);
        begin_chunk(at[0], 1);
        if constexpr (slices == 2) {
          multiply_pair(others, at[0], at[1], 0, 4, accumulate_others);
        } else {
          multiply_pair(others, at[1], at[1], 0, 4, accumulate_others);
          full[at[2]].wait(phase_of[2]);
          block.wgmma_fence();
          multiply_pair(others, at[2], at[0], 0, 4, accumulate_others);
          multiply_pair(others, at[0], at[2], 0, 4, accumulate_others);
        }
        end_chunk();
        CUTE_UNROLL
        for (int s = 0; s < slices; ++s) before[s] = at[s];
      }
      [[maybe_unused]] float of_row = 0, of_column = 0;
      if constexpr (kScalesRows<T>)
        load_factors(block, here, of_row, of_column);  // while the last slices are multiplied
      block.wgmma_wait(Int<0>{});
      warpgroup_fence_operand(others);
      CUTE_UNROLL
      for (int s = 0; s < slices; ++s) release(before[s]);
      constexpr float of_others = kScalesRows<T> ? 1.f / 2048 : 1.f;
      CUTE_UNROLL
      for (int i = 0; i < size(sum); ++i) sum(i) = fmaf(others(i), of_others, sum(i));
      if constexpr (kScalesRows<T>) unscale(block, smem, mma, sum, of_row, of_column);
    };
    for_each_tile(block, of_first, [&](Place const& here) {
      if (prefetches_addend()) begin_tile(block);
      if constexpr (!splits_K) {
        Tensor sum = partition_fragment_C(mma, TileD{});  // (MMA,MMA_M,MMA_N)
        multiply_part(here, 0, sum);
        Staged::store(block, g, smem.staged, mma, TileD{}, sum, here.m, here.n, here.matrix);
      } else {
        Tensor total = partition_fragment_C(mma, TileD{});  // (MMA,MMA_M,MMA_N)
        cute::fill(total, parts() > 1 ? 0.f : -0.f);        // as ClusterSums begins; one part keeps its bits
        CUTE_NO_UNROLL
        for (int part = here.first; part < here.end; ++part) {
          Tensor sum = partition_fragment_C(mma, TileD{});  // (MMA,MMA_M,MMA_N)
          multiply_part(here, part, sum);
          CUTE_UNROLL
          for (int i = 0; i < size(sum); ++i) total(i) += sum(i);
        }
        if constexpr (shares_tile) {
          using Sums = ClusterSums<BLK_M, BLK_N, 128 * consumers>;
          static_assert(Sums::floats * sizeof(float) <= sizeof(Smem::A));
          block.sync(Int<3>{},
                     Int<128 * consumers>{});  // both warpgroups have multiplied all stages, which the sums overwrite
          Sums::add(block, g, parts(), reinterpret_cast<float*>(smem.A), mma, total, here);
        } else {
          Staged::store(block, g, smem.staged, mma, TileD{}, total, here.m, here.n, here.matrix);
        }
      }
    });
  }

  // Each thread of a warpgroup loads the factor of a row of B, and the first 64 of a row of A.
  template <class Block>
  CUTE_DEVICE void load_factors(Block block, Place const& here, float& of_row, float& of_column) const {
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    int const rank = behind_loop(int(block.thread_rank())), i = rank % 128, m = here.m + rank / 128 * 64 + i,
              n = here.n + i;
    auto const load = [&](SlicedOperand const& o, int64_t matrices, int row, bool on, float& factor) {
      copy_one(atom, on && row < o.slices.rows,
               make_gmem_ptr(o.factors + ((matrices > 1 ? here.matrix * o.slices.rows : 0) + row)), &factor);
    };
    load(A, g.A.matrices, m, i < 64, of_row), load(B, g.B.matrices, n, i < BLK_N, of_column);
  }
  // Multiplies the sums by the factors of their rows of A and of B, which the threads of the warpgroup have loaded.
  template <class Block, class Mma, class RD>
  CUTE_DEVICE static void unscale(Block block, Smem& smem, Mma const& mma, RD& sum, float of_row, float of_column) {
    int const rank = behind_loop(int(block.thread_rank())), i = rank % 128, warpgroup = rank / 128;
    Tensor tCcD = mma.get_slice(rank).partition_C(make_identity_tensor(TileD{}));
    Copy_Atom<On<Block, UniversalCopy<float>>, float> element;
    using Pair = decltype(Adjacent<2, float>::word);
    Copy_Atom<On<Block, UniversalCopy<Pair>>, Pair> pair;
    float *const rows = smem.factors[warpgroup], *const columns = rows + 64;
    sync_warpgroup(block, warpgroup);  // the factors of the tile before have been read
    copy_one(element, i < 64, &of_row, make_smem_ptr(rows + i));
    copy_one(element, i < BLK_N, &of_column, make_smem_ptr(columns + i));
    sync_warpgroup(block, warpgroup);
    // A thread holds pairs of columns in two rows, eight apart.
    float of_rows[2];
    CUTE_UNROLL
    for (int r = 0; r < 2; ++r) copy_one(element, true, make_smem_ptr(rows + get<0>(tCcD(2 * r)) % 64), &of_rows[r]);
    CUTE_UNROLL
    for (int j = 0; j < int(size(RD{})); j += 4) {
      Adjacent<2, float> of_pair;
      copy_one(pair, true, make_smem_ptr(reinterpret_cast<Pair const*>(columns + get<1>(tCcD(j)))), &of_pair.word);
      CUTE_UNROLL
      for (int v = 0; v < 4; ++v) sum(j + v) = sum(j + v) * of_rows[v / 2] * of_pair.element[v % 2];
    }
  }
};

}  // namespace inlay::kernels
