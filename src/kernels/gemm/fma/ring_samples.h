// Samples of SgemmRing: single tiles stand for the tiles of a block.
#pragma once
#include <inlay/kernels/common/gemm_grid_samples.h>
#include <inlay/kernels/gemm/fma/ring.h>

namespace inlay::kernels {

// One block for each kind of tile. All tiles are treated as whole: splits along k are left out.
template <class Step>
struct Kinds<SgemmRing<Step>> {
  template <class F>
  static void each(SgemmRing<Step> const& kernel, F const& f) {
    constexpr int BAND = SgemmRing<Step>::BAND;
    SgemmRing<Step> each = kernel;
    int64_t const tiles = int64_t(kernel.tiles_m) * kernel.tiles_n;
    each.whole = each.grid = int(tiles * kernel.g.L()), each.share = each.extra = 0;
    over_tile_kinds(kernel.g, kernel.tiles_m, kernel.tiles_n, [&](int64_t m, int64_t n, int64_t l, int64_t times) {
      int64_t const band = n / BAND, width = std::min<int64_t>(kernel.tiles_n - band * BAND, BAND);
      f(each, l * tiles + band * BAND * kernel.tiles_m + m * width + n % BAND, times);
    });
  }
};

// All tiles as if none were split, and the cost of each split, taken from one tile that two blocks
// share. (With blocked summation a split moves the ends of block sums: that is left out.)
template <class Step>
struct Samples<SgemmRing<Step>> {
  using Ring = SgemmRing<Step>;

  template <class S, class Sample>
  static void of(Gemm const& g, S const& setting, Sample const& sample) {
    S const uncut{setting.device, nullptr, setting.encode};
    sample_lengths<Ring>(g, Step::blocked_sums ? Step::ACCUMULATION_LENGTH : Ring::BLK_K, uncut, sample);
    if (!setting.workspace || Ring::cut_tiles(g, setting.device.sm_count) == 0) return;
    int64_t cuts = 0;
    launches<Ring>(g, setting, [&]<class K>(K const& kernel) {
      if constexpr (std::is_same_v<K, ClearFlags>)
        sample.kinds(kernel, 1);
      else
        cuts += cuts_of(kernel);
    });
    Device two = setting.device;
    two.sm_count = 2;
    Gemm one = g.with_K(std::min<int64_t>(g.K(), 288));
    one.D.rows = one.A.rows = std::min<int64_t>(g.M(), Ring::BLK_M);
    one.D.cols = one.B.rows = std::min<int64_t>(g.N(), Ring::BLK_N);
    one.D.matrices = 1;
    launches<Ring>(one, S{two, nullptr, setting.encode}, [&](auto const& kernel) { sample.kinds(kernel, -cuts); });
    launches<Ring>(one, S{two, setting.workspace, setting.encode}, [&]<class K>(K const& kernel) {
      if constexpr (std::is_same_v<K, Ring>) sample.all(kernel, cuts);
    });
  }
  // The k ranges of split tiles, less one for each tile.
  static int64_t cuts_of(Ring const& kernel) {
    int64_t pieces = 0;
    for (int rank = 0; rank < kernel.grid; ++rank)
      if (int const first = kernel.begin(rank), end = kernel.begin(rank + 1); end > first)
        pieces += (end - 1) / kernel.k_tiles - first / kernel.k_tiles + 1;
    return pieces - kernel.begin(kernel.grid) / kernel.k_tiles;
  }
};

}  // namespace inlay::kernels
