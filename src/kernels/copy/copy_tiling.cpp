#include <inlay/kernels/copy/access_footprint.h>
#include <inlay/kernels/copy/copy_tiling.h>
#include <inlay/problem/integers.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace inlay::kernels {
namespace {

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
constexpr double kMicroseconds = .00303;              // latency of an instruction if warps share the scheduler

// ---- Costs in sectors, fitted.

constexpr double kPartialSectors = 3.1;   // of the two sectors at the ends of a destination run, if written in part
constexpr double kMisalignedStore = .25;  // of a store of a warp that begins within a sector
constexpr double kMisalignedRun = .3;     // of a source run that begins within a sector

// ---- Work of a tile.

// Instructions that each warp executes to gather and store its share of the tile's runs.
double gather_instructions(CopyTile const& tile, int threads, int elem_bytes) {
  int const lane_words = CopyTile::stores_per_lane(elem_bytes, tile.transposes_words),
            store_elements = CopyTile::elements_per_store(elem_bytes),
            group_runs = tile.transposes_words ? store_elements : 1;
  double const passes = double(ceil_div(tile.passes, tile.warps_along(threads))),
               groups = double(ceil_div(tile.run_groups, tile.runs_apart(threads)));
  double const offsets = (tile.run_modes > 1 ? kElementLookup : kElementOffset) * lane_words * store_elements;
  double const group = kRunGroup + lane_words * ((tile.is_run_in_smem ? kRunWord : store_elements * kGatherElement) +
                                                 group_runs * kStoreWord);
  double const with_ends = tile.has_whole_words ? 0
                           : tile.skew          ? std::min(1., 2. / double(tile.grid_mode[0].tiles))
                                                : 1;
  double const ends = store_elements > 1 ? with_ends * (tile.transposes_words ? kWordRunEnds : kRunEnds) *
                                               double(ceil_div(tile.run_groups, threads / 8))
                                         : 0;
  // Runs that start at different offsets within a 4-byte word need their addresses recomputed.
  bool const recomputes = tile.run_modes > 1 && store_elements > 1 && tile.dst_modes > 0 &&
                          tile.dst_mode[0].dst_bytes * tile.runs_apart(threads) % 4;
  return passes * ((recomputes ? groups : 1) * offsets + groups * group) + ends;
}

// The source runs of a tile, where runs that are contiguous with each other count as one, and its sectors.
struct TileSectors {
  double src_runs, src_run_bytes;
  bool is_on_dram_granules;  // all source runs begin at multiples of kDramBytes
  double sectors;            // read and written, with the costs of misalignment
};

TileSectors tile_sectors(Copy const& copy, CopyTile const& tile) {
  int const elem_bytes = copy.elem_bytes, store_bytes = elem_bytes * CopyTile::elements_per_store(elem_bytes);
  bool on_sectors = tile.is_aligned && tile.first_src_bytes % kSectorBytes == 0;
  for (int i = 0; i < tile.src_modes; ++i) on_sectors &= tile.src_mode[i].src_bytes % kSectorBytes == 0;
  bool const one = tile.src_modes > 0 && tile.src_mode[0].src_bytes == tile.run_bytes;
  double const src_run = one ? double(tile.run_bytes) * tile.src_mode[0].extent : tile.run_bytes,
               src_runs = double(tile.src_runs) * tile.run_bytes / src_run;
  double const in = src_runs * (on_sectors ? std::ceil(src_run / kSectorBytes)
                                           : (src_run + kSectorBytes - elem_bytes) / kSectorBytes + kMisalignedRun);

  double const bytes = double(tile.run_elements) * elem_bytes, store = tile.lanes * store_bytes,
               stores = tile.dst_runs * std::ceil(bytes / store);
  double run = bytes, runs = tile.dst_runs;
  // Destination runs begin at multiples of the lowest bit of run_begins, stores of a warp at that of store_begins.
  std::int64_t run_begins = kSectorBytes | std::int64_t(copy.dst), store_begins = 0;
  for (int i = 0; i < tile.grid_modes; ++i) run_begins |= tile.grid_mode[i].dst_bytes;
  for (int i = 0; i < tile.dst_modes; ++i)
    if (double(tile.dst_mode[i].dst_bytes) == run)
      run *= tile.dst_mode[i].extent, runs /= tile.dst_mode[i].extent, store_begins |= tile.dst_mode[i].dst_bytes;
    else
      run_begins |= tile.dst_mode[i].dst_bytes;
  store_begins |= run_begins;
  bool const skewed = tile.skew > 0,
             whole = skewed || (run_begins % kSectorBytes == 0 && std::int64_t(run) % kSectorBytes == 0);
  double const out = (store < kSectorBytes ? stores : tile.dst_runs * bytes / kSectorBytes) +
                     (whole ? 0 : runs * kPartialSectors) +
                     (skewed || store_begins % kSectorBytes == 0 ? 0 : stores * kMisalignedStore);

  bool on_granules = on_sectors && tile.first_src_bytes % kDramBytes == 0;
  for (int i = 0; i < tile.src_modes; ++i) on_granules &= tile.src_mode[i].src_bytes % kDramBytes == 0;
  return {src_runs, src_run, on_granules, in + out};
}

}  // namespace

CopyWork work_of(Copy const& copy, CopyTile const& tile, TileLimits const& limits) {
  return work_of(copy, tile, limits, tile.load_wavefronts(copy.elem_bytes));
}
CopyWork work_of(Copy const& copy, CopyTile const& tile, TileLimits const& limits, int wavefronts) {
  int const elem_bytes = copy.elem_bytes, store_elements = CopyTile::elements_per_store(elem_bytes),
            store_bytes = elem_bytes * store_elements;
  CopyWork work;
  double const elements = double(copy.elements()), tile_elements = double(tile.run_elements) * tile.dst_runs,
               tiles = elements / tile_elements;
  double const written = written_bytes(copy);
  work.bytes = written + source_bytes(copy, elements);
  TileSectors const s = tile_sectors(copy, tile);
  work.sectors = tiles * s.sectors;
  // A source run that ends within a DRAM granule: a later tile reads that granule from DRAM again.
  double const granules = s.is_on_dram_granules ? std::ceil(s.src_run_bytes / kDramBytes)
                                                : (s.src_run_bytes + kDramBytes - 16) / kDramBytes;
  double const read = s.src_runs * granules * kDramBytes;
  work.bytes = std::max(work.bytes, written + tiles * std::min(read, 1.5 * s.src_runs * s.src_run_bytes));

  int const threads = limits.threads, group_runs = tile.transposes_words ? store_elements : 1;
  double const vectors = double(tile.src_runs) * tile.run_vectors;
  auto const entries = [&](double n) { return kTableEntry * std::ceil(n / threads); };
  double const warp = kBlockStart + kGridMode * tile.grid_modes * 32 / threads +
                      kLoadVector * std::ceil(tile.src_runs / double(std::max(1, threads / tile.run_vectors))) *
                          std::ceil(double(tile.run_vectors) / threads) +
                      gather_instructions(tile, threads, elem_bytes) + entries(tile.run_groups) +
                      (tile.src_modes > 1 ? entries(tile.src_runs) : 0) +
                      (tile.run_modes > 1 ? entries(tile.inner_elements + store_elements) : 0);
  work.instructions = tiles * threads / 32 * warp;
  double const gathered = tile.run_elements + (tile.run_modes > 1 ? tile.skew_elements() : 0),
               stored = gathered * tile.dst_runs * elem_bytes / store_bytes / 32;
  work.wavefronts =
      tiles * (vectors / 32 * 8 +
               stored * ((tile.is_run_in_smem ? 2. : double(store_elements) / group_runs) * (.2 + wavefronts) +
                         store_bytes / 4 + 32 / tile.lanes));
  work.blocks = double(tile.blocks());
  work.resident_blocks = limits.blocks;
  work.block_us = .84 + kMicroseconds * warp;
  return work.times(double(copy.pairs));
}

namespace {

// The fewest lanes, at most 8, along a run with which a warp needs at most four iterations of lane_words per lane.
int fewest_lanes(std::int64_t words, int lane_words) {
  int lanes = 1;
  while (lanes < 8 && 4 * lane_words * lanes < words) lanes *= 2;
  return lanes;
}
int most_lanes(int fewest) { return std::min(8 * fewest, 32); }

// For elements below 4 bytes: index of the tiled mode that is contiguous in the source, if 4-byte words can be loaded
// along it; otherwise 0.
int word_mode(Copy const& copy, Tiling const& tiling) {
  int found = 0;
  bool words = copy.elem_bytes < 4;
  for (int i = 0; i < tiling.modes; ++i) {
    Mode const& mode = copy.mode[tiling.tiled[i].mode];
    if (mode.src_stride == copy.elem_bytes && mode.dst_stride % 4 == 0)
      found = i;
    else
      words &= mode.src_stride % 4 == 0;
  }
  return words ? found : 0;
}

// Chooses the destination run of a tile of `bytes` bytes: its modes, splits and lanes, by a rough count of
// instructions; best_tiling() refines the lanes.
void choose_run(Copy const& copy, TileLimits const& limits, std::int64_t bytes, Tiling& tiling) {
  int const elem_bytes = copy.elem_bytes, store_elements = CopyTile::elements_per_store(elem_bytes),
            store_bytes = elem_bytes * store_elements, warps = limits.threads / 32, across = word_mode(copy, tiling);
  double best = HUGE_VAL;
  std::int64_t length = copy.elem_bytes;
  for (int i = 0; i < tiling.modes && copy.mode[tiling.tiled[i].mode].dst_stride == length; ++i) {
    int const together = i < across ? store_elements : 1,
              lane_words = CopyTile::stores_per_lane(elem_bytes, together > 1);
    std::int32_t const extent = tiling.tiled[i].extent;
    for (int splits = 1; splits <= 16 && splits <= extent; ++splits) {
      std::int64_t const run = length * extent / splits;
      if (extent % splits ||
          (splits > 1 && (run % kVectorBytes || run < 256 || copy.mode[tiling.tiled[i].mode].src_stride < 0)))
        continue;
      std::int64_t const words = ceil_div(run, store_bytes) + (run % store_bytes != 0),
                         groups = ceil_div(bytes / run, together);
      bool const whole =
          run % store_bytes == 0 && reinterpret_cast<std::uintptr_t>(copy.dst) % unsigned(store_bytes) == 0;
      for (int lanes : {8, 16, 32}) {
        std::int64_t const along = std::min<std::int64_t>(ceil_div(words, lanes * lane_words), warps);
        double const passes = double(ceil_div(words, along * lanes * lane_words));
        double const each = double(ceil_div(groups, warps / along * (32 / lanes)));
        double const offsets = (i > 0 ? kElementLookup : kElementOffset) * store_elements * lane_words;
        double const work =
            passes * (offsets +
                      each * (kRunGroup + (kGatherElement * store_elements + kStoreWord * together) * lane_words)) +
            (whole ? 0 : (together > 1 ? kWordRunEnds : kRunEnds) * double(ceil_div(groups, limits.threads / 8)));
        if (work < best) best = work, tiling.run_modes = i + 1, tiling.run_splits = splits, tiling.lanes = lanes;
      }
    }
    length *= extent;
    if (extent < copy.mode[tiling.tiled[i].mode].extent) break;
  }
}

std::int64_t src_stride(Copy const& copy, int mode) { return std::abs(copy.mode[mode].src_stride); }

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
// most `most` bytes. Has no modes if the tile does not fit (then `fits` is false) or has too few bytes for a block;
// `fills`: then it has indices of other modes too, those of short steps in the destination first.
Tiling tiling_with(Copy const& copy, std::span<int const> by_src, std::int64_t dst_run, std::int64_t src_run,
                   std::int64_t most, bool fills, bool& fits) {
  std::int64_t const elem_bytes = copy.elem_bytes,
                     sector = kSectorBytes / std::gcd(elem_bytes, kSectorBytes);  // elements of whole sectors
  std::int64_t extent[Copy::kMaxRank], bytes = elem_bytes, run = elem_bytes, span = elem_bytes,
                                       needed = elem_bytes;  // span: bytes of a source run; needed: without gaps
  std::fill(extent, extent + copy.rank, 1);
  // Modes whose indices share destination sectors are tiled, with or without gaps between the indices.
  for (int k = 0; k < copy.rank && run < dst_run && copy.mode[k].dst_stride <= std::max(2 * run, kSectorBytes); ++k) {
    std::int64_t const step = copy.mode[k].dst_stride;
    extent[k] = tile_extent(copy.mode[k].extent, ceil_div(dst_run, step), step);
    if (k == 0 && extent[0] < copy.mode[0].extent) extent[0] = dst_run / elem_bytes;  // a power of two, like the lanes
    run = step * extent[k];
    if (extent[k] < copy.mode[k].extent) break;
  }
  for (int k : by_src) {
    std::int64_t const step = src_stride(copy, k);
    if (span >= src_run || step > std::max(2 * span, kSectorBytes)) break;
    extent[k] = std::max(extent[k], tile_extent(copy.mode[k].extent, (src_run - span) / step + 1, step));
    if (k == 0 && extent[k] < copy.mode[k].extent) extent[k] = std::max(extent[k] / sector * sector, sector);
    span += step * (extent[k] - 1), needed *= extent[k];
    if (extent[k] < copy.mode[k].extent) break;
  }
  if (fills) {
    std::int64_t const runs = std::accumulate(extent, extent + copy.rank, elem_bytes, std::multiplies<>());
    std::int64_t more = std::max<std::int64_t>(most / 8 / runs, 1);  // times as many bytes
    for (int k = 0; k < copy.rank && more > 1; ++k)
      if (extent[k] == 1) extent[k] = std::min(copy.mode[k].extent, more), more /= extent[k];
  }
  Tiling tiling;
  fits = true;
  for (int k = 0; k < copy.rank && fits; ++k) {
    if (extent[k] == 1 && k > 0) continue;
    fits = tiling.modes < Tiling::kModes && extent[k] <= most && (bytes *= extent[k]) <= most;
    if (fits) tiling.tiled[tiling.modes++] = {k, std::int32_t(extent[k])};
  }
  // Short source runs occupy more shared memory than they have bytes.
  if (!fits || (bytes / needed * (needed + kVectorBytes) < most / 10 && bytes < copy.elements() * elem_bytes))
    tiling.modes = 0;
  return tiling;
}
bool is_same_tile(Tiling const& a, Tiling const& b) {
  return a.modes == b.modes && std::equal(a.tiled, a.tiled + a.modes, b.tiled);
}
std::int64_t tile_bytes(Copy const& copy, Tiling const& tiling) {
  std::int64_t bytes = copy.elem_bytes;
  for (int i = 0; i < tiling.modes; ++i) bytes *= tiling.tiled[i].extent;
  return bytes;
}

// Tilings with runs of all lengths on both sides; returns how many.
int enumerate_runs(Copy const& copy, TileLimits const& limits, std::span<int const> by_src, std::int64_t most,
                   bool fills, std::span<Tiling> tilings) {
  int found = 0;
  for (std::int64_t dst_run = 2 * kSectorBytes; dst_run <= most; dst_run *= 2)
    for (std::int64_t src_run = 2 * kSectorBytes; src_run <= most; src_run *= 2) {
      bool fits;
      Tiling tiling = tiling_with(copy, by_src, dst_run, src_run, most, fills, fits);
      if (!fits) break;  // longer source runs do not fit either
      auto const same = [&](Tiling const& o) { return is_same_tile(o, tiling); };
      if (tiling.modes == 0 || std::any_of(tilings.begin(), tilings.begin() + found, same)) continue;
      if (found == int(tilings.size())) return found;
      choose_run(copy, limits, tile_bytes(copy, tiling), tiling);
      tilings[std::size_t(found++)] = tiling;
    }
  return found;
}

// Batches of small matrices: if a mode k > 0 continues the first modes contiguously on both sides, a run contains
// enough matrices to give each thread a 16-byte vector, and a tile has 1 to 8 runs. Appends to the first `found`
// tilings; returns the new count.
int add_batches(Copy const& copy, TileLimits const& limits, std::int64_t most, std::span<Tiling> tilings, int found) {
  std::int64_t const elem_bytes = copy.elem_bytes, word = std::max<std::int64_t>(elem_bytes, 4);
  std::int64_t run = elem_bytes;
  for (int k = 0; k < copy.rank && k < Tiling::kModes && copy.mode[k].dst_stride == run; run *= copy.mode[k++].extent) {
    Mode const& mode = copy.mode[k];
    std::int64_t const step = word / std::gcd(run, word), fit = limits.threads * kVectorBytes / run / step * step;
    if (k == 0 || src_stride(copy, k) != run || run < 2 * elem_bytes || fit == 0) continue;
    for (std::int64_t splits : {1, 2, 4, 8}) {
      if ((splits > 1 && mode.src_stride < 0) || fit * splits > mode.extent || run * fit * splits > most) break;
      if (found == int(tilings.size())) return found;
      Tiling tiling;
      for (int i = 0; i < k; ++i) tiling.tiled[tiling.modes++] = {i, std::int32_t(copy.mode[i].extent)};
      tiling.tiled[tiling.modes++] = {k, std::int32_t(fit * splits)};
      tiling.run_modes = tiling.modes, tiling.run_splits = std::int32_t(splits), tiling.lanes = 32;
      tilings[std::size_t(found++)] = tiling;
    }
  }
  return found;
}
}  // namespace

int enumerate_tilings(Copy const& copy, TileLimits const& limits, std::span<Tiling> tilings) {
  if (copy.rank == 0 || copy.mode[0].dst_stride != copy.elem_bytes) return 0;
  int by_src[Copy::kMaxRank], n = 0;
  for (int k = 0; k < copy.rank; ++k)
    if (copy.mode[k].src_stride) by_src[n++] = k;
  std::sort(by_src, by_src + n, [&](int a, int b) { return src_stride(copy, a) < src_stride(copy, b); });

  std::int64_t const most = limits.bytes - limits.bytes / 8;
  int found = enumerate_runs(copy, limits, {by_src, std::size_t(n)}, most, false, tilings);
  if (found == 0) found = enumerate_runs(copy, limits, {by_src, std::size_t(n)}, most, true, tilings);
  return add_batches(copy, limits, most, tilings, found);
}

namespace {
struct Timed {
  double seconds = HUGE_VAL;
  int wavefronts = 1;  // of a warp's load; 1 also if bank conflicts were not counted
};
// Predicted time of a tiling. Bank conflicts, which are slow to count, are counted if the time is below `most`.
Timed timed(Copy const& copy, TileLimits const& limits, Device const& device, Tiling const& tiling, double most) {
  CopyTile tile;
  if (describe_tile(copy, tiling, limits.threads, tile) || tile.smem_bytes > limits.bytes) return {};
  Timed t{seconds_of(work_of(copy, tile, limits, 1), device), 1};
  if (t.seconds < most) t.wavefronts = tile.load_wavefronts(copy.elem_bytes);
  if (t.wavefronts > 1) t.seconds = seconds_of(work_of(copy, tile, limits, t.wavefronts), device);
  return t;
}
}  // namespace

TimedTiling best_tiling(Copy const& copy, TileLimits const& limits, Device const& device) {
  constexpr int kMostTilings = 64, kRefined = 3;
  Tiling tilings[kMostTilings];
  double least[kMostTilings];  // seconds without bank conflicts
  int const n = enumerate_tilings(copy, limits, tilings);
  for (int i = 0; i < n; ++i) least[i] = timed(copy, limits, device, tilings[i], 0).seconds;
  // Refines the best few tilings with all numbers of lanes and both paddings.
  TimedTiling best{{}, HUGE_VAL};
  for (int refined = 0; refined < std::min(n, kRefined); ++refined) {
    int const i = int(std::min_element(least, least + n) - least);
    if (!(least[i] < best.seconds)) break;
    std::int64_t elements = 1;
    for (int j = 0; j < tilings[i].run_modes; ++j) elements *= tilings[i].tiled[j].extent;
    int const elem_bytes = copy.elem_bytes, lane_words = CopyTile::stores_per_lane(elem_bytes, false);
    int const fewest =
        fewest_lanes(elements / tilings[i].run_splits / CopyTile::elements_per_store(elem_bytes) + 1, lane_words);
    for (int lanes = fewest, end = most_lanes(fewest); lanes <= end; lanes *= 2)
      for (Tiling::Padding padding : {Tiling::Padding::none, Tiling::Padding::odd_pitch}) {
        Tiling tiling = tilings[i];
        tiling.padding = padding, tiling.lanes = lanes;
        Timed const t = timed(copy, limits, device, tiling, best.seconds);
        if (t.seconds < best.seconds) best = {tiling, t.seconds};
        if (t.wavefronts == 1) break;  // without conflicts padding does not help
      }
    least[i] = HUGE_VAL;
  }
  return best;
}

}  // namespace inlay::kernels
