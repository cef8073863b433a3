// Epilogues: scale the sums in the registers of the threads and write them to D. The epilogue of a tile is a struct
// with store() and smem_floats, the floats of shared memory that store() needs per block or, of a warp's tile, per
// warp.
#pragma once
#include <inlay/block/quad_ops.h>
#include <inlay/kernels/common/gemm_grid.h>

#include <cmath>

namespace inlay::kernels {

// ---- shared by all epilogues

// alpha * sum + beta * old. If beta is 0, `old` was not read from memory and is ignored.
CUTE_HOST_DEVICE float scaled(Epilogue const& e, float sum, float old) {
  return e.beta != 0 ? fmaf(e.alpha, sum, e.beta * old) : e.alpha * sum;  // the same rounding in every kernel
}
// 2^x and 1 / x by one instruction each, which take and give zeros for denormal numbers: __expf and __fdividef would
// scale what may be one.
CUTE_HOST_DEVICE float power_of_two(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::exp2(x);
#endif
}
CUTE_HOST_DEVICE float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1 / x;
#endif
}
inline constexpr float kLog2E = 1.4426950409f;
// x / 2 (1 + erf(x / sqrt(2))): the polynomial 7.1.26 of Abramowitz and Stegun for erf, to 1.5e-7.
CUTE_HOST_DEVICE float gelu_erf(float x) {
  float const size = fabsf(x), t = reciprocal(1 + .23164189f * size);
  float const series =
      t * (.127414796f + t * (-.142248368f + t * (.710706871f + t * (-.726576014f + t * .5307027145f))));
  float const tail = series * power_of_two(-.5f * kLog2E * x * x);  // the normal distribution beyond |x|
  return x * (x < 0 ? tail : 1 - tail);
}
// Applies the activation to x(0) ... x(N - 1): one branch for all of them.
template <int N, class X>
CUTE_HOST_DEVICE void activate(Activation activation, X const& x) {
  auto const each = [&](auto const& f) {
    CUTE_UNROLL
    for (int i = 0; i < N; ++i) x(i) = f(x(i));
  };
  if (activation == Activation::none) return;
  if (activation == Activation::relu) return each([](float v) { return v < 0 ? 0 : v; });
  if (activation == Activation::gelu_erf) return each([](float v) { return gelu_erf(v); });
  if (activation == Activation::silu)
    return each([](float v) { return v * reciprocal(1 + power_of_two(-kLog2E * v)); });
  // (1 + tanh(u)) / 2 is 1 / (1 + exp(-2u)).
  constexpr float linear = 1.5957691216f * kLog2E, cubic = .0713548163f * kLog2E;
  each([](float v) { return v * reciprocal(1 + power_of_two(-v * (linear + cubic * v * v))); });
}
// Scales adjacent sums of one thread and writes them to D with one access, if `on`. X: float or Quad (four floats).
template <class X, class Block>
CUTE_DEVICE void store_scaled(Block, Epilogue const& e, bool on, X sums, X* c) {
  Copy_Atom<On<Block, UniversalCopy<X>>, X> atom;
  X x{};
  if (e.beta != 0) copy_one(atom, on, make_gmem_ptr(c), &x);
  CUTE_UNROLL
  for (int v = 0; v < int(sizeof(X) / sizeof(float)); ++v) {
    float& element = reinterpret_cast<float*>(&x)[v];
    element = scaled(e, reinterpret_cast<float const*>(&sums)[v], element);
  }
  copy_one(atom, on, &x, make_gmem_ptr(c));
}
// Whether every row of D consists of aligned 16-byte vectors.
CUTE_HOST_DEVICE bool takes_vectors(Operand const& d) {
  return d.col_stride == 1 && (d.rows == 1 || d.row_stride % 4 == 0) && (d.matrices == 1 || d.batch_stride % 4 == 0) &&
         d.cols % 4 == 0 && reinterpret_cast<uintptr_t>(d.base) % 16 == 0;
}

// ---- for a block whose sums are the accumulator fragment of a CuTe TiledMMA

// Writes the sums through shared memory, one band of rows at a time, so that the threads of a warp store whole sectors
// along the rows of D, with 16-byte accesses if D allows them. Accumulators: WarpTiles of accumulator_layout.h.
template <class Accumulators, int BLK_N, int threads>
struct ThroughShared {
  using SmemC = Layout<Shape<Int<Accumulators::band_rows>, Int<BLK_N>>, Stride<Int<BLK_N + 4>, _1>>;  // (EPI_M,BLK_N)
  static constexpr int smem_floats = cosize_v<SmemC>;

  template <class Block, class Mma, class Smem, class GC, class RC>
  CUTE_DEVICE static void store(Block block, Gemm const& g, Mma const&, Smem& smem, GC const& gC, RC const& tCrC,
                                int rows, int cols) {
    Tensor sC = make_tensor(make_smem_ptr(smem.C), SmemC{});  // (EPI_M,BLK_N)
    bool const wide = g.D.col_stride == 1 && g.D.row_stride % 4 == 0 && g.N() % 4 == 0 &&
                      reinterpret_cast<uintptr_t>(raw_pointer_cast(gC.data())) % 16 == 0;
    Tensor gC_wide = make_tensor(gC.data(), shape(gC), make_stride(g.D.row_stride, _1{}));  // (BLK_M,BLK_N)
    CUTE_UNROLL
    for (int band = 0; band < Accumulators::bands; ++band) {
      if (band > 0) block.sync();  // all threads have read the previous band
      put_band(block, band, tCrC, sC);
      block.sync();
      if (wide)
        store_band<4>(block, g, band, sC, gC_wide, rows, cols);
      else
        store_band<1>(block, g, band, sC, gC, rows, cols);
    }
  }

 private:
  template <class Block, class RC, class SC>
  CUTE_DEVICE static void put_band(Block block, int band, RC const& tCrC, SC const& sC) {
    int const rank = int(block.thread_rank());
    Copy_Atom<On<Block, Float4>, float> atom;
    Tensor quad = make_tensor<float>(_4{});
    CUTE_UNROLL
    for (int i = 0; i < 4; ++i) {
      CUTE_UNROLL
      for (int j = 0; j < size<2>(tCrC); j += 4) {
        CUTE_UNROLL
        for (int v = 0; v < 4; ++v) quad(v) = tCrC(0, 4 * band + i, j + v);
        auto to = &sC(Accumulators::row(rank) + i, Accumulators::column(rank) + j / 4 * Accumulators::next_column);
        copy(atom, quad, make_tensor(make_smem_ptr(to), Layout<_4>{}));
      }
    }
  }

  // Writes one band to D: consecutive threads along n, V elements each.
  template <int V, class Block, class SC, class GC>
  CUTE_DEVICE static void store_band(Block block, Gemm const& g, int band, SC const& sC, GC const& gC, int rows,
                                     int cols) {
    constexpr int along = BLK_N / V < threads ? BLK_N / V : threads;
    using Threads = Layout<Shape<Int<threads / along>, Int<along>>, Stride<Int<along>, _1>>;
    using Bands = Tile<typename Accumulators::Bands, Layout<Int<BLK_N>>>;
    using Op = std::conditional_t<V == 4, Float4, UniversalCopy<float>>;
    auto copy_C = make_tiled_copy(Copy_Atom<On<Block, Op>, float>{}, Threads{}, Layout<Shape<_1, Int<V>>>{});
    auto thr = copy_C.get_slice(int(block.thread_rank()));
    Tensor gD = gC.compose(Bands{})(make_coord(_, band), _);                               // (EPI_M,BLK_N)
    Tensor cD = make_identity_tensor(shape(gC)).compose(Bands{})(make_coord(_, band), _);  // (EPI_M,BLK_N) -> (m,n)
    Tensor tDsC = group_modes<1, 3>(thr.partition_S(sC));                                  // (CPY,(CPY_M,CPY_N))
    Tensor tDgD = group_modes<1, 3>(thr.partition_D(gD));                                  // (CPY,(CPY_M,CPY_N))
    Tensor tDcD = group_modes<1, 3>(thr.partition_D(cD));  // (CPY,(CPY_M,CPY_N)) -> (m,n)
    auto edge = make_coord(rows, cols);
    Tensor tDin = lazy::transform(tDcD, [&](auto const& c) { return elem_less(c, edge); });
    constexpr int at_once = 4, rounds = size<1>(tDsC) / at_once;  // loads of old elements in flight at the same time
    static_assert(rounds * at_once == size<1>(tDsC));
    Tensor sum = make_tensor<float>(Shape<Int<V>, Int<at_once>>{});
    Tensor old = make_tensor<float>(Shape<Int<V>, Int<at_once>>{});
    clear(old);
    CUTE_NO_UNROLL
    for (int t = 0; t < rounds; ++t) {
      auto each = [&](auto const& f) {
        CUTE_UNROLL
        for (int i = 0; i < at_once; ++i) f(i, t * at_once + i);
      };
      if (g.epilogue.beta != 0) each([&](int i, int at) { copy_if(copy_C, tDin(_, at), tDgD(_, at), old(_, i)); });
      each([&](int i, int at) { copy(copy_C, tDsC(_, at), sum(_, i)); });
      CUTE_UNROLL
      for (int i = 0; i < size(sum); ++i) sum(i) = scaled(g.epilogue, sum(i), old(i));
      each([&](int i, int at) { copy_if(copy_C, tDin(_, at), sum(_, i), tDgD(_, at)); });
    }
  }
};

// ---- for a warp that computes a 64 x 64 tile: 8 (m) x 4 (n) lanes, n fastest, 8 x 16 sums each. Sum (i, j) of lane
// (r, s) is in row r * 4 + i % 4 + i / 4 * 32 and column s * 4 + j % 4 + j / 4 * 16.

// Writes 16 bytes per access. Only for D with takes_vectors().
struct WarpVectors {
  static constexpr int smem_floats = 0;

  template <class Block>
  CUTE_DEVICE static void store(Block block, Gemm const& g, float const (&acc)[8][16], int64_t m0, int64_t n0,
                                int64_t l, int lane) {
    float* const tile =
        g.D.as<float>() + (l * g.D.batch_stride + (m0 + lane / 4 * 4) * g.D.row_stride + n0 + lane % 4 * 4);
    CUTE_UNROLL
    for (int i = 0; i < 8; ++i) {
      int const row = i % 4 + i / 4 * 32;
      CUTE_UNROLL
      for (int q = 0; q < 4; ++q) {
        bool const on = m0 + lane / 4 * 4 + row < g.M() && n0 + lane % 4 * 4 + q * 16 < g.N();
        store_scaled(block, g.epilogue, on, reinterpret_cast<Quad const&>(acc[i][4 * q]),
                     reinterpret_cast<Quad*>(tile + row * g.D.row_stride + q * 16));
      }
    }
  }
};

// For any D: through shared memory, 8 of the warp's rows at a time; consecutive lanes write consecutive columns.
struct WarpScalars {
  static constexpr int smem_floats = 8 * 64;

  template <class Block>
  CUTE_DEVICE static void store(Block block, Gemm const& g, float const (&acc)[8][16], float* smem, int64_t m0,
                                int64_t n0, int64_t l, int lane) {
    Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> four;
    Copy_Atom<On<Block, UniversalCopy<float>>, float> one;
    CUTE_UNROLL
    for (int i = 0; i < 8; ++i) {
      block.syncwarp();  // all lanes have read the previous rows
      CUTE_UNROLL
      for (int q = 0; q < 4; ++q)  // odd rows swap the 64-byte halves of each 128 bytes: no bank conflicts
        copy_one(
            four, true, reinterpret_cast<Quad const*>(&acc[i][4 * q]),
            make_smem_ptr(reinterpret_cast<Quad*>(smem) + (lane / 4 * 16 + ((q * 4 + lane % 4) ^ lane / 4 % 2 * 4))));
      block.syncwarp();
      CUTE_NO_UNROLL
      for (int at = 0; at < 16; ++at) {
        int const r = at / 2, col = at % 2 * 32 + lane;
        int64_t const m = m0 + r * 4 + i % 4 + i / 4 * 32, n = n0 + col;
        float sum;
        copy_one(one, true, make_smem_ptr(smem + (r * 64 + (col ^ r % 2 * 16))), &sum);
        store_scaled(block, g.epilogue, m < g.M() && n < g.N(), sum,
                     g.D.as<float>() + (l * g.D.batch_stride + m * g.D.row_stride + n * g.D.col_stride));
      }
    }
  }
};

}  // namespace inlay::kernels
