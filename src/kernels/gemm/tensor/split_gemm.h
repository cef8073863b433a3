// The launches of an fp32 GEMM by 16-bit slices, their workspace and predicted time, and what they reject.
#pragma once
#include <inlay/kernels/gemm/tensor/split_ring.h>

namespace inlay::kernels {

// The kernels that slice both operands and multiply the slices, of one type.
template <class Step, class T>
struct SplitGemm {
  template <int BLK_N, int CLUSTER>
  using Ring = SplitRing<Step, T, BLK_N, CLUSTER>;
  using Slicer = SliceOperands<Step, T>;
  using Work = typename Slicer::Work;
  // An operand that was packed before is not sliced, and needs no workspace; if the call only packs, it alone is.
  static bool is_sliced(Gemm const& g, Operand const& o) { return (o.packed != nullptr) == g.only_packs; }
  static int64_t factor_bytes(Gemm const& g) {
    int64_t all = 0;
    for (Operand const* o : {&g.A, &g.B})
      if (is_sliced(g, *o)) all += SlicedOperand::factor_bytes<T>(*o);
    return all;
  }
  static int64_t bytes(Gemm const& g) {
    int64_t all = factor_bytes(g);
    for (Operand const* o : {&g.A, &g.B})
      if (is_sliced(g, *o)) all += SlicedOperand::slice_bytes<T>(*o);
    return all;
  }
  // The operands' slices, and where they are not packed before, the place in the workspace: factors of both, then
  // slices.
  struct Sliced {
    SlicedOperand A, B;
  };
  static Sliced sliced(Gemm const& g, char* workspace) {
    char *factors = workspace, *slices = workspace + factor_bytes(g);
    auto const of = [&](Operand const& o) {
      if (o.packed) return SlicedOperand::packed<T>(o);
      auto const s = SlicedOperand::at<T>(o, slices, factors);
      slices += SlicedOperand::slice_bytes<T>(o), factors += SlicedOperand::factor_bytes<T>(o);
      return s;
    };
    SlicedOperand const A = of(g.A), B = of(g.B);
    return {A, B};
  }
  static Slicer slicer(Gemm const& g, Sliced const& to, unsigned const* refusals) {
    auto const work = [&](Operand const& from, SlicedOperand const& to) {
      return is_sliced(g, from) ? Work::make(from, to) : Work::none(from, to);
    };
    return Slicer::make(work(g.A, to.A), work(g.B, to.B), refusals, g.L());
  }
  // Predicted on an H200. Microseconds for a million elements that are sliced, by whether rows are contiguous along K,
  // and for 64 indices of K of a tile of 128 x 128, or of half of it.
  struct Times {
    double along_K, along_rows, tile, half_tile;
  };
  static constexpr Times kTimes = kScalesRows<T> ? Times{2.9, 3.7, 1.0, .58} : Times{2.5, 2.7, 1.85, .97};
  // Apart from these 8 us for a million elements of an operand with gaps between them, 5 us for the launches and 3 us
  // for each tile, which has to be written. Fitted to GEMMs of every other one of suites/gemm/wild.json and of seed
  // 5301, half_tile so that it is chosen where it was faster in 23 GEMMs of 133 tiles and more. Of 57 GEMMs with rows
  // along m or n 2 % (f16) and 1 % (bf16) off where wide tiles fill all multiprocessors, 8 % and 12 % where they do
  // not.
  static double seconds(Gemm const& g, Device const& device) {
    double us = 5;
    for (Operand const* o : {&g.A, &g.B}) {
      bool const has_gaps = o->row_stride != 1 && o->col_stride != 1;
      if (is_sliced(g, *o))
        us += 1e-6 * double(o->rows * o->matrices) * double(g.K()) *
              ((is_along_K(*o) ? kTimes.along_K : kTimes.along_rows) + (has_gaps ? 8 : 0));
    }
    return 1e-6 * (us + choose(g, device).us) + seconds_of_addend(g, 2.5e12, 1.6e12);
  }
  // Columns of the tiles, 128 or 64; their split-K slices, and whether blocks of a cluster share a tile, or a block
  // computes all of them.
  struct Choice {
    int columns, split_K;
    bool shares_tile;
    double us;
  };
  // The number of split-K slices is that of a batch of one matrix, so that the sums do not depend on the batch.
  static Choice choose(Gemm const& g, Device const& device) {
    Choice best = of_matrices(g, 1, 1, device);
    for (int split_K : {2, 4, 8})
      if (Choice const c = of_matrices(g, 1, split_K, device); c.us < best.us) best = c;
    return of_matrices(g, g.L(), best.split_K, device);
  }
  static Choice of_matrices(Gemm const& g, int64_t matrices, int split_K, Device const& device) {
    int64_t const steps = ceil_div(g.K(), int64_t(64));
    // 3 us for each tile of a block, 2.5 us for the sums of a cluster; clusters of 4 and 8 fill .91 of the
    // multiprocessors.
    auto const us = [&](int columns, int blocks_of_tile) {
      double const resident = device.sm_count * (blocks_of_tile > 2 ? .91 : 1),
                   of_step = columns == 64 ? kTimes.half_tile : kTimes.tile;
      return std::ceil(double(tiles(g, columns) * matrices * blocks_of_tile) / resident) *
             (3 + double(ceil_div(steps, int64_t(blocks_of_tile))) * of_step + (blocks_of_tile > 1 ? 2.5 : 0));
    };
    Choice const wide{128, 1, false, us(128, 1)}, narrow{64, split_K, false, us(64, 1)},
        shared{64, split_K, true, us(64, split_K)};
    if (split_K == 1) return narrow.us < wide.us ? narrow : wide;
    if (steps < split_K) return {64, 1, false, std::numeric_limits<double>::infinity()};
    return shared.us < narrow.us ? shared : narrow;
  }
  static int64_t tiles(Gemm const& g, int64_t columns) {
    return ceil_div(g.M(), int64_t(128)) * ceil_div(g.N(), columns);
  }
  // Multiplies slices. refusals: of f16 slices, if bf16 slices are to multiply what is refused; or null.
  template <class S, class F>
  static void multiply(Gemm const& g, Sliced const& slices, unsigned* refusals, OtherSlices<Step, T> const& others,
                       S const& setting, F const& f) {
    constexpr bool decides = kScalesRows<T>;
    Choice const choice = choose(g, setting.device);
    auto const by = [&]<int N, int C>(Int<N>, Int<C>) {
      f(Ring<N, C>::make(g, slices.A, slices.B, refusals, decides ? 0u : 1u, others, choice.split_K, setting));
    };
    if (choice.shares_tile) return by(Int<64>{}, Int<0>{});
    if (choice.columns == 64) return by(Int<64>{}, Int<1>{});
    if constexpr (decides)
      if (tiles(g, 128) * g.L() >= 4 * setting.device.sm_count) return by(Int<128>{}, Int<2>{});
    by(Int<128>{}, Int<1>{});
  }
};

inline Reason rejects_split(Gemm const& g, Device const& device) {
  if (g.A.type != f32 || g.D.type != f32) return {"slices are made of f32 operands, for a D of f32"};
  if (Reason r = rejects_wgmma(device)) return r;
  if (g.elements() == 0) return {};
  if (g.K() == 0) return {"K is 0: there is nothing to multiply"};
  constexpr int64_t most = INT32_MAX - 1024;  // TMA coordinates have 31 bits
  for (int64_t extent : {g.M(), g.N(), g.K()})
    if (extent > most) return {"TMA coordinates have 31 bits, an extent of {} does not fit", {extent}};
  for (Operand const* o : {&g.A, &g.B})
    if (o->rows > ((int64_t(1) << 39) / round_up(g.K(), 64)))
      return {"TMA strides have 40 bits, slices of {} x {} elements do not fit", {o->rows, g.K()}};
  __int128 const elements = (__int128(g.M()) * g.A.matrices + __int128(g.N()) * g.B.matrices) * round_up(g.K(), 64);
  constexpr int bytes = 2 * kSlices<bfloat16_t>;  // of an element, in the larger of the two ways
  if (elements * bytes > device.memory_bytes)
    return {"slices of {} x {} and {} elements do not fit the device's memory", {g.M(), g.N(), g.K()}};
  int64_t const m = ceil_div(g.M(), int64_t(128)), n = ceil_div(g.N(), int64_t(64));
  return too_many("{} x {} tiles in {} matrices are more than 31 bits count", __int128(m) * n * 3, g.L(), {m, n, g.L()},
                  kMostBlocks / 2);
}

}  // namespace inlay::kernels
