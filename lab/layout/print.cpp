#include "layout/print.h"

#include <fmt/format.h>
#include <inlay/explain/advice.h>

#include <algorithm>
#include <functional>

#include "results/colour.h"
#include "results/text.h"

namespace inlay::lab {
namespace {

using banks::Access;
using Walk = WarpAccess::Walk;

// "no conflicts", or "8 words of bank 0; 4.50 on average": the busiest bank of the worst request.
std::string remark(Wavefronts const& w, Access direction) {
  if (w.worst == w.least) return coloured("no conflicts", Colour::green);
  explain::BusiestBank const busiest = explain::busiest_bank(w.request, direction);
  std::string s = fmt::format("{} words of bank {}", busiest.words, busiest.bank);
  if (w.mean < w.worst - .005) s += fmt::format("; {:.2f} on average", w.mean);
  return coloured(s, Colour::red);
}

char const* walk_name(Walk walk) {
  return walk == Walk::row ? "lanes along a row" : walk == Walk::column ? "lanes down a column" : "lanes of --threads";
}

// "4 x 8 lanes of 1 x 4": the lanes of a request in the tile, and the elements of each lane if they are several.
std::string lanes_of(TileOffsets const& tile, WarpAccess const& access, Vectors const& v) {
  if (access.walk == Walk::threads) return v.length == 1 ? "" : fmt::format("{} values", v.length);
  std::int64_t const height = tile.rows / (v.down ? v.length : 1), width = tile.cols / (v.down ? 1 : v.length);
  bool const row = access.walk == Walk::row;
  std::int64_t const along = std::min<std::int64_t>(32, row ? width : height);
  std::int64_t const lines = std::min((32 + along - 1) / along, row ? height : width);
  std::string const s = fmt::format("{} x {} lanes", row ? lines : along, row ? along : lines);
  if (v.length == 1) return s;
  return s + (v.down ? fmt::format(" of {} x 1", v.length) : fmt::format(" of 1 x {}", v.length));
}

// Whether elements share offsets, and how many offsets below the cosize are unused.
std::string use_of(Layout const& layout, TileOffsets const& tile) {
  auto sorted = tile.offsets;
  std::sort(sorted.begin(), sorted.end());
  auto const distinct = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
  std::int64_t const unused = layout.cosize() - distinct;
  std::string s = distinct == layout.size() ? "no two elements share an offset"
                                            : fmt::format("only {} offsets for {} elements", distinct, layout.size());
  return s + (unused ? fmt::format(", {} below the cosize stay unused", unused) : ", all below the cosize are used");
}

// ---- Grids of numbers

struct GridAxis {
  char const* name;
  std::int64_t extent;
  std::int64_t step = 1;  // labels are its multiples
};

std::int64_t digits(std::int64_t n) { return std::int64_t(std::to_string(n).size()); }

// The values of cell(i, j) in rows and columns, a negative one as a dot, below the title and what is shown of the grid.
// Cut to 16 rows and 120 columns of the terminal unless `whole` is true.
std::string grid(std::string const& title, GridAxis const& rows, GridAxis const& cols, bool whole,
                 std::function<std::int64_t(std::int64_t, std::int64_t)> const& cell) {
  constexpr std::int64_t kTerminalColumns = 120, kRows = 16, kDots = 4;  // kDots: " ..."
  std::int64_t const m = whole ? rows.extent : std::min(rows.extent, kRows);
  std::int64_t largest = (cols.extent - 1) * cols.step;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < cols.extent; ++j) largest = std::max(largest, cell(i, j));
  std::int64_t const width = digits(largest) + 1;
  std::int64_t const label = std::max<std::int64_t>(4, digits((rows.extent - 1) * rows.step) + 1);
  std::int64_t const space = kTerminalColumns - label - 2;
  std::int64_t n = whole ? cols.extent : std::min(cols.extent, space / width);
  if (n < cols.extent) n = (space - kDots) / width;
  if (n < cols.extent && n > 8) n -= n % 8;

  std::string s = title;
  if (m < rows.extent) s += fmt::format(", {} of {} {}s", m, rows.extent, rows.name);
  if (n < cols.extent) s += fmt::format(", {} of {} {}s", n, cols.extent, cols.name);
  s += '\n' + std::string(std::size_t(label) + 2, ' ');
  for (std::int64_t j = 0; j < n; ++j) s += fmt::format("{:>{}}", j * cols.step, width);
  std::string const line_end = n < cols.extent ? " ...\n" : "\n";
  s += line_end;
  for (std::int64_t i = 0; i < m; ++i) {
    s += fmt::format("{:>{}} |", i * rows.step, label);
    for (std::int64_t j = 0; j < n; ++j)
      s += fmt::format("{:>{}}", cell(i, j) < 0 ? "." : std::to_string(cell(i, j)), width);
    s += line_end;
  }
  return m < rows.extent ? s + fmt::format("{:>{}}\n", "...", label) : s;
}

std::string tile_grid(std::string const& title, TileOffsets const& tile, bool whole,
                      std::function<std::int64_t(std::int64_t, std::int64_t)> const& cell) {
  return grid(title, {"row", tile.rows}, {"column", tile.cols}, whole, cell);
}

}  // namespace

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
  return tile_grid("Offsets, in elements", tile, whole, tile);
}

std::string bank_grid(TileOffsets const& tile, int elem_bytes, bool whole) {
  return tile_grid("Banks, of 4 bytes each", tile, whole,
                   [&](auto i, auto j) { return tile(i, j) * elem_bytes / 4 % 32; });
}

std::string partition(TileOffsets const& tile, WarpAccess const& access, int elem_bytes, bool whole) {
  Layout const& threads = *access.threads;
  std::vector<std::int64_t> owner(tile.offsets.size(), -1);  // by colexicographic index
  std::int64_t shared = 0;
  for (std::int64_t value = 0; value < threads.cols(); ++value)
    for (std::int64_t thread = 0; thread < threads.rows(); ++thread) {
      std::int64_t& o = owner[std::size_t(threads(thread, value))];
      shared += o >= 0;
      if (o < 0) o = thread;
    }
  auto const unowned = std::ranges::count(owner, -1);

  std::string s = fmt::format("{}: {}, {} each", to_string(threads), counted(threads.rows(), "thread"),
                              counted(threads.cols(), "value"));
  if (shared) s += fmt::format("; {} of elements that have a holder", counted(shared, "value"));
  if (unowned) s += fmt::format("; {} without a holder", counted(unowned, "element"));
  s += "\n\n" + tile_grid("The thread that holds each element", tile, whole,
                          [&](auto i, auto j) { return owner[std::size_t(i + j * tile.rows)]; });

  auto const vectors = vectors_of(tile, access, elem_bytes).value();
  auto const add_requests = [&](char const* purpose, std::vector<std::vector<unsigned>> const& wavefronts) {
    std::string const title = fmt::format(
        "Wavefronts of each request{}, {} bytes a lane: warps down, their first values across", purpose, access.bytes);
    s += '\n' + grid(title, {"warp", std::int64_t(wavefronts.size())},
                     {"value", std::int64_t(wavefronts[0].size()), vectors.length}, whole,
                     [&](auto i, auto j) { return std::int64_t(wavefronts[std::size_t(i)][std::size_t(j)]); });
  };
  auto const loads = wavefronts_by_warp(tile, access, vectors, elem_bytes, Access::load);
  auto const stores = wavefronts_by_warp(tile, access, vectors, elem_bytes, Access::store);
  add_requests(loads == stores ? "" : " to load", loads);
  if (loads != stores) add_requests(" to store", stores);
  return s;
}

std::string access_table(TileOffsets const& tile, std::vector<WarpAccess> const& accesses, int elem_bytes) {
  std::string s = fmt::format("{:<57}{:>6}{:>7}{:>10}   {}\n", "Warp accesses: wavefronts of the worst request", "load",
                              "store", "at least", "busiest bank of a pass");
  std::optional<Walk> previous;
  for (WarpAccess const& a : accesses) {
    s += fmt::format("  {:<19}{:>3} B each  ", a.walk == previous ? "" : walk_name(a.walk), a.bytes);
    previous = a.walk;
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
  std::string names;
  for (WarpAccess const& a : accesses)
    names += fmt::format("{}{}, {} B each", names.empty() ? "" : "; ", walk_name(a.walk), a.bytes);
  std::string const plain = to_string(layout.with({}));
  std::string s = fmt::format("Suggestions ({})\n", names);
  if (found.impossible)
    return s +
           fmt::format("  no swizzle and no padding helps: in {} no aligned vectors of {} elements are contiguous\n",
                       plain, found.impossible->bytes / elem_bytes);
  if (found.plain_is_free) return s + fmt::format("  {} has no conflicts\n", plain);

  bool const none = found.free.empty();
  if (none) {
    s += found.paddings_tried
             ? fmt::format("  no swizzle and none of the {} paddings that were tried is free of conflicts",
                           found.paddings_tried)
             : "  no swizzle and no padding is free of conflicts";
    s += found.nearest.empty() ? fmt::format(", nor better than {}\n", plain) : "; the nearest:\n";
  }
  constexpr std::size_t kSwizzles = 5, kPaddings = 2;  // the most that are shown
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
