#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "draw/path.h"
#include "draw/svg.h"

namespace inlay::lab {
namespace {

using svg::kMargin, svg::kWidth;
constexpr double kTop = 90;

// The matrices to one scale: B above C, A left of it; the block's slabs and tile. Returns the lower edge.
double add_matrices(svg::Picture& picture, GemmCase const& c, BlockTiles const& tiles, double x, double y) {
  constexpr double kMostC = 216, kGap = 10;
  double const scale = kMostC / double(std::max(c.M, c.N)), height = double(c.M) * scale, width = double(c.N) * scale;
  double const depth = std::clamp(double(c.K) * scale, 40., 96.), k_scale = depth / double(c.K);
  double const left = x + depth + kGap, top = y + depth + kGap;
  picture.rect(x, top, depth, height, "cell");
  picture.rect(left, y, width, depth, "cell");
  picture.rect(left, top, width, height, "cell");

  Box const& b = tiles.block;
  double const m0 = top + double(b.m0) * scale, n0 = left + double(b.n0) * scale, k0 = double(tiles.k0) * k_scale;
  double const rows = double(b.m1 - b.m0) * scale, cols = double(b.n1 - b.n0) * scale;
  double const part = double(tiles.k1 - tiles.k0) * k_scale, tile = double(tiles.k_tile) * k_scale;
  picture.rect(x + k0, m0, part, rows, "tile");
  picture.rect(n0, y + k0, cols, part, "tile");
  if (tiles.k_tile < tiles.k1 - tiles.k0) {
    picture.rect(x + k0, m0, tile, rows, "warp");
    picture.rect(n0, y + k0, cols, tile, "warp");
  }
  picture.rect(n0, m0, cols, rows, "own");
  for (Box const& s : tiles.stored)
    if (s.m0 < s.m1)
      picture.rect(left + double(s.n0) * scale, top + double(s.m0) * scale, double(s.n1 - s.n0) * scale,
                   double(s.m1 - s.m0) * scale, "frame line");
  picture.text(x, top + height + 15, "", fmt::format("A {} x {}", c.M, c.K));
  picture.text(left + width, top + height + 15, "end", fmt::format("C {} x {}", c.M, c.N));
  picture.text(left, y - 7, "", fmt::format("B {} x {}", c.K, c.N));
  return top + height + 15;
}

// The thread that sums each element of the block's tile; of several, which share k, the first. -1: none does.
std::vector<int> owners(BlockTiles const& tiles) {
  Box const& b = tiles.block;
  std::vector<int> of(std::size_t((b.m1 - b.m0) * (b.n1 - b.n0)), -1);
  for (std::size_t t = tiles.threads.size(); t-- > 0;)
    for (std::int64_t m : tiles.threads[t].m)
      for (std::int64_t n : tiles.threads[t].n) of[std::size_t((m - b.m0) * (b.n1 - b.n0) + n - b.n0)] = int(t);
  return of;
}

constexpr double kNumbered = 22;  // an element as wide as this has space for a thread's number

double scale_of(Box const& block, double width, double height) {
  return std::min({width / double(block.n1 - block.n0), height / double(block.m1 - block.m0), 26.});
}

// The names of the warps in their parts of the tile, or, where those have no space, below it. Returns the lower edge.
double add_warps(svg::Picture& picture, std::map<int, std::vector<svg::Picture::Tile>> const& of_warp, double scale,
                 double x, double y) {
  double below = x;
  for (auto const& [warp, shapes] : of_warp) {
    svg::Picture::Tile const &first = shapes.front(), &last = shapes.back();
    bool const whole = std::all_of(shapes.begin(), shapes.end(),
                                   [&](auto const& s) {
                                     return std::abs(s.x - first.x) < 1e-6 && std::abs(s.width - first.width) < 1e-6;
                                   }) &&
                       std::abs(last.y - first.y - double(shapes.size() - 1) * scale) < 1e-6;
    std::string const name = fmt::format("warp {}", warp);
    if (whole && scale < kNumbered && first.width > svg::width_of(name) + 12 && double(shapes.size()) * scale > 18)
      picture.text(first.x + first.width - 6, last.y + scale - 6, "end bold " + svg::on_kind(unsigned(warp)), name);
    else
      below = picture.legend(below, y + 18, svg::kind(unsigned(warp)), std::to_string(warp));
  }
  if (below == x) return y;
  picture.text(below, y + 18, "s11", "warps");
  return y + 18;
}

// The block's tile: whose warp's each element is, and what the first thread sums. Returns its lower edge.
double add_tile(svg::Picture& picture, BlockTiles const& tiles, double x, double y, double scale) {
  Box const& b = tiles.block;
  std::int64_t const rows = b.m1 - b.m0, cols = b.n1 - b.n0;
  std::vector<int> const of = owners(tiles);
  auto const warp_of = [&](std::int64_t m, std::int64_t n) {
    int const thread = of[std::size_t(m * cols + n)];
    return thread < 0 ? -1 : thread / 32;
  };
  std::map<int, std::vector<svg::Picture::Tile>> of_warp;
  for (std::int64_t m = 0; m < rows; ++m)
    for (std::int64_t n = 0, end; n < cols; n = end) {
      int const warp = warp_of(m, n);
      for (end = n + 1; end < cols && warp_of(m, end) == warp;) ++end;
      if (warp >= 0) of_warp[warp].push_back({x + double(n) * scale, y + double(m) * scale, double(end - n) * scale});
    }
  for (auto const& [warp, shapes] : of_warp) picture.tiles(shapes, scale, svg::kind(unsigned(warp)) + "-line");
  if (scale >= kNumbered) {
    for (std::int64_t i = 0; i < rows * cols; ++i) {
      if (of[std::size_t(i)] < 0) continue;
      picture.text(x + (double(i % cols) + .5) * scale, y + (double(i / cols) + .5) * scale + 3,
                   "s9 middle " + svg::on_kind(unsigned(of[std::size_t(i)] / 32)), std::to_string(of[std::size_t(i)]));
    }
  } else {
    auto const first =
        std::find_if(tiles.threads.begin(), tiles.threads.end(), [](auto const& t) { return !t.m.empty(); });
    std::vector<svg::Picture::Tile> shapes;
    for (std::int64_t m : first->m)
      for (std::int64_t n : first->n)
        shapes.push_back({x + double(n - b.n0) * scale, y + double(m - b.m0) * scale, scale});
    picture.tiles(shapes, scale, "first-line");
  }
  return add_warps(picture, of_warp, scale, x, y + double(rows) * scale);
}

// "256 of the first block's 384 threads sum 128 x 256 elements of C, 32 of k at a time; the first of them sums 8 x 16."
std::string summary(BlockTiles const& tiles) {
  Box const& b = tiles.block;
  std::size_t summing = 0;
  std::int64_t sums = 0, of_first = 0;
  std::string first;
  for (auto const& t : tiles.threads) {
    if (t.m.empty()) continue;
    if (!summing++)
      first = fmt::format("{} x {}", t.m.size(), t.n.size()), of_first = std::int64_t(t.m.size() * t.n.size());
    sums += std::int64_t(t.m.size() * t.n.size());
  }
  std::string s = summing == tiles.threads.size()
                      ? fmt::format("The first block's {} threads sum", summing)
                      : fmt::format("{} of the first block's {} threads sum", summing, tiles.threads.size());
  s += fmt::format(" {} x {} elements of C", b.m1 - b.m0, b.n1 - b.n0);
  if (tiles.k_tile < tiles.k1 - tiles.k0) s += fmt::format(", {} of k at a time", tiles.k_tile);
  s += of_first > 1 ? fmt::format("; the first of them sums {}.", first) : std::string(", one each.");
  if (std::int64_t const times = sums / ((b.m1 - b.m0) * (b.n1 - b.n0)); times > 1)
    s += fmt::format(" {} threads share the k of an element.", times);
  return s;
}

// The sites in lines that fit.
double add_sites(svg::Picture& picture, std::vector<std::string> const& sites, double y) {
  picture.text(kMargin, y, "s11 bold", "What the block does to memory, in the order in which it begins:");
  double x = kMargin;
  y += 18;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    double const width = svg::width_of(sites[i], 11) + 14;
    if (x + width > kWidth - kMargin) x = kMargin, y += 24;
    picture.rect(x, y - 12, width, 18, "cell");
    picture.text(x + width / 2, y + 1, "s11 middle", sites[i]);
    x += width + 8;
  }
  return y;
}

}  // namespace

std::string draw_path(Entry<Gemm> const& entry, GemmCase const& c) {
  BlockTiles const tiles = tiles_of(entry, c);
  svg::Picture picture;
  picture.text(kMargin, 36, "head", title_of(entry, c));
  picture.text(kMargin, 58, "", summary(tiles));
  double y = add_matrices(picture, c, tiles, kMargin, kTop + 14);
  // The tile stands beside the matrices; below them, if it then has space for its threads' numbers.
  constexpr double kBeside = 384, kSpace = kWidth - 2 * kMargin;
  double const wide = scale_of(tiles.block, kSpace, 330);
  bool const numbered = wide >= kNumbered;
  double const left = numbered ? kMargin : kBeside, top = numbered ? y + 34 : kTop + 14;
  picture.text(left, top - 7, "",
               numbered ? "the block's tile of C: the thread that sums each element" : "the block's tile of C");
  double const scale = numbered ? wide : scale_of(tiles.block, kWidth - kMargin - kBeside, 330);
  y = std::max(y, add_tile(picture, tiles, left, top, scale)) + 28;
  double x = picture.legend(kMargin, y, "tile", "what the block reads");
  if (tiles.k_tile < tiles.k1 - tiles.k0) x = picture.legend(x, y, "warp", "its first k tile");
  x = picture.legend(x, y, "own", "its tile of C");
  if (!numbered) picture.legend(x, y, "first", "what its first thread sums");
  y = add_sites(picture, tiles.sites, y + 30);
  return picture.document(y + 26, title_of(entry, c));
}

}  // namespace inlay::lab
