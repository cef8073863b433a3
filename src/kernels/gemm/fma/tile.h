// Family: tiles of A and B pass through shared memory; a tile of D accumulates in registers.
// Kernels differ in tiles, operand fetches, thread layout on D, stages and epilogue.
#pragma once
#include <inlay/kernels/common/epilogue.h>
#include <inlay/kernels/common/producer.h>
#include <inlay/kernels/gemm/fma/accumulator_layout.h>
#include <inlay/kernels/gemm/fma/ended_sums.h>
#include <inlay/model/fma_times.h>

namespace inlay::kernels {

// Defaults; an instance overrides what it changes.
struct SgemmStep {
  static constexpr int BLK_M = 128, BLK_N = 128, BLK_K = 8, threads = 256;
  static constexpr int min_blocks = 2;    // per SM: bounds the registers
  static constexpr int slices = BLK_K;    // of k in one iteration of the main loop
  static constexpr bool ordered = false;  // the compiler keeps the order of an outer product
  static constexpr int accumulation_length =
      0;  // FMAs in one register, which is then added to a second sum; 0: one sum
  // Levels of sums in shared memory: 1 adds those of Gemm::slice_K FMAs, 2 also groups of these, as SumSlices does.
  static constexpr int levels_in_shared = 0;
  static constexpr bool narrow_m = false,
                        narrow_n = false;   // A (B) is fetched in one way only, whatever its layout
  using OnC = WarpTiles<4, 2, 4, 8, 8, 8>;  // 8 warps of 32x64, 32 lanes of 8x8
};

template <class Step>
struct SgemmTile : GemmGrid<Step::BLK_M, Step::BLK_N> {
  using Grid = GemmGrid<Step::BLK_M, Step::BLK_N>;
  using SmemA = typename Step::SmemA;  // (BLK_M,BLK_K,PIPE)
  using SmemB = typename Step::SmemB;  // (BLK_N,BLK_K,PIPE)
  using OnC = typename Step::OnC;
  static constexpr int BLK_M = Step::BLK_M, BLK_N = Step::BLK_N, BLK_K = Step::BLK_K, PIPE = size<2>(SmemA{});
  static constexpr int threads = Step::threads, min_blocks = Step::min_blocks, slices = Step::slices;
  static constexpr LaunchInfo launch_info{.threads = threads, .min_blocks = min_blocks};
  static_assert(slices % 2 == 0 && BLK_K % slices == 0);
  using Store = ThroughShared<OnC, BLK_N, threads>;
  static constexpr bool one_sum = Step::accumulation_length == 0 && Step::levels_in_shared == 0;
  struct Smem {
    alignas(128) float A[cosize_v<SmemA>];
    alignas(128) float B[cosize_v<SmemB>];
    alignas(128) float C[cute::max(Step::levels_in_shared * BLK_M * BLK_N,
                                   Store::smem_floats)];  // sums that ended, later a band
    static void members(auto name) { name("A", &Smem::A), name("B", &Smem::B), name("C", &Smem::C); }
  };

  static SgemmTile make(Gemm const& g, auto const&) { return {Grid::make(g)}; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_launch_dependents();
    auto const& g = this->g;
    auto const here = this->at(block.block_index());
    Tensor gC = make_tensor(make_gmem_ptr(here.D), Shape<Int<BLK_M>, Int<BLK_N>>{},
                            make_stride(g.D.row_stride, g.D.col_stride));
    Tensor sA = make_tensor(make_smem_ptr(smem.A), SmemA{});  // (BLK_M,BLK_K,PIPE)
    Tensor sB = make_tensor(make_smem_ptr(smem.B), SmemB{});  // (BLK_N,BLK_K,PIPE)
    Part const A{here.A, g.A.row_stride, g.A.col_stride, here.rows, int(here.K)},
        B{here.B, g.B.row_stride, g.B.col_stride, here.cols, int(here.K)};
    auto from_A = make_producer<typename Step::FetchA>(block, A, sA);
    auto from_B = make_producer<typename Step::FetchB>(block, B, sB);

    auto mma = make_tiled_mma(MMA_Atom<On<Block, UniversalFMA<float>>>{}, typename OnC::Atoms{},
                              Tile<typename OnC::PermM, typename OnC::PermN, _1>{});
    Copy_Atom<On<Block, Float4>, float> read;
    auto read_A = make_tiled_copy_A(read, mma);
    auto read_B = make_tiled_copy_B(read, mma);
    int const rank = int(block.thread_rank());
    auto thr_mma = mma.get_slice(rank);
    auto thr_A = read_A.get_slice(rank);
    auto thr_B = read_B.get_slice(rank);
    Tensor tCrA = thr_mma.partition_fragment_A(make_tensor(sA.data(), Shape<Int<BLK_M>, _2>{}));  // (MMA,MMA_M,2)
    Tensor tCrB = thr_mma.partition_fragment_B(make_tensor(sB.data(), Shape<Int<BLK_N>, _2>{}));  // (MMA,MMA_N,2)
    Tensor tCrC = thr_mma.partition_fragment_C(gC);                                               // (MMA,MMA_M,MMA_N)
    Tensor tXsA = thr_A.partition_S(sA);                                        // (CPY,CPY_M,CPY_K,PIPE)
    Tensor tXrA = thr_A.retile_D(tCrA);                                         // (CPY,CPY_M,2)
    Tensor tXsB = thr_B.partition_S(sB);                                        // (CPY,CPY_N,CPY_K,PIPE)
    Tensor tXrB = thr_B.retile_D(tCrB);                                         // (CPY,CPY_N,2)
    auto read_slice = [&](auto const& tXpA, auto const& tXpB, int k, int to) {  // (CPY,CPY_M,CPY_K), (CPY,CPY_N,CPY_K)
      copy(read_A, tXpA(_, _, k), tXrA(_, _, to));
      copy(read_B, tXpB(_, _, k), tXrB(_, _, to));
    };
    auto multiply =
        [&](int from) {  // even rows run backwards: where the direction changes, one element of B is used twice
          CUTE_UNROLL
          for (int m = 0; m < size<1>(tCrC); ++m) {
            CUTE_UNROLL
            for (int j = 0; j < size<2>(tCrC); ++j) {
              int const n = m % 2 ? j : size<2>(tCrC) - 1 - j;
              if constexpr (Step::ordered)
                On<Block, OrderedFma>::fma(tCrC(0, m, n), tCrA(0, m, from), tCrB(0, n, from));
              else
                gemm(mma, tCrC(_, m, n), tCrA(_, m, from), tCrB(_, n, from), tCrC(_, m, n));
            }
          }
        };
    int const tiles = int(ceil_div(here.K, int64_t(BLK_K)));
    clear(tCrC);
    auto ended = make_ended_sums<Step, Block>(g, smem, rank, tCrC);

    // A slice is multiplied while the next one is read, across tiles too: so the loop begins with
    // a slice of zeros and ends one slice early.
    CUTE_UNROLL
    for (int p = 0; p < PIPE - 1; ++p) {
      from_A.issue(p), from_B.issue(p);
      from_A.land(p), from_B.land(p);
      block.cp_async_fence();
    }
    clear(tCrA(_, _, 1));
    clear(tCrB(_, _, 1));
    int full = 0, free = PIPE - 1;
    auto multiply_tiles = [&](int count) {
      CUTE_NO_UNROLL
      for (int t = 0; t < count; ++t) {
        block.cp_async_wait(Int<PIPE - 2>{});  // this tile has landed
        block.sync();                          // for all threads; and all have read the last one
        from_A.issue(free), from_B.issue(free);
        block.cp_async_fence();
        Tensor tXpA = tXsA(_, _, _, full);  // (CPY,CPY_M,CPY_K)
        Tensor tXpB = tXsB(_, _, _, full);  // (CPY,CPY_N,CPY_K)
        CUTE_NO_UNROLL
        for (int first = 0; first < BLK_K; first += slices) {
          CUTE_UNROLL
          for (int k = 0; k < slices; ++k) {
            read_slice(tXpA, tXpB, k, k % 2);
            multiply(1 - k % 2);
          }
          if constexpr (slices < BLK_K) {
            tXpA.data() = tXpA.data() + slices * stride<1>(SmemA{});
            tXpB.data() = tXpB.data() + slices * stride<1>(SmemB{});
          }
        }
        from_A.land(free), from_B.land(free);
        full = full + 1 == PIPE ? 0 : full + 1;
        free = free + 1 == PIPE ? 0 : free + 1;
      }
    };
    if constexpr (one_sum) {
      multiply_tiles(tiles);
    } else {
      int const part = Step::accumulation_length > 0 ? Step::accumulation_length / BLK_K : tiles_of_slice(g);
      int left = tiles;
      CUTE_NO_UNROLL
      for (; left > part; left -= part) {
        multiply_tiles(part);
        multiply(1);
        ended.add(tCrC);
        clear(tCrA(_, _, 1));
        clear(tCrB(_, _, 1));
      }
      multiply_tiles(left);
    }
    multiply(1);
    block.cp_async_wait(Int<0>{});
    if constexpr (!one_sum) ended.finish(block, tCrC);
    Store::store(block, g, mma, smem, gC, tCrC, here.rows, here.cols);
  }

  // Slices are whole tiles.
  CUTE_HOST_DEVICE static int tiles_of_slice(Gemm const& g) { return g.slice_K ? int(g.slice_K / BLK_K) : INT32_MAX; }

  static Reason rejects(Gemm const& g, Device const& device) {
    if (g.K() > INT32_MAX / 2) return {"K = {} is more than a block counts", {g.K()}};
    return Grid::rejects(g, device);
  }
};

// One kernel for each pair of Vectors of A and B; if one is none, both operands are fetched element
// by element.
template <template <Vectors A, Vectors B> class Step>
struct SgemmVectors {
  template <Vectors A, Vectors B>
  using Tile = SgemmTile<Step<A, B>>;
  // Period of the accesses along k. With another K, slices would be grouped in another way.
  static int64_t period(Gemm const& g) {
    using Any = Step<Vectors::none, Vectors::none>;
    if (Any::levels_in_shared > 0 && g.slice_K > 0) return cute::max(int64_t(32), g.K());
    return cute::max(32, Any::accumulation_length);
  }
  static constexpr auto none = Vectors::none, rows = Vectors::rows, k = Vectors::k;

  // Calls f(std::type_identity<the kernel>).
  template <class F>
  static void with_tile(Gemm const& g, F const& f) {
    using Any = Step<none, none>;
    Vectors a = vectors(g.A, g.L()), b = vectors(g.B, g.L());
    if (Any::narrow_m) a = b;
    if (Any::narrow_n) b = a;
    if (a == none || b == none) return f(std::type_identity<Tile<none, none>>{});
    if (a == rows && b == rows) return f(std::type_identity<Tile<rows, rows>>{});
    if constexpr (!Any::narrow_m && !Any::narrow_n) {
      if (a == rows) return f(std::type_identity<Tile<rows, k>>{});
      if (b == rows) return f(std::type_identity<Tile<k, rows>>{});
    }
    f(std::type_identity<Tile<k, k>>{});
  }
  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& f) {
    with_tile(g, [&]<class T>(std::type_identity<T>) { f(T::make(g, setting)); });
  }
  static Reason rejects(Gemm const& g, Device const& device) { return Tile<none, none>::rejects(g, device); }
  // How a problem's matrices are loaded, and the tiles of the kernel that then runs.
  static FmaLoads loads(Gemm const& g) {
    using Any = Step<none, none>;
    if (Any::narrow_m) return loads_of(Any::times, g.L(), {&g.B});
    if (Any::narrow_n) return loads_of(Any::times, g.L(), {&g.A});
    return loads_of(Any::times, g.L(), {&g.A, &g.B});
  }
  static FmaTiles tiles_of(FmaLoads const& loads) {
    using T = Tile<rows, rows>;
    return {T::BLK_M, T::BLK_N, T::BLK_K, loads.by_elements ? Tile<none, none>::min_blocks : T::min_blocks};
  }
  // Predicted seconds, by the `times` of the Step.
  static double seconds(Gemm const& g, Device const& device) {
    FmaLoads const by = loads(g);
    return tiles_of(by).seconds(Step<none, none>::times, by.factor, g, device);
  }
};

// ---- values of a Step that the library and the tutorial share

// Tiles of 128 x 128; stages are swizzled: rows with k of 4 to 7 swap the halves of each 32 floats.
template <Vectors A, Vectors B>
struct SwizzledTile : SgemmStep {
  using FetchA = FetchVectors<A, threads, BLK_M>;
  using FetchB = FetchVectors<B, threads, BLK_N>;
  using SmemA = SwizzledStages<BLK_M, BLK_K, 3>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = SwizzledStages<BLK_N, BLK_K, 3>;  // (BLK_N,BLK_K,PIPE)
};

// Tiles of 128 x 256, 8 x 16 elements of D per thread. Stages are padded: in a loop with two slices
// in its body, a swizzle would have to be computed in each iteration.
template <Vectors A, Vectors B>
struct WideThreadTile : SgemmStep {
  static constexpr int BLK_M = 128, BLK_N = 256, BLK_K = 16, min_blocks = 1, slices = 2;
  static constexpr bool ordered = true;
  using FetchA = FetchVectors<A, threads, BLK_M>;
  using FetchB = FetchVectors<B, threads, BLK_N>;
  using SmemA = Stages<BLK_M, BLK_K, 3, 4>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = Stages<BLK_N, BLK_K, 3, 4>;  // (BLK_N,BLK_K,PIPE)
  using OnC = WarpTiles<2, 4, 8, 4, 8, 16>;  // 8 warps of 64x64, 32 lanes of 8x16
};

}  // namespace inlay::kernels
