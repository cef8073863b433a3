// The launches of an fp32 GEMM by 16-bit slices, their workspace and predicted time, and what they reject.
#pragma once
#include <inlay/kernels/gemm/tensor/split_ring.h>

namespace inlay::kernels {

// Slices both operands and multiplies them: the launches of one type of slices.
template <class Step, class T>
struct SplitGemm {
  using Slicer = SliceOperands<Step, T>;
  using Work = typename Slicer::Work;
  // An operand that was packed before is not sliced, and needs no workspace; if the call only packs, it alone is.
  static bool is_sliced(Gemm const& g, Operand const& o) { return (o.kept != nullptr) == g.only_packs; }
  static int64_t bytes(Gemm const& g) {
    int64_t all = 0;
    for (Operand const* o : {&g.A, &g.B})
      if (is_sliced(g, *o)) all += SlicedOperand::bytes<T>(*o);
    return all;
  }
  // Predicted on an H200: 3.7 TB/s of fp32 read, twice where f16 slices of rows along m or n are made, and of slices written; a multiprocessor
  // takes 1.9 us for six pairs of 128 x 128 x 64, 1.1 us for three, and 3 or 4 us apart from that for a tile, which it has to write; 2.2 TB/s
  // of old elements of D are read. Fitted to 20 GEMMs of 132 tiles
  // and more, from the first half of suites/gemm/wild.json: 2 % off with bf16 slices, 3.5 % with f16 slices. The 30 bytes of an element in an
  // operand with gaps are a guess from two GEMMs, which lie on either side of it.
  static double seconds(Gemm const& g, Device const& device) {
    double bytes = 0;
    for (Operand const* o : {&g.A, &g.B}) {
      bool const is_read_twice = kScalesRows<T> && Work::make(*o, {}).lanes == 0,
                 has_gaps = o->row_stride != 1 && o->col_stride != 1;  // between elements
      if (is_sliced(g, *o))
        bytes += double(o->rows * o->matrices) * double(g.K()) *
                 ((is_read_twice ? 8 : 4) + (has_gaps ? 30 : 0) + 2 * kSlices<T>);
    }
    double const tiles = double(ceil_div(g.M(), int64_t(128))) * double(ceil_div(g.N(), int64_t(128))) * double(g.L());
    // Too few tiles for all multiprocessors are halved along n; half a tile takes .6 of the time.
    double const waves = tiles < device.sm_count ? .6 * std::ceil(2 * tiles / device.sm_count)
                                                 : std::ceil(tiles / device.sm_count),
                 per_64_k = kScalesRows<T> ? 1.1e-6 : 1.9e-6;
    double const of_tile = (kScalesRows<T> ? 4e-6 : 3e-6) + double(ceil_div(g.K(), int64_t(64))) * per_64_k;
    double const old = g.epilogue.beta != 0 ? 4 * double(g.elements()) : 0;  // bytes
    return 4e-6 + bytes / 3.7e12 + waves * of_tile + old / 2.2e12;
  }
  // refusals: of f16 slices, if bf16 slices are to multiply what is refused; or null.
  template <class S, class F>
  static void launches(Gemm const& g, char* workspace, unsigned* refusals, S const& setting, F const& f) {
    constexpr bool decides = kScalesRows<T>;
    SlicedOperand const A = SlicedOperand::kept_or_at<T>(g.A, workspace),
                        B = SlicedOperand::kept_or_at<T>(
                            g.B, workspace + (is_sliced(g, g.A) ? SlicedOperand::bytes<T>(g.A) : 0));
    auto const work = [&](Operand const& from, SlicedOperand const& to) {
      return is_sliced(g, from) ? Work::make(from, to) : Work::none(from, to);
    };
    f(Slicer::make(work(g.A, A), work(g.B, B), decides ? nullptr : refusals, g.L(), setting.device.sm_count));
    if (g.only_packs) return;
    if constexpr (decides)
      if (g.L() > 1) f(Refusals<Step>{A, B, refusals, int(g.L())});
    auto const multiply = [&]<int N, int C>(Int<N>, Int<C>) {
      f(SplitRing<Step, T, N, C>::make(g, A, B, refusals, decides ? 0u : 1u, setting));
    };
    int64_t const tiles = ceil_div(g.M(), int64_t(128)) * ceil_div(g.N(), int64_t(128)) * g.L();
    if (tiles < setting.device.sm_count) return multiply(Int<64>{}, Int<1>{});
    if constexpr (decides)
      if (tiles >= 4 * setting.device.sm_count) return multiply(Int<128>{}, Int<2>{});
    multiply(Int<128>{}, Int<1>{});
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
