#include <fmt/format.h>
#include <inlay/kernels/copy/copy_tiling.h>

#include <algorithm>
#include <numeric>

#include "fuzz/draw.h"

namespace inlay::lab {
namespace {
using namespace planner;

constexpr int kSizes[] = {1, 2, 4, 8, 16};

// Strides of nested modes: each stride is at least the span of the modes inside it.
DrawnCopy::Numbers draw_strides(Random& random, DrawnCopy::Numbers const& extents, bool reads) {
  std::vector<int> order(extents.size());
  std::iota(order.begin(), order.end(), 0);
  if (!random.one_in(4)) std::shuffle(order.begin(), order.end(), random.engine());
  DrawnCopy::Numbers strides(extents.size());
  std::int64_t n = random.one_in(8) ? random.between(1, 4) : 1;
  for (int k : order) {
    strides[std::size_t(k)] = n;
    n *= std::max<std::int64_t>(extents[std::size_t(k)], 1);
    if (random.one_in(4)) n += random.between(1, 5);
  }
  for (std::int64_t& s : strides) {
    if (random.one_in(8)) s = -s;
    if (reads && random.one_in(12)) s = 0;
  }
  return strides;
}

// Draws bases that are aligned as the elements need; half of them are 0.
void draw_bases(Random& random, DrawnCopy& c) {
  int const unit = c.elem & -c.elem;
  if (random.one_in(2)) c.base_src = unit * random.below(40);
  if (random.one_in(2)) c.base_dst = unit * random.below(40);
}

void draw_layouts(Random& random, DrawnCopy& c) {
  c.src = draw_strides(random, c.extents, true), c.dst = draw_strides(random, c.extents, false);
  draw_bases(random, c);
}

int draw_element(Random& random) { return random.one_in(2) ? int(random.between(1, 16)) : kSizes[random.below(5)]; }

std::int64_t draw_shift(Random& random, int unit) {
  if (random.one_in(2)) return kPlanAlignment * random.below(kMostShift / kPlanAlignment);
  return unit * random.below(kMostShift / unit);
}

}  // namespace

DrawnCopy draw_copy(Random& random, std::int64_t most) {
  DrawnCopy c{"copy", draw_element(random), {}, {}, {}, 0, 0};
  int const rank = int(random.one_in(16) ? random.below(9) : random.between(1, 6));
  for (int k = 0; k < rank; ++k) {
    std::int64_t const left = std::max<std::int64_t>(most / c.elements(), 1);
    std::int64_t extent = random.between(1, std::min<std::int64_t>(left, random.one_in(3) ? most : 40));
    if (random.one_in(4)) extent = std::min(left, std::int64_t(1) << random.below(9));
    c.extents.push_back(extent);
  }
  if (rank && random.one_in(64)) c.extents[std::size_t(random.below(rank))] = 0;
  draw_layouts(random, c);
  return c;
}

DrawnCopy draw_transpose(Random& random, std::int64_t most) {
  DrawnCopy c{"transpose", draw_element(random), {}, {}, {}, 0, 0};
  auto const draw = [&] {
    std::int64_t const left = std::max<std::int64_t>(most / c.elements(), 1);
    std::int64_t extent =
        random.one_in(3) ? random.between(1, 70) : std::int64_t(std::exp2(double(random.below(1200)) / 100));
    if (random.one_in(4)) extent = extent / 16 * 16;
    return std::clamp<std::int64_t>(extent, 1, left);
  };
  std::int64_t const batches = random.one_in(2) ? random.below(3) : 0;
  for (int k = 0; k < int(batches) + 2; ++k) c.extents.insert(c.extents.begin(), draw());
  // The second last mode is contiguous in the source, the last one in the destination. Rows and matrices have gaps or
  // none.
  std::size_t const rank = c.extents.size();
  c.src.resize(rank), c.dst.resize(rank);
  auto const lay = [&](DrawnCopy::Numbers& strides, std::size_t inner, std::size_t outer) {
    auto const gap = [&] { return random.one_in(2) ? 0 : random.below(random.one_in(2) ? 4 : 40); };
    strides[inner] = 1, strides[outer] = c.extents[inner] + gap();
    std::int64_t n = strides[outer] * c.extents[outer] + gap();
    for (std::size_t k = rank - 2; k-- > 0;) strides[k] = n, n = n * c.extents[k] + gap();
  };
  lay(c.src, rank - 2, rank - 1), lay(c.dst, rank - 1, rank - 2);
  draw_bases(random, c);
  return c;
}

namespace {

// A permutation of modes whose extents are mostly whole sectors and longer than a tile.
DrawnCopy draw_sectors(Random& random, std::int64_t most) {
  DrawnCopy c{"copy of whole sectors", kSizes[random.below(4)], {}, {}, {}, 0, 0};
  int const rank = int(random.between(2, 4));
  for (int k = 0; k < rank; ++k) {
    std::int64_t const left = std::max<std::int64_t>(most / c.elements(), 1);
    std::int64_t const extent = random.one_in(3) ? random.between(1, 9) : 32 / c.elem * random.between(1, 40);
    c.extents.push_back(std::clamp<std::int64_t>(extent, 1, left));
  }
  auto const pack = [&](DrawnCopy::Numbers& strides) {
    std::vector<std::size_t> order(c.extents.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random.engine());
    strides.resize(order.size());
    std::int64_t n = 1;
    for (std::size_t k : order) strides[k] = n, n *= c.extents[k];
  };
  pack(c.src), pack(c.dst);
  return c;
}

// Sets the tiling of a candidate that has tiles. Prefers a tiling whose tile fits shared memory at the plan's addresses
// and not at a destination some bytes further, and then sets that shift; otherwise takes the tile that needs the most
// shared memory.
void aim(FuzzedCopy& t, TileLimits const& limits) {
  constexpr int kMostTilings = 64;
  auto const at = [&](std::int64_t shift) {
    Copy const copy = t.copy.copy(reinterpret_cast<void const*>(1ull << 60), reinterpret_cast<void*>(1ull << 61));
    return copy.between(copy.src, static_cast<char*>(copy.dst) + shift).widened();
  };
  int const unit = t.copy.elem & -t.copy.elem;
  Copy const planned = at(0);
  Tiling tilings[kMostTilings];
  int fullest = 0;
  for (int i = 0, n = kernels::enumerate_tilings(planned, limits, tilings); i < n; ++i)
    for (Tiling::Padding padding : {Tiling::Padding::none, Tiling::Padding::odd_pitch}) {
      Tiling tiling = tilings[i];
      tiling.padding = padding;
      kernels::CopyTile tile, other;
      if (kernels::describe_tile(planned, tiling, limits.threads, tile) || tile.smem_bytes > limits.bytes) continue;
      if (tile.smem_bytes > fullest) fullest = tile.smem_bytes, t.config.tiling = tiling;
      for (std::int64_t shift : {16, 8, 4, 32, 64})
        if (shift % unit == 0 && !kernels::describe_tile(at(shift), tiling, limits.threads, other) &&
            other.smem_bytes > limits.bytes) {
          t.config.tiling = tiling, t.src_shift = 0, t.dst_shift = shift;
          return;
        }
    }
}

}  // namespace

FuzzedCopy draw_fuzzed_copy(Random& random, bool transpose, std::int64_t most) {
  FuzzedCopy t;
  most = std::max<std::int64_t>(1, most >> random.below(7));
  if (!random.one_in(3)) t.candidate = int(random.below(std::int64_t(candidates<Copy>().size())));
  TileLimits const* const limits =
      t.candidate < 0 ? nullptr : candidates<Copy>()[std::size_t(t.candidate)].kernel->limits;
  if (int const tiles = t.candidate < 0 ? 0 : candidates<Copy>()[std::size_t(t.candidate)].kernel->tiles)
    t.config.tile = int(random.between(0, tiles));
  bool const aims = limits && random.one_in(2);
  t.copy = transpose                  ? draw_transpose(random, most)
           : aims && random.one_in(2) ? draw_sectors(random, most)
                                      : draw_copy(random, most);
  int const unit = t.copy.elem & -t.copy.elem;
  t.src_shift = draw_shift(random, unit), t.dst_shift = draw_shift(random, unit);
  if (aims && t.copy.elements()) aim(t, *limits);
  return t;
}

std::string FuzzedCopy::text() const {
  std::string const by =
      candidate < 0 ? "the planner's choice" : candidates<Copy>()[std::size_t(candidate)].kernel->name;
  return fmt::format("{}; {}{}, run {} and {} bytes from the plan's source and destination", copy.text(), by,
                     config.tiling.modes ? " with a tile that fills its shared memory"
                     : config.tile       ? fmt::format(" with tile {}", config.tile)
                                         : "",
                     src_shift, dst_shift);
}

Plan plan_of(FuzzedCopy const& fuzzed, Copy const& planned, Device const& device) {
  if (fuzzed.candidate >= 0 && planned.elements()) {
    planner::Candidate<Copy> const& row = candidates<Copy>()[std::size_t(fuzzed.candidate)];
    Attempt attempt = attempt_in_chunks(row, planned, device, false, fuzzed.config);
    attempt.plan.candidate = fuzzed.candidate;
    if (!attempt.rejected) return attempt.plan;
  }
  return make_plan(planned, device, false);
}

Copy draw_large_copy(Random& random, Device const& device) {
  DrawnCopy c = draw_copy(random, 4096);
  for (std::int64_t& extent : c.extents) extent = std::max<std::int64_t>(extent, 1);
  auto const at = [&](std::int64_t extent) {
    c.extents.push_back(extent);
    c.src.clear(), c.dst.clear();
    std::int64_t src = 1, dst = 1;
    for (std::size_t k = 0; k < c.extents.size(); ++k) c.src.push_back(src), src *= c.extents[k];
    c.dst.resize(c.extents.size());
    for (std::size_t k = c.extents.size(); k-- > 0;) c.dst[k] = dst, dst *= std::max<std::int64_t>(c.extents[k], 1);
    Copy const copy = c.copy(reinterpret_cast<void const*>(1ull << 60), reinterpret_cast<void*>(1ull << 61));
    c.extents.pop_back();
    return copy;
  };
  // Bisects for the largest extent of the last mode that the candidate takes in one launch.
  planner::Candidate<Copy> const& row =
      candidates<Copy>()[std::size_t(random.below(std::int64_t(candidates<Copy>().size())))];
  Planner<Copy>::Shared shared;
  std::int64_t low = 1, high = std::int64_t(1) << 40;
  while (high - low > 1) {
    std::int64_t const middle = low + (high - low) / 2;
    (Planner<Copy>::attempt(row, at(middle), device, false, shared).rejected ? high : low) = middle;
  }
  return at(std::max<std::int64_t>(1, low + random.between(-2, 2) * (random.one_in(2) ? 1 : 1000)));
}

std::string rejected_launch(Plan const& plan, Operands const& operands, Device const& device) {
  std::string said;
  for_each_launch(plan, operands, [&](auto const& launch, Operands const& now) {
    if (!said.empty()) return;
    if (Reason const reason = launch.kernel->rejects(at(launch, now), device, launch.config))
      said = std::string("the plan launches ") + launch.kernel->name + ", which rejects: " + reason.sentence();
  });
  return said;
}

}  // namespace inlay::lab
