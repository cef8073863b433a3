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

// A, B and C to one scale, B above C and A left of C, with the parts that the block reads and stores. Returns the lower
// edge.
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
  double const k_extent = double(tiles.k1 - tiles.k0) * k_scale, k_tile = double(tiles.k_tile) * k_scale;
  picture.rect(x + k0, m0, k_extent, rows, "tile");
  picture.rect(n0, y + k0, cols, k_extent, "tile");
  if (tiles.k_tile < tiles.k1 - tiles.k0) {
    picture.rect(x + k0, m0, k_tile, rows, "warp");
    picture.rect(n0, y + k0, cols, k_tile, "warp");
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

// The thread that sums each element of the block's tile, row by row; the lowest if several share k, -1 if none does.
std::vector<int> owners_of(BlockTiles const& tiles) {
  Box const& b = tiles.block;
  std::vector<int> owners(std::size_t((b.m1 - b.m0) * (b.n1 - b.n0)), -1);
  for (std::size_t t = tiles.threads.size(); t-- > 0;)
    for (std::int64_t m : tiles.threads[t].m)
      for (std::int64_t n : tiles.threads[t].n) owners[std::size_t((m - b.m0) * (b.n1 - b.n0) + n - b.n0)] = int(t);
  return owners;
}

constexpr double kNumbered = 22;  // the narrowest element that has its thread's number written in it

double scale_of(Box const& block, double width, double height) {
  return std::min({width / double(block.n1 - block.n0), height / double(block.m1 - block.m0), 26.});
}

// Writes the name of each warp into its rectangle of the tile, or into a legend below the tile if its elements form no
// rectangle or a too small one. Returns the lower edge.
double add_warps(svg::Picture& picture, std::map<int, std::vector<svg::Picture::Tile>> const& runs_of_warp,
                 double scale, double x, double y) {
  double below = x;
  for (auto const& [warp, runs] : runs_of_warp) {
    svg::Picture::Tile const &first = runs.front(), &last = runs.back();
    auto const is_below_first = [&](svg::Picture::Tile const& run) {
      return std::abs(run.x - first.x) < 1e-6 && std::abs(run.width - first.width) < 1e-6;
    };
    bool const is_rectangle = std::ranges::all_of(runs, is_below_first) &&
                              std::abs(last.y - first.y - double(runs.size() - 1) * scale) < 1e-6;
    std::string const name = fmt::format("warp {}", warp);
    if (is_rectangle && scale < kNumbered && first.width > svg::width_of(name) + 12 && double(runs.size()) * scale > 18)
      picture.text(first.x + first.width - 6, last.y + scale - 6, "end bold " + svg::text_on_category(unsigned(warp)),
                   name);
    else
      below = picture.legend(below, y + 18, svg::category(unsigned(warp)), std::to_string(warp));
  }
  if (below == x) return y;
  picture.text(below, y + 18, "s11", "warps");
  return y + 18;
}

// The block's tile of C: elements in the colour of their warp, with the number of their thread if that is legible, else
// with the elements of the first thread marked. Returns the lower edge.
double add_tile(svg::Picture& picture, BlockTiles const& tiles, double x, double y, double scale) {
  Box const& b = tiles.block;
  std::int64_t const rows = b.m1 - b.m0, cols = b.n1 - b.n0;
  std::vector<int> const owners = owners_of(tiles);
  auto const warp_of = [&](std::int64_t m, std::int64_t n) {
    int const thread = owners[std::size_t(m * cols + n)];
    return thread < 0 ? -1 : thread / 32;
  };
  std::map<int, std::vector<svg::Picture::Tile>> runs_of_warp;  // of elements side by side
  for (std::int64_t m = 0; m < rows; ++m)
    for (std::int64_t n = 0, end; n < cols; n = end) {
      int const warp = warp_of(m, n);
      for (end = n + 1; end < cols && warp_of(m, end) == warp;) ++end;
      if (warp >= 0)
        runs_of_warp[warp].push_back({x + double(n) * scale, y + double(m) * scale, double(end - n) * scale});
    }
  for (auto const& [warp, runs] : runs_of_warp) picture.tiles(runs, scale, svg::category(unsigned(warp)) + "-line");
  if (scale >= kNumbered) {
    for (std::int64_t i = 0; i < rows * cols; ++i)
      if (int const thread = owners[std::size_t(i)]; thread >= 0)
        picture.text(x + (double(i % cols) + .5) * scale, y + (double(i / cols) + .5) * scale + 3,
                     "s9 middle " + svg::text_on_category(unsigned(thread / 32)), std::to_string(thread));
  } else {
    auto const first = std::ranges::find_if(tiles.threads, [](auto const& t) { return !t.m.empty(); });
    std::vector<svg::Picture::Tile> elements;
    for (std::int64_t m : first->m)
      for (std::int64_t n : first->n)
        elements.push_back({x + double(n - b.n0) * scale, y + double(m - b.m0) * scale, scale});
    picture.tiles(elements, scale, "first-line");
  }
  return add_warps(picture, runs_of_warp, scale, x, y + double(rows) * scale);
}

// "256 of the first block's 384 threads sum 128 x 256 elements of C, 32 of k at a time; the first of them sums 8 x 16."
std::string summary(BlockTiles const& tiles) {
  Box const& b = tiles.block;
  BlockTiles::Thread const* first = nullptr;
  std::size_t threads = 0, sums = 0;  // threads that sum, and elements that each of them sums, added up
  for (auto const& t : tiles.threads) {
    if (t.m.empty()) continue;
    if (!threads++) first = &t;
    sums += t.m.size() * t.n.size();
  }
  std::string s = threads == tiles.threads.size()
                      ? fmt::format("The first block's {} threads sum", threads)
                      : fmt::format("{} of the first block's {} threads sum", threads, tiles.threads.size());
  s += fmt::format(" {} x {} elements of C", b.m1 - b.m0, b.n1 - b.n0);
  if (tiles.k_tile < tiles.k1 - tiles.k0) s += fmt::format(", {} of k at a time", tiles.k_tile);
  s += first && first->m.size() * first->n.size() > 1
           ? fmt::format("; the first of them sums {} x {}.", first->m.size(), first->n.size())
           : ", one each.";
  if (auto const sharing = std::int64_t(sums) / ((b.m1 - b.m0) * (b.n1 - b.n0)); sharing > 1)
    s += fmt::format(" {} threads share the k of an element.", sharing);
  return s;
}

// Each site in a box, from left to right in lines. Returns the last baseline.
double add_sites(svg::Picture& picture, std::vector<std::string> const& sites, double y) {
  picture.text(kMargin, y, "s11 bold", "The block's memory accesses, in the order of their first occurrence:");
  double x = kMargin;
  y += 18;
  for (std::string const& site : sites) {
    double const width = svg::width_of(site, 11) + 14;
    if (x + width > kWidth - kMargin) x = kMargin, y += 24;
    picture.rect(x, y - 12, width, 18, "cell");
    picture.text(x + width / 2, y + 1, "s11 middle", site);
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
  // The tile is drawn right of the matrices, or below them, where it is wider, if threads' numbers are legible there.
  constexpr double kBeside = 384, kSpace = kWidth - 2 * kMargin;
  double const wide = scale_of(tiles.block, kSpace, 330);
  bool const numbered = wide >= kNumbered;
  double const left = numbered ? kMargin : kBeside, top = numbered ? y + 34 : kTop + 14;
  picture.text(left, top - 7, "",
               numbered ? "the block's tile of C: the thread that sums each element" : "the block's tile of C");
  double const scale = numbered ? wide : scale_of(tiles.block, kWidth - kMargin - kBeside, 330);
  y = std::max(y, add_tile(picture, tiles, left, top, scale)) + 28;
  double x = picture.legend(kMargin, y, "tile", "the block's parts of A and B");
  if (tiles.k_tile < tiles.k1 - tiles.k0) x = picture.legend(x, y, "warp", "its first k tile");
  x = picture.legend(x, y, "own", "its tile of C");
  if (!numbered) picture.legend(x, y, "first", "the elements of its first thread");
  y = add_sites(picture, tiles.sites, y + 30);
  return picture.document(y + 26, title_of(entry, c));
}

}  // namespace inlay::lab
