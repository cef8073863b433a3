// Producers: the multiplying threads copy tiles of an operand to shared memory.
#pragma once
#include <inlay/kernels/common/gemm_grid.h>

namespace inlay::kernels {

using AsyncElement = SM80_CP_ASYNC_CACHEALWAYS_ZFILL<float>;
using AsyncVector = SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>;

// How a tile is fetched: copy operation, thread layout, elements per access and the mode along which they lie.
template <class Op_, class Threads_, class Values_ = Layout<Shape<_1, _1>>, Vectors along_ = Vectors::none>
struct Fetch {
  using Op = Op_;
  using Threads = Threads_;  // (THR,THR_K)
  using Values = Values_;    // (V,V_K)
  static constexpr Vectors along = along_;
};
// One element per access, threads fastest along k.
template <class Op, int threads, int BLK_K>
using FetchAlongK = Fetch<Op, Layout<Shape<Int<threads / BLK_K>, Int<BLK_K>>, Stride<Int<BLK_K>, _1>>>;
// Four elements per access along the rows, contiguous in global and in shared memory.
template <int threads, int BLK>
using FetchWide =
    Fetch<AsyncVector, Layout<Shape<Int<BLK / 4>, Int<threads / (BLK / 4)>>>, Layout<Shape<_4, _1>>, Vectors::rows>;
// Four elements per access along k, through registers, stored to four rows of shared memory. Two
// adjacent threads read 32 contiguous bytes of a row of the operand.
template <int threads>
using FetchTransposed =
    Fetch<Float4, Layout<Shape<Int<threads / 2>, _2>, Stride<_2, _1>>, Layout<Shape<_1, _4>>, Vectors::k>;
// One element per access, threads along the contiguous mode, which is found at run time.
template <int threads_>
struct FetchAny {
  static constexpr int threads = threads_;
};

// The fetch for vectors along this mode; FetchAny if there are none.
template <Vectors along, int threads, int BLK>
using FetchVectors =
    std::conditional_t<along == Vectors::rows, FetchWide<threads, BLK>,
                       std::conditional_t<along == Vectors::k, FetchTransposed<threads>, FetchAny<threads>>>;

// The stages of an operand's tile in shared memory: one row for each k, padded by `pad` elements.
template <int BLK, int BLK_K, int PIPE, int pad = 0>
using Stages = Layout<Shape<Int<BLK>, Int<BLK_K>, Int<PIPE>>, Stride<_1, Int<BLK + pad>, Int<(BLK + pad) * BLK_K>>>;

// Swizzled instead of padded, for FetchTransposed. 16 lanes of a warp lie along the rows and two along k, with k four
// apart: rows whose k has bit 2 set are shifted by 16 banks, so the two do not conflict.
template <int BLK, int BLK_K, int PIPE>
using SwizzledStages = decltype(composition(Swizzle<1, 4, log_2(unsigned(BLK)) + 2 - 4>{}, Stages<BLK, BLK_K, PIPE>{}));

// The part of an operand that a block multiplies, (rows,K):(stride,stride_k), which begins at `data`.
struct Part {
  float const* data;
  int64_t stride, stride_k;
  int rows, K;
};

// A producer copies the tiles of an operand, one after the other along k, to stages in shared memory and fills them
// with zeros beyond the operand's edges. issue(stage) starts the copy of the next tile; land(stage) finishes a copy
// through registers.
template <class P>
concept Producer = requires(P producer, int stage) {
  producer.issue(stage);
  producer.land(stage);
};

template <class Block, class Op, class Fetch>
using CopyOf =
    decltype(make_tiled_copy(Copy_Atom<On<Block, Op>, float>{}, typename Fetch::Threads{}, typename Fetch::Values{}));
template <Vectors along, class Tile>
CUTE_HOST_DEVICE auto gmem_tile(Part const& A, Tile tile) {
  auto const stride = [&] {
    if constexpr (along == Vectors::rows)
      return make_stride(_1{}, A.stride_k);
    else if constexpr (along == Vectors::k)
      return make_stride(A.stride, _1{});
    else
      return make_stride(A.stride, A.stride_k);
  }();
  return make_tensor(make_gmem_ptr(A.data), tile, stride);  // (BLK,BLK_K)
}

// Copies with a CuTe TiledCopy. SA: the stages, (BLK,BLK_K,PIPE).
template <class Block, class Fetch, class SA>
struct TiledProducer {
  using Op = typename Fetch::Op;
  static constexpr bool through_registers = !is_cp_async<Op>;
  using Tile = decltype(take<0, 2>(shape(SA{})));
  static constexpr int BLK_K = size<1>(Tile{});
  using Load = CopyOf<Block, Op, Fetch>;
  using Put = CopyOf<Block, std::conditional_t<through_registers, UniversalCopy<float>, Op>, Fetch>;
  using TG = decltype(Load{}.get_slice(0).partition_S(gmem_tile<Fetch::along>(Part{}, Tile{})));
  using TC = decltype(Load{}.get_slice(0).partition_S(make_identity_tensor(Tile{})));
  using TS = decltype(Put{}.get_slice(0).partition_D(SA{}));

  TG tg;                                  // (CPY,CPY_M,CPY_K), in global memory
  TC tc;                                  // (CPY,CPY_M,CPY_K) -> (m,k)
  TS ts;                                  // (CPY,CPY_M,CPY_K,PIPE), in shared memory
  decltype(make_fragment_like(TG{})) tr;  // (CPY,CPY_M,CPY_K), in registers
  Part left;

  // The thread rank is converted to int because coordinates are compared with signed extents.
  CUTE_HOST_DEVICE TiledProducer(Block block, Part const& A, SA const& sA)
      : tg(Load{}.get_slice(int(block.thread_rank())).partition_S(gmem_tile<Fetch::along>(A, Tile{}))),
        tc(Load{}.get_slice(int(block.thread_rank())).partition_S(make_identity_tensor(Tile{}))),
        ts(Put{}.get_slice(int(block.thread_rank())).partition_D(sA)),
        left(A) {}

  CUTE_HOST_DEVICE void issue(int stage) {
    auto edge = make_coord(left.rows, left.K);
    Tensor in = lazy::transform(tc, [&](auto const& c) { return elem_less(c, edge); });
    if constexpr (through_registers) {
      clear(tr);
      copy_if(Load{}, in, tg, tr);
    } else {
      copy_if(Load{}, in, tg, ts(_, _, _, stage));
    }
    tg.data() = tg.data() + BLK_K * left.stride_k;
    left.K -= BLK_K;
  }
  CUTE_HOST_DEVICE void land(int stage) {
    if constexpr (through_registers) copy(Put{}, Put{}.get_slice(0).retile_S(tr), ts(_, _, _, stage));
  }
};

// Copies element by element.
template <class Block, int threads, class SA>
struct ElementProducer {
  SA sA;  // (BLK,BLK_K,PIPE)
  Part left;
  int rank;
  static constexpr int BLK = size<0>(SA{}.layout()), BLK_K = size<1>(SA{}.layout()), each = BLK * BLK_K / threads;
  static_assert(threads % BLK == 0 && threads % BLK_K == 0 && each * threads == BLK * BLK_K);

  CUTE_HOST_DEVICE void issue(int stage) {
    bool const along_rows = left.stride == 1;
    int const m0 = along_rows ? rank % BLK : rank / BLK_K, m_step = along_rows ? 0 : threads / BLK_K;
    int const k0 = along_rows ? rank / BLK : rank % BLK_K, k_step = along_rows ? threads / BLK : 0;
    int64_t const step = m_step * left.stride + k_step * left.stride_k;
    Copy_Atom<On<Block, AsyncElement>, float> atom;
    float const* from = left.data + (m0 * left.stride + k0 * left.stride_k);
    CUTE_UNROLL
    for (int i = 0; i < each; ++i) {
      int const m = m0 + i * m_step, k = k0 + i * k_step;
      copy_one(atom, m < left.rows && k < left.K, make_gmem_ptr(from + i * step), make_smem_ptr(&sA(m, k, stage)));
    }
    left.data += BLK_K * left.stride_k;
    left.K -= BLK_K;
  }
  CUTE_HOST_DEVICE void land(int) {}
};

template <class Fetch, class Block, class SA>
CUTE_HOST_DEVICE Producer auto make_producer(Block block, Part const& A, SA const& sA) {
  if constexpr (requires { typename Fetch::Op; })
    return TiledProducer<Block, Fetch, SA>(block, A, sA);
  else
    return ElementProducer<Block, Fetch::threads, SA>{sA, A, int(block.thread_rank())};
}

}  // namespace inlay::kernels
