#include <inlay/planner/copy_tile.h>

#include <algorithm>
#include <cstdlib>

namespace inlay::planner {
namespace {

constexpr std::int64_t kVector = 16, kSector = 32;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t past(void const* p, std::int64_t of) {
  return std::int64_t(reinterpret_cast<std::uint64_t>(p) % std::uint64_t(of));
}

// A mode of the tile while it is made.
struct Part {
  int mode;
  std::int32_t extent;  // of the piece
  std::int64_t n, src, dst;
  int slot = -1;
  bool row = false;        // a row digit; else it lies within a row's span
  std::int32_t image = 0;  // signed
  bool tiling() const { return extent < n; }
};

}  // namespace

int CopyTile::gathered_wavefronts(int bytes) const {
  int seen[32], n = 0, in_bank[32]{}, most = 1;
  for (int lane = 0; lane < 32; ++lane) {
    int unit = lane % lanes * units_of_a_store(bytes), group = lane / lanes;
    if (unit >= units || group >= groups) continue;
    std::int64_t byte = first_image;
    for (int k = 0; k < along_modes; ++k) {
      byte += (k + 1 == along_modes ? unit : unit % along[k].extent) * std::int64_t(along[k].image);
      unit /= along[k].extent;
    }
    for (int k = 0; k < line_modes; ++k) {
      int const extent = k == 0 ? line_groups : line[k].extent, each = k == 0 && words ? units_of_a_store(bytes) : 1;
      byte += group % extent * each * std::int64_t(line[k].image);
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
  for (int k = 0; k < outers; ++k)
    if (__builtin_mul_overflow(n, outer[k].tiles, &n)) return std::int64_t(1) << 62;
  return n;
}

Reason make_tile(Copy const& m, Tiling const& tiling, int threads, CopyTile& t) {
  std::int32_t const u = m.elem_bytes, U = CopyTile::units_of_a_store(u);
  t = {};
  Part part[Tiling::kModes];
  int const parts = tiling.modes;
  std::int32_t piece[Tensor::kMaxRank + 1];
  std::fill(piece, piece + m.rank, 0);
  for (int i = 0; i < parts; ++i) {
    auto const [k, extent] = tiling.piece[i];
    if (k >= m.rank || extent < 1 || extent > m.mode[k].extent)
      return {"a tile has {} of mode {}, whose extent is {}", {extent, k, k < m.rank ? m.mode[k].extent : 0}};
    Mode const& mode = m.mode[tiling.piece[i].mode];
    part[i] = {tiling.piece[i].mode, tiling.piece[i].extent, mode.extent, mode.src_stride, mode.dst_stride};
    piece[part[i].mode] = part[i].extent;
  }
  if (parts == 0 || part[0].mode != 0 || part[0].dst != u)
    return {"no line of a tile is contiguous in the destination"};

  // Lines.
  bool const last_cut = part[tiling.line_modes - 1].tiling();
  std::int64_t units = 1;
  for (int i = 0; i < tiling.line_modes; ++i) {
    if (part[i].dst != units * u || (i + 1 < tiling.line_modes && part[i].tiling()))
      return {"the modes of a line leave gaps in the destination"};
    t.inner = std::int32_t(units);
    units *= part[i].extent;
  }
  Part& last = part[tiling.line_modes - 1];
  // Lines that are cut at any unit would leave sectors in part; so they begin early, on a sector.
  auto const on = [&](std::int64_t bytes) {
    bool all = past(m.dst, bytes) == 0;
    for (int k = 0; k < m.rank; ++k) {
      bool const along = std::any_of(part, part + tiling.line_modes, [&](Part const& p) { return p.mode == k; });
      if (!along) all &= m.mode[k].dst_stride % bytes == 0;
    }
    return all && (!last_cut || units * u % bytes == 0) &&
           (units / last.extent * (last.extent / tiling.repeat) * u % bytes == 0 || tiling.repeat == 1);
  };
  t.whole = on(u * U) && units / tiling.repeat % U == 0 && t.inner * last.n % U == 0;
  std::int64_t late = 0;  // indices that the last tile may have to make up for
  if (last_cut && tiling.repeat == 1 && !on(kSector) && last.src > 0 && units * u % kSector == 0) {
    t.shear = std::int32_t(ceil_div(kSector, t.inner * u));
    late = ceil_div(kSector / u - 1, t.inner);
    t.whole = false;
  }

  // The grid. Modes that are cut come first, in the destination's order: then what consecutive blocks write is consecutive.
  for (int i = 0; i < parts; ++i) {
    if (!part[i].tiling()) continue;
    if (t.slots == t.kSlots) return {"more than {} modes are cut", {t.kSlots}};
    part[i].slot = t.slots++;
  }
  for (int k = 0; k < m.rank; ++k) {
    Mode const& mode = m.mode[k];
    Part const* p = std::find_if(part, part + parts, [&](Part const& q) { return q.mode == k; });
    if (p != part + parts && !p->tiling()) continue;
    if (t.outers == t.kOuter) return {"more than {} modes are outside a tile", {t.kOuter}};
    std::int64_t const extent = p == part + parts ? 1 : p->extent;
    t.outer[t.outers++] = {ceil_div(mode.extent + (p == &last ? late : 0), extent), mode.src_stride * extent,
                           mode.dst_stride * extent, p == part + parts ? -1 : p->slot};
  }

  // Rows: modes by their strides in the source, as long as what they span is mostly theirs.
  Part* by_src[Tiling::kModes];
  int n = 0;
  for (int i = 0; i < parts; ++i) {  // sorted as it grows: there are few
    if (!part[i].src) continue;
    int at = n++;
    for (; at > 0 && std::abs(by_src[at - 1]->src) > std::abs(part[i].src); --at) by_src[at] = by_src[at - 1];
    by_src[at] = &part[i];
  }
  std::int64_t span = u;
  auto const longer = [&](Part const* p) { return p->extent + (p == &last ? t.shear : 0); };
  int run = 0;
  for (; run < n; ++run) {
    std::int64_t const s = std::abs(by_src[run]->src);
    if (s > std::max(2 * span, kSector)) break;
    // Contiguous ones as well, where padding is to be between them.
    if (tiling.padding == Tiling::Padding::row && by_src[run] == part && s % kVector == 0 && s >= kSector && s >= span)
      break;
    span += s * (longer(by_src[run]) - 1);
    by_src[run]->image = std::int32_t(by_src[run]->src);
    if (span > 1 << 20) return {"a row of {} bytes is more than a tile holds", {span}};
  }
  std::int64_t low = past(m.src, kVector);
  if (t.shear) low -= t.shear * last.src;
  t.first_src = t.shear ? -t.shear * last.src : 0;
  std::uint64_t bits = kVector;  // of all places where rows begin: the lowest is what divides them
  for (int k = 0; k < t.outers; ++k) bits |= std::uint64_t(t.outer[k].src);
  for (int i = 0; i < parts; ++i)
    if (part[i].src < 0) {
      std::int64_t const back = -part[i].src * (part[i].extent - 1);
      t.first_src -= back, low -= back;
      if (part[i].tiling()) bits |= std::uint64_t(part[i].src);
    }
  bits |= std::uint64_t(low);
  for (int i = run; i < n; ++i) bits |= std::uint64_t(by_src[i]->src);
  std::int64_t const grain = std::int64_t(bits & -bits), past_most = kVector - grain;
  t.aligned = grain == kVector;
  t.span = std::int32_t(span);
  t.vectors = std::int32_t(ceil_div(span + past_most, kVector));
  if (run > 0 && by_src[run - 1]->slot >= 0) {
    t.span_slot = by_src[run - 1]->slot;
    t.span_step = std::int32_t(std::abs(by_src[run - 1]->src));
  }
  // In shared memory rows are as far apart as in the source, modulo 16, and no two meet in a vector.
  std::int64_t rows = 1, image = span;  // bytes of what has a place already
  for (int i = run; i < n; ++i) {
    Part& p = *by_src[i];
    std::int64_t const s = std::abs(p.src), least = image + 2 * past_most;
    std::int64_t apart = least + (s - least % kVector + kVector) % kVector;
    if (i == run && tiling.padding == Tiling::Padding::row && !(apart & kVector)) apart += kVector;
    image += apart * (longer(&p) - 1);
    rows *= longer(&p);
    if (image > 1 << 20) return {"{} rows of {} bytes are more than a tile holds", {rows, span}};
    p.row = true;
    p.image = std::int32_t(p.src < 0 ? -apart : apart);
    t.row[t.row_modes++] = {s, 0, longer(&p), std::int32_t(apart), p.slot, 1};
  }
  image = ceil_div(image + past_most, kVector) * kVector;
  t.rows = std::int32_t(rows);
  t.reach = std::min(t.vectors * kVector, span + kVector - 1);
  for (int i = 0; i < t.row_modes; ++i) t.reach += t.row[i].src * (t.row[i].extent - 1);
  for (int i = 0; i < parts; ++i) {
    Part const& p = part[i];
    std::int64_t const back = p.src < 0 ? -p.src : 0;
    std::int32_t const behind = p.src < 0 ? -p.image : 0;
    t.first_image += behind * (p.extent - 1);
    if (p.slot >= 0)
      t.slot[p.slot] = {p.extent,
                        std::int32_t(p.n - (ceil_div(p.n + (&p == &last ? late : 0), p.extent) - 1) * p.extent), back,
                        behind};
  }

  // Units and lines.
  t.units = std::int32_t(units / tiling.repeat);
  auto const digit = [](Part const& p) { return CopyTile::Digit{0, p.dst, p.extent, p.image, p.slot, 1}; };
  for (int i = 0; i < tiling.line_modes; ++i) t.along[t.along_modes++] = digit(part[i]);
  if (tiling.repeat > 1) {
    CopyTile::Digit& d = t.along[t.along_modes - 1];
    std::int32_t const q = d.extent /= tiling.repeat;
    t.line[t.line_modes++] = {0, d.dst * q, tiling.repeat, d.image * q, d.slot, q};
    t.lines *= tiling.repeat;
  }
  for (int i = tiling.line_modes; i < parts; ++i) {
    if (t.line_modes == t.kModes) return {"a tile has more than {} modes beside its lines'", {t.kModes}};
    t.line[t.line_modes++] = digit(part[i]);
    t.lines *= part[i].extent;
  }
  // Lines that are neighbours in shared memory are a warp's.
  std::sort(t.line, t.line + t.line_modes, [](CopyTile::Digit const& a, CopyTile::Digit const& b) {
    return std::abs(std::int64_t(a.image)) < std::abs(std::int64_t(b.image));
  });
  t.lanes = tiling.lanes;
  // Lines of one mode are counted by their own words; of others by those of the first one, and one that begins within a word
  // has one more.
  t.stores = t.along_modes == 1 ? std::max(t.units / U, 1)
                                : std::int32_t(ceil_div(t.units + t.sheared_units() + (t.whole ? 0 : U - 1), U));

  // Words: lines in groups that are neighbours in the image, at places that are whole words.
  if (U > 1 && t.line_modes > 0 && t.line[0].image == u && t.line[0].extent > 1 && t.line[0].dst % 4 == 0) {
    bool all = t.first_image % 4 == 0 && grain % 4 == 0 && (!t.shear || t.line[0].dst % kSector == 0);
    for (int i = 0; i < t.along_modes; ++i) all &= t.along[i].image % 4 == 0;
    for (int i = 1; i < t.line_modes; ++i) all &= t.line[i].image % 4 == 0;
    for (int i = 0; i < t.slots; ++i) all &= t.slot[i].image % 4 == 0;
    t.words = all;
  }
  t.runs = U > 1 && t.along_modes == 1 && t.along[0].image == u;
  t.turns = std::int32_t(ceil_div(t.stores, t.lanes * CopyTile::stores_of_a_lane(u, t.words)));
  t.line_groups = t.line_modes == 0 ? 1 : t.words ? std::int32_t(ceil_div(t.line[0].extent, U)) : t.line[0].extent;
  t.groups = t.line_modes == 0 ? 1 : t.lines / t.line[0].extent * t.line_groups;
  t.entries = std::int32_t(ceil_div(t.groups, t.lines_apart(threads))) * t.lines_apart(threads);

  if (std::int64_t(t.entries) + t.inner > 1 << 16 || image > 1 << 20)
    return {"a tile of {} bytes, {} lines of {} units", {image, t.lines, t.units}};
  t.row_table = std::int32_t(image);
  t.line_table = t.row_table + (t.row_modes > 1 ? t.rows * std::int32_t(kVector) : 0);
  t.unit_table = t.line_table + t.entries * std::int32_t(kVector);
  t.shared_bytes = t.unit_table + (t.along_modes > 1 ? (t.inner + U) * 4 : 0);
  return {};
}

}  // namespace inlay::planner
