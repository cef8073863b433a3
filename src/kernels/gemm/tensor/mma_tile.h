// Family: tensor cores by mma.sync, which every GPU from compute capability 8.0 on has. cp.async fills four stages of
// 32 along K, ldmatrix loads the fragments. Operands are contiguous along either mode and begin anywhere: tiles that
// have parts of 16-byte vectors are loaded element by element.
#pragma once
#include <inlay/block/register_ops.h>
#include <inlay/kernels/gemm/tensor/mma.h>
#include <inlay/kernels/gemm/tensor/row_groups.h>

namespace inlay::kernels {

// The stages of one operand, ROWS of m or n by 32 along k, and the next one to fill.
template <class T, int ROWS, bool along_K, int threads>
struct MmaStages {
  static constexpr int BLK_K = 32, PIPE = 4, V = 8;  // elements of a vector
  static constexpr int EACH = ROWS * BLK_K / V / threads;
  // Eight rows of 64 bytes or eight columns of 128, whose vectors are permuted so that the eight vectors of an ldmatrix
  // lie in different banks.
  using Swizzled =
      std::conditional_t<along_K, decltype(composition(Swizzle<2, 3, 3>{}, Layout<Shape<_8, _32>, Stride<_32, _1>>{})),
                         decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, _8>, Stride<_1, _64>>{}))>;
  using Smem = decltype(tile_to_shape(Swizzled{}, Shape<Int<ROWS>, Int<BLK_K>, Int<PIPE>>{}));  // (ROWS,BLK_K,PIPE)
  using Ldmatrix = std::conditional_t<along_K, SM75_U32x4_LDSM_N, SM75_U16x8_LDSM_T>;

  T const* from;    // the next stage's first element
  int64_t pitch;    // elements between vectors side by side
  int rows;         // of the tile inside the operand
  int64_t K;        // remaining K
  bool is_aligned;  // vectors begin at multiples of 16 bytes

  CUTE_DEVICE MmaStages(Operand const& o, T const* from, int rows, int64_t K)
      : from(from), pitch(along_K ? o.row_stride : o.col_stride), rows(rows), K(K) {
    bool const apart = (along_K ? o.rows : o.cols) > 1;
    is_aligned = reinterpret_cast<uintptr_t>(from) % 16 == 0 && (!apart || pitch % V == 0);
  }
  // Fills a stage; zeros beyond the edges.
  template <class Block, class Stage>
  CUTE_DEVICE void next(Block block, Stage const& stage) {
    if (is_aligned && (along_K ? K % V == 0 || K >= BLK_K : rows % V == 0)) {
      Copy_Atom<On<Block, SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<Vector16>>, Vector16> atom;
      CUTE_UNROLL
      for (int v = 0; v < EACH; ++v) {
        auto const at = vector(block, v);
        copy_one(atom, at.inside > 0, block.gmem(reinterpret_cast<Vector16 const*>(at.from)),
                 make_smem_ptr(reinterpret_cast<Vector16*>(&stage(at.row, at.k))));
      }
    } else {
      Copy_Atom<On<Block, LoadGlobal<uint16_t>>, uint16_t> load;
      Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store;
      uint32_t words[EACH][V / 2];
      CUTE_UNROLL
      for (int v = 0; v < EACH; ++v) {
        auto const at = vector(block, v);
        CUTE_UNROLL
        for (int w = 0; w < V / 2; ++w) {
          uint16_t low = 0, high = 0;
          auto const pair = reinterpret_cast<uint16_t const*>(at.from) + 2 * w;
          copy_one(load, 2 * w < at.inside, block.gmem(pair), &low);
          copy_one(load, 2 * w + 1 < at.inside, block.gmem(pair + 1), &high);
          words[v][w] = low | uint32_t(high) << 16;
        }
      }
      CUTE_UNROLL
      for (int v = 0; v < EACH; ++v) {
        auto const at = vector(block, v);
        Vector16 const whole = join(words[v]);
        copy_one(store, true, &whole, make_smem_ptr(reinterpret_cast<Vector16*>(&stage(at.row, at.k))));
      }
    }
    from += along_K ? int64_t(BLK_K) : BLK_K * pitch, K -= BLK_K;
  }

 private:
  struct Vector {
    int row, k, inside;  // its first element; its elements inside the operand, none if less than 1
    T const* from;
  };
  template <class Block>
  CUTE_DEVICE Vector vector(Block block, int v) const {
    int const i = int(block.thread_rank()) + v * threads;
    int const k_left = K < BLK_K ? int(K) : BLK_K;
    if constexpr (along_K) {
      int const row = i / (BLK_K / V), k = i % (BLK_K / V) * V;
      return {row, k, row < rows ? k_left - k : 0, from + row * pitch + k};
    } else {
      int const row = i % (ROWS / V) * V, k = i / (ROWS / V);
      return {row, k, k < k_left ? rows - row : 0, from + k * pitch + row};
    }
  }
};

// Tiles of SIZE x SIZE; two warps along m, WARPS_N along n.
template <class Step, class T, int SIZE, int WARPS_N, bool A_along_K, bool B_along_K>
struct MmaTile : GemmGrid<SIZE, SIZE, T, Epilogues::full> {
  using Grid = GemmGrid<SIZE, SIZE, T, Epilogues::full>;
  static constexpr int BLK_M = SIZE, BLK_N = SIZE, threads = 64 * WARPS_N;
  static constexpr LaunchInfo launch_info{.threads = threads, .min_blocks = SIZE == 64 ? 4 : 1, .follows = true};
  using StagesA = MmaStages<T, SIZE, A_along_K, threads>;
  using StagesB = MmaStages<T, SIZE, B_along_K, threads>;
  static constexpr int BLK_K = StagesA::BLK_K, PIPE = StagesA::PIPE;
  struct Smem {
    alignas(1024) T A[cosize_v<typename StagesA::Smem>];
    alignas(1024) T B[cosize_v<typename StagesB::Smem>];
    static void members(auto name) { name("A", &Smem::A), name("B", &Smem::B); }
  };

  static MmaTile make(Gemm const& g, auto const&) {
    Grid grid = Grid::make(g);
    grid.tiles_m = int(most_tiles_m(g, BLK_M));
    return {grid};
  }
  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = Grid::rejects(without_groups(g), device)) return r;
    if (Reason r = rejects_groups(g, BLK_M, BLK_N)) return r;
    return rejects_majors(g, A_along_K, B_along_K);
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    Gemm const& g = this->g;
    block.griddep_launch_dependents();
    typename Grid::At here{};
    if (g.groups) {
      block.griddep_wait();
      here = tile_of_group(block);
      if (here.rows == 0) return;
    } else {
      here = this->at(block.block_index());
    }
    // Behind the branches, where the compiler sees that they point to global memory.
    here.A = Grid::template element<T const>(g.A, here.m, here.k, here.l);
    here.B = Grid::template element<T const>(g.B, here.n, here.k, here.l);
    int const rank = int(block.thread_rank());
    Tensor sA = make_tensor(make_smem_ptr(smem.A), typename StagesA::Smem{});  // (BLK_M,BLK_K,PIPE)
    Tensor sB = make_tensor(make_smem_ptr(smem.B), typename StagesB::Smem{});  // (BLK_N,BLK_K,PIPE)
    StagesA fill_A(g.A, here.A, here.rows, here.K);
    StagesB fill_B(g.B, here.B, here.cols, here.K);
    auto fill = [&](int stage) {
      fill_A.next(block, sA(_, _, stage)), fill_B.next(block, sB(_, _, stage));
      block.cp_async_fence();
    };

    auto mma = make_tiled_mma(MMA_Atom<On<Block, Mma<T>>>{}, Layout<Shape<_2, Int<WARPS_N>, _1>>{},
                              Tile<_32, Int<16 * WARPS_N>, _16>{});
    auto thr_mma = mma.get_slice(rank);
    auto read_A = make_tiled_copy_A(Copy_Atom<On<Block, typename StagesA::Ldmatrix>, T>{}, mma);
    auto read_B = make_tiled_copy_B(Copy_Atom<On<Block, typename StagesB::Ldmatrix>, T>{}, mma);
    Tensor tXsA = read_A.get_slice(rank).partition_S(sA);                      // (CPY,CPY_M,CPY_K,PIPE)
    Tensor tXsB = read_B.get_slice(rank).partition_S(sB);                      // (CPY,CPY_N,CPY_K,PIPE)
    Tensor tCrA = thr_mma.partition_fragment_A(sA(_, _, 0));                   // (MMA,MMA_M,MMA_K)
    Tensor tCrB = thr_mma.partition_fragment_B(sB(_, _, 0));                   // (MMA,MMA_N,MMA_K)
    Tensor tCrD = partition_fragment_C(mma, Shape<Int<BLK_M>, Int<BLK_N>>{});  // (MMA,MMA_M,MMA_N)
    Tensor tXrA = read_A.get_slice(rank).retile_D(tCrA);                       // (CPY,CPY_M,CPY_K)
    Tensor tXrB = read_B.get_slice(rank).retile_D(tCrB);                       // (CPY,CPY_N,CPY_K)
    clear(tCrD);
    block.griddep_wait();
    auto const multiply = [&](int stage) {
      copy(read_A, tXsA(_, _, _, stage), tXrA);
      copy(read_B, tXsB(_, _, _, stage), tXrB);
      CUTE_UNROLL
      for (int k = 0; k < size<2>(tCrA); ++k) gemm(mma, tCrA(_, _, k), tCrB(_, _, k), tCrD);
    };
    over_stages<PIPE, BLK_K>(
        block, here.K, fill, [] {}, multiply);
    Shape<Int<BLK_M>, Int<BLK_N>> const tile;
    finish_fragment<T, Epilogues::full>(block, g, thr_mma, tile, tCrD, here.m, here.n, here.matrix, here.cols,
                                        here.rows);
    store_fragment<T, Epilogues::full>(block, g, thr_mma, tile, tCrD, here.m, here.n, here.matrix, here.cols,
                                       here.rows);
  }

 private:
  // The tile of a block, of `rows` rows of its group: none, if the groups have fewer tiles.
  template <class Block>
  CUTE_DEVICE typename Grid::At tile_of_group(Block block) const {
    Gemm const& g = this->g;
    int const n = int(block.block_index()) % this->tiles_n, tile = int(block.block_index()) / this->tiles_n;
    RowGroups<BLK_M> groups;
    groups.begin(block, g);
    groups.find(block, g, tile, 1);
    typename Grid::At t{};
    if (!groups.is_inside(g)) return t;
    t.m = groups.first_row + int64_t(tile - groups.first_tile) * BLK_M, t.n = int64_t(n) * BLK_N;
    int const rows = groups.end_row - int(t.m);
    t.rows = rows < BLK_M ? rows : BLK_M;
    t.cols = g.N() - t.n < BLK_N ? int(g.N() - t.n) : BLK_N;
    t.K = g.K();
    t.l = groups.group;  // A has no batch stride
    return t;
  }
};

}  // namespace inlay::kernels
