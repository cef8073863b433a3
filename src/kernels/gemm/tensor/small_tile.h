// Family: small matrices by mma.sync. What limits batches of them are instructions, of which this kernel executes few.
// Operands are contiguous along either mode and begin anywhere.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/block/register_ops.h>
#include <inlay/kernels/gemm/tensor/small_operand.h>
#include <inlay/kernels/gemm/tensor/staged_tile.h>

namespace inlay::kernels {

// One warp multiplies a tile of 32 x 32, four warps one of 64 x 64. Blocks have four warps.
template <class Step, class T, int WARPS, bool A_along_K, bool B_along_K>
struct SmallTile {
  static constexpr int BLK_M = WARPS == 1 ? 32 : 64, BLK_N = BLK_M, BLK_K = 64, PIPE = WARPS == 1 ? 1 : 2;
  static constexpr int threads = 32 * WARPS, of_block = 4 / WARPS;  // of a tile; tiles of a block
  static constexpr LaunchInfo launch_info{.threads = 128, .min_blocks = 5, .follows = true};
  using Grid = GemmGrid<BLK_M, BLK_N, T, Epilogues::full>;
  using OperandA = SmallOperand<T, BLK_M, A_along_K, threads>;
  using OperandB = SmallOperand<T, BLK_N, B_along_K, threads>;
  struct Smem {
    alignas(1024) T A[of_block * PIPE * OperandA::elements];
    alignas(1024) T B[of_block * PIPE * OperandB::elements];
    static void members(auto name) { name("A", &Smem::A), name("B", &Smem::B); }
  };

  static_assert(OperandA::agrees_with_stage() && OperandB::agrees_with_stage());

  Gemm g;
  Divisor tiles_n, tiles_m;
  int tiles, in_block;  // all; how many of them a block multiplies

  static SmallTile make(Gemm const& g, auto const&) {
    int64_t const n = ceil_div(g.N(), BLK_N), m = ceil_div(g.M(), BLK_M);
    return {g, int(n), int(m), int(n * m * g.L()), of_block};
  }
  int64_t blocks() const { return ceil_div(tiles, in_block); }
  void relocate(auto const& at) { relocate_operands(g, at); }
  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = Grid::rejects(g, device)) return r;
    if (g.M() > INT32_MAX || g.N() > INT32_MAX) return {"M {} or N {} is more than 31 bits count", {g.M(), g.N()}};
    int64_t const m = ceil_div(g.M(), int64_t(BLK_M)), n = ceil_div(g.N(), int64_t(BLK_N));
    if (Reason r = too_many("{} x {} tiles in {} matrices are more than 31 bits count", __int128(m) * n, g.L(),
                            {m, n, g.L()}, kMostBlocks - of_block))
      return r;
    if (g.K() > kMostK) return {"K is {}, more than the {} of small matrices", {g.K(), kMostK}};
    return rejects_majors(g, A_along_K, B_along_K);
  }

  struct At {
    int m, n, l;     // the tile's first element
    int rows, cols;  // inside D
  };
  CUTE_HOST_DEVICE At at(int tile) const {
    int rest, m, n, l;
    tiles_n(rest, n, tile), tiles_m(l, m, rest);
    m *= BLK_M, n *= BLK_N;
    return {m, n, l, cute::min(int(g.M()) - m, int(BLK_M)), cute::min(int(g.N()) - n, int(BLK_N))};
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_launch_dependents();
    int const group = int(block.thread_rank()) / threads, rank = int(block.thread_rank()) % threads,
              tile = int(block.block_index()) * in_block + group;
    if (group >= in_block || tile >= tiles) return;
    int const K = int(g.K());
    At const here = at(tile);
    OperandA A(g.A, Grid::template element<T const>(g.A, here.m, 0, here.l), here.rows, K, rank);
    OperandB B(g.B, Grid::template element<T const>(g.B, here.n, 0, here.l), here.cols, K, rank);
    T* const stages_A = smem.A + group * (PIPE * OperandA::elements);
    T* const stages_B = smem.B + group * (PIPE * OperandB::elements);
    auto const fill = [&](int stage, int k) {
      if (k < K) {
        int const here = cute::min(K - k, int(BLK_K));
        A.next(block, stages_A + stage * OperandA::elements, here);
        B.next(block, stages_B + stage * OperandB::elements, here);
      }
      block.cp_async_fence();
    };
    auto const sync = [&] { WARPS == 1 ? block.syncwarp() : block.sync(); };  // of the tile

    using Warps = Layout<Shape<Int<BLK_M / 32>, Int<BLK_N / 32>, _1>>;
    using Columns = Layout<Shape<_8, Int<BLK_N / 32>, _2>, Stride<_1, _16, _8>>;  // a warp's 16 lie together
    auto mma = make_tiled_mma(MMA_Atom<On<Block, Mma<T>>>{}, Warps{}, Tile<Int<BLK_M / 2>, Columns, _16>{});
    auto thr_mma = mma.get_slice(rank);
    auto read_A = make_tiled_copy_A(Copy_Atom<On<Block, typename OperandA::Ldmatrix>, T>{}, mma);
    auto read_B = make_tiled_copy_B(Copy_Atom<On<Block, typename OperandB::Ldmatrix>, T>{}, mma);
    Tensor tCrD = partition_fragment_C(mma, Shape<Int<BLK_M>, Int<BLK_N>>{});  // (MMA,MMA_M,MMA_N)
    clear(tCrD);
    auto const multiply = [&](int stage, int K_here) {
      Tensor sA = make_tensor(make_smem_ptr(stages_A + stage * OperandA::elements), typename OperandA::Stage{});
      Tensor sB = make_tensor(make_smem_ptr(stages_B + stage * OperandB::elements), typename OperandB::Stage{});
      Tensor tXsA = read_A.get_slice(rank).partition_S(sA);  // (CPY,CPY_M,CPY_K)
      Tensor tXsB = read_B.get_slice(rank).partition_S(sB);  // (CPY,CPY_N,CPY_K)
      Tensor tCrA = thr_mma.partition_fragment_A(sA);        // (MMA,MMA_M,MMA_K)
      Tensor tCrB = thr_mma.partition_fragment_B(sB);        // (MMA,MMA_N,MMA_K)
      Tensor tXrA = read_A.get_slice(rank).retile_D(tCrA);   // (CPY,CPY_M,CPY_K)
      Tensor tXrB = read_B.get_slice(rank).retile_D(tCrB);   // (CPY,CPY_N,CPY_K)
      auto const steps = [&](auto const& ends) {
        CUTE_UNROLL
        for (int k = 0; k < size<2>(tCrA); ++k) {
          if (ends(k)) break;
          copy(read_A, tXsA(_, _, k), tXrA(_, _, k));
          copy(read_B, tXsB(_, _, k), tXrB(_, _, k));
          gemm(mma, tCrA(_, _, k), tCrB(_, _, k), tCrD);
        }
      };
      // Without branches, loads overlap multiplications.
      if (K_here >= BLK_K)
        steps([](int) { return false; });
      else
        steps([&](int k) { return k * 16 >= K_here; });
    };
    block.griddep_wait();
    int stage = 0;
    CUTE_NO_UNROLL
    for (int k = (1 - PIPE) * BLK_K; k < K; k += BLK_K) {
      fill(stage, k + (PIPE - 1) * BLK_K);
      stage = stage + 1 == PIPE ? 0 : stage + 1;
      if (k < 0) continue;
      block.cp_async_wait(Int<PIPE - 1>{});
      sync();
      multiply(stage, K - k);
      if (k + BLK_K < K) sync();  // all have read what is filled next
    }
    block.cp_async_wait(Int<0>{});
    Shape<Int<BLK_M>, Int<BLK_N>> const all;
    int const thread = behind_loop(int(block.thread_rank()));
    auto const thr_sums = mma.get_slice(thread % threads);
    auto const [m, n, l, rows, cols] = at(behind_loop(int(block.block_index())) * in_block + thread / threads);
    finish_fragment<T, Epilogues::full, true, 16>(block, g, thr_sums, all, tCrD, m, n, l, cols, rows);
    if (g.D.type != type_of<T> || g.D.col_stride != 1)
      return store_fragment<T, Epilogues::full>(block, g, thr_sums, all, tCrD, m, n, l, cols, rows);
    sync();  // lanes write what others have read
    if (takes_adjacent<4, T>(g.D, g.D.cols)) return store_quads<T>(block, g, thr_sums, all, tCrD, m, n, l, cols, rows);
    // Through shared memory, where it overwrites the stages of A.
    static_assert(PIPE * OperandA::elements >= BLK_M * 64);
    T* const to = Grid::template element<T>(g.D, m, n, l);
    if (cols == g.D.row_stride) {
      int const before = int(reinterpret_cast<uintptr_t>(to) / sizeof(T) % 8);  // as in the vector that holds the first
      put<1>(
          block, thr_sums, tCrD, stages_A + before, [&](int row, int col) { return row < rows && col < cols; },
          [&](int row, int col) { return row * cols + col; });
      sync();
      store_run(block, stages_A, to - before, before, before + rows * cols, thread % threads);
    } else {
      put<2>(
          block, thr_sums, tCrD, stages_A, [](int, int) { return true; },
          [](int row, int col) { return row * 64 + (col ^ row % 8 * 8); });
      sync();
      for (int part = thread % threads / 32; part < BLK_M / 16; part += WARPS)
        store_staged_rows(block, stages_A, to, g.D.row_stride, rows, cols, part, thread % 32);
    }
  }

 private:
  static constexpr int64_t kMostK = 256;

  // Writes the elements (row, col) with inside(row, col) to `to`, where offset(row, col) says, V side by side at once.
  template <int V, class Block, class ThrMma, class RD>
  CUTE_DEVICE static void put(Block, ThrMma const& thr_mma, RD const& tCrD, T* to, auto const& inside,
                              auto const& offset) {
    using Word = decltype(Adjacent<V, T>::word);
    Copy_Atom<On<Block, UniversalCopy<Word>>, Word> atom;
    Tensor tCcD = thr_mma.partition_C(make_identity_tensor(Shape<Int<BLK_M>, Int<BLK_N>>{}));  // (MMA,MMA_M,MMA_N)
    CUTE_UNROLL
    for (int i = 0; i < size(tCrD); i += V) {
      Adjacent<V, T> x;
      CUTE_UNROLL
      for (int v = 0; v < V; ++v) x.element[v] = T(tCrD(i + v));
      int const row = get<0>(tCcD(i)), col = get<1>(tCcD(i));
      copy_one(atom, inside(row, col), &x.word, make_smem_ptr(reinterpret_cast<Word*>(to + offset(row, col))));
    }
  }
  // Copies elements begin to end - 1 of a run to global memory: vectors that lie in it, and single elements at its
  // ends.
  template <class Block>
  CUTE_DEVICE static void store_run(Block block, T const* from, T* to, int begin, int end, int rank) {
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> load_vector;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_vector;
    Copy_Atom<On<Block, UniversalCopy<uint16_t>>, uint16_t> copy_element;
    CUTE_NO_UNROLL
    for (int first = 0; first < end; first += threads * 8) {
      int const at = first + rank * 8;
      bool const whole = at >= begin && at + 8 <= end;
      Vector16 x{};
      copy_one(load_vector, whole, make_smem_ptr(reinterpret_cast<Vector16 const*>(from + at)), &x);
      copy_one(store_vector, whole, &x, make_gmem_ptr(reinterpret_cast<Vector16*>(to + at)));
      if (!block.any(!whole && at < end)) continue;
      CUTE_NO_UNROLL
      for (int i = at; i < at + 8; ++i) {
        uint16_t e = 0;
        bool const on = !whole && i >= begin && i < end;
        copy_one(copy_element, on, make_smem_ptr(reinterpret_cast<uint16_t const*>(from + i)), &e);
        copy_one(copy_element, on, &e, make_gmem_ptr(reinterpret_cast<uint16_t*>(to + i)));
      }
    }
  }
};

}  // namespace inlay::kernels
