// Predicted times of GEMMs on FMA units, in closed form: blocks, what a block does for each k, and how many of them a
// multiprocessor holds.
#pragma once
#include <inlay/model/device.h>
#include <inlay/problem/gemm.h>
#include <inlay/problem/integers.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace inlay::model {
using namespace problem;

// Microseconds that the end of a tile takes longer where D is written by elements, and where it is read.
struct EndTimes {
  double elements = 0, old = 0;
  double of(Gemm const& g) const {
    bool const by_vectors = vectors(transposed(g.D), g.L()) == Vectors::rows;
    return (by_vectors ? 0 : elements) + (g.epilogue.beta != 0 ? old : 0);
  }
};

// Microseconds of a kernel on an H200. Fitted to 188 GEMMs of suites/gemm/wild.json, in each of which all kernels that
// take it were timed (docs/log.md).
struct FmaTimes {
  double block;         // start and end of a block
  double alone, busy;   // 16 indices of K: of a block that waits for them; of the multiprocessor's units
  double along_k = 0;   // by how much an operand that is contiguous along k, and is transposed on the way, adds to both
  double elements = 0;  // by how much operands that are loaded by elements do
  EndTimes end = {};    // what the end of a block takes besides
  double slice = 0;     // of a slice of K whose sum is kept in the block
};

// How the operands are loaded.
struct FmaLoads {
  double factor = 1;  // of both times of 16 indices of K
  bool by_elements = false;
};
inline FmaLoads loads_of(FmaTimes const& t, std::int64_t matrices, std::initializer_list<Operand const*> operands) {
  int along_k = 0, strided = 0;
  bool by_elements = false;
  for (Operand const* o : operands) {
    Vectors const by = vectors(*o, matrices);
    by_elements |= by == Vectors::none, along_k += by == Vectors::k;
    strided += o->row_stride != 1 && o->col_stride != 1;
  }
  if (!by_elements) return {1 + along_k * t.along_k, false};
  return {(1 + t.elements) * (1 + .2 * strided), true};  // neighbouring lanes then load from different sectors
}

inline constexpr double kLaunchMicroseconds = 1;

// Microseconds of `blocks` blocks with `k` indices of K each, of which a multiprocessor holds `resident` at a time.
// Waiting and multiplying overlap in part.
inline double microseconds_of_blocks(FmaTimes const& t, double factor, std::int64_t blocks, double k, int resident,
                                     Device const& device) {
  double const steps = k / 16, alone = t.alone * factor, busy = t.busy * factor * 128 / device.fma_lanes;
  std::int64_t const most = ceil_div(blocks, std::int64_t(device.sm_count)), full = most / resident,
                     rest = most % resident;
  auto const wave = [&](std::int64_t n) {
    double const work = double(n) * busy;
    return t.block + steps * std::sqrt(alone * alone + work * work);
  };
  double const waves = double(full) * wave(resident) + (rest ? wave(rest) : 0);
  return std::max(waves, double(blocks) / device.sm_count * steps * busy) * 1.98 / device.clock_ghz;
}

// Microseconds that DRAM alone needs for A, B and D.
inline double microseconds_of_memory(Gemm const& g, Device const& device) {
  auto const elements = [](Operand const& o) { return double(o.rows) * double(o.cols) * double(o.matrices); };
  double const of_d = double(g.elements()) * (g.epilogue.beta != 0 ? 2 : 1);
  return 4 * (elements(g.A) + elements(g.B) + of_d) / (.957 * device.copy_gbps * 1e3);
}

// Microseconds of sum_slices, which is launched before the GEMM ends: its slices one after the other, and their bytes.
inline double microseconds_of_sum(std::int64_t slices, std::int64_t elements) {
  if (slices <= 1) return 0;
  return .4 + .14 * double(std::min<std::int64_t>(slices, 8)) + 4. * double(slices) * double(elements) / 1.34e6;
}

// Tiles of tile_m x tile_n, each with all of K or with a slice of it, in stages of `step` indices.
struct FmaTiles {
  int tile_m, tile_n, step, resident;

  std::int64_t tiles(Gemm const& g) const {
    return ceil_div(g.M(), std::int64_t(tile_m)) * ceil_div(g.N(), std::int64_t(tile_n));
  }
  // Indices of a slice of K, a multiple of `step` from `least` to `most`, with which one matrix is predicted to take
  // the least time: as many slices as give each multiprocessor a whole number of blocks. Neither the batch nor
  // addresses decide, because the bits depend on it.
  std::int64_t slice_k(FmaTimes const& t, Gemm const& g, std::int64_t least, std::int64_t most,
                       Device const& device) const {
    std::int64_t const one = std::max<std::int64_t>(tiles(g), 1);
    std::int64_t best = 0;
    double shortest = 0;
    for (int each = 0; each <= resident; ++each) {
      std::int64_t const slices = std::max<std::int64_t>(each * std::int64_t(device.sm_count) / one, 1),
                         k = round_up(std::clamp(ceil_div(g.K(), slices), least, most), step);
      if (k == best) continue;
      std::int64_t const n = ceil_div(g.K(), k);
      double const us =
          microseconds_of_blocks(t, 1, one * n, double(k), resident, device) + microseconds_of_sum(n, g.M() * g.N());
      if (best == 0 || us < shortest) best = k, shortest = us;
    }
    return best;
  }

  double seconds(FmaTimes t, double factor, Gemm const& g, Device const& device) const {
    t.block += t.end.of(g);
    if (g.slices == 1 && g.slice_K > 0) t.block += t.slice * double(ceil_div(g.K(), g.slice_K));
    std::int64_t const all = tiles(g) * g.L(), k = round_up(g.slices > 1 ? g.slice_K : g.K(), step);
    double const l2 = 4. * double(all) * double(g.K()) * (tile_m + tile_n) / (device.l2_gbps * 1e3);
    return 1e-6 * (kLaunchMicroseconds +
                   std::max({microseconds_of_blocks(t, factor, all * g.slices, double(k), resident, device),
                             microseconds_of_memory(g, device), l2}) +
                   microseconds_of_sum(g.slices, g.elements()));
  }
};

}  // namespace inlay::model
