// Shared by the tensor-core GEMMs: element types, instructions, barriers of warpgroups, and cp.async stages.
#pragma once
#include <inlay/block/matrix_ops.h>
#include <inlay/kernels/gemm/tensor/fragment_epilogue.h>

namespace inlay::kernels {

// Kernel<T> for the type of the operands, bf16 or f16.
template <template <class> class Kernel>
struct ByHalfType {
  static constexpr int64_t period = 64;  // a block repeats its accesses after this many elements along K
  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& f) {
    if (g.A.type == bf16) kernels::launches<Kernel<bfloat16_t>>(g, setting, f);
    if (g.A.type == f16) kernels::launches<Kernel<half_t>>(g, setting, f);
  }
  static Reason rejects(Gemm const& g, Device const& device, Config const& config) {
    return g.A.type == f16 ? rejects_of<Kernel<half_t>>(g, device, config)
                           : rejects_of<Kernel<bfloat16_t>>(g, device, config);
  }
};

// mma.sync.m16n8k16 with sums in fp32.
template <class T>
using Mma = std::conditional_t<std::is_same_v<T, half_t>, SM80_16x8x16_F32F16F16F32_TN, SM80_16x8x16_F32BF16BF16F32_TN>;

// Calls f(A_along_K, B_along_K), integral constants: along which modes ldmatrix finds the operands contiguous.
template <class F>
auto with_majors(Gemm const& g, F const& f) {
  auto const along_K = [](Operand const& o) { return o.cols == 1 || o.col_stride == 1; };
  auto const with_A = [&](auto A) { return along_K(g.B) ? f(A, std::true_type{}) : f(A, std::false_type{}); };
  return along_K(g.A) ? with_A(std::true_type{}) : with_A(std::false_type{});
}
// Rejects operands that are not contiguous along these modes.
inline Reason rejects_majors(Gemm const& g, bool A_along_K, bool B_along_K) {
  for (auto const& [o, along_K] : {std::pair{&g.A, A_along_K}, {&g.B, B_along_K}})
    if (g.K() > 0 && (along_K ? o->cols > 1 && o->col_stride != 1 : o->rows > 1 && o->row_stride != 1))
      return {"an operand is contiguous along no mode: its strides are {} and {}", {o->row_stride, o->col_stride}};
  return {};
}

inline Reason rejects_wgmma(Device const& device) {
  if (device.compute_capability == 90) return {};
  return {"wgmma exists on compute capability 9.0 alone, not on {}.{}",
          {device.compute_capability / 10, device.compute_capability % 10}};
}

// Rejects an operand whose rows are not contiguous or do not begin at multiples of 16 bytes.
template <class T>
Reason rejects_rows(Operand const& o) {
  constexpr int64_t vector = 16 / sizeof(T);
  if (o.cols > 1 && o.col_stride != 1)
    return {"rows of an operand are not contiguous: the stride of their elements is {}", {o.col_stride}};
  if ((o.rows > 1 && o.row_stride % vector) || (o.matrices > 1 && o.batch_stride % vector))
    return {"pitch {} and batch stride {} of an operand are not multiples of 16 bytes", {o.row_stride, o.batch_stride}};
  if (o.misalignment_bytes()) return {"an operand begins {} bytes past a multiple of 16", {o.misalignment_bytes()}};
  return {};
}

// Copies the tiles of an operand that is contiguous along K, 64 elements wide, to stages by 16-byte
// cp.async; zeros beyond the edges. All 128 threads of a block call next(stage) for each tile.
template <class Block, class T, class Stages>
struct AsyncTiles {
  static constexpr int BLK_K = size<1>(Stages{});
  static_assert(BLK_K == 64);
  using Tile = Shape<Int<size<0>(Stages{})>, Int<BLK_K>>;
  using Load = decltype(make_tiled_copy(Copy_Atom<On<Block, SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>>, T>{},
                                        Layout<Shape<_16, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _8>>{}));
  using From = decltype(make_tensor(make_gmem_ptr((T const*)nullptr), Tile{}, make_stride(int64_t(), _1{})));
  using To = decltype(make_tensor(make_smem_ptr((T*)nullptr), Stages{}));
  decltype(Load{}.get_slice(0).partition_S(From{})) tg;                        // (CPY,CPY_M,CPY_K)
  decltype(Load{}.get_slice(0).partition_S(make_identity_tensor(Tile{}))) tc;  // (CPY,CPY_M,CPY_K) -> (m,k)
  decltype(Load{}.get_slice(0).partition_D(To{})) ts;                          // (CPY,CPY_M,CPY_K,PIPE)
  int rows;                                                                    // of the tile inside the operand
  int64_t K;                                                                   // remaining K

  CUTE_DEVICE AsyncTiles(Block block, T const* from, int64_t pitch, int rows, int64_t K, To const& to)
      : tg(slice(block).partition_S(make_tensor(make_gmem_ptr(from), Tile{}, make_stride(pitch, _1{})))),
        tc(slice(block).partition_S(make_identity_tensor(Tile{}))),
        ts(slice(block).partition_D(to)),
        rows(rows),
        K(K) {}
  CUTE_DEVICE void next(int stage) {
    auto const edge = make_coord(rows, K);
    Tensor in = lazy::transform(tc, [&](auto const& c) { return elem_less(c, edge); });
    copy_if(Load{}, in, tg, ts(_, _, _, stage));
    tg.data() = tg.data() + Int<BLK_K>{};
    K -= BLK_K;
  }

 private:
  CUTE_DEVICE static auto slice(Block block) { return Load{}.get_slice(int(block.thread_rank())); }
};

// Calls multiply(stage) for each of PIPE stages of BLK_K indices of K in turn, which fill(stage) fills by cp.async and
// commits as a group. Each thread calls landed() when its own copies to the stage are complete, before the barrier
// after which all threads may read the stage.
template <int PIPE, int BLK_K, class Block>
CUTE_DEVICE void over_stages(Block block, int64_t K, auto& fill, auto const& landed, auto const& multiply) {
  CUTE_UNROLL
  for (int stage = 0; stage < PIPE - 1; ++stage) fill(stage);
  int full = 0, empty = PIPE - 1;
  CUTE_NO_UNROLL
  for (int64_t k = 0; k < K; k += BLK_K) {
    block.cp_async_wait(Int<PIPE - 2>{});
    landed();
    block.sync();  // all threads have also multiplied the stage that is filled next
    fill(empty);
    multiply(full);
    full = full + 1 == PIPE ? 0 : full + 1;
    empty = empty + 1 == PIPE ? 0 : empty + 1;
  }
  block.cp_async_wait(Int<0>{});
}

// Family of hgemm_02 and hgemm_03: tiles of 128 x 128; cp.async fills three stages of 64 along K.
// Rows: the layout of eight rows of a stage, 128 bytes each.
template <class T, class Rows>
struct AsyncStages : GemmGrid<128, 128, T> {
  using Grid = GemmGrid<128, 128, T>;
  static constexpr int BLK_M = 128, BLK_N = 128, BLK_K = 64, PIPE = 3;
  static constexpr LaunchInfo launch_info{.threads = 128, .min_blocks = 2};
  using SmemA = decltype(tile_to_shape(Rows{}, Shape<Int<BLK_M>, Int<BLK_K>, Int<PIPE>>{}));  // (BLK_M,BLK_K,PIPE)
  using SmemB = decltype(tile_to_shape(Rows{}, Shape<Int<BLK_N>, Int<BLK_K>, Int<PIPE>>{}));  // (BLK_N,BLK_K,PIPE)
  struct Smem {
    alignas(1024) T A[cosize_v<SmemA>];
    alignas(1024) T B[cosize_v<SmemB>];
    static void members(auto name) { name("A", &Smem::A), name("B", &Smem::B); }
  };

  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = Grid::rejects(g, device)) return r;
    if (g.K() == 0 || g.elements() == 0) return {};
    for (Operand const* o : {&g.A, &g.B})
      if (Reason r = rejects_rows<T>(*o)) return r;
    if (g.K() % 8) return {"K is {}, no multiple of the 8 elements that cp.async copies", {g.K()}};
    return {};
  }

  using TileD = Shape<Int<BLK_M>, Int<BLK_N>>;
  // Finishes the sums of a tile and writes them to D.
  template <class Block, class TiledMma, class RD>
  CUTE_DEVICE void store(Block block, typename Grid::At const& here, TiledMma const& mma, RD& tCrD) const {
    auto const thr_mma = mma.get_slice(int(block.thread_rank()));
    finish_fragment<T, Epilogues::plain>(block, this->g, thr_mma, TileD{}, tCrD, here.m, here.n, here.matrix);
    store_fragment<T, Epilogues::plain>(block, this->g, thr_mma, TileD{}, tCrD, here.m, here.n, here.matrix);
  }
  // over_stages for the tiles of A and B.
  template <class Block, class SA, class SB, class Landed, class Multiply>
  CUTE_DEVICE void for_each_stage(Block block, typename Grid::At const& here, SA const& sA, SB const& sB,
                                  Landed const& landed, Multiply const& multiply) const {
    AsyncTiles<Block, T, SmemA> fill_A(block, here.A, this->g.A.row_stride, here.rows, here.K, sA);
    AsyncTiles<Block, T, SmemB> fill_B(block, here.B, this->g.B.row_stride, here.cols, here.K, sB);
    auto fill = [&](int stage) {
      fill_A.next(stage), fill_B.next(stage);
      block.cp_async_fence();
    };
    over_stages<PIPE, BLK_K>(block, here.K, fill, landed, multiply);
  }
};

// Synchronises the 128 threads of warpgroup 0 or 1, by barrier 1 or 2.
template <class Block>
CUTE_DEVICE void sync_warpgroup(Block block, int warpgroup) {
  if (warpgroup == 0)
    block.sync(Int<1>{}, Int<128>{});
  else
    block.sync(Int<2>{}, Int<128>{});
}

// wgmma of 64 x N x 16 with both operands in shared memory and sums in fp32.
template <class T, int N, GMMA::Major A = GMMA::Major::K, GMMA::Major B = GMMA::Major::K>
using Wgmma = decltype(GMMA::ss_op_selector<T, T, float, Shape<_64, Int<N>, _16>, A, B>());
// The same for widths that the selector does not know, whose operations wgmma_columns.h includes.
template <class T, int N, GMMA::Major A, GMMA::Major B>
struct WgmmaOfColumns {
  using type = Wgmma<T, N, A, B>;
};

}  // namespace inlay::kernels
