// Family: a move without shared memory. A thread has 16 bytes of the destination, wherever they come from: of rows that are
// contiguous on both sides, whatever they begin with; of repeated and strided elements; and, unit by unit, all the rest.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/move/counted_modes.h>
#include <inlay/kernels/move/line_store.h>
#include <inlay/kernels/parts/tile_grid.h>
#include <inlay/plan/move_time.h>

namespace inlay::kernels {

template <class T, class Step>
struct DirectRows {
  static constexpr int E = sizeof(T), V = 16 / E, threads = 256, kModes = 40;
  static constexpr LaunchFacts launch_facts{.threads = threads};
  struct Smem {};
  char const* src;
  char* dst;
  SourceRange range;
  CountedModes<kModes> modes;  // beside the row's own
  Divisor windows;             // of a row
  int all, units;              // windows; units of a row
  int64_t step;                // bytes from a unit of a row to the next, in the source
  bool lone, plain;            // a window is one unit; windows are whole vectors on both sides

  static DirectRows make(Move const& m, auto const&) {
    DirectRows k{};
    k.src = static_cast<char const*>(m.src);
    k.dst = static_cast<char*>(m.dst);
    k.range = SourceRange(m);
    bool const row = m.rank > 0 && m.mode[0].dst_stride == E;
    k.lone = !row;
    k.step = row ? m.mode[0].src_stride : E;
    int64_t const n = row ? m.mode[0].extent : 1;
    for (int i = row; i < m.rank; ++i) k.modes.add(m.mode[i]);
    bool whole = reinterpret_cast<uintptr_t>(m.dst) % 16 == 0;
    for (int i = row; i < m.rank; ++i) whole &= m.mode[i].dst_stride % 16 == 0;
    k.plain = E == 16 && k.step == E && row;
    int64_t const w = k.lone ? 1 : (n + (whole ? 0 : V - 1) + V - 1) / V;
    k.units = int(n), k.windows = int(w);
    int64_t rows = 1;
    for (int i = 0; i < k.modes.count; ++i) rows *= k.modes.mode[i].extent.by;
    k.all = int(rows * w);
    return k;
  }
  int64_t blocks() const { return (int64_t(all) + threads - 1) / threads; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    Copy_Atom<On<Block, LoadEvictLast<Vector16>>, Vector16> load_atom;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_atom;
    Copy_Atom<On<Block, LoadGlobal<T>>, T> unit_load;
    int const i = int(block.group_index() * threads + block.thread_rank());
    bool const on = i < all && i >= 0;
    int row, x;
    windows(row, x, on ? i : 0);
    char const* from = src;
    char* to = dst;
    modes.advance(row, from, to);
    if (plain) {
      Vector16 r;
      copy_one(load_atom, on, make_gmem_ptr(reinterpret_cast<Vector16 const*>(from + int64_t(x) * 16)), &r);
      copy_one(store_atom, on, &r, make_gmem_ptr(reinterpret_cast<Vector16*>(to + int64_t(x) * 16)));
      return;
    }
    // The window's units are [begin, begin + V) of the row; some of them may be before its beginning or behind its end.
    int const begin = lone ? 0 : x * V - int(reinterpret_cast<uintptr_t>(to) & 15) / E;
    int const low = begin < 0 ? 0 : begin, high = begin + V < units ? begin + V : units;
    bool const whole = on && high - low == V, part = on && !whole;
    from += begin * step, to += begin * int64_t(E);
    Vector16 r;
    if (E < 16 && step == E && !lone && block.all(!on || range.holds(from - 15, 46))) {
      // Two aligned vectors have the window's bytes; in front of a row and behind it one may have none.
      int const past = int(reinterpret_cast<uintptr_t>(from) & 15);
      auto const pair = reinterpret_cast<Vector16 const*>(from - past);
      Vector16 lo{}, hi{};
      uint32_t word[4];
      copy_one(load_atom, on && past + (low - begin) * E < 16, make_gmem_ptr(pair), &lo);
      copy_one(load_atom, on && past + (high - begin) * E > 16, make_gmem_ptr(pair + 1), &hi);
      realign(lo, hi, unsigned(past), word);
      r = join(word);
    } else {
      T e[V];
      CUTE_UNROLL
      for (int v = 0; v < V; ++v)
        copy_one(unit_load, on && begin + v >= low && begin + v < high,
                 make_gmem_ptr(reinterpret_cast<T const*>(from + v * step)), &e[v]);
      r = joined(e);
    }
    copy_one(store_atom, whole, &r, make_gmem_ptr(reinterpret_cast<Vector16*>(to)));
    if (block.any(part)) store_piece<E>(block, part, to, (low - begin) * E, (high - begin) * E, r);
  }

  static double seconds(Move const& m, Device const& device) {
    DirectRows const k = make(m, 0);
    double const elements = double(m.elements()), warps = k.all / 32.;
    double distinct = elements, modes = k.modes.count;
    for (int i = 0; i < m.rank; ++i)
      if (m.mode[i].src_stride == 0) distinct /= double(m.mode[i].extent);
    bool const row = k.step == E && !k.lone, broadcast = k.step == 0;
    double const rows = elements / std::max(k.units, 1), span = double(k.units) * E;
    auto const ragged = [](double bytes) { return (bytes + 31) / 32; };
    MoveWork w{.bytes = (elements + distinct) * E, .blocks = double(k.blocks()), .held = 8, .turn = .9};
    bool const sectors = k.plain && span >= 32;
    double const in = row         ? rows * (sectors ? span / 32 : ragged(span))
                      : broadcast ? rows
                                  : elements * std::min(1., std::abs(double(k.step)) / 32);
    double const out = k.lone ? elements * 2 : rows * (sectors ? span / 32 : ragged(span) + (k.plain ? 0 : 1));
    w.sectors = in + out;
    double const ends = k.plain ? 0 : std::min(1., 64 * 16 / std::max(span, 16.)) * 60;  // two for each row
    w.issued = warps * (30 + 14 * modes + (k.plain ? 0 : row ? 45 : 4 * V) + ends);
    w.wavefronts = warps * (k.plain ? 8
                            : row   ? 14
                                    : 8 + V * (broadcast ? 1 : std::min(32., 4 + std::abs(double(k.step)) * V / 4)));
    return seconds_of(w, device);
  }
  static Reason rejects(Move const& m, Device const&) {
    if (m.rank > kModes) return {"{} modes are more than {}", {m.rank, kModes}};
    bool const row = m.rank > 0 && m.mode[0].dst_stride == E;
    __int128 windows = 1;
    for (int i = 0; i < m.rank; ++i) {
      int64_t const n = m.mode[i].extent;
      windows *= i == 0 && row ? n / V + 2 : n;
      if (n > INT32_MAX) return {"an extent of {} is more than {}", {n, INT32_MAX}, n / INT32_MAX + 1};
    }
    return too_many("{} elements are more vectors than a grid counts", windows, 1, {m.elements(), 0, 0},
                    INT32_MAX - threads);
  }
};
}  // namespace inlay::kernels
