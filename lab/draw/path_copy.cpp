#include <fmt/format.h>

#include <algorithm>

#include "draw/path.h"
#include "draw/svg.h"
#include "problems/kernels.h"
#include "results/text.h"

namespace inlay::lab {
namespace {

using svg::kMargin, svg::kWidth;
constexpr double kPanel = 158, kGap = (kWidth - 2 * kMargin - 4 * kPanel) / 3, kTop = 104;
constexpr double kHeading = 36, kFoot = 50;

// The coordinate at which a panel draws an element of the operand, by the element's byte offset: row and column of the
// matrix, or, in shared memory, the row of 128 bytes and the column in it.
struct Coordinate {
  std::int64_t row, col;
};
using CoordinateOf = std::function<Coordinate(std::size_t offset)>;

// A row-major batch whose matrices are drawn below each other.
CoordinateOf matrix_coordinates(std::int64_t base, std::int64_t pitch, int elem_bytes) {
  return [=](std::size_t offset) {
    std::int64_t const element = std::int64_t(offset) / elem_bytes - base;
    return Coordinate{element / pitch, element % pitch};
  };
}
CoordinateOf coordinates_of(Hop const& hop, CopyCase const& c, bool is_copy) {
  int const e = c.elem_bytes;
  if (hop.space == replay::Space::shared)
    return [e](std::size_t offset) { return Coordinate{std::int64_t(offset) / 128, std::int64_t(offset) % 128 / e}; };
  if (!hop.store) return matrix_coordinates(c.base_src, c.source_pitch(), e);
  return matrix_coordinates(c.base_dst, is_copy ? c.cols() : c.destination_pitch(), e);
}

// Who touches an element: the block, its first warp, or the first request of that warp.
enum class Touched : std::uint8_t { no, block, warp, request };
// The bounding box of the touched coordinates.
struct Map {
  Coordinate first{INT64_MAX, INT64_MAX}, last{0, 0};
  std::vector<Touched> touched;
  std::int64_t rows() const { return last.row - first.row + 1; }
  std::int64_t cols() const { return last.col - first.col + 1; }
  Touched& at(Coordinate p) { return touched[std::size_t((p.row - first.row) * cols() + p.col - first.col)]; }
};

Map map_of(Hop const& hop, int elem_bytes, CoordinateOf const& coordinate_of) {
  Map map;
  auto const for_each_element = [&](Hop::Access const& a, auto const& f) {
    for (std::size_t b = 0; b < a.bytes; b += std::size_t(elem_bytes)) f(coordinate_of(a.offset + b));
  };
  for (auto const& a : hop.accesses)
    for_each_element(a, [&](Coordinate p) {
      map.first = {std::min(map.first.row, p.row), std::min(map.first.col, p.col)};
      map.last = {std::max(map.last.row, p.row), std::max(map.last.col, p.col)};
    });
  map.touched.resize(std::size_t(map.rows() * map.cols()));
  unsigned const warp = hop.first_warp();
  std::uint32_t lanes_seen = 0;
  for (std::size_t i = 0; i < hop.accesses.size(); ++i) {
    auto const& a = hop.accesses[i];
    bool const in_warp = !hop.boxes && a.thread / 32 == warp;
    bool const in_request = hop.boxes ? i < hop.first_box : in_warp && !(lanes_seen >> a.thread % 32 & 1);
    if (in_warp) lanes_seen |= 1u << a.thread % 32;
    Touched const by = in_request ? Touched::request : in_warp ? Touched::warp : Touched::block;
    for_each_element(a, [&](Coordinate p) { map.at(p) = std::max(map.at(p), by); });
  }
  return map;
}

// The transactions of the first request, and the fewest for as many bytes.
struct Cost {
  unsigned transactions, least;
  char const* unit;
};
Cost cost_of(Hop const& hop) {
  banks::Request const q = hop.first_request();
  if (hop.space == replay::Space::global)
    return {banks::sectors(q), unsigned((banks::distinct_bytes(q) + 31) / 32), "sector"};
  auto const access = hop.store ? banks::Access::store : banks::Access::load;
  return {banks::wavefronts(q, access), banks::passes(q, access), "wavefront"};
}

// "lane 0 at (0,0), 1 at (0,1)": what the first two lanes of the first warp access.
std::string first_lanes(Hop const& hop, CoordinateOf const& coordinate_of) {
  banks::Request const q = hop.first_request();
  std::string s;
  for (unsigned lane : {0u, 1u}) {
    if (!(q.active >> lane & 1)) continue;
    s += fmt::format("{}{} ", lane ? ", " : "lane ", lane);
    auto const [row, col] = coordinate_of(q.address[lane] - hop.base);
    s += hop.space == replay::Space::shared ? fmt::format("in bank {}", q.address[lane] / 4 % 32)
                                            : fmt::format("at ({},{})", row, col);
  }
  return s;
}

void add_panel(svg::Picture& picture, Hop const& hop, CopyCase const& c, CoordinateOf const& coordinate_of, double x,
               double y) {
  Map map = map_of(hop, c.elem_bytes, coordinate_of);
  auto const [transactions, least, unit] = cost_of(hop);
  bool const costly = !hop.boxes && transactions > least, shared = hop.space == replay::Space::shared;
  picture.text(x, y + 12, "bold", fmt::format("{} {}", hop.operand, hop.store ? "store" : "load"));
  picture.text(x, y + 28, "s10 pale",
               shared ? counted(map.rows(), "row") + " of 128 bytes"
                      : fmt::format("{} x {} of the {}", map.rows(), map.cols(), hop.store ? "destination" : "source"));
  y += kHeading;
  double const width = kPanel / double(map.cols()),
               height = std::min(kPanel / double(map.rows()), std::max(width, 12.));
  std::vector<svg::Picture::Tile> tiles[4];
  for (std::int64_t i = 0; i < map.rows(); ++i)
    for (std::int64_t j = 0, end; j < map.cols(); j = end) {
      Touched const t = map.at({map.first.row + i, map.first.col + j});
      for (end = j; end < map.cols() && map.at({map.first.row + i, map.first.col + end}) == t;) ++end;
      tiles[int(t)].push_back({x + double(j) * width, y + double(i) * height, double(end - j) * width});
    }
  char const* const paints[] = {"cell-line", "tile-line", "warp-line", costly ? "bad-line" : "first-line"};
  for (int t = 0; t < 4; ++t) picture.tiles(tiles[t], height, paints[t]);
  double const bottom = y + height * double(map.rows());
  std::string cost = counted(transactions, unit);
  if (costly) cost += fmt::format(", {} would do", least);
  if (hop.boxes) cost = fmt::format("{} by TMA", hop.boxes == 1 ? "a box" : fmt::format("{} boxes", hop.boxes));
  picture.text(x, bottom + 16, costly ? "s11 bold costly" : "s11 bold", cost);
  if (!hop.boxes) picture.text(x, bottom + 32, "s10 pale", first_lanes(hop, coordinate_of));
}

// The label of the arrow between two hops: what carries the data, or the wait between a store and the next load.
std::string carrier(Hop const& hop, Hop const& next) {
  if (hop.store) return next.waited ? "wait" : "";
  if (hop.mechanism == Mechanism::cp_async) return "cp.async";
  return hop.mechanism == Mechanism::tma ? "TMA" : "registers";
}

}  // namespace

unsigned Hop::first_warp() const { return std::ranges::min(accesses, {}, &Access::thread).thread / 32; }

banks::Request Hop::first_request() const {
  banks::Request q;
  unsigned const warp = first_warp();
  q.bytes = std::uint32_t(accesses.front().bytes);
  for (Access const& a : accesses) {
    if (a.thread / 32 != warp || q.active >> a.thread % 32 & 1) continue;
    q.address[a.thread % 32] = base + a.offset;
    q.active |= 1u << a.thread % 32;
  }
  return q;
}

std::vector<Hop> hops_of(Entry<Copy> const& entry, CopyCase const& c) {
  std::vector<Hop> hops;
  std::vector<std::size_t> box_hops;  // the hops of the accesses by TMA since the last box
  bool waited = false;
  Recorder recorder;
  recorder.watch([&](replay::TraceEvent const& e) {
    if (e.block != 0) return;
    waited |= e.what == replay::Happens::wait || e.what == replay::Happens::landed;
    if (e.what == replay::Happens::box || e.what == replay::Happens::store_box) {
      for (std::size_t i : box_hops)
        if (++hops[i].boxes == 1) hops[i].first_box = hops[i].accesses.size();
      box_hops.clear();
    }
    if (e.what != replay::Happens::access) return;
    if (hops.empty() && e.space == replay::Space::shared) return;  // tables that are set up before the tile is loaded
    auto at = std::find_if(hops.begin(), hops.end(), [&](Hop const& h) {
      return h.operand == e.operand->name && h.store == e.store && h.mechanism == e.mechanism;
    });
    if (at == hops.end()) {
      at = hops.insert(at, {e.operand->name, e.space, e.store, e.mechanism, e.address - e.offset, waited, {}});
      waited = false;
    }
    at->accesses.push_back({e.offset, e.bytes, e.thread});
    auto const hop = std::size_t(at - hops.begin());
    if (e.mechanism == Mechanism::tma && std::ranges::find(box_hops, hop) == box_hops.end()) box_hops.push_back(hop);
  });
  replay_sound(entry, c, recorder);
  // If cp.async fills the shared-memory tile, plain stores to the same operand write tables, not elements of the tile.
  auto const filled = std::find_if(hops.begin(), hops.end(), [](Hop const& h) {
    return h.space == replay::Space::shared && h.store && h.mechanism == Mechanism::cp_async;
  });
  if (filled == hops.end()) return hops;
  std::string const tile = filled->operand;
  std::erase_if(hops, [&](Hop const& h) { return h.operand == tile && h.store && h.mechanism == Mechanism::plain; });
  return hops;
}

std::string draw_path(Entry<Copy> const& entry, CopyCase const& c) {
  std::vector<Hop> const hops = hops_of(entry, c);
  bool const is_copy_kernel = is_copy(entry.info());
  svg::Picture picture;
  picture.text(kMargin, 36, "head", title_of(entry, c));
  picture.text(kMargin, 58, "", "How the first thread block copies its tile, from left to right.");
  double x = picture.legend(kMargin, 80, "tile", "the block");
  x = picture.legend(x, 80, "warp", "its first warp");
  x = picture.legend(x, 80, "first", "that warp's first request, or the first box");
  picture.legend(x, 80, "bad", "that request, above its ideal");
  double y = kTop;
  std::size_t const across = hops.size() > 4 ? 3 : 4;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    if (i && i % across == 0) y += kHeading + kPanel + kFoot;
    x = kMargin + double(i % across) * (kPanel + kGap);
    add_panel(picture, hops[i], c, coordinates_of(hops[i], c, is_copy_kernel), x, y);
    if (i + 1 == hops.size()) break;
    double const middle = y + kHeading + std::min(kPanel / 2, 40.);
    picture.text(x + kPanel + kGap / 2, middle - 8, "s9 middle", carrier(hops[i], hops[i + 1]));
    picture.arrow(x + kPanel + 6, middle, x + kPanel + kGap - 6);
  }
  return picture.document(y + kHeading + kPanel + kFoot, title_of(entry, c));
}

}  // namespace inlay::lab
