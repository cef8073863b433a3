// Family: global -> shared -> global. Lanes run along rows of the input when they load and along rows of the output
// when they store: the tile is transposed in shared memory. Steps differ in the layout of the shared tile and in the
// operation that loads.
#pragma once
#include <inlay/kernels/common/tile_grid.h>

namespace inlay::kernels {

// The tile of a step for elements of 1, 2, 4, 8 and 16 bytes: 16 KB, rows of at least 128 bytes both ways, so that a row
// of the tile meets every bank and a column's conflicts are as bad as they can be.
inline constexpr int kTileM[] = {128, 64, 64, 32, 32}, kTileN[] = {128, 128, 64, 64, 32};
template <class T>
using TileFor = Shape<Int<kTileM[log2_of(sizeof(T))]>, Int<kTileN[log2_of(sizeof(T))]>>;  // (BLK_M,BLK_N)

// At most 16 elements to a thread: more would cost registers and, unrolled, minutes of compile time. And 4 blocks of 512
// threads fill a multiprocessor with 64 KB in flight, which is as much as its L1 likes.
template <class T>
inline constexpr int ThreadsFor = sizeof(T) == 1 ? 1024 : 512;

// The swizzle that frees the columns of a row-major tile of `width` elements from bank conflicts.
//
// Swizzle<B,M,S> xors bits [M, M+B) of an element's offset with bits [M+S, M+S+B). A granule of G bytes must stay
// whole: G = 4, the width of a bank, or the widest access if that is more; so M = log2(G / element size). A row of the
// banks holds 128 / G granules: B = log2(128 / G). They are xored with the row number, which begins at bit log2(width):
// S = log2(width) - M. Rows shorter than 128 bytes have fewer granules than B bits can name: S < B, which is refused.
// With G no wider than max(4, element size), 32 lanes down a column reach every bank as evenly as can be. A published
// formula fixes M = 0 and B = log2(128 / element size): conflicts remain at 2 bytes, and at 1 byte B exceeds S.
template <int width, int elem_bytes, int access_bytes = elem_bytes>
struct ConflictFree {
  static constexpr int granule = access_bytes > 4 ? access_bytes : 4;
  static constexpr int B = log2_of(128 / granule), M = log2_of(granule / elem_bytes), S = log2_of(width) - M;
  static_assert(S >= B, "a row of the tile is shorter than 128 bytes");
  using type = Swizzle<B, M, S>;
};

// The padding of a row that does the same: one bank, or one element where that is wider. (The tutorials pad by one
// element, which below 4 bytes leaves neighbouring rows in one bank.)
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

// A padded tile keeps its shape and gets longer strides. (A tutorial warns of the mistake: the padded shape,
// (bM, bN+1):(bN+1, 1), is a layout of another tile.)
template <class Tile, class SmemLayout>
constexpr bool is_layout_of_tile = size<0>(SmemLayout{}) == size<0>(Tile{}) && size<1>(SmemLayout{}) == size<1>(Tile{});

// The threads of a block on a (rows, cols) tile in vectors of V. Lanes along N: 32 of them, or fewer where a row has
// fewer vectors, or the whole block where the tile has a single row. Lanes along M: 32.
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

// What most steps have in common; a step overrides what it is about.
template <class T>
struct SmemStep {
  static constexpr Writes writes = Writes::transpose;
  static constexpr int threads = ThreadsFor<T>;
  using Tile = TileFor<T>;                     // (BLK_M,BLK_N)
  using SmemLayout = RowMajor<Tile>;           // (BLK_M,BLK_N)
  using Load = UniversalCopy<T>;               // global -> shared
  static constexpr int vector = 1;             // elements of one load
  static constexpr bool interior_path = true;  // full tiles go without predicates
  // Facts for the cost, in lanes that reach different banks before one comes again: a column read, a row write.
  static constexpr int read_apart = 32, write_apart = 32;
};

template <class T, class Step>
struct SmemTile : TileGrid<T, typename Step::Tile, Step::writes> {
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

  static Counts counts(Copy const& copy) {
    Matrices const& x = *Grid::matrices(copy);
    Walk in = input_walk(x, sizeof(T), Grid::BLK_M, Grid::BLK_N);
    in.vector = V, in.lanes_along = size<1>(LoadThreads{}) < 32 ? int(size<1>(LoadThreads{})) : 32;
    Walk const out = output_walk(x, sizeof(T), Grid::BLK_M, Grid::BLK_N, Grid::transposes);
    Walk columns = in;  // the shared tile as the storing lanes see it: down its columns
    columns.vector = 1, columns.lanes_along = 32;
    Counts c;
    (is_cp_async<typename Step::Load> ? c.async_copy : c.global_load) = row_sectors(in);
    c.global_store = row_sectors(out);
    if (!is_cp_async<typename Step::Load>)
      c.shared_store = Step::write_apart < 32 ? strided_row_wavefronts(in, Step::write_apart) : row_wavefronts(in);
    c.shared_load = Grid::transposes ? column_wavefronts(columns, Step::read_apart) : row_wavefronts(in);
    return c;
  }
};

}  // namespace inlay::kernels
