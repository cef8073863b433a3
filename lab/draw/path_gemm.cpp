#include <fmt/format.h>
#include <inlay/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "draw/path.h"
#include "draw/svg.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

constexpr std::int64_t kMost = std::int64_t(1) << 22;  // elements of an operand: floats count them, pictures show them

// An element of A or B; outer: m of A, n of B.
struct At {
  std::int64_t outer, k;
};
struct Seen {
  std::set<std::int64_t> outer, k;
};
struct Reader {
  std::int64_t fma = 0;
  bool begun = false, asked = false;  // to ask for its part of the first k tile; and waited, or gone on
  Seen from[2][2];                    // [of global, shared memory][A, B]: what it has multiplied
  std::vector<At> read[2][2];         // and not yet
  Seen const& operand(int which) const { return from[1][which].k.empty() ? from[0][which] : from[1][which]; }
};

// Follows what the threads read. A and B hold their own positions, so that a value tells where it comes from, whichever way
// it came: element i of A is i + 1, of B -(i + 1).
class Watcher {
 public:
  Watcher(GemmCase const& c, Recorder const& recorder) : c_(c), recorder_(recorder) {}

  void operator()(replay::TraceEvent const& e) {
    using replay::Happens;
    std::int64_t const multiplied = recorder_.fma - fma_;  // by this thread: they take turns at what they tell
    fma_ = recorder_.fma;
    bool const access = e.what == Happens::access;
    if (access && e.store && e.operand->name == "C") note_stored(e);
    if (e.block != 0) return;
    if (readers.size() <= e.thread) readers.resize(e.thread + 1);
    Reader& reader = readers[e.thread];
    if (multiplied) note_multiplied(reader, multiplied);
    if (access) note_site(e);
    if (access && !e.store) note_read(e, reader);
    if (e.what == Happens::commit || e.what == Happens::wait || e.what == Happens::box) reader.asked = reader.begun;
  }

  std::vector<Reader> readers;
  std::set<std::int64_t> first_k;  // of A, asked for before a thread waits
  std::vector<Box> stored;         // by block
  std::vector<std::string> sites;

 private:
  At at(Stored const& x, bool outer_is_row, std::int64_t i) const {
    std::int64_t const row = i % x.elements() / x.pitch, col = i % x.pitch;
    return outer_is_row ? At{row, col} : At{col, row};
  }
  At of_A(std::int64_t i) const { return at(c_.a(), !c_.a_transposed(), i); }
  At of_B(std::int64_t i) const { return at(c_.b(), c_.b_transposed(), i); }

  void note_stored(replay::TraceEvent const& e) {
    if (stored.size() <= e.block) stored.resize(e.block + 1);
    Stored const c = c_.c();
    for (std::size_t b = 0; b < e.bytes; b += sizeof(float)) {
      auto const i = std::int64_t((e.offset + b) / sizeof(float)) % c.elements();
      stored[e.block].add(i / c.pitch, i % c.pitch);
    }
  }
  void note_multiplied(Reader& reader, std::int64_t fma) {
    reader.fma += fma;
    for (int space = 0; space < 2; ++space)
      for (int which = 0; which < 2; ++which) {
        for (auto const& [outer, k] : reader.read[space][which])
          reader.from[space][which].outer.insert(outer), reader.from[space][which].k.insert(k);
        reader.read[space][which].clear();
      }
  }
  void note_site(replay::TraceEvent const& e) {
    Site const site{e.operand->name, e.space, e.store, e.mechanism,
                    e.mechanism == Mechanism::tma ? 0 : unsigned(e.bytes)};
    if (known_.insert({e.operand->name, e.store, int(e.mechanism), site.bytes}).second) sites.push_back(name_of(site));
  }
  void note_read(replay::TraceEvent const& e, Reader& reader) {
    bool const shared = e.space == replay::Space::shared;
    if (!shared && e.operand->name == "A" && !reader.asked) {
      reader.begun = true;
      for (std::size_t b = 0; b < e.bytes; b += sizeof(float))
        first_k.insert(of_A(std::int64_t((e.offset + b) / sizeof(float))).k);
    }
    if (e.mechanism != Mechanism::plain || e.operand->name.ends_with("C")) return;  // no sums
    for (std::size_t b = 0; b + sizeof(float) <= e.bytes; b += sizeof(float)) {
      float x;
      std::memcpy(&x, e.data + b, sizeof x);
      bool const is_A = x > 0;
      if (x == 0 || std::abs(x) > float((is_A ? c_.a() : c_.b()).elements() * c_.batch)) continue;  // beyond an edge
      std::int64_t const i = std::int64_t(std::abs(x)) - 1;
      reader.read[shared][!is_A].push_back(is_A ? of_A(i) : of_B(i));
    }
  }

  GemmCase const& c_;
  Recorder const& recorder_;
  std::int64_t fma_ = 0;
  std::set<std::tuple<std::string, bool, int, unsigned>> known_;
};

// The operands, which hold their positions, and a product of them that is no number's business.
GemmCall numbered(GemmCase const& c, Recorder& recorder) {
  auto const operand = [&](char const* name, Stored const& x, float sign) {
    auto const n = std::size_t(c.batch * x.elements());
    if (std::int64_t(n) > kMost)
      throw UsageError(fmt::format("{} has {} elements; a picture takes at most {}", name, n, kMost));
    auto* const seen = static_cast<float*>(recorder.allocate(name, n * sizeof(float), sizeof(float), 0));
    for (std::size_t i = 0; i < n; ++i) {
      float const x = sign * float(i + 1);
      std::memcpy(recorder.real(seen) + i * sizeof x, &x, sizeof x);
    }
    return seen;
  };
  return {1, 0, operand("A", c.a(), 1), operand("B", c.b(), -1), operand("C", c.c(), 1)};
}

}  // namespace

void Box::add(std::int64_t m, std::int64_t n) {
  m0 = std::min(m0, m), n0 = std::min(n0, n);
  m1 = std::max(m1, m + 1), n1 = std::max(n1, n + 1);
}

BlockTiles tiles_of(Entry<Gemm> const& entry, GemmCase const& c) {
  Recorder recorder;
  Gemm const gemm = gemm_of(c, numbered(c, recorder));
  if (Reason const reason = entry.info().rejects(gemm, Device{}))
    throw UsageError(fmt::format("{}: rejected: {}", title_of(entry, c), reason.sentence()));
  recorder.allocate_workspace(entry.info().workspace(gemm, Device{}));
  Watcher watcher(c, recorder);
  recorder.watch([&](replay::TraceEvent const& e) { watcher(e); });
  entry.replay(gemm, recorder);
  for (Finding const& f : recorder.findings)  // such sums are not exact, so they are not judged
    if (f.check != Check::result) throw Error(f.sentence);

  BlockTiles tiles;
  tiles.stored = watcher.stored, tiles.sites = watcher.sites;
  tiles.k0 = c.K, tiles.k_tile = std::int64_t(watcher.first_k.size());
  for (Reader const& r : watcher.readers) {
    Seen const &a = r.operand(0), &b = r.operand(1);
    tiles.threads.push_back({{a.outer.begin(), a.outer.end()}, {b.outer.begin(), b.outer.end()}});
    if (a.k.empty()) continue;
    if (r.fma < std::int64_t(a.outer.size() * b.outer.size() * a.k.size()))
      throw UsageError(fmt::format("{}: its first block has more than one tile of C: ask for a smaller product",
                                   title_of(entry, c)));
    tiles.k0 = std::min(tiles.k0, *a.k.begin()), tiles.k1 = std::max(tiles.k1, *a.k.rbegin() + 1);
    tiles.block.add(*a.outer.begin(), *b.outer.begin());
    tiles.block.add(*a.outer.rbegin(), *b.outer.rbegin());
  }
  return tiles;
}

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

constexpr double kNumbered = 22;  // an element as wide as this has room for a thread's number

double scale_of(Box const& block, double width, double height) {
  return std::min({width / double(block.n1 - block.n0), height / double(block.m1 - block.m0), 26.});
}

// The names of the warps in their parts of the tile, or, where those have no room, below it. Returns the lower edge.
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
  // The tile stands beside the matrices; below them, if it then has room for its threads' numbers.
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
