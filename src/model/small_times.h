// Predicted times of small_tile.h, by which its tile is chosen.
#pragma once
#include <inlay/model/fastest_tile.h>
#include <inlay/model/wgmma_times.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace inlay::model {
using namespace problem;

// In microseconds: the latency of a lone tile beside its steps, of 64 indices of K, and of those of an operand that is
// loaded element by element; what a full multiprocessor takes for a tile beside its steps, for 64 indices of K, for
// those of an operand in vectors of 4, 2 and 1 elements, and for a D that is stored in rows, half of that in one run.
// Fitted on an H200 to 140 batches of 1 to 30,000 matrices (bench/gemm_tiles) and rounded: off by 12 and 8 % in the
// median, by 36 and 25 % in the worst tenth.
struct SmallTileTimes {
  int size;  // rows and columns
  double latency, step_latency, element_latency, end, step, of_vectors[3], of_rows;
};
inline constexpr SmallTileTimes kSmallTiles[] = {{32, .57, 1.02, 1.90, .079, .060, {.040, .065, .245}, .17},
                                                 {64, .62, .74, .60, .40, .13, {.150, .120, .50}, .38}};

struct SmallTimes : FastestTile<SmallTimes, kSmallTiles> {
  static double seconds_of(Gemm const& g, Device const& device, SmallTileTimes const& t) {
    constexpr double launch = .8;
    double const each = double(ceil_div(g.M(), std::int64_t(t.size)) * ceil_div(g.N(), std::int64_t(t.size))) *
                        double(g.L()) / device.sm_count,
                 steps = double(ceil_div(g.K(), std::int64_t(64))),
                 of_64 = double(ceil_div(g.K(), std::int64_t(16))) / 4;
    double const store = g.N() % 4 == 0 ? 0 : g.N() <= t.size ? t.of_rows / 2 : t.of_rows;
    double latency = t.step_latency, step = t.step;
    for (Operand const* o : {&g.A, &g.B}) {
      int const vector = log2_vector(*o);
      if (vector < 3) step += t.of_vectors[2 - vector];
      if (vector == 0) latency += t.element_latency;
    }
    auto const together = [](double a, double b) { return std::pow(std::pow(a, 1.5) + std::pow(b, 1.5), 1 / 1.5); };
    double const inside = together(t.latency + latency * steps, std::max(each, 1.) * (t.end + store + step * of_64)),
                 from_l2 = each * device.sm_count * double(4 * t.size * g.K()) / (device.l2_gbps * 1e3),
                 memory = std::max(operand_bytes(g) / (device.copy_gbps * 1e3), from_l2);
    return 1e-6 * (launch + together(inside, memory));
  }

 private:
  // Log2 of the elements of a vector: every line of o is some of them.
  static int log2_vector(Operand const& o) {
    bool const along_K = o.cols == 1 || o.col_stride == 1;
    std::int64_t const lines = along_K ? o.rows : o.cols, pitch = along_K ? o.row_stride : o.col_stride;
    auto const multiple = std::uint64_t(o.misalignment_bytes() / 2 | (lines > 1 ? pitch : 0) |
                                        (along_K ? o.cols : o.rows) | (o.matrices > 1 ? o.batch_stride : 0) | 8);
    return std::countr_zero(multiple);
  }
};

}  // namespace inlay::model
