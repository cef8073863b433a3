// Predicted times of mma_tile.h, by which its tile is chosen.
#pragma once
#include <inlay/model/fastest_tile.h>
#include <inlay/model/wgmma_times.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace inlay::model {
using namespace problem;

// In microseconds: the latency of a block beside its steps, alone and on a full multiprocessor, and of a step of 32
// along K that nothing overlaps. The share of the rate of mma.sync that a full multiprocessor reaches; by how much more
// a step takes for each operand that is loaded element by element. Fitted on an H200 to half_batched and four single
// GEMMs with both tiles forced: the first is off by 12 % in the median. The second had two blocks a multiprocessor then
// and has one since: its times have not been measured.
struct MmaTileTimes {
  int size, blocks;  // rows and columns; resident blocks
  double alone, fill, step, of_rate, of_elements;
};
inline constexpr MmaTileTimes kMmaTiles[] = {{64, 4, 1.3, 2.92, .41, .78, 4.3}, {128, 1, 2.3, 2.41, .37, .79, 2.7}};

struct MmaTimes : FastestTile<MmaTimes, kMmaTiles> {
  static double seconds_of(Gemm const& g, Device const& device, MmaTileTimes const& t) {
    double const blocks = double(ceil_div(g.M(), std::int64_t(t.size)) * ceil_div(g.N(), std::int64_t(t.size))) *
                          double(g.L()),
                 steps = double(ceil_div(g.K(), std::int64_t(32))), each = blocks / device.sm_count;
    auto const by_element = [](Operand const& o) {
      std::int64_t const pitch = o.col_stride == 1 ? o.row_stride : o.col_stride;
      return o.misalignment_bytes() || pitch % 8 || (o.matrices > 1 && o.batch_stride % 8);
    };
    double const slower = 1 + t.of_elements * (by_element(g.A) + by_element(g.B)),
                 multiplies = 32. * t.size * t.size / (t.of_rate * device.mma_rate * device.clock_ghz * 1e3);
    double const fill = t.alone + (t.fill - t.alone) * std::min(1., each / t.blocks),
                 inside = std::max(std::ceil(each) * steps * multiplies * slower,
                                   std::ceil(each / t.blocks) * (fill + steps * t.step * slower));
    double const memory = operand_bytes(g) / (device.copy_gbps * 1e3);
    return 1e-6 * (.8 + std::pow(std::pow(inside, 1.5) + std::pow(memory, 1.5), 1 / 1.5));
  }
};

}  // namespace inlay::model
