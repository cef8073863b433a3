// D of wgmma_ring.h through shared memory: by TMA if that takes it, else element by element.
#pragma once
#include <inlay/kernels/gemm/tensor/row_groups.h>
#include <inlay/kernels/gemm/tensor/staged_tile.h>
#include <inlay/kernels/gemm/tensor/tma_operand.h>

namespace inlay::kernels {

// Where a tile of D lies.
struct TilePlace {
  int m, n;    // first row and column
  int matrix;  // of D: all of slice 0, then those of slice 1
  int rows;    // of the group, from m on, if there are groups
};

template <class Step, class T>
struct StagedOutput {
  static constexpr int consumers = Step::consumers, BLK_M = 128, BLK_N = Step::BLK_N;
  // Tiles for TMA stores: 64 x 64 elements, two for each consumer warpgroup.
  using Smem = typename StagesOf<T, Major::K, 64, 64, 2 * consumers>::type;  // (64,64,(2,consumers))

  CUtensorMap map;
  // D with the tiles along n as its last mode, so that TMA stores no column behind a tile's last.
  CUtensorMap map_by_tile;
  int columns;  // of a tile
  bool uses_tma, is_staged;
  bool is_along_m;  // the contiguous mode of a staged D is m: its tiles are stored transposed

  static StagedOutput make(Gemm const& g, int columns, auto const& setting) {
    // TMA stores 16 bytes at a time, past the end of a row too.
    bool const along_n = g.D.col_stride == 1 || g.N() == 1, along_m = !along_n && g.D.row_stride == 1;
    Operand const D = along_m ? transposed(g.D) : g.D;
    TmaTensor by_tile = tma_tensor<T>(D, g.L(), rows_of_box(along_m));
    by_tile.extent[along_m ? 1 : 0] = columns, by_tile.extent[2] = g.N() / columns;
    by_tile.stride[1] = columns * (along_m ? by_tile.stride[0] : int64_t(sizeof(T)));
    bool const stages = Step::stores_by_tma && g.D.type == type_of<T> && (along_n || along_m),
               is_clipped = columns % 64 != 0 && by_tile.extent[2] > 0,
               stores = stages && D.cols * sizeof(T) % 16 == 0 && !rejects_tma<T>(g, D) &&
                        !(is_clipped && (g.L() > 1 || by_tile.stride[1] >= int64_t(1) << 40));
    return {stores ? setting.encode(tma_tensor<T>(D, g.L(), rows_of_box(along_m))) : CUtensorMap{},
            stores && is_clipped ? setting.encode(by_tile) : CUtensorMap{},
            columns,
            stores,
            stages,
            along_m};
  }
  void relocate(Gemm const& g, auto const& at) {
    if (uses_tma) at.map(map, g.D.base);
    if (uses_tma && columns % 64 && columns <= g.N()) at.map(map_by_tile, g.D.base);
  }

  // Rows of a box of 64 columns of the map. A warp has 16 rows of sums: it stores them alone where D is contiguous
  // along n. Where D is contiguous along m, these are 16 columns, 32 bytes of a line, and the four warps of a warpgroup
  // store their 64 columns together.
  CUTE_HOST_DEVICE static constexpr int rows_of_box(bool along_m) { return along_m ? 64 : 16; }

  // ---- device

  CUTE_HOST_DEVICE int tile_columns() const { return Step::any_columns ? columns : BLK_N; }
  // Rows of D that a tile may write, at most.
  CUTE_DEVICE static int64_t rows_of(TilePlace const& here) { return Step::takes_groups ? here.rows : INT64_MAX; }

  // Stores the finished elements of a tile. smem: of the type Smem. The four ways are apart, so that the instructions
  // of each lie together: a block runs them once, and each jump would wait for a line of the instruction cache.
  template <class Block, class RD>
  CUTE_DEVICE void store(Block block, Gemm const& g, T* smem, TilePlace const& here, RD const& tCrD) const {
    auto const by = [&]<bool along_m, bool by_tma>() { store_as<along_m, by_tma>(block, g, smem, here, tCrD); };
    // TMA would store the rows of the next group too, and begins rows of D at multiples of 16 bytes.
    bool const takes_whole = !Step::takes_groups || here.rows >= BLK_M || here.m + here.rows == g.M(),
               begins = !Step::takes_groups || !is_along_m || here.m % 8 == 0;
    if (uses_tma && takes_whole && begins)
      is_along_m ? by.template operator()<true, true>() : by.template operator()<false, true>();
    else
      is_along_m ? by.template operator()<true, false>() : by.template operator()<false, false>();
  }

 private:
  // A warpgroup writes 64 x 64 elements to one of its two shared tiles, of which TMA, or a slower warp, may still read
  // the other one.
  template <bool along_m, bool by_tma, class Block, class RD>
  CUTE_DEVICE void store_as(Block block, Gemm const& g, T* smem, TilePlace const& here, RD const& tCrD) const {
    Tensor sD = make_tensor(make_smem_ptr(smem), Smem{});  // (64,64,(2,consumers))
    int const warpgroup = int(block.thread_rank()) / 128, warp = int(block.thread_rank()) / 32 % 4,
              lane = int(block.thread_rank()) % 32;
    constexpr bool alone = by_tma && rows_of_box(along_m) == 16;  // a warp stores what it has written itself
    int const own = alone ? warp * 16 : 0;                        // first row of the box in the shared tile
    bool const issues = alone ? lane == 0 : block.thread_rank() % 128 == 0;
    auto const sync = [&] {
      if constexpr (alone)
        block.syncwarp();
      else
        sync_warpgroup(block, warpgroup);
    };
    constexpr int chunks = BLK_N / 64, rounds = BLK_M / (64 * consumers);
    constexpr bool is_odd =
        chunks * rounds % 2 == 1;  // the last store of a tile and the first of the next share a buffer
    CUTE_UNROLL
    for (int i = 0; i < chunks * rounds; ++i) {
      int const round = i / chunks, chunk = i % chunks, buffer = 2 * warpgroup + i % 2;
      if (by_tma && issues) {  // TMA has read what the buffer held
        if (is_odd && i == 0)
          block.tma_store_wait_read(Int<0>{});
        else
          block.tma_store_wait_read(Int<1>{});
      }
      if (Step::takes_groups && i == 0) {  // the tile before was stored otherwise, or TMA still reads it
        if (!by_tma && lane == 0) block.tma_store_wait_read(Int<0>{});
        sync_warpgroup(block, warpgroup);
      }
      sync();
      stage_sums<along_m, T>(block, sD(_, _, buffer), warp, lane,
                             [&](int j) { return tCrD(chunk * 32 + j, round, 0); });
      if constexpr (by_tma) block.fence_proxy_async();
      sync();
      int const m = here.m + (round * consumers + warpgroup) * 64, n = here.n + chunk * 64;
      int const row = along_m ? n : m, column = along_m ? m : n;  // of D with contiguous rows
      if constexpr (by_tma) {
        if (!issues) continue;
        T const* const box = smem + buffer * 4096 + own * 64;
        if (Step::any_columns && columns % 64 && here.n + columns <= g.N())
          block.tma_store(map_by_tile, box, along_m ? m : chunk * 64, along_m ? chunk * 64 : m + own, here.n / columns);
        else
          block.tma_store(map, box, column, row + own, here.matrix);
        block.tma_store_commit();
      } else {
        int64_t const pitch = along_m ? g.D.col_stride : g.D.row_stride,
                      rows = cute::min(g.M() - m, rows_of(here) - (m - here.m)),
                      cols = cute::min(g.N(), int64_t(here.n) + tile_columns()) - n;
        store_staged_rows(block, smem + buffer * 4096,
                          g.D.as<T>() + (here.matrix * g.D.batch_stride + row * pitch + column), pitch,
                          along_m ? cols : rows, along_m ? rows : cols, warp, lane);
      }
    }
  }
};

}  // namespace inlay::kernels
