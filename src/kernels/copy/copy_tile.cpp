#include <inlay/kernels/copy/copy_tile.h>
#include <inlay/problem/integers.h>

#include <algorithm>
#include <cstdlib>

namespace inlay::kernels {
namespace {

constexpr std::int64_t kMostBytes = 1 << 20;  // of a tile, at most: far more than shared memory

class TileBuilder {
 public:
  TileBuilder(Copy const& copy, Tiling const& tiling, int threads, CopyTile& tile)
      : copy_(copy),
        tiling_(tiling),
        threads_(threads),
        tile_(tile),
        word_(CopyTile::elements_per_store(copy.elem_bytes)) {}

  Reason build() {
    tile_ = {};
    if (Reason r = take_modes()) return r;
    if (Reason r = check_runs()) return r;
    choose_skew();
    if (Reason r = make_grid()) return r;
    sort_by_source();
    if (Reason r = make_run()) return r;
    find_alignment();
    if (Reason r = place_runs()) return r;
    clip_modes();
    if (Reason r = number_runs()) return r;
    choose_gathering();
    return make_tables();
  }

 private:
  // A tiled mode while the tile is described.
  struct TiledMode {
    int mode;
    std::int32_t extent;       // in the tile
    std::int64_t n, src, dst;  // extent of the whole mode, strides in bytes
    int clipped = CopyTile::kWhole;
    std::int32_t smem_bytes = 0;  // stride in shared memory, signed
    bool is_clipped() const { return extent < n; }
  };

  Reason take_modes() {
    if (tiling_.modes < 0 || tiling_.modes > Tiling::kModes)
      return {"the tiling has {} modes, at most {} are supported", {tiling_.modes, Tiling::kModes}};
    for (int i = 0; i < tiling_.modes; ++i) {
      auto const [k, extent] = tiling_.tiled[i];
      if (k < 0 || k >= copy_.rank) return {"the tiling names mode {} of a copy with {} modes", {k, copy_.rank}};
      Mode const& mode = copy_.mode[k];
      if (extent < 1 || extent > mode.extent)
        return {"a tile has {} indices of mode {}, whose extent is {}", {extent, k, mode.extent}};
      mode_[i] = {k, extent, mode.extent, mode.src_stride, mode.dst_stride};
    }
    if (tiling_.modes == 0 || mode_[0].mode != 0 || mode_[0].dst != copy_.elem_bytes)
      return {"no run of a tile is contiguous in the destination"};
    if (tiling_.run_modes < 1 || tiling_.run_modes > tiling_.modes)
      return {"a destination run has {} of the {} tiled modes", {tiling_.run_modes, tiling_.modes}};
    return {};
  }

  TiledMode& last() { return mode_[tiling_.run_modes - 1]; }  // last mode of a destination run

  Reason check_runs() {
    for (int i = 0; i < tiling_.run_modes; ++i) {
      if (mode_[i].dst != run_elements_ * copy_.elem_bytes || (i + 1 < tiling_.run_modes && mode_[i].is_clipped()))
        return {"the modes of a run leave gaps in the destination"};
      tile_.inner_elements = std::int32_t(run_elements_);
      run_elements_ *= mode_[i].extent;
    }
    return {};
  }

  // Whether all destination runs begin and end at multiples of `bytes`.
  bool are_runs_at(std::int64_t bytes) {
    std::int64_t const run_bytes = run_elements_ * copy_.elem_bytes;
    bool all = misalignment(copy_.dst, bytes) == 0;
    for (int k = 0; k < copy_.rank; ++k)
      if (std::none_of(mode_, mode_ + tiling_.run_modes, [&](TiledMode const& p) { return p.mode == k; }))
        all &= copy_.mode[k].dst_stride % bytes == 0;
    return all && (!last().is_clipped() || run_bytes % bytes == 0) &&
           (tiling_.run_splits == 1 ||
            run_elements_ / last().extent * (last().extent / tiling_.run_splits) * copy_.elem_bytes % bytes == 0);
  }

  // Chooses the alignment skew. Runs that would begin within a sector begin early instead, on a sector.
  void choose_skew() {
    std::int64_t const u = copy_.elem_bytes;
    tile_.has_whole_words = are_runs_at(u * word_) && run_elements_ / tiling_.run_splits % word_ == 0 &&
                            tile_.inner_elements * last().n % word_ == 0;
    if (last().is_clipped() && tiling_.run_splits == 1 && !are_runs_at(kSectorBytes) && last().src > 0 &&
        run_elements_ * u % kSectorBytes == 0) {
      tile_.skew = std::int32_t(ceil_div(kSectorBytes, tile_.inner_elements * u));
      late_ = ceil_div(kSectorBytes / u - 1, tile_.inner_elements);
      tile_.has_whole_words = false;
    }
  }
  // Indices of a clipped mode that the grid covers, with those that the skew shifts past the last tile.
  std::int64_t covered(TiledMode const& p) { return p.n + (&p == &last() ? late_ : 0); }
  // Indices of a mode that are loaded for a tile.
  std::int32_t loaded(TiledMode const& p) { return p.extent + (&p == &last() ? tile_.skew : 0); }

  // Grid modes are in the order of destination modes, so that consecutive blocks write consecutive memory.
  Reason make_grid() {
    for (int i = 0; i < tiling_.modes; ++i) {
      if (!mode_[i].is_clipped()) continue;
      if (tile_.num_clipped == tile_.kMaxClipped) return {"more than {} modes are clipped", {tile_.kMaxClipped}};
      mode_[i].clipped = tile_.num_clipped++;
    }
    for (int k = 0; k < copy_.rank; ++k) {
      Mode const& mode = copy_.mode[k];
      TiledMode const* const end = mode_ + tiling_.modes;
      TiledMode const* const p =
          std::find_if(mode_, mode_ + tiling_.modes, [&](TiledMode const& q) { return q.mode == k; });
      if (p != end && !p->is_clipped()) continue;
      if (tile_.grid_modes == tile_.kMaxGridModes)
        return {"more than {} modes are outside a tile", {tile_.kMaxGridModes}};
      std::int64_t const extent = p == end ? 1 : p->extent;
      tile_.grid_mode[tile_.grid_modes++] = {.tiles = ceil_div(p == end ? mode.extent : covered(*p), extent),
                                             .src_bytes = mode.src_stride * extent,
                                             .dst_bytes = mode.dst_stride * extent,
                                             .clipped = p == end ? CopyTile::kWhole : p->clipped};
    }
    return {};
  }

  // Insertion sort by source stride: there are few modes.
  void sort_by_source() {
    for (int i = 0; i < tiling_.modes; ++i) {
      if (!mode_[i].src) continue;
      int at = num_by_src_++;
      for (; at > 0 && std::abs(by_src_[at - 1]->src) > std::abs(mode_[i].src); --at) by_src_[at] = by_src_[at - 1];
      by_src_[at] = &mode_[i];
    }
  }

  // A source run consists of the fastest source modes, up to the first whose stride exceeds a sector and twice the
  // bytes of the run so far: gaps are at most about half of a run.
  Reason make_run() {
    run_bytes_ = copy_.elem_bytes;
    for (; run_end_ < num_by_src_; ++run_end_) {
      TiledMode& p = *by_src_[run_end_];
      std::int64_t const s = std::abs(p.src);
      if (s > std::max(2 * run_bytes_, kSectorBytes)) break;
      // With padding, the mode contiguous in the destination is no part of the run: padding separates its indices.
      if (tiling_.padding == Tiling::Padding::odd_pitch && &p == mode_ && s % kVectorBytes == 0 && s >= kSectorBytes &&
          s >= run_bytes_)
        break;
      run_bytes_ += s * (loaded(p) - 1);
      p.smem_bytes = std::int32_t(p.src);
      if (run_bytes_ > kMostBytes) return {"a source run of {} bytes is more than a tile holds", {run_bytes_}};
    }
    return {};
  }

  // alignment_: the largest power of two, up to 16, that divides the addresses of all source runs.
  void find_alignment() {
    std::int64_t low = misalignment(copy_.src, kVectorBytes) - tile_.skew * last().src;
    tile_.first_src_bytes = -tile_.skew * last().src;
    std::uint64_t bits = std::uint64_t(kVectorBytes);
    for (int k = 0; k < tile_.grid_modes; ++k) bits |= std::uint64_t(tile_.grid_mode[k].src_bytes);
    for (int i = 0; i < tiling_.modes; ++i)
      if (mode_[i].src < 0) {
        std::int64_t const back = -mode_[i].src * (mode_[i].extent - 1);
        tile_.first_src_bytes -= back, low -= back;
        if (mode_[i].is_clipped()) bits |= std::uint64_t(mode_[i].src);
      }
    bits |= std::uint64_t(low);
    for (int i = run_end_; i < num_by_src_; ++i) bits |= std::uint64_t(by_src_[i]->src);
    alignment_ = std::int64_t(bits & -bits);
    tile_.is_aligned = alignment_ == kVectorBytes;
    tile_.run_bytes = std::int32_t(run_bytes_);
    tile_.run_vectors = std::int32_t(ceil_div(run_bytes_ + kVectorBytes - alignment_, kVectorBytes));
    if (run_end_ > 0 && by_src_[run_end_ - 1]->clipped >= 0) {
      tile_.run_clipped = by_src_[run_end_ - 1]->clipped;
      tile_.run_clipped_bytes = std::int32_t(std::abs(by_src_[run_end_ - 1]->src));
    }
  }

  // Pitches in shared memory equal those in the source modulo 16 bytes, and no two runs share a 16-byte vector.
  Reason place_runs() {
    std::int64_t const most_misaligned = kVectorBytes - alignment_;
    std::int64_t runs = 1;
    smem_bytes_ = run_bytes_;
    for (int i = run_end_; i < num_by_src_; ++i) {
      TiledMode& p = *by_src_[i];
      std::int64_t const s = std::abs(p.src), least = smem_bytes_ + 2 * most_misaligned;
      std::int64_t pitch = least + (s - least % kVectorBytes + kVectorBytes) % kVectorBytes;
      if (i == run_end_ && tiling_.padding == Tiling::Padding::odd_pitch && !(pitch & kVectorBytes))
        pitch += kVectorBytes;
      smem_bytes_ += pitch * (loaded(p) - 1);
      runs *= loaded(p);
      if (smem_bytes_ > kMostBytes)
        return {"{} source runs of {} bytes are more than a tile holds", {runs, run_bytes_}};
      p.smem_bytes = std::int32_t(p.src < 0 ? -pitch : pitch);
      tile_.src_mode[tile_.src_modes++] = {.src_bytes = s,
                                           .dst_bytes = 0,
                                           .extent = loaded(p),
                                           .smem_bytes = std::int32_t(pitch),
                                           .clipped = p.clipped,
                                           .indices = 1};
    }
    smem_bytes_ = ceil_div(smem_bytes_ + most_misaligned, kVectorBytes) * kVectorBytes;
    tile_.src_runs = std::int32_t(runs);
    tile_.reach_bytes = std::min(tile_.run_vectors * kVectorBytes, run_bytes_ + kVectorBytes - 1);
    for (int i = 0; i < tile_.src_modes; ++i)
      tile_.reach_bytes += tile_.src_mode[i].src_bytes * (tile_.src_mode[i].extent - 1);
    return {};
  }

  void clip_modes() {
    for (int i = 0; i < tiling_.modes; ++i) {
      TiledMode const& p = mode_[i];
      std::int32_t const behind = p.src < 0 ? -p.smem_bytes : 0;
      tile_.first_smem_bytes += behind * (p.extent - 1);
      if (p.clipped >= 0)
        tile_.clipped[p.clipped] = {.extent = p.extent,
                                    .tail = std::int32_t(p.n - (ceil_div(covered(p), p.extent) - 1) * p.extent),
                                    .src_bytes = p.src < 0 ? -p.src : 0,
                                    .smem_bytes = behind};
    }
  }

  static CopyTile::TileMode tile_mode(TiledMode const& p) {
    return {.src_bytes = 0,
            .dst_bytes = p.dst,
            .extent = p.extent,
            .smem_bytes = p.smem_bytes,
            .clipped = p.clipped,
            .indices = 1};
  }

  Reason number_runs() {
    tile_.run_elements = std::int32_t(run_elements_ / tiling_.run_splits);
    for (int i = 0; i < tiling_.run_modes; ++i) tile_.run_mode[tile_.run_modes++] = tile_mode(mode_[i]);
    if (tiling_.run_splits > 1) {
      CopyTile::TileMode& split = tile_.run_mode[tile_.run_modes - 1];
      std::int32_t const q = split.extent /= tiling_.run_splits;
      tile_.dst_mode[tile_.dst_modes++] = {.src_bytes = 0,
                                           .dst_bytes = split.dst_bytes * q,
                                           .extent = tiling_.run_splits,
                                           .smem_bytes = split.smem_bytes * q,
                                           .clipped = split.clipped,
                                           .indices = q};
      tile_.dst_runs *= tiling_.run_splits;
    }
    for (int i = tiling_.run_modes; i < tiling_.modes; ++i) {
      if (tile_.dst_modes == tile_.kModes) return {"a tile has more than {} modes outside its runs", {tile_.kModes}};
      tile_.dst_mode[tile_.dst_modes++] = tile_mode(mode_[i]);
      tile_.dst_runs *= mode_[i].extent;
    }
    // The order of the destination runs: a warp gathers runs that are adjacent in shared memory.
    std::sort(tile_.dst_mode, tile_.dst_mode + tile_.dst_modes,
              [](CopyTile::TileMode const& a, CopyTile::TileMode const& b) {
                return std::abs(std::int64_t(a.smem_bytes)) < std::abs(std::int64_t(b.smem_bytes));
              });
    return {};
  }

  // Whether neighbouring destination runs are adjacent elements of aligned 4-byte words in shared memory.
  bool can_transpose_words() const {
    auto const in_words = [](auto const* first, int n) {
      return std::all_of(first, first + n, [](auto const& x) { return x.smem_bytes % 4 == 0; });
    };
    CopyTile::TileMode const& across = tile_.dst_mode[0];
    return word_ > 1 && tile_.dst_modes > 0 && across.smem_bytes == copy_.elem_bytes && across.extent > 1 &&
           across.dst_bytes % 4 == 0 && tile_.first_smem_bytes % 4 == 0 && alignment_ % 4 == 0 &&
           (!tile_.skew || across.dst_bytes % kSectorBytes == 0) && in_words(tile_.run_mode, tile_.run_modes) &&
           in_words(tile_.dst_mode + 1, tile_.dst_modes - 1) && in_words(tile_.clipped, tile_.num_clipped);
  }

  void choose_gathering() {
    tile_.lanes = tiling_.lanes;
    // A run with one mode has whole words, beside its ends. Runs with several modes use the words of the first run, and
    // one that begins within a word has one more.
    tile_.run_words =
        tile_.run_modes == 1
            ? std::max(tile_.run_elements / word_, 1)
            : std::int32_t(ceil_div(
                  tile_.run_elements + tile_.skew_elements() + (tile_.has_whole_words ? 0 : word_ - 1), word_));
    tile_.transposes_words = can_transpose_words();
    tile_.is_run_in_smem = word_ > 1 && tile_.run_modes == 1 && tile_.run_mode[0].smem_bytes == copy_.elem_bytes;
    tile_.passes = std::int32_t(
        ceil_div(tile_.run_words, tile_.lanes * CopyTile::stores_per_lane(copy_.elem_bytes, tile_.transposes_words)));
    if (tile_.dst_modes > 0) {
      std::int32_t const extent = tile_.dst_mode[0].extent;
      tile_.first_mode_groups = tile_.transposes_words ? std::int32_t(ceil_div(extent, word_)) : extent;
      tile_.run_groups = tile_.dst_runs / extent * tile_.first_mode_groups;
    }
    tile_.table_entries =
        std::int32_t(ceil_div(tile_.run_groups, tile_.runs_apart(threads_))) * tile_.runs_apart(threads_);
  }

  Reason make_tables() {
    if (std::int64_t(tile_.table_entries) + tile_.inner_elements > 1 << 16 || smem_bytes_ > kMostBytes)
      return {"a tile of {} bytes with {} destination runs of {} elements is too large",
              {smem_bytes_, tile_.dst_runs, tile_.run_elements}};
    tile_.src_table = std::int32_t(smem_bytes_);
    tile_.dst_table = tile_.src_table + (tile_.src_modes > 1 ? tile_.src_runs * std::int32_t(kVectorBytes) : 0);
    tile_.element_table = tile_.dst_table + tile_.table_entries * std::int32_t(kVectorBytes);
    tile_.smem_bytes = tile_.element_table + (tile_.run_modes > 1 ? (tile_.inner_elements + word_) * 4 : 0);
    return {};
  }

  Copy const& copy_;
  Tiling const& tiling_;
  int const threads_;
  CopyTile& tile_;
  std::int32_t const word_;  // elements of one store
  TiledMode mode_[Tiling::kModes];
  TiledMode* by_src_[Tiling::kModes];  // the modes with a source stride, the smallest first
  int num_by_src_ = 0, run_end_ = 0;   // by_src_[0 .. run_end_) are within a source run
  std::int64_t run_elements_ = 1;      // of a destination run, before it is split
  std::int64_t late_ = 0;              // indices that the skew adds to covered()
  std::int64_t run_bytes_ = 0, smem_bytes_ = 0, alignment_ = 0;
};

}  // namespace

int CopyTile::load_wavefronts(int elem_bytes) const {
  int seen[32], n = 0, in_bank[32]{}, most = 1;
  for (int lane = 0; lane < 32; ++lane) {
    int element = lane % lanes * elements_per_store(elem_bytes), group = lane / lanes;
    if (element >= run_elements || group >= run_groups) continue;
    std::int64_t byte = first_smem_bytes;
    for (int k = 0; k < run_modes; ++k) {
      byte += (k + 1 == run_modes ? element : element % run_mode[k].extent) * std::int64_t(run_mode[k].smem_bytes);
      element /= run_mode[k].extent;
    }
    for (int k = 0; k < dst_modes; ++k) {
      bool const is_grouped = k == 0 && transposes_words;
      int const extent = k == 0 ? first_mode_groups : dst_mode[k].extent;
      byte += group % extent * (is_grouped ? elements_per_store(elem_bytes) : 1) * std::int64_t(dst_mode[k].smem_bytes);
      group /= extent;
    }
    int const word = int(byte / 4);
    if (std::find(seen, seen + n, word) != seen + n) continue;
    seen[n++] = word;
    most = std::max(most, ++in_bank[word & 31]);
  }
  return most;
}

std::int64_t CopyTile::blocks() const {
  std::int64_t n = 1;
  for (int k = 0; k < grid_modes; ++k)
    if (__builtin_mul_overflow(n, grid_mode[k].tiles, &n)) return std::int64_t(1) << 62;
  return n;
}

Reason describe_tile(Copy const& widened, Tiling const& tiling, int threads, CopyTile& tile) {
  return TileBuilder(widened, tiling, threads, tile).build();
}

}  // namespace inlay::kernels
