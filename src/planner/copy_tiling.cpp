#include <inlay/planner/copy_tiling.h>
#include <inlay/problem/integers.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace inlay::planner {
namespace {

constexpr std::int64_t kDramBytes = 64;  // smallest DRAM transfer

// ---- Instructions of a warp, read off the machine code of copy_tiled_16k.

constexpr double kBlockStart = 150, kGridMode = 45;   // to start a block; for each grid mode
constexpr double kLoadVector = 18;                    // to load a vector
constexpr double kTableEntry = 70;                    // to write a table entry
constexpr double kElementOffset = 2;                  // for the offset of an element in a run with one mode
constexpr double kElementLookup = 9;                  // the same in a run with several modes
constexpr double kRunGroup = 18;                      // for each group of runs, in addition to its words
constexpr double kStoreWord = 4.5;                    // to store a word
constexpr double kGatherElement = 2.6, kRunWord = 6;  // to gather an element; to gather a word
constexpr double kRunEnds = 60;                       // for the ends of four runs
constexpr double kWordRunEnds = 180;                  // for the ends of four groups of runs with transposed words
constexpr double kMicroseconds = .00275;              // latency of an instruction if warps share the scheduler

// ---- Costs in sectors, fitted.

constexpr double kPartialSectors = 3.1;   // of the two sectors at the ends of a destination run, if written in part
constexpr double kMisalignedStore = .25;  // of a store of a warp that begins within a sector
constexpr double kMisalignedRun = .3;     // of a source run that begins within a sector

// Instructions of one warp to gather and store the tile's runs.
double gather_instructions(CopyTile const& t, int threads, int elem_bytes) {
  int const K = CopyTile::stores_per_lane(elem_bytes, t.transposes_words), U = CopyTile::elements_per_store(elem_bytes),
            runs = t.transposes_words ? U : 1;
  double const passes = double(ceil_div(t.passes, t.warps_along(threads))),
               groups = double(ceil_div(t.run_groups, t.runs_apart(threads)));
  double const offsets = (t.run_modes > 1 ? kElementLookup : kElementOffset) * K * U;
  double const group = kRunGroup + K * ((t.is_run_in_smem ? kRunWord : U * kGatherElement) + runs * kStoreWord);
  double const with_ends = t.has_whole_words ? 0 : t.skew ? std::min(1., 2. / double(t.grid_mode[0].tiles)) : 1;
  double const ends =
      U > 1 ? with_ends * (t.transposes_words ? kWordRunEnds : kRunEnds) * double(ceil_div(t.run_groups, threads / 8))
            : 0;
  // Runs that start at different offsets within a 4-byte word need their addresses recomputed.
  bool const recomputes =
      t.run_modes > 1 && U > 1 && t.dst_modes > 0 && t.dst_mode[0].dst_bytes * t.runs_apart(threads) % 4;
  return passes * ((recomputes ? groups : 1) * offsets + groups * group) + ends;
}

// The source runs of a tile, where runs that are contiguous with each other count as one, and its sectors.
struct TileSectors {
  double src_runs, src_run_bytes;
  bool is_on_dram_granules;  // all source runs begin at multiples of kDramBytes
  double sectors;            // read and written, with the costs of misalignment
};

TileSectors tile_sectors(Copy const& m, CopyTile const& t) {
  int const u = m.elem_bytes, W = u * CopyTile::elements_per_store(u);
  bool on_sectors = t.is_aligned && t.first_src_bytes % kSectorBytes == 0;
  for (int i = 0; i < t.src_modes; ++i) on_sectors &= t.src_mode[i].src_bytes % kSectorBytes == 0;
  bool const one = t.src_modes > 0 && t.src_mode[0].src_bytes == t.run_bytes;
  double const src_run = one ? double(t.run_bytes) * t.src_mode[0].extent : t.run_bytes,
               src_runs = double(t.src_runs) * t.run_bytes / src_run;
  double const in = src_runs * (on_sectors ? std::ceil(src_run / kSectorBytes)
                                           : (src_run + kSectorBytes - u) / kSectorBytes + kMisalignedRun);

  double const bytes = double(t.run_elements) * u, store = t.lanes * W, stores = t.dst_runs * std::ceil(bytes / store);
  double run = bytes, runs = t.dst_runs;
  // Destination runs begin at multiples of the lowest bit of run_begins, stores of a warp at multiples of that of
  // store_begins.
  std::int64_t run_begins = kSectorBytes | std::int64_t(m.dst), store_begins = 0;
  for (int i = 0; i < t.grid_modes; ++i) run_begins |= t.grid_mode[i].dst_bytes;
  for (int i = 0; i < t.dst_modes; ++i)
    if (double(t.dst_mode[i].dst_bytes) == run)
      run *= t.dst_mode[i].extent, runs /= t.dst_mode[i].extent, store_begins |= t.dst_mode[i].dst_bytes;
    else
      run_begins |= t.dst_mode[i].dst_bytes;
  store_begins |= run_begins;
  bool const skewed = t.skew > 0,
             whole = skewed || (run_begins % kSectorBytes == 0 && std::int64_t(run) % kSectorBytes == 0);
  double const out = (store < kSectorBytes ? stores : t.dst_runs * bytes / kSectorBytes) +
                     (whole ? 0 : runs * kPartialSectors) +
                     (skewed || store_begins % kSectorBytes == 0 ? 0 : stores * kMisalignedStore);

  bool on_granules = on_sectors && t.first_src_bytes % kDramBytes == 0;
  for (int i = 0; i < t.src_modes; ++i) on_granules &= t.src_mode[i].src_bytes % kDramBytes == 0;
  return {src_runs, src_run, on_granules, in + out};
}

}  // namespace

CopyWork work_of(Copy const& m, CopyTile const& t, TileLimits const& limits) {
  return work_of(m, t, limits, t.load_wavefronts(m.elem_bytes));
}
CopyWork work_of(Copy const& m, CopyTile const& t, TileLimits const& limits, int wavefronts) {
  int const u = m.elem_bytes, U = CopyTile::elements_per_store(u), W = u * U;
  CopyWork w;
  double const elements = double(m.elements()), tile = double(t.run_elements) * t.dst_runs, tiles = elements / tile;
  double distinct = elements;
  for (int k = 0; k < m.rank; ++k)
    if (m.mode[k].src_stride == 0) distinct /= double(m.mode[k].extent);
  w.bytes = (elements + distinct) * u;
  TileSectors const s = tile_sectors(m, t);
  w.sectors = tiles * s.sectors;
  // A source run that ends within a DRAM granule: a later tile reads that granule from DRAM again.
  double const granules = s.is_on_dram_granules ? std::ceil(s.src_run_bytes / kDramBytes)
                                                : (s.src_run_bytes + kDramBytes - 16) / kDramBytes;
  double const read = s.src_runs * granules * kDramBytes;
  w.bytes = std::max(w.bytes, elements * u + tiles * std::min(read, 1.5 * s.src_runs * s.src_run_bytes));

  int const threads = limits.threads, runs = t.transposes_words ? U : 1;
  double const vectors = double(t.src_runs) * t.run_vectors;
  auto const entries = [&](double n) { return kTableEntry * std::ceil(n / threads); };
  double const warp = kBlockStart + kGridMode * t.grid_modes * 32 / threads +
                      kLoadVector * std::ceil(t.src_runs / double(std::max(1, threads / t.run_vectors))) *
                          std::ceil(double(t.run_vectors) / threads) +
                      gather_instructions(t, threads, u) + entries(t.run_groups) +
                      (t.src_modes > 1 ? entries(t.src_runs) : 0) +
                      (t.run_modes > 1 ? entries(t.inner_elements + U) : 0);
  w.instructions = tiles * threads / 32 * warp;
  double const gathered = t.run_elements + (t.run_modes > 1 ? t.skew_elements() : 0),
               stored = gathered * t.dst_runs * u / W / 32;
  w.wavefronts = tiles * (vectors / 32 * 8 + stored * ((t.is_run_in_smem ? 2. : double(U) / runs) * (.2 + wavefronts) +
                                                       W / 4 + 32 / t.lanes));
  w.blocks = double(t.blocks());
  w.resident_blocks = limits.blocks;
  w.block_us = .76 + kMicroseconds * warp;
  return w;
}

namespace {

// The fewest lanes along a run of `words` words with which a warp needs at most four iterations, K words per lane each;
// at most 8.
int fewest_lanes(std::int64_t words, int K) {
  int lanes = 1;
  while (lanes < 8 && 4 * K * lanes < words) lanes *= 2;
  return lanes;
}
int most_lanes(int fewest) { return std::min(8 * fewest, 32); }

// For elements below 4 bytes: index of the tiled mode that is contiguous in the source, if 4-byte words can be loaded
// along it; otherwise 0.
int word_mode(Copy const& m, Tiling const& c) {
  int found = 0;
  bool words = m.elem_bytes < 4;
  for (int i = 0; i < c.modes; ++i) {
    Mode const& mode = m.mode[c.tiled[i].mode];
    if (mode.src_stride == m.elem_bytes && mode.dst_stride % 4 == 0)
      found = i;
    else
      words &= mode.src_stride % 4 == 0;
  }
  return words ? found : 0;
}

// Chooses the destination run of a tile of `bytes` bytes: its modes, its splits and the lanes along it, by fewest
// instructions.
void choose_run(Copy const& m, TileLimits const& limits, std::int64_t bytes, Tiling& c) {
  int const u = m.elem_bytes, U = CopyTile::elements_per_store(u), W = u * U, warps = limits.threads / 32,
            across = word_mode(m, c);
  double best = HUGE_VAL;
  std::int64_t length = m.elem_bytes;
  for (int i = 0; i < c.modes && m.mode[c.tiled[i].mode].dst_stride == length; ++i) {
    int const together = i < across ? U : 1, K = CopyTile::stores_per_lane(u, together > 1);
    std::int32_t const extent = c.tiled[i].extent;
    for (int splits = 1; splits <= 16 && splits <= extent; ++splits) {
      std::int64_t const run = length * extent / splits;
      if (extent % splits ||
          (splits > 1 && (run % kVectorBytes || run < 256 || m.mode[c.tiled[i].mode].src_stride < 0)))
        continue;
      std::int64_t const words = ceil_div(run, W) + (run % W != 0), groups = ceil_div(bytes / run, together);
      bool const whole = run % W == 0 && reinterpret_cast<std::uintptr_t>(m.dst) % unsigned(W) == 0;
      for (int lanes : {8, 16, 32}) {
        std::int64_t const along = std::min<std::int64_t>(ceil_div(words, lanes * K), warps);
        double const passes = double(ceil_div(words, along * lanes * K));
        double const each = double(ceil_div(groups, warps / along * (32 / lanes)));
        double const offsets = (i > 0 ? kElementLookup : kElementOffset) * U * K;
        double const work =
            passes * (offsets + each * (kRunGroup + (kGatherElement * U + kStoreWord * together) * K)) +
            (whole ? 0 : (together > 1 ? kWordRunEnds : kRunEnds) * double(ceil_div(groups, limits.threads / 8)));
        if (work < best) best = work, c.run_modes = i + 1, c.run_splits = splits, c.lanes = lanes;
      }
    }
    length *= extent;
    if (extent < m.mode[c.tiled[i].mode].extent) break;
  }
}

std::int64_t src_stride(Copy const& m, int mode) { return std::abs(m.mode[mode].src_stride); }

// The extent of a tile along a mode of extent n, close to `wanted`: equal tiles, rounded to whole sectors if that
// changes the extent by at most a third. inner_bytes: stride of the mode.
std::int64_t tile_extent(std::int64_t n, std::int64_t wanted, std::int64_t inner_bytes) {
  if (4 * wanted >= 3 * n) return n;
  std::int64_t const even = ceil_div(n, ceil_div(n, std::max<std::int64_t>(wanted, 1)));
  if (even * inner_bytes % kSectorBytes == 0) return even;
  std::int64_t const step = kDramBytes / std::gcd(inner_bytes, kDramBytes);
  std::int64_t const more = std::min(n, ceil_div(even, step) * step), less = even / step * step;
  return 3 * more <= 4 * even ? more : 4 * less >= 3 * even ? less : even;
}

// The tiling with destination runs of about `dst_run` bytes and source runs of about `src_run` bytes, and tiles of at
// most `most` bytes. Has no modes if the tile does not fit (then `fits` is false) or has too few bytes for a block.
Tiling tiling_with(Copy const& m, std::span<int const> by_src, std::int64_t dst_run, std::int64_t src_run,
                   std::int64_t most, bool& fits) {
  std::int64_t const u = m.elem_bytes, sector = kSectorBytes / std::gcd(u, kSectorBytes);  // elements of whole sectors
  std::int64_t extent[Copy::kMaxRank], bytes = u, run = u, span = u,
                                       needed = u;  // span: bytes of a source run; needed: without gaps
  std::fill(extent, extent + m.rank, 1);
  // Modes whose indices share destination sectors are tiled, with or without gaps between the indices.
  for (int k = 0; k < m.rank && run < dst_run && m.mode[k].dst_stride <= std::max(2 * run, kSectorBytes); ++k) {
    std::int64_t const step = m.mode[k].dst_stride;
    extent[k] = tile_extent(m.mode[k].extent, ceil_div(dst_run, step), step);
    if (k == 0 && extent[0] < m.mode[0].extent) extent[0] = dst_run / u;  // a power of two, like the lanes
    run = step * extent[k];
    if (extent[k] < m.mode[k].extent) break;
  }
  for (int k : by_src) {
    std::int64_t const step = src_stride(m, k);
    if (span >= src_run || step > std::max(2 * span, kSectorBytes)) break;
    extent[k] = std::max(extent[k], tile_extent(m.mode[k].extent, (src_run - span) / step + 1, step));
    if (k == 0 && extent[k] < m.mode[k].extent) extent[k] = std::max(extent[k] / sector * sector, sector);
    span += step * (extent[k] - 1), needed *= extent[k];
    if (extent[k] < m.mode[k].extent) break;
  }
  Tiling c;
  fits = true;
  for (int k = 0; k < m.rank && fits; ++k) {
    if (extent[k] == 1 && k > 0) continue;
    fits = c.modes < Tiling::kModes && extent[k] <= most && (bytes *= extent[k]) <= most;
    if (fits) c.tiled[c.modes++] = {k, std::int32_t(extent[k])};
  }
  // Short source runs occupy more shared memory than they have bytes.
  if (!fits || (bytes / needed * (needed + kVectorBytes) < most / 10 && bytes < m.elements() * u)) c.modes = 0;
  return c;
}
bool is_same_tile(Tiling const& a, Tiling const& b) {
  return a.modes == b.modes && std::equal(a.tiled, a.tiled + a.modes, b.tiled);
}
std::int64_t tile_bytes(Copy const& m, Tiling const& c) {
  std::int64_t bytes = m.elem_bytes;
  for (int i = 0; i < c.modes; ++i) bytes *= c.tiled[i].extent;
  return bytes;
}

// Batches of small matrices: if a mode k > 0 continues the first modes contiguously on both sides, a run contains
// enough matrices to give each thread a 16-byte vector, and a tile has 1 to 8 runs. Appends to the first `found`
// tilings; returns the new count.
int add_batches(Copy const& m, TileLimits const& limits, std::int64_t most, std::span<Tiling> tilings, int found) {
  std::int64_t const u = m.elem_bytes, word = std::max<std::int64_t>(u, 4);
  std::int64_t run = u;
  for (int k = 0; k < m.rank && k < Tiling::kModes && m.mode[k].dst_stride == run; run *= m.mode[k++].extent) {
    Mode const& mode = m.mode[k];
    std::int64_t const step = word / std::gcd(run, word), fit = limits.threads * kVectorBytes / run / step * step;
    if (k == 0 || src_stride(m, k) != run || run < 2 * u || fit == 0) continue;
    for (std::int64_t splits : {1, 2, 4, 8}) {
      if ((splits > 1 && mode.src_stride < 0) || fit * splits > mode.extent || run * fit * splits > most) break;
      if (found == int(tilings.size())) return found;
      Tiling c;
      for (int i = 0; i < k; ++i) c.tiled[c.modes++] = {i, std::int32_t(m.mode[i].extent)};
      c.tiled[c.modes++] = {k, std::int32_t(fit * splits)};
      c.run_modes = c.modes, c.run_splits = std::int32_t(splits), c.lanes = 32;
      tilings[std::size_t(found++)] = c;
    }
  }
  return found;
}
}  // namespace

int enumerate_tilings(Copy const& m, TileLimits const& limits, std::span<Tiling> tilings) {
  if (m.rank == 0 || m.mode[0].dst_stride != m.elem_bytes) return 0;
  int by_src[Copy::kMaxRank], n = 0;
  for (int k = 0; k < m.rank; ++k)
    if (m.mode[k].src_stride) by_src[n++] = k;
  std::sort(by_src, by_src + n, [&](int a, int b) { return src_stride(m, a) < src_stride(m, b); });

  std::int64_t const most = limits.bytes - limits.bytes / 8;
  int found = 0;
  for (std::int64_t dst_run = 2 * kSectorBytes; dst_run <= most; dst_run *= 2)
    for (std::int64_t src_run = 2 * kSectorBytes; src_run <= most; src_run *= 2) {
      bool fits;
      Tiling c = tiling_with(m, {by_src, std::size_t(n)}, dst_run, src_run, most, fits);
      if (!fits) break;  // longer source runs do not fit either
      auto const same = [&](Tiling const& o) { return is_same_tile(o, c); };
      if (c.modes == 0 || std::any_of(tilings.begin(), tilings.begin() + found, same)) continue;
      if (found == int(tilings.size())) return found;
      choose_run(m, limits, tile_bytes(m, c), c);
      tilings[std::size_t(found++)] = c;
    }
  return add_batches(m, limits, most, tilings, found);
}

namespace {
struct Timed {
  double seconds = HUGE_VAL;
  int wavefronts = 1;  // of a warp's load; 1 also if bank conflicts were not counted
};
// Predicted time of a tiling. Counting bank conflicts takes longest, so they are counted only if the time without them
// is below `most`.
Timed timed(Copy const& m, TileLimits const& limits, Device const& device, Tiling const& tiling, double most) {
  CopyTile tile;
  if (describe_tile(m, tiling, limits.threads, tile) || tile.smem_bytes > limits.bytes) return {};
  Timed t{seconds_of(work_of(m, tile, limits, 1), device), 1};
  if (t.seconds < most) t.wavefronts = tile.load_wavefronts(m.elem_bytes);
  if (t.wavefronts > 1) t.seconds = seconds_of(work_of(m, tile, limits, t.wavefronts), device);
  return t;
}
}  // namespace

TimedTiling best_tiling(Copy const& m, TileLimits const& limits, Device const& device) {
  constexpr int kMostTilings = 64, kRefined = 3;
  Tiling tilings[kMostTilings];
  double least[kMostTilings];  // seconds without bank conflicts
  int const n = enumerate_tilings(m, limits, tilings);
  for (int i = 0; i < n; ++i) least[i] = timed(m, limits, device, tilings[i], 0).seconds;
  // Refines the best few tilings with all numbers of lanes and both paddings.
  TimedTiling best{{}, HUGE_VAL};
  for (int refined = 0; refined < std::min(n, kRefined); ++refined) {
    int const i = int(std::min_element(least, least + n) - least);
    if (!(least[i] < best.seconds)) break;
    std::int64_t elements = 1;
    for (int j = 0; j < tilings[i].run_modes; ++j) elements *= tilings[i].tiled[j].extent;
    int const u = m.elem_bytes, K = CopyTile::stores_per_lane(u, false);
    int const fewest = fewest_lanes(elements / tilings[i].run_splits / CopyTile::elements_per_store(u) + 1, K);
    for (int lanes = fewest, end = most_lanes(fewest); lanes <= end; lanes *= 2)
      for (Tiling::Padding padding : {Tiling::Padding::none, Tiling::Padding::odd_pitch}) {
        Tiling tiling = tilings[i];
        tiling.padding = padding, tiling.lanes = lanes;
        Timed const t = timed(m, limits, device, tiling, best.seconds);
        if (t.seconds < best.seconds) best = {tiling, t.seconds};
        if (t.wavefronts == 1) break;  // without conflicts padding does not help
      }
    least[i] = HUGE_VAL;
  }
  return best;
}

}  // namespace inlay::planner
