#include "layout/print.h"

#include <fmt/format.h>
#include <inlay/explain/busiest_bank.h>

#include <algorithm>

#include "layout/grid.h"

namespace inlay::lab {
namespace {

using banks::Access;
using Walk = WarpAccess::Walk;

// What is worth a remark beside the figures of an access.
std::string remark(Wavefronts const& w, Access direction) {
  if (w.worst == w.least) return "no conflicts";
  auto const [bank, words] = explain::busiest_bank(w.request, direction);
  std::string s = fmt::format("{} words of bank {}", words, bank);
  if (w.mean < w.worst - .005) s += fmt::format("; {:.2f} on average", w.mean);
  return s;
}

char const* walk_name(Walk walk) {
  return walk == Walk::row ? "lanes along a row" : walk == Walk::column ? "lanes down a column" : "lanes of --threads";
}

// How the lanes of a request lie in the tile, and what each of them holds if that is more than an element.
std::string lanes_of(TileOffsets const& tile, WarpAccess const& access, Vectors const& v) {
  if (access.walk == Walk::threads) return v.length == 1 ? "" : fmt::format("{} values", v.length);
  std::int64_t const height = tile.rows / (v.down ? v.length : 1), width = tile.cols / (v.down ? 1 : v.length);
  bool const row = access.walk == Walk::row;
  std::int64_t const along = std::min<std::int64_t>(32, row ? width : height);
  std::int64_t const lines = std::min((32 + along - 1) / along, row ? height : width);
  std::string const s = fmt::format("{} x {} lanes", row ? lines : along, row ? along : lines);
  return v.length == 1
             ? s
             : fmt::format("{} of {}", s, v.down ? fmt::format("{} x 1", v.length) : fmt::format("1 x {}", v.length));
}

std::string use_of(Layout const& layout, TileOffsets const& tile) {
  auto sorted = tile.offsets;
  std::sort(sorted.begin(), sorted.end());
  auto const distinct = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
  std::int64_t const unused = layout.cosize() - distinct;
  std::string s = distinct == layout.size() ? "no two elements share an offset"
                                            : fmt::format("only {} offsets for {} elements", distinct, layout.size());
  return s + (unused ? fmt::format(", {} below the cosize stay unused", unused) : ", all below the cosize are used");
}

}  // namespace

std::string counted(std::int64_t n, char const* one) { return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s"); }

std::string summary(Layout const& layout, TileOffsets const& tile, int elem_bytes) {
  std::int64_t const cosize = layout.cosize(), without = layout.with({}).cosize();
  std::string s = fmt::format("{}, elements of {}\n\n", to_string(layout), counted(elem_bytes, "byte"));
  if (Swizzle const& swizzle = layout.front().swizzle; swizzle.bits && elem_bytes > 1)
    s += fmt::format("  swizzle  {} on bytes\n", to_string(on_bytes(swizzle, elem_bytes)));
  s += fmt::format("  tile     {} x {}{}\n", counted(tile.rows, "row"), counted(tile.cols, "column"),
                   layout.rank() > 2 ? " (the modes after the first)" : "");
  s += fmt::format("  size     {}, {} bytes\n", counted(layout.size(), "element"), layout.size() * elem_bytes);
  s += fmt::format("  cosize   {}, {} bytes: {}\n", counted(cosize, "element"), cosize * elem_bytes,
                   use_of(layout, tile));
  if (cosize != without) s += fmt::format("           without the swizzle {}, which CuTe's cosize() says\n", without);
  return s;
}

std::string offset_grid(TileOffsets const& tile, bool whole) {
  return grid("Offsets, in elements", {"row", tile.rows, 1}, {"column", tile.cols, 1}, whole,
              [&](auto i, auto j) { return tile(i, j); });
}

std::string bank_grid(TileOffsets const& tile, int elem_bytes, bool whole) {
  return grid("Banks, of 4 bytes each", {"row", tile.rows, 1}, {"column", tile.cols, 1}, whole,
              [&](auto i, auto j) { return tile(i, j) * elem_bytes / 4 % 32; });
}

std::string access_table(TileOffsets const& tile, std::vector<WarpAccess> const& accesses, int elem_bytes) {
  std::string s = fmt::format("{:<57}{:>6}{:>7}{:>10}   {}\n", "Warp accesses: wavefronts of the worst request", "load",
                              "store", "at least", "busiest bank of a pass");
  std::string before;
  for (WarpAccess const& a : accesses) {
    std::string const name = walk_name(a.walk);
    s += fmt::format("  {:<19}{:>3} B each  ", name == before ? "" : name, a.bytes);
    before = name;
    auto const vectors = vectors_of(tile, a, elem_bytes);
    if (!vectors) {
      s += fmt::format("no aligned vectors of {} elements are contiguous\n", a.bytes / elem_bytes);
      continue;
    }
    auto const load = wavefronts_of(tile, a, *vectors, elem_bytes, Access::load);
    auto const store = wavefronts_of(tile, a, *vectors, elem_bytes, Access::store);
    bool const worse_store = store.worst - store.least > load.worst - load.least;
    std::string const least =
        load.least == store.least ? std::to_string(load.least) : fmt::format("{}, {}", load.least, store.least);
    s += fmt::format("{:<25}{:>6}{:>7}{:>10}   {}\n", lanes_of(tile, a, *vectors), load.worst, store.worst, least,
                     worse_store ? remark(store, Access::store) : remark(load, Access::load));
  }
  return s;
}

std::string table(Suggestions const& found, Layout const& layout, std::vector<WarpAccess> const& accesses,
                  int elem_bytes) {
  std::string asked;
  for (WarpAccess const& a : accesses)
    asked += fmt::format("{}{}, {} B each", asked.empty() ? "" : "; ", walk_name(a.walk), a.bytes);
  std::string const plain = to_string(layout.with({}));
  std::string s = fmt::format("Suggestions ({})\n", asked);
  if (found.impossible)
    return s +
           fmt::format("  no swizzle and no padding helps: in {} no aligned vectors of {} elements are contiguous\n",
                       plain, found.impossible->bytes / elem_bytes);
  if (found.plain_is_free) return s + fmt::format("  {} has no conflicts\n", plain);

  bool const none = found.free.empty();
  if (none)
    s += found.paddings_tried
             ? fmt::format("  no swizzle and none of the {} paddings that were tried is free of conflicts",
                           found.paddings_tried)
             : "  no swizzle and no padding is free of conflicts";
  if (none) s += found.nearest.empty() ? fmt::format(", nor better than {}\n", plain) : "; the nearest:\n";
  constexpr std::size_t kSwizzles = 5, kPaddings = 2;  // that are shown
  std::size_t swizzles = 0, paddings = 0;
  for (Suggestion const& one : none ? found.nearest : found.free) {
    Swizzle const& swizzle = one.layout.front().swizzle;
    if (swizzle.bits ? ++swizzles > kSwizzles : ++paddings > kPaddings) continue;
    s += fmt::format("  {:<52}{:>6}", to_string(one.layout),
                     swizzle.bits ? "no more memory" : fmt::format("{} bytes more", one.more_bytes));
    if (to_string(one.layout) == to_string(layout)) s += ", as given";
    if (one.excess) s += fmt::format(", {} too many", counted(one.excess, "wavefront"));
    s += '\n';
  }
  if (swizzles > kSwizzles) s += fmt::format("  and {}\n", counted(std::int64_t(swizzles - kSwizzles), "more swizzle"));
  if (paddings > kPaddings)
    s += fmt::format("  and {}\n", counted(std::int64_t(paddings - kPaddings), "longer padding"));
  return s;
}

}  // namespace inlay::lab
