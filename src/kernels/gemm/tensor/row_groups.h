// Groups of rows (Gemm::group_ends): the group of a tile. The tiles of a group begin at its first row, and follow those
// of the group before it.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/common/gemm_grid.h>

namespace inlay::kernels {

// The GEMM of all rows by one B, which a kernel must accept to take groups.
inline Gemm without_groups(Gemm g) {
  g.groups = 0, g.group_ends = nullptr;
  return g;
}
// Tiles of BLK_M rows: the most that the groups can have, wherever they end.
inline int64_t most_tiles_m(Gemm const& g, int BLK_M) {
  return g.groups ? g.M() / BLK_M + std::min(g.groups, g.M()) : ceil_div(g.M(), int64_t(BLK_M));
}

// Why a kernel with tiles of BLK_M x BLK_N that takes groups cannot compute g.
inline Reason rejects_groups(Gemm const& g, int BLK_M, int BLK_N) {
  if (!g.groups) return {};
  int64_t const m = most_tiles_m(g, BLK_M), n = ceil_div(g.N(), int64_t(BLK_N));
  return too_many("{} x {} tiles of groups are more than 31 bits count", __int128(m) * n, 1, {m, n}, kMostBlocks / 2);
}

// Goes through the groups; a GEMM without them is one group.
template <int BLK_M>
struct RowGroups {
  int group = 0, first_tile = 0, first_row = 0, end_row = 0;

  // Begins with the first group.
  template <class Block>
  CUTE_DEVICE void begin(Block block, Gemm const& g) {
    read_end(block, g);
  }
  CUTE_DEVICE bool is_inside(Gemm const& g) const { return group < (g.groups ? int(g.groups) : 1); }
  CUTE_DEVICE int tiles_m() const { return (end_row - first_row + BLK_M - 1) / BLK_M; }
  // Goes on to the group of a tile, or behind the last one. tiles_n: of a row of tiles.
  template <class Block>
  CUTE_DEVICE void find(Block block, Gemm const& g, int tile, int tiles_n) {
    CUTE_NO_UNROLL
    while (is_inside(g) && tile - first_tile >= tiles_m() * tiles_n) {
      first_tile += tiles_m() * tiles_n;
      ++group;
      first_row = end_row;
      if (is_inside(g)) read_end(block, g);
    }
  }

 private:
  // Whatever the array holds, rows stay inside D and groups behind one another.
  template <class Block>
  CUTE_DEVICE void read_end(Block block, Gemm const& g) {
    int32_t end = INT32_MAX;
    Copy_Atom<On<Block, LoadGlobal<int32_t>>, int32_t> load;
    if (g.groups) copy_one(load, true, block.gmem(g.group_ends + group), &end);
    end_row = cute::max(first_row, g.M() < end ? int(g.M()) : end);
  }
};

}  // namespace inlay::kernels
