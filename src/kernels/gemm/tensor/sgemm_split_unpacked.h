// fp32 GEMM by bf16 slices that are made on the chip.
#pragma once
#include <inlay/kernels/gemm/fma/split_k.h>
#include <inlay/kernels/gemm/tensor/split_unpacked.h>

namespace inlay::kernels::sgemm_split_unpacked {

// The tiles of D, with the microseconds that a multiprocessor takes for 32 indices of K of one.
struct Tile {
  int BLK_N;
  bool transposes;  // computes the transpose of D, of which it is a tile
  double us;
};
inline constexpr int BLK_M = 128;
inline constexpr Tile kTiles[] = {{64, true, .775}, {64, false, .775}, {32, true, .605}, {32, false, .605}};
// The blocks of a cluster, which split the K of a tile; the microseconds that adding their sums takes; and the share of
// a GPU's multiprocessors that such clusters fill. Config::tile is 1 + the number of the tile * 4 + that of the
// cluster.
struct Parts {
  int number;
  double us, share;
};
inline constexpr Parts kParts[] = {{1, 0, 1}, {2, 2.5, 1}, {4, 2.5, .91}, {8, 2.75, .91}};

template <int N, int stages>
struct Step {
  static constexpr int BLK_N = N, PIPE = stages;
};

struct Slices {
  static constexpr int64_t BLK_K = 32, least_k = 128;
  static int64_t period(Gemm const&) { return BLK_K; }

  struct Choice {
    int tile = 0;  // Config::tile
    int64_t slice_K = 0;
    double seconds = 0;
  };
  static Tile const& tile_of(int tile) { return kTiles[(tile - 1) / std::size(kParts)]; }
  static Parts const& parts_of(int tile) { return kParts[(tile - 1) % std::size(kParts)]; }
  static int64_t tiles(Gemm const& g, int tile = 1) {
    Tile const& t = tile_of(tile);
    return ceil_div(t.transposes ? g.N() : g.M(), int64_t(BLK_M)) *
           ceil_div(t.transposes ? g.M() : g.N(), int64_t(t.BLK_N));
  }
  // How much longer a step takes if an operand is read by elements, if these lie apart, and if its rows are not
  // contiguous along K.
  static double delay(Operand const& o, double of_elements) {
    if (o.row_stride != 1 && o.col_stride != 1) return 4 * of_elements;
    Vectors const along = vectors(o, 1);  // the batch must not decide
    return (along == Vectors::none ? of_elements : 0) + (is_along_K(o) ? 0 : .06);
  }
  // Predicted time with a tile and with slices in other blocks: fitted on an H200 to bench/gemm_tiles of 62 single
  // GEMMs drawn with 4 to 8192 rows and columns; off by 7 % for choices within 1.4 of the best.
  static double seconds(Gemm const& g, Device const& device, int tile, int64_t slices, int64_t slice_K) {
    Tile const& t = tile_of(tile);
    Parts const& parts = parts_of(tile);
    double const blocks = double(tiles(g, tile) * slices * parts.number) * double(g.L()),
                 waves = std::ceil(blocks / (device.sm_count * parts.share));
    double const steps = double(ceil_div(ceil_div(slice_K, BLK_K), int64_t(parts.number)));
    double const of_step = t.us * (1 + delay(t.transposes ? g.B : g.A, .27) + delay(t.transposes ? g.A : g.B, .13));
    double const sums = slices > 1 ? 1.4e-6 + double(slices + 1) * double(g.elements()) * 4 / 1.8e12 : 0;
    double const rows = double(g.M()) * double(g.A.matrices) + double(g.N()) * double(g.B.matrices),
                 bytes = 4 * (rows * double(g.K()) + double(g.elements()));
    return 1.9e-6 + std::max(waves * (2 + steps * of_step + parts.us) * 1e-6 + sums, bytes / 2.7e12) +
           seconds_of_addend(g, 2.2e12, 1.1e12);
  }
  // The fastest for one matrix: bits do not depend on the batch. may_split: into slices for other blocks, whose sums
  // sum_slices adds; a GEMM that has been split keeps its slices, and gets the tile that they were chosen with.
  static Choice choose(Gemm g, Device const& device, bool may_split) {
    for (Operand* o : {&g.A, &g.B, &g.D}) o->matrices = 1;
    Choice best;
    for (int tile = 1; tile <= int(std::size(kTiles) * std::size(kParts)); ++tile)
      for (int64_t slices = g.slices; slices <= (may_split ? 64 : g.slices); ++slices) {
        int64_t const slice_K = g.slices > 1 ? g.slice_K : round_up(ceil_div(g.K(), slices), BLK_K);
        if (slices > 1 && tiles(g, tile) * parts_of(tile).number * slices > 2 * device.sm_count) break;
        if (slices > 1 && (slice_K < least_k || ceil_div(g.K(), slice_K) != slices)) continue;
        double const s = seconds(g, device, tile, slices, slice_K);
        if (!best.tile || s < best.seconds) best = {tile, slice_K, s};
      }
    return best;
  }
  static int64_t slice_k(Gemm const& g, Device const& device) {
    return cute::max(choose(g, device, true).slice_K, BLK_K);
  }
  static Config config(Gemm const& g, Device const& device) { return {.tile = choose(g, device, false).tile}; }

  // Calls f(std::type_identity<the kernel>{}, the GEMM that it computes, blocks of a cluster).
  template <class F>
  static auto with(Gemm const& g, Device const& device, Config const& config, F const& f) {
    int const number = (config.tile ? config : Slices::config(g, device)).tile;
    Tile const& tile = tile_of(number);
    Gemm const c = tile.transposes ? g.transposed() : g;
    auto const of = [&]<class S>(std::type_identity<S>) {
      auto const by = [&]<bool a, bool b>() {
        return f(std::type_identity<SplitUnpacked<S, a, b>>{}, c, parts_of(number).number);
      };
      bool const a = is_along_K(c.A), b = is_along_K(c.B);
      if (a) return b ? by.template operator()<true, true>() : by.template operator()<true, false>();
      return b ? by.template operator()<false, true>() : by.template operator()<false, false>();
    };
    return tile.BLK_N == 64 ? of(std::type_identity<Step<64, 6>>{}) : of(std::type_identity<Step<32, 8>>{});
  }
  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& f) {
    with(g, setting.device, setting.config,
         [&]<class K>(std::type_identity<K>, Gemm const& c, int blocks) { f(K::make(c, blocks, setting.device)); });
  }
  static Reason rejects(Gemm const& g, Device const& device, Config const& config) {
    return with(g, device, config,
                [&]<class K>(std::type_identity<K>, Gemm const& c, int) { return K::rejects(c, device); });
  }
};
using Kernel = SplitK<Slices>;
using Dispatch = Kernel;

inline double seconds(Gemm const& g, Device const& device) {
  Slices::Choice const c = Slices::choose(g, device, true);
  return Slices::seconds(g, device, c.tile, ceil_div(g.K(), c.slice_K), c.slice_K);
}

inline constexpr Info<Gemm> info = {
    .name = "sgemm_split_unpacked",
    .idea =
        "Three bf16 slices of each operand are made on the chip, in registers and in shared memory, and six pairs of "
        "them "
        "multiplied: nothing is packed, and K is split until the GPU is full.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .seconds = seconds,
    .workspace = Kernel::workspace,
    .choose = Slices::config,
    .split = Kernel::split,
};

}  // namespace inlay::kernels::sgemm_split_unpacked
