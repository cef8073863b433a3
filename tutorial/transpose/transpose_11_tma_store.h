// 16-byte loads to registers, element-wise stores to a tile in the output's layout, TMA store.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>
#include <inlay/tutorial/transpose/tma_tile.h>

namespace inlay::kernels::transpose_11_tma_store {

struct Kernel : TileGrid<float, StepTile, Writes::transpose> {
  using Grid = TileGrid<float, StepTile, Writes::transpose>;
  CUtensorMap mapB;

  static constexpr int threads = kStepThreads, V = 16 / sizeof(float);
  static constexpr LaunchInfo launch_info{.threads = threads};
  static constexpr int WN = Grid::BLK_N / V / 4 < 8 ? Grid::BLK_N / V / 4 : 8;  // warps along N
  static constexpr int WM = threads / 32 / WN;                                  // warps along M
  using Tile = StepTile;                                                        // (BLK_M,BLK_N)
  using SmemLayout = ColumnMajor<Tile>;                                         // (BLK_M,BLK_N), rows of the output
  // A warp takes 8 rows by 4 vectors: 64 contiguous bytes of input rows, 8 elements of output rows.
  using Threads = Layout<Shape<Shape<_8, Int<WM>>, Shape<_4, Int<WN>>>,
                         Stride<Stride<_4, Int<32 * WN>>, Stride<_1, _32>>>;  // (THR_M,THR_N)
  struct Smem {
    alignas(128) float B[cosize_v<SmemLayout>];
    static void members(auto name) { name("B", &Smem::B); }
  };

  static Kernel make(Copy const& copy, auto const& setting) {
    Matrices const& x = *Grid::matrices(copy);
    return {Grid::make(x),
            setting.encode(tma_matrix(x.out, x.N, x.M, x.L, x.ld_out, x.batch_out, Grid::BLK_N, Grid::BLK_M))};
  }
  void relocate(auto const& at) {
    Grid::relocate(at);
    at.map(mapB, this->out);
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto here = this->tile(block.block_index());
    auto stride_A = make_stride(this->ld_in, _1{});
    Tensor gA = make_tensor(make_gmem_ptr(here.in), Tile{}, stride_A);  // (BLK_M,BLK_N)
    Tensor sB = make_tensor(make_smem_ptr(smem.B), SmemLayout{});       // (BLK_M,BLK_N)
    Tensor cA = make_identity_tensor(Tile{});                           // (BLK_M,BLK_N) -> (m,n)

    using Values = Layout<Shape<_1, Int<V>>>;
    auto copy_A = make_tiled_copy(Copy_Atom<On<Block, UniversalCopy<Vector16>>, float>{}, Threads{}, Values{});
    auto copy_B = make_tiled_copy(Copy_Atom<On<Block, UniversalCopy<float>>, float>{}, Threads{}, Values{});
    auto thr_A = copy_A.get_slice(block.thread_rank());
    auto thr_B = copy_B.get_slice(block.thread_rank());
    Tensor tAgA = thr_A.partition_S(gA);     // (CPY,CPY_M,CPY_N)
    Tensor tArA = make_fragment_like(tAgA);  // (CPY,CPY_M,CPY_N)
    Tensor tBrA = thr_B.retile_S(tArA);      // (CPY,CPY_M,CPY_N)
    Tensor tBsB = thr_B.partition_D(sB);     // (CPY,CPY_M,CPY_N)

    if (here.full()) {
      copy(copy_A, tAgA, tArA);
      copy(copy_B, tBrA, tBsB);
    } else {
      auto edge = make_coord(here.rows, here.cols);
      auto inside = [&](auto const& c) { return elem_less(c, edge); };
      copy_if(copy_A, lazy::transform(thr_A.partition_S(cA), inside), tAgA, tArA);
      copy_if(copy_B, lazy::transform(thr_B.partition_D(cA), inside), tBrA, tBsB);
    }
    block.fence_proxy_async();  // makes the stores visible to TMA
    block.sync();
    if (block.thread_rank() == 0) {
      block.tma_store(mapB, smem.B, int(here.m), int(here.n), here.l);  // clipped at the edge
      block.tma_store_commit();
      block.tma_store_wait_read(Int<0>{});
    }
  }

  static Reason rejects(Copy const& copy, Device const& device) {
    if (Reason r = rejects_tma(device)) return r;
    if (Reason r = Grid::rejects(copy)) return r;
    auto const& x = *Grid::matrices(copy);
    if (Reason r = rejects_unaligned_input(x, sizeof(float))) return r;
    if (Reason r = rejects_unaligned_output(x, x.N, sizeof(float))) return r;
    if (Reason r = rejects_tma_store(x.M * int64_t(sizeof(float)))) return r;
    return rejects_tma_extents(x.N, x.M, x.L, x.ld_out, x.batch_out);
  }
};
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_11_tma_store",
    .idea =
        "Vector loads, TMA store: the copy engine writes whole boxes, the scattered shared stores keep 4-way "
        "conflicts.",
    .source = "Colfax: TMA store",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_11_tma_store
