// Family: copies without shared memory. A thread writes 16 destination bytes from a contiguous,
// broadcast or strided source of any alignment. In rows of 64 elements and more with gaps in the
// destination or, if E is 4 or 8, in the source, neighbouring lanes copy neighbouring elements. In
// other rows with gaps in the destination a thread copies one element.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/copy/access_footprint.h>
#include <inlay/kernels/copy/counted_modes.h>
#include <inlay/kernels/copy/line_store.h>
#include <inlay/kernels/copy/tile_grid.h>
#include <inlay/model/copy_time.h>

namespace inlay::kernels {

template <class T, class Step>
struct DirectRows {
  static constexpr int E = sizeof(T), V = 16 / E, threads = 256, kModes = 40;
  static constexpr LaunchInfo launch_info{.threads = threads, .follows = true};
  struct Smem {};
  char const* src;
  char* dst;
  SourceRange range;
  Divisor windows;         // of a row
  int all, units;          // windows in all; elements of a row
  int64_t step, step_dst;  // bytes between elements of a row
  // A window is the work of a thread. vectors: one 16-byte element; strided: V elements, 32 indices
  // apart; scalar: one element; bytes: 16 bytes of the destination.
  enum class Form : uint8_t { vectors, strided, scalar, bytes } form;
  CountedModes<kModes> modes;  // all but the row's own

  static Form form_of(Copy const& m) {
    if (m.rank == 0) return Form::scalar;
    Mode const& row = m.mode[0];
    bool const gaps = row.src_stride != E && row.src_stride != 0;
    if (E < 16 && row.extent >= 64 && (row.dst_stride != E || (E >= 4 && gaps))) return Form::strided;
    if (row.dst_stride != E) return Form::scalar;
    return E == 16 && !gaps && row.src_stride == E ? Form::vectors : Form::bytes;
  }
  // Windows in a row.
  static int64_t windows_of(Copy const& m, Form form) {
    int64_t const n = m.mode[0].extent;
    if (form == Form::strided) return (n + 32 * V - 1) / (32 * V) * 32;
    bool whole = reinterpret_cast<uintptr_t>(m.dst) % 16 == 0;
    for (int i = 1; i < m.rank; ++i) whole &= m.mode[i].dst_stride % 16 == 0;
    return (n + (whole ? 0 : V - 1) + V - 1) / V;
  }
  static DirectRows make(Copy const& m, auto const&) {
    DirectRows k{};
    k.src = static_cast<char const*>(m.src);
    k.dst = static_cast<char*>(m.dst);
    k.range = SourceRange(m);
    k.form = form_of(m);
    bool const row = k.form != Form::scalar;
    k.step = row ? m.mode[0].src_stride : E, k.step_dst = row ? m.mode[0].dst_stride : E;
    for (int i = row; i < m.rank; ++i) k.modes.add(m.mode[i]);
    k.units = row ? int(m.mode[0].extent) : 1;
    k.windows = {row ? int(windows_of(m, k.form)) : 1};
    k.all = int(m.elements() / k.units * k.windows.by);
    return k;
  }
  int64_t blocks() const { return (int64_t(all) + threads - 1) / threads; }
  void relocate(auto const& at) { src = at(src), dst = at(dst), range.relocate(at); }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    Copy_Atom<On<Block, LoadEvictLast<Vector16>>, Vector16> load_atom;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_atom;
    Copy_Atom<On<Block, LoadGlobal<T>>, T> unit_load;
    Copy_Atom<On<Block, UniversalCopy<T>>, T> unit_store;
    block.griddep_launch_dependents();
    int const i = int(block.block_index() * threads + block.thread_rank());
    bool const on = i < all && i >= 0;
    int row, x;
    windows(row, x, on ? i : 0);
    char const* from = src;
    char* to = dst;
    modes.advance(row, from, to);
    block.griddep_wait();
    if (form == Form::vectors) {
      Vector16 r;
      copy_one(load_atom, on, block.gmem(reinterpret_cast<Vector16 const*>(from + int64_t(x) * 16)), &r);
      copy_one(store_atom, on, &r, block.gmem(reinterpret_cast<Vector16*>(to + int64_t(x) * 16)));
      return;
    }
    if (form == Form::strided) {
      if constexpr (E < 16) {
        x = x % 32 + x / 32 * (32 * V);
        T e[V];
        CUTE_UNROLL
        for (int v = 0; v < V; ++v)
          copy_one(unit_load, on && x + 32 * v < units,
                   block.gmem(reinterpret_cast<T const*>(from + (x + 32 * v) * step)), &e[v]);
        CUTE_UNROLL
        for (int v = 0; v < V; ++v)
          copy_one(unit_store, on && x + 32 * v < units, &e[v],
                   block.gmem(reinterpret_cast<T*>(to + (x + 32 * v) * step_dst)));
      }
      return;
    }
    bool const lone = form == Form::scalar;
    // The window has elements [begin, begin + V) of the row; the first and the last window may extend beyond the row.
    int const begin = lone ? 0 : x * V - int(reinterpret_cast<uintptr_t>(to) & 15) / E;
    int const low = begin < 0 ? 0 : begin, high = begin + V < units ? begin + V : units;
    bool const whole = on && high - low == V, part = on && !whole;
    from += begin * step, to += begin * int64_t(E);
    Vector16 r;
    if (E < 16 && step == E && !lone && block.all(!on || range.holds(from - 15, 46))) {
      // Two aligned vectors contain the window's bytes; before and after a row one of them may contain none.
      int const past = int(reinterpret_cast<uintptr_t>(from) & 15);
      auto const pair = reinterpret_cast<Vector16 const*>(from - past);
      Vector16 lo{}, hi{};
      uint32_t word[4];
      copy_one(load_atom, on && past + (low - begin) * E < 16, block.gmem(pair), &lo);
      copy_one(load_atom, on && past + (high - begin) * E > 16, block.gmem(pair + 1), &hi);
      realign(lo, hi, unsigned(past), word);
      r = join(word);
    } else {
      T e[V];
      CUTE_UNROLL
      for (int v = 0; v < V; ++v)
        copy_one(unit_load, on && begin + v >= low && begin + v < high,
                 block.gmem(reinterpret_cast<T const*>(from + v * step)), &e[v]);
      r = joined(e);
    }
    copy_one(store_atom, whole, &r, block.gmem(reinterpret_cast<Vector16*>(to)));
    if (block.any(part)) store_piece<E>(block, part, to, (low - begin) * E, (high - begin) * E, r);
  }

  // The source bytes of neighbouring destination elements.
  static AccessFootprint footprint(Copy const& m, double units) {
    return footprint_of({m.mode, std::size_t(m.rank)}, &Mode::src_stride, E, units);
  }
  static double seconds(Copy const& m, Device const& device) {
    DirectRows const k = make(m, 0);
    double const elements = double(m.elements()), warps = k.all / 32., modes = k.modes.count;
    bool const lone = k.form == Form::scalar, plain = k.form == Form::vectors, apart = k.form == Form::strided;
    bool const row = k.step == E && !lone && !apart, broadcast = k.step == 0;
    double const rows = elements / std::max(k.units, 1), span = double(k.units) * E;
    auto const ragged = [](double bytes) { return (bytes + 31) / 32; };
    auto const strided = [](int64_t step) {
      return std::min(1., std::abs(double(step)) / 32);
    };  // sectors for an element
    CopyWork w{.bytes = read_bytes(m, device) + written_bytes(m),
               .blocks = double(k.blocks()),
               .resident_blocks = 8,
               .block_us = 1.1};
    bool const sectors = plain && span >= 32;
    // The L1 keeps the sectors that elements of a block share.
    double const together = std::min(elements, double(threads) * (lone ? 1 : V));
    double const in = row         ? rows * (sectors ? span / 32 : ragged(span))
                      : broadcast ? rows
                                  : elements / together * footprint(m, together).lines_of(32);
    double const out = lone    ? elements * 2
                       : apart ? elements * strided(k.step_dst) + rows
                               : rows * (sectors ? span / 32 : ragged(span) + (plain ? 0 : 1));
    w.sectors = in + out;
    double const ends = plain || apart ? 0 : std::min(1., 64 * 16 / std::max(span, 16.)) * 95;  // two for each row
    w.instructions = warps * (60 + 27 * modes + (plain ? 0 : row ? 70 : apart ? 12 * V : 4 * V) + ends);
    double const lines = std::abs(double(k.step)) / 4 +
                         std::abs(double(k.step_dst)) / 4;  // cache lines of 128 bytes, for the elements of a warp
    bool const gathers = !plain && !row && !apart && !broadcast;
    // Lines that one load of a warp hits.
    double const gathered = gathers ? std::min(32., footprint(m, 32. * (lone ? 1 : V)).lines_of(128)) : 1;
    w.wavefronts = warps * (plain   ? 8
                            : row   ? 14
                            : apart ? V * std::min(64., 2 + lines)
                                    : 8 + V * (gathers ? 1 + .4 * gathered : 1));
    if (gathers) w.block_us += kLineMicroseconds * threads / 32 * (lone ? 1 : V) * gathered;
    // Rows of less than two sectors are ends alone.
    if (!plain) w.correction = row && span < 64 ? 1.1 : .92;
    return seconds_of(w.times(double(m.pairs)), device);
  }
  static Reason rejects(Copy const& m, Device const&) {
    if (m.rank > kModes) return {"{} modes are more than {}", {m.rank, kModes}};
    Form const form = form_of(m);
    __int128 windows = 1;
    for (int i = 0; i < m.rank; ++i) {
      int64_t const n = m.mode[i].extent;
      if (n > INT32_MAX) return {"an extent of {} is more than {}", {n, INT32_MAX}, n / INT32_MAX + 1};
      windows *= i == 0 && form != Form::scalar ? windows_of(m, form) : n;
    }
    return too_many("{} elements are more vectors than a grid counts", windows, 1, {m.elements(), 0, 0},
                    INT32_MAX - threads);
  }
};
}  // namespace inlay::kernels
