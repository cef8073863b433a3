// A large matrix times 1 to 8 vectors: each of its elements is read once.
#pragma once
#include <inlay/kernels/gemm/fma/thin_columns.h>
#include <inlay/kernels/gemm/fma/thin_rows.h>
#include <inlay/kernels/gemm/fma/thin_samples.h>

#include <array>
#include <cmath>

namespace inlay::kernels::sgemm_thin {

// How many threads share a row, and how many blocks a sum. They follow from the extents of one matrix, the layout of W
// and its alignment alone, so that a sum has the same bits in every batch.
struct Split {
  int lanes, parts;
  double seconds;            // of one matrix
  int64_t tile, step, part;  // rows of a cluster; indices k of the loads in flight, and of a block
};

// Predicted seconds for `matrices`. tile: rows of a cluster; step: indices k that a block loads at a time. A wave takes
// as long as a block alone, or as the multiprocessor is busy with all resident blocks. Fitted on an H200 to
// suites/gemm/thin.json, with each number of lanes and parts forced; the choices took .8 % longer than the best in the
// geometric mean. The column form has become faster since then, so its constants are too large;
// suites/gemm/thin_drawn.json judges the choices.
inline double seconds_of(Gemm const& g, Device const& device, int64_t tile, int64_t step, int64_t parts, int64_t part_k,
                         int64_t matrices) {
  struct Fit {
    double block, cluster, step, step_vectors, bytes, of_x, compute, elements;
  };
  bool const rows = Thin::along_k(Thin::large(g)), vectors = Thin::takes_vectors(Thin::large(g));
  // microseconds; bytes: of a multiprocessor in one; elements: how much longer they take to multiply than vectors
  Fit const f = rows ? Fit{0, 1.19, 1.46, 0, 37790, .39, .0108, 3.7} : Fit{1.51, .46, .91, .086, 38990, 2.5, .0063, 12};
  double const scale = device.copy_gbps / 4286 * 132 / device.sm_count;
  int64_t const R = Thin::large(g).rows, x = Thin::small(g).rows, T = x <= 2 ? x : x <= 4 ? 4 : 8;
  int const resident = T <= 4 ? 3 : 2;
  double const bytes = double(tile * step) * 4, steps = std::ceil(double(part_k) / double(step));
  double const busy = (bytes + f.of_x * double(T * step) * 4) / (f.bytes * scale) +
                      f.compute * double(T) * bytes / 32768 * (vectors ? 1 : f.elements);
  double const alone = f.step + f.step_vectors * double(T), fix = f.block + (parts > 1 ? f.cluster : 0);
  // Clusters of several blocks do not fill every GPC.
  double const sms = device.sm_count * (parts <= 2 ? 1 : parts == 3 ? .907 : parts == 4 ? .94 : .85);
  double const each = std::ceil(double(ceil_div(R, tile) * parts * matrices) / sms), full = std::floor(each / resident),
               rest = each - full * resident;
  auto const wave = [&](double n) { return fix + steps * std::max(alone, n * busy); };
  double const waves = full * wave(resident) + (rest > 0 ? wave(rest) : 0),
               throughput = double(ceil_div(R, tile) * parts * matrices) / device.sm_count * steps * busy,
               memory = double(R + T) * double(g.K()) * double(matrices) * 4 / (4484e3 * scale * device.sm_count / 132);
  return 1e-6 * (1 + std::max({waves, throughput, memory}));
}
inline Split split_of(Gemm const& g, Device const& device) {
  Operand const& w = Thin::large(g);
  bool const rows = Thin::along_k(w), vectors = Thin::takes_vectors(w);
  int64_t const V = vectors ? 4 : 1;
  Split best{0, 1, 0, 0, 0, 0};
  for (int lanes : rows ? std::array{8, 32, 256} : std::array{8, 32, 32}) {
    if (!rows && !vectors && lanes == 8) continue;  // a warp would read 32 bytes of a k
    int64_t const tile = rows ? 256 / lanes * 4 : lanes * V, step = rows ? 8 * lanes : 256 / lanes;
    for (int64_t parts = 1; parts <= 8; ++parts) {
      int64_t const k = ceil_div(ceil_div(g.K(), parts), step) * step;
      if (ceil_div(g.K(), k) != parts) continue;
      int64_t const loads = rows ? step : (vectors ? 8 : 16) * step;
      double const s = seconds_of(g, device, tile, loads, parts, k, 1);
      if (!best.lanes || s < best.seconds) best = {lanes, int(parts), s, tile, loads, k};
    }
  }
  return best;
}

inline double seconds(Gemm const& g, Device const& device) {
  Split const s = split_of(g, device);
  return g.L() == 1 ? s.seconds : seconds_of(g, device, s.tile, s.step, s.parts, s.part, g.L());
}

// Calls f(Int<v>) for the least of the values that is not below x, or the last.
template <int First, int... Rest, class F>
auto with_least(int64_t x, F const& f) {
  if constexpr (sizeof...(Rest) == 0)
    return f(Int<First>{});
  else
    return x <= First ? f(Int<First>{}) : with_least<Rest...>(x, f);
}

struct Step {};
struct Dispatch {
  // Calls f(std::type_identity<K>{}) for the device kernel.
  template <class F>
  static auto with(Gemm const& g, Split const& split, F const& f) {
    Operand const& w = Thin::large(g);
    return with_least<1, 2, 4, 8>(Thin::small(g).rows, [&](auto T) {
      auto const rows = [&](auto V) {
        return with_least<8, 32, 256>(split.lanes,
                                      [&](auto lanes) { return f(std::type_identity<ThinRows<Step, V, T, lanes>>{}); });
      };
      if (Thin::along_k(w)) return Thin::takes_vectors(w) ? rows(Int<4>{}) : rows(Int<1>{});
      if (!Thin::takes_vectors(w)) return f(std::type_identity<ThinColumns<Step, 1, T, 32>>{});
      return with_least<8, 32>(split.lanes,
                               [&](auto lanes) { return f(std::type_identity<ThinColumns<Step, 4, T, lanes>>{}); });
    });
  }
  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& f) {
    Split const split = split_of(g, setting.device);
    with(g, split, [&]<class K>(std::type_identity<K>) {
      K const kernel = K::make(g, split.parts);
      f(kernel);
    });
  }
  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = Thin::rejects(g, device); r || !g.elements()) return r;
    Split const split = split_of(g, device);
    return with(g, split, [&]<class K>(std::type_identity<K>) {
      ThinGrid const grid = K::grid_of(g, split.parts);
      return too_many("{} tiles in {} parts and {} matrices are more blocks than a grid holds",
                      __int128(grid.tiles) * grid.parts, g.L(), {grid.tiles, grid.parts, g.L()});
    });
  }
};

inline constexpr Info<Gemm> info = {
    .name = "sgemm_thin",
    .idea =
        "A large matrix times 1 to 8 vectors: each element is read once, K is shared by threads and the blocks of a "
        "cluster: its bytes limit.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
    .seconds = seconds,
};

}  // namespace inlay::kernels::sgemm_thin

// Not with a few short K, for which the split would be another.
template <>
struct inlay::kernels::Samples<inlay::kernels::sgemm_thin::Dispatch> {
  template <class S, class Sample>
  static void of(Gemm const& g, S const& setting, Sample const& sample) {
    sgemm_thin::Dispatch::launches(g, setting, [&](auto const& kernel) { sample.kinds(kernel, 1); });
  }
};
