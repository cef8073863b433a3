// Family: global -> shared -> global memory. Loads run along rows of the input, stores along rows
// of the output, so both are coalesced; a transpose reads columns of the shared tile. Steps differ
// in the tile, its shared layout and the load operation.
#pragma once
#include <inlay/kernels/copy/tile_grid.h>
#include <inlay/tutorial/copy/step.h>

namespace inlay::kernels {

// 16 KB. Rows of the tile and of its transpose cover all banks: columns of a plain tile conflict most.
using StepTile = Shape<_64, _64>;  // (BLK_M,BLK_N)

// 8 elements per thread. 4 blocks of 512 threads fill an SM and have 64 KB of loads in flight; 32 to 64 KB are fastest.
inline constexpr int kStepThreads = 512;

// The swizzle that avoids bank conflicts in columns of a row-major tile of `width` columns.
//
// Swizzle<B,M,S> xors bits [M, M+B) of an element's offset with bits [M+S, M+S+B). A granule of
// G = max(4, access_bytes) bytes stays contiguous: M = log2(G / elem_bytes). The 128 bytes of all
// banks hold 128 / G granules: B = log2(128 / G). The row number begins at bit M + S = log2(width).
// Rows below 128 bytes would have S < B and are rejected. Columns have no conflicts if an access is
// one element, wider ones leave some. A published formula, <log2(128/elem_bytes), 0, log2(width)>,
// leaves conflicts at 2 bytes, and at 1 byte has B > S in rows of 64 elements.
template <int width, int elem_bytes, int access_bytes = elem_bytes>
struct ConflictFree {
  static constexpr int granule = access_bytes > 4 ? access_bytes : 4;
  static constexpr int B = log2_of(128 / granule), M = log2_of(granule / elem_bytes), S = log2_of(width) - M;
  static_assert(S >= B, "a row of the tile is shorter than 128 bytes");
  using type = Swizzle<B, M, S>;
};

// Elements of padding per row with the same effect: 4 bytes, or one element if it is wider. The
// tutorials pad by one element, which leaves adjacent rows in one bank if it is below 4 bytes.
template <int elem_bytes>
using Padding = Int<(elem_bytes < 4 ? 4 / elem_bytes : 1)>;

// The layouts of a shared tile, (BLK_M,BLK_N) -> offset.
template <class Tile>
using RowMajor = Layout<Tile, Stride<decltype(size<1>(Tile{})), _1>>;
template <class Tile>
using ColumnMajor = Layout<Tile, Stride<_1, decltype(size<0>(Tile{}))>>;
template <class Tile, class Pad>
using PaddedRows = Layout<Tile, Stride<decltype(size<1>(Tile{}) + Pad{}), _1>>;
template <class Tile, class Swz>
using SwizzledRows = decltype(composition(Swz{}, RowMajor<Tile>{}));

// Padding lengthens a stride and keeps the shape. A tutorial warns of the mistake: the layout
// (bM, bN+1):(bN+1, 1) has the shape of another tile.
template <class Tile, class SmemLayout>
constexpr bool is_layout_of_tile = size<0>(SmemLayout{}) == size<0>(Tile{}) && size<1>(SmemLayout{}) == size<1>(Tile{});

// Thread layouts for tiles in vectors of V elements. AlongN: 32 threads along a row, one per vector
// of a shorter row, or the whole block along a single row. AlongM: 32 threads along a column.
template <int threads, int rows, int cols, int V>
struct ThreadsAlongN {
  static constexpr int lanes = cols / V < 32 ? cols / V : 32;
  static constexpr int down = threads / lanes < rows ? threads / lanes : rows;
  using type = Layout<Shape<Int<down>, Int<threads / down>>, Stride<Int<threads / down>, _1>>;
};
template <int threads, class Tile, int V>
using AlongN = typename ThreadsAlongN<threads, size<0>(Tile{}), size<1>(Tile{}), V>::type;
template <int threads>
using AlongM = Layout<Shape<_32, Int<threads / 32>>, Stride<_1, _32>>;

// Defaults; a step overrides what it changes.
struct SmemStep {
  static constexpr Writes writes = Writes::transpose;
  static constexpr int threads = kStepThreads;
  using Tile = StepTile;                       // (BLK_M,BLK_N)
  using SmemLayout = RowMajor<Tile>;           // (BLK_M,BLK_N)
  using Load = UniversalCopy<float>;           // global -> shared
  static constexpr int vector = 1;             // elements of one load
  static constexpr bool interior_path = true;  // full tiles are copied without predicates
};

template <class Step>
struct SmemTile : TileGrid<float, typename Step::Tile, Step::writes> {
  using T = float;  // four bytes of any type
  using Grid = TileGrid<T, typename Step::Tile, Step::writes>;
  using Tile = typename Step::Tile;              // (BLK_M,BLK_N)
  using SmemLayout = typename Step::SmemLayout;  // (BLK_M,BLK_N)
  static constexpr int threads = Step::threads, V = Step::vector;
  static constexpr LaunchInfo launch_info{.threads = threads};
  using LoadThreads = AlongN<threads, Tile, V>;                                             // (THR_M,THR_N)
  using StoreThreads = std::conditional_t<Grid::transposes, AlongM<threads>, LoadThreads>;  // (THR_M,THR_N)
  static_assert(is_layout_of_tile<Tile, SmemLayout>, "the shared layout has not the shape of the tile");
  struct Smem {
    alignas(128) T A[cosize_v<SmemLayout>];
    static void members(auto name) { name("A", &Smem::A); }
  };

  static SmemTile make(Copy const& copy, auto const&) { return {Grid::make(*Grid::matrices(copy))}; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto here = this->tile(block.block_index());
    auto stride_A = make_stride(this->ld_in, _1{});
    Tensor gA = make_tensor(make_gmem_ptr(here.in), Tile{}, stride_A);             // (BLK_M,BLK_N)
    Tensor gB = make_tensor(make_gmem_ptr(here.out), Tile{}, this->out_stride());  // (BLK_M,BLK_N)
    Tensor sA = make_tensor(make_smem_ptr(smem.A), SmemLayout{});                  // (BLK_M,BLK_N)
    Tensor cA = make_identity_tensor(Tile{});                                      // (BLK_M,BLK_N) -> (m,n)

    auto copy_A =
        make_tiled_copy(Copy_Atom<On<Block, typename Step::Load>, T>{}, LoadThreads{}, Layout<Shape<_1, Int<V>>>{});
    auto copy_B = make_tiled_copy(Copy_Atom<On<Block, UniversalCopy<T>>, T>{}, StoreThreads{});
    auto thr_A = copy_A.get_slice(block.thread_rank());
    auto thr_B = copy_B.get_slice(block.thread_rank());
    Tensor tAgA = thr_A.partition_S(gA);     // (CPY,CPY_M,CPY_N)
    Tensor tAsA = thr_A.partition_D(sA);     // (CPY,CPY_M,CPY_N)
    Tensor tBsA = thr_B.partition_S(sA);     // (CPY,CPY_M,CPY_N)
    Tensor tBgB = thr_B.partition_D(gB);     // (CPY,CPY_M,CPY_N)
    Tensor tArA = make_fragment_like(tAgA);  // (CPY,CPY_M,CPY_N)
    Tensor tBrB = make_fragment_like(tBgB);  // (CPY,CPY_M,CPY_N)

    // Two sets of predicates: the thread that stores an element is not the one that loaded it.
    bool const full = Step::interior_path && here.full();
    auto edge = make_coord(here.rows, here.cols);
    auto inside = [&](auto const& c) { return elem_less(c, edge); };
    Tensor tAin = lazy::transform(thr_A.partition_S(cA), inside);  // (CPY,CPY_M,CPY_N)
    Tensor tBin = lazy::transform(thr_B.partition_D(cA), inside);  // (CPY,CPY_M,CPY_N)

    if constexpr (is_cp_async<typename Step::Load>) {
      if (full)
        copy(copy_A, tAgA, tAsA);
      else
        copy_if(copy_A, tAin, tAgA, tAsA);
      block.cp_async_fence();
      block.cp_async_wait(Int<0>{});
    } else if (full) {  // all loads are in flight before the first store
      copy(copy_A, tAgA, tArA);
      copy(copy_A, tArA, tAsA);
    } else {
      copy_if(copy_A, tAin, tAgA, tAsA);
    }
    block.sync();
    if (full) {
      copy(copy_B, tBsA, tBrB);
      copy(copy_B, tBrB, tBgB);
    } else {
      copy_if(copy_B, tBin, tBsA, tBgB);
    }
  }

  static Reason rejects(Copy const& copy, Device const&) {
    if (Reason r = Grid::rejects(copy)) return r;
    if constexpr (V > 1) return rejects_unaligned_input(*Grid::matrices(copy), sizeof(T));
    return {};
  }
};

}  // namespace inlay::kernels
