#include <inlay/planner/copy_tiling.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace inlay::planner {
namespace {

constexpr std::int64_t kVector = 16, kSector = 32, kGranule = 64;  // the last: what the DRAM gives at once
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// ---- Instructions of a warp, read off the machine code of copy_tiled_16k.
constexpr double kBlock = 150, kOuter = 45;            // a block begins; for each mode of the grid
constexpr double kLoad = 18;                           // a vector is loaded
constexpr double kTable = 70;                          // an entry of a table
constexpr double kPlace = 2, kPlaced = 9;              // a unit's place is found: of one mode; of several
constexpr double kLine = 18;                           // lines, beside their words
constexpr double kStore = 4.5, kUnit = 2.6, kRun = 6;  // a word is stored; a unit is gathered; a word of a run
constexpr double kEnds = 60, kEndsOfWords = 180;       // the ends of four lines; of four groups that are read as words
// ---- Sectors, fitted: what the two cost that blocks write in part, at the ends of lines; a warp's store that begins within
// one; a row that does.
constexpr double kPart = 3.1, kPiece = .25, kBegin = .3;
constexpr double kClockOfAWarp = .00275;  // microseconds for an instruction of a warp that has company

// The gathering of one warp: rounds and lines that its threads go through.
double gathering(CopyTile const& t, int threads, int u) {
  int const K = CopyTile::stores_of_a_lane(u, t.words), U = CopyTile::units_of_a_store(u), lines = t.words ? U : 1;
  double const turns = double(ceil_div(t.turns, t.warps_along(threads))),
               groups = double(ceil_div(t.groups, t.lines_apart(threads)));
  double const places = (t.along_modes > 1 ? kPlaced : kPlace) * K * U;
  double const each = kLine + K * ((t.runs ? kRun : U * kUnit) + lines * kStore);
  double const with_ends = t.whole ? 0 : t.shear ? std::min(1., 2. / double(t.outer[0].tiles)) : 1;  // of all tiles
  double const ends =
      U > 1 ? with_ends * (t.words ? kEndsOfWords : kEnds) * double(ceil_div(t.groups, threads / 8)) : 0;
  // Where lines begin at all places within a word, units are found anew; so they are where the lines of a thread differ so.
  bool const anew = t.along_modes > 1 && U > 1 && t.line_modes > 0 && t.line[0].dst * t.lines_apart(threads) % 4;
  return turns * ((anew ? groups : 1) * places + groups * each) + ends;
}

// How much of a mode of n, so that it is about `want`: pieces alike, or whole sectors on either side where it is cut.
std::int64_t piece_of(std::int64_t n, std::int64_t applies, std::int64_t inner_bytes) {
  if (4 * applies >= 3 * n) return n;
  std::int64_t const even = ceil_div(n, ceil_div(n, std::max<std::int64_t>(applies, 1)));
  if (even * inner_bytes % kSector == 0) return even;
  std::int64_t const step = kGranule / std::gcd(inner_bytes, kGranule);
  std::int64_t const more = std::min(n, ceil_div(even, step) * step), less = even / step * step;
  return 3 * more <= 4 * even ? more : 4 * less >= 3 * even ? less : even;  // sectors are not worth a third
}

}  // namespace

CopyWork work_of(Copy const& m, CopyTile const& t, TileLimits const& limits) {
  return work_of(m, t, limits, t.gathered_wavefronts(m.elem_bytes));
}
CopyWork work_of(Copy const& m, CopyTile const& t, TileLimits const& limits, int wavefronts) {
  int const u = m.elem_bytes, U = CopyTile::units_of_a_store(u), W = u * U;
  CopyWork w;
  double const elements = double(m.elements()), tile = double(t.units) * t.lines, tiles = elements / tile;
  double distinct = elements;
  for (int k = 0; k < m.rank; ++k)
    if (m.mode[k].src_stride == 0) distinct /= double(m.mode[k].extent);
  w.bytes = (elements + distinct) * u;
  // Rows and lines begin anywhere, or on a sector. Lines that follow one another are one.
  bool on_sectors = t.aligned && t.first_src % kSector == 0;
  for (int i = 0; i < t.row_modes; ++i) on_sectors &= t.row[i].src % kSector == 0;
  // Rows that follow one another are one as well.
  bool const one = t.row_modes > 0 && t.row[0].src == t.span;
  double const span = one ? double(t.span) * t.row[0].extent : t.span, rows = double(t.rows) * t.span / span;
  double const in = rows * (on_sectors ? std::ceil(span / kSector) : (span + kSector - u) / kSector + kBegin);
  double const line = double(t.units) * u, piece = t.lanes * W, pieces = t.lines * std::ceil(line / piece);
  double run = line, runs = t.lines;
  std::int64_t of_runs = kSector | std::int64_t(m.dst),
               of_lines = 0;  // where they begin: at multiples of the lowest bit
  for (int i = 0; i < t.outers; ++i) of_runs |= t.outer[i].dst;
  for (int i = 0; i < t.line_modes; ++i)
    if (double(t.line[i].dst) == run)
      run *= t.line[i].extent, runs /= t.line[i].extent, of_lines |= t.line[i].dst;
    else
      of_runs |= t.line[i].dst;
  of_lines |= of_runs;
  bool const sheared = t.shear > 0, whole = sheared || (of_runs % kSector == 0 && std::int64_t(run) % kSector == 0);
  double const out = (piece < kSector ? pieces : t.lines * line / kSector) + (whole ? 0 : runs * kPart) +
                     (sheared || of_lines % kSector == 0 ? 0 : pieces * kPiece);
  w.sectors = tiles * (in + out);
  // Pieces of rows and of lines that end within what the DRAM gives at once: the rest is asked for once more, by a tile that
  // comes later.
  auto const granules = [](double bytes, bool begins_on_one) {
    return begins_on_one ? std::ceil(bytes / kGranule) : (bytes + kGranule - 16) / kGranule;
  };
  bool on_granules = on_sectors && t.first_src % kGranule == 0;
  for (int i = 0; i < t.row_modes; ++i) on_granules &= t.row[i].src % kGranule == 0;
  double const read = rows * granules(span, on_granules) * kGranule;
  w.bytes = std::max(w.bytes, elements * u + tiles * std::min(read, 1.5 * rows * span));

  int const threads = limits.threads, lines = t.words ? U : 1;
  double const vectors = double(t.rows) * t.vectors;
  auto const entries = [&](double n) { return kTable * std::ceil(n / threads); };
  double const warp =
      kBlock + kOuter * t.outers * 32 / threads +
      kLoad * std::ceil(t.rows / double(std::max(1, threads / t.vectors))) * std::ceil(double(t.vectors) / threads) +
      gathering(t, threads, u) + entries(t.groups) + (t.row_modes > 1 ? entries(t.rows) : 0) +
      (t.along_modes > 1 ? entries(t.inner + U) : 0);
  w.issued = tiles * threads / 32 * warp;
  double const gathered = t.units + (t.along_modes > 1 ? t.sheared_units() : 0),
               stored = gathered * t.lines * u / W / 32;
  w.wavefronts = tiles * (vectors / 32 * 8 +
                          stored * ((t.runs ? 2. : double(U) / lines) * (.2 + wavefronts) + W / 4 + 32 / t.lanes));
  w.blocks = double(t.blocks());
  w.held = limits.blocks;
  w.turn = .76 + kClockOfAWarp * warp;
  return w;
}

namespace {
// Of a warp, along a line of so many words: so few that the line takes four rounds, so many that it takes half of one.
int fewest_lanes(std::int64_t stores, int K) {
  int lanes = 1;
  while (lanes < 8 && 4 * K * lanes < stores) lanes *= 2;
  return lanes;
}
int most_lanes(int fewest) { return std::min(8 * fewest, 32); }

// The mode whose neighbours are neighbours in the source, of narrow units that may be read as words across it; else none.
int across_words(Copy const& m, Tiling const& c) {
  int across = 0;
  bool words = m.elem_bytes < 4;
  for (int i = 0; i < c.modes; ++i) {
    Mode const& mode = m.mode[c.piece[i].mode];
    if (mode.src_stride == m.elem_bytes && mode.dst_stride % 4 == 0)
      across = i;
    else
      words &= mode.src_stride % 4 == 0;
  }
  return words ? across : 0;
}

// The line of a tile of so many bytes: as many modes as make whole vectors, and as many pieces as the threads like.
void line_of(Copy const& m, TileLimits const& limits, std::int64_t bytes, Tiling& c) {
  int const u = m.elem_bytes, U = CopyTile::units_of_a_store(u), W = u * U, warps = limits.threads / 32,
            across = across_words(m, c);
  double best = HUGE_VAL;
  std::int64_t length = m.elem_bytes;
  for (int i = 0; i < c.modes && m.mode[c.piece[i].mode].dst_stride == length; ++i) {
    int const together = i < across ? U : 1, K = CopyTile::stores_of_a_lane(u, together > 1);
    std::int32_t const extent = c.piece[i].extent;
    for (int repeat = 1; repeat <= 16 && repeat <= extent; ++repeat) {
      std::int64_t const one = length * extent / repeat;
      if (extent % repeat || (repeat > 1 && (one % kVector || one < 256 || m.mode[c.piece[i].mode].src_stride < 0)))
        continue;
      std::int64_t const stores = ceil_div(one, W) + (one % W != 0), lines = ceil_div(bytes / one, together);
      bool const whole = one % W == 0 && reinterpret_cast<std::uintptr_t>(m.dst) % unsigned(W) == 0;
      for (int lanes : {8, 16, 32}) {
        std::int64_t const along = std::min<std::int64_t>(ceil_div(stores, lanes * K), warps);
        double const passes = double(ceil_div(stores, along * lanes * K));
        double const each = double(ceil_div(lines, warps / along * (32 / lanes)));
        double const places = (i > 0 ? kPlaced : kPlace) * U * K;
        double const work =
            passes * (places + each * (kLine + (kUnit * U + kStore * together) * K)) +
            (whole ? 0 : (together > 1 ? kEndsOfWords : kEnds) * double(ceil_div(lines, limits.threads / 8)));
        if (work < best) best = work, c.line_modes = i + 1, c.repeat = repeat, c.lanes = lanes;
      }
    }
    length *= extent;
    if (extent < m.mode[c.piece[i].mode].extent) break;
  }
}
}  // namespace

namespace {
std::int64_t src_of(Copy const& m, int mode) { return std::abs(m.mode[mode].src_stride); }

// The tile with about so many bytes of a line and of a row; no modes: it does not fit, or is hardly worth a block.
Tiling cut_of(Copy const& m, std::span<int const> by_src, std::int64_t line, std::int64_t row, std::int64_t most,
              bool& fits) {
  std::int64_t const u = m.elem_bytes, sector = kSector / std::gcd(u, kSector);  // elements that are whole ones
  std::int64_t piece[Copy::kMaxRank], bytes = u, run = u, span = u, within = u;  // the last: a row's own bytes
  std::fill(piece, piece + m.rank, 1);
  // Modes whose indices share sectors of the destination come along, gaps or not.
  for (int k = 0; k < m.rank && run < line && m.mode[k].dst_stride <= std::max(2 * run, kSector); ++k) {
    std::int64_t const step = m.mode[k].dst_stride;
    piece[k] = piece_of(m.mode[k].extent, ceil_div(line, step), step);
    if (k == 0 && piece[0] < m.mode[0].extent) piece[0] = line / u;  // as many words as lanes
    run = step * piece[k];
    if (piece[k] < m.mode[k].extent) break;
  }
  for (int k : by_src) {
    std::int64_t const step = src_of(m, k);
    if (span >= row || step > std::max(2 * span, kSector)) break;
    piece[k] = std::max(piece[k], piece_of(m.mode[k].extent, (row - span) / step + 1, step));
    if (k == 0 && piece[k] < m.mode[k].extent) piece[k] = std::max(piece[k] / sector * sector, sector);
    span += step * (piece[k] - 1), within *= piece[k];
    if (piece[k] < m.mode[k].extent) break;
  }
  Tiling c;
  fits = true;
  for (int k = 0; k < m.rank && fits; ++k) {
    if (piece[k] == 1 && k > 0) continue;
    fits = c.modes < Tiling::kModes && piece[k] <= most && (bytes *= piece[k]) <= most;
    if (fits) c.piece[c.modes++] = {k, std::int32_t(piece[k])};
  }
  // Short rows take more module in shared memory than they have bytes.
  if (!fits || (bytes / within * (within + kVector) < most / 10 && bytes < m.elements() * u)) c.modes = 0;
  return c;
}
bool same_pieces(Tiling const& a, Tiling const& b) {
  return a.modes == b.modes && std::equal(a.piece, a.piece + a.modes, b.piece, [](auto const& x, auto const& y) {
           return x.mode == y.mode && x.extent == y.extent;
         });
}
std::int64_t bytes_of(Copy const& m, Tiling const& c) {
  std::int64_t bytes = m.elem_bytes;
  for (int i = 0; i < c.modes; ++i) bytes *= c.piece[i].extent;
  return bytes;
}

// Where the first modes are whole on both sides, matrices one behind the other: as many to a line as there are threads
// for its windows, in whole vectors, and a few such lines. How many cuts there are now.
int add_batches(Copy const& m, TileLimits const& limits, std::int64_t most, std::span<Tiling> cuts, int found) {
  std::int64_t const u = m.elem_bytes, word = std::max<std::int64_t>(u, 4);
  std::int64_t run = u;
  for (int k = 0; k < m.rank && k < Tiling::kModes && m.mode[k].dst_stride == run; run *= m.mode[k++].extent) {
    Mode const& mode = m.mode[k];
    std::int64_t const step = word / std::gcd(run, word), fit = limits.threads * kVector / run / step * step;
    if (k == 0 || src_of(m, k) != run || run < 2 * u || fit == 0) continue;
    for (std::int64_t repeat : {1, 2, 4, 8}) {
      if ((repeat > 1 && mode.src_stride < 0) || fit * repeat > mode.extent || run * fit * repeat > most) break;
      if (found == int(cuts.size())) return found;
      Tiling c;
      for (int i = 0; i < k; ++i) c.piece[c.modes++] = {i, std::int32_t(m.mode[i].extent)};
      c.piece[c.modes++] = {k, std::int32_t(fit * repeat)};
      c.line_modes = c.modes, c.repeat = std::int32_t(repeat), c.lanes = 32;
      cuts[std::size_t(found++)] = c;
    }
  }
  return found;
}
}  // namespace

int tilings_of(Copy const& m, TileLimits const& limits, std::span<Tiling> cuts) {
  if (m.rank == 0 || m.mode[0].dst_stride != m.elem_bytes) return 0;
  int by_src[Copy::kMaxRank], n = 0;
  for (int k = 0; k < m.rank; ++k)
    if (m.mode[k].src_stride) by_src[n++] = k;
  std::sort(by_src, by_src + n, [&](int a, int b) { return src_of(m, a) < src_of(m, b); });

  std::int64_t const most = limits.bytes - limits.bytes / 8;
  int found = 0;
  for (std::int64_t line = 2 * kSector; line <= most; line *= 2)
    for (std::int64_t row = 2 * kSector; row <= most; row *= 2) {
      bool fits;
      Tiling c = cut_of(m, {by_src, std::size_t(n)}, line, row, most, fits);
      if (!fits) break;  // longer rows are no better
      auto const same = [&](Tiling const& o) { return same_pieces(o, c); };
      if (c.modes == 0 || std::any_of(cuts.begin(), cuts.begin() + found, same)) continue;
      if (found == int(cuts.size())) return found;
      line_of(m, limits, bytes_of(m, c), c);
      cuts[std::size_t(found++)] = c;
    }
  return add_batches(m, limits, most, cuts, found);
}

namespace {
// Wavefronts are 1 where nobody has looked for conflicts of banks.
struct Timed {
  double seconds = HUGE_VAL;
  int wavefronts = 1;
};
// Conflicts take longest to find: they are not looked for where the time without them is no less than `most`.
Timed timed(Copy const& m, TileLimits const& limits, Device const& device, Tiling const& tiling, double most) {
  CopyTile tile;
  if (make_tile(m, tiling, limits.threads, tile) || tile.shared_bytes > limits.bytes) return {};
  Timed t{seconds_of(work_of(m, tile, limits, 1), device), 1};
  if (t.seconds < most) t.wavefronts = tile.gathered_wavefronts(m.elem_bytes);
  if (t.wavefronts > 1) t.seconds = seconds_of(work_of(m, tile, limits, t.wavefronts), device);
  return t;
}
}  // namespace

TimedTiling best_tiling(Copy const& m, TileLimits const& limits, Device const& device) {
  constexpr int kCuts = 64, kLooked = 3;
  Tiling cuts[kCuts];
  double least[kCuts];  // seconds without conflicts
  int const n = tilings_of(m, limits, cuts);
  for (int i = 0; i < n; ++i) least[i] = timed(m, limits, device, cuts[i], 0).seconds;
  // The few that look best, with other lanes and other padding.
  TimedTiling best{{}, HUGE_VAL};
  for (int turn = 0; turn < std::min(n, kLooked); ++turn) {
    int const i = int(std::min_element(least, least + n) - least);
    if (!(least[i] < best.seconds)) break;
    std::int64_t units = 1;
    for (int j = 0; j < cuts[i].line_modes; ++j) units *= cuts[i].piece[j].extent;
    int const u = m.elem_bytes, K = CopyTile::stores_of_a_lane(u, false);
    int const fewest = fewest_lanes(units / cuts[i].repeat / CopyTile::units_of_a_store(u) + 1, K);
    for (int lanes = fewest, end = most_lanes(fewest); lanes <= end; lanes *= 2)
      for (Tiling::Padding padding : {Tiling::Padding::none, Tiling::Padding::row}) {
        Tiling tiling = cuts[i];
        tiling.padding = padding, tiling.lanes = lanes;
        Timed const t = timed(m, limits, device, tiling, best.seconds);
        if (t.seconds < best.seconds) best = {tiling, t.seconds};
        if (t.wavefronts == 1) break;  // padding has nothing to gain
      }
    least[i] = HUGE_VAL;
  }
  return best;
}

}  // namespace inlay::planner
