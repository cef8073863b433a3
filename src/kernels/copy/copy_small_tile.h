// Transposing copies that latency decides: a tile passes through shared memory behind one barrier. Every thread finds
// its own addresses, all loads of a block are in flight at once, and there are no tables.
//
// A tile has TILE_A indices of the modes that are fast in the destination and TILE_B of those that are fast in the
// source. Lanes load along B and store along A.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/block/register_ops.h>
#include <inlay/kernels/copy/access_footprint.h>
#include <inlay/kernels/copy/numbered_configs.h>
#include <inlay/kernels/copy/tile_grid.h>
#include <inlay/model/copy_time.h>

#include <array>

namespace inlay::kernels {

inline constexpr int kModesOutsideSmallTiles = 4;

// Up to three modes with one index, of which the first is the fastest digit.
struct TileModes {
  static constexpr int kMost = 3;
  int count = 0, indices = 1;
  Divisor extent[kMost - 1];
  int src[kMost]{}, dst[kMost]{};  // bytes

  void add(Mode const& m) {
    if (count + 1 < kMost) extent[count] = int(m.extent);
    src[count] = int(m.src_stride), dst[count] = int(m.dst_stride);
    ++count, indices *= int(m.extent);
  }
  CUTE_HOST_DEVICE int offset(int const (&stride)[kMost], int index) const {
    if (index >= indices) return 0;  // of a lane that accesses nothing
    if (count == 1) return index * stride[0];
    int first, second, third;
    extent[0](third, first, index);
    extent[1](third, second, third);
    return first * stride[0] + second * stride[1] + third * stride[2];
  }
};

template <class T, int TILE_A, int TILE_B, int THREADS, class Step>
struct CopySmallTile {
  static constexpr int E = sizeof(T), threads = THREADS, EACH = TILE_A * TILE_B / THREADS;
  static constexpr int PITCH = TILE_B * E + (E < 4 ? 4 : E);                 // bytes: columns meet all banks
  static constexpr int ROWS = THREADS / TILE_B, COLUMNS = THREADS / TILE_A;  // of a pass of all threads
  static_assert(TILE_A % ROWS == 0 && TILE_B % COLUMNS == 0);
  static constexpr LaunchInfo launch_info{.threads = threads, .follows = true};
  struct Smem {
    alignas(16) char tile[TILE_A * PITCH];
    static void members(auto name) { name("tile", &Smem::tile); }
  };
  struct Outer {
    Divisor extent;
    int64_t src, dst;  // bytes
  };
  char const* src;
  char* dst;
  Divisor tiles_a, tiles_b;
  TileModes a, b;
  int all, outer;  // tiles; modes outside the tile
  Outer modes[kModesOutsideSmallTiles];

  int64_t blocks() const { return all; }
  void relocate(auto const& at) { src = at(src), dst = at(dst); }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    Copy_Atom<On<Block, LoadGlobal<T>>, T> load;
    Copy_Atom<On<Block, UniversalCopy<T>>, T> atom;
    block.griddep_launch_dependents();
    int rest = int(block.block_index()), a0, b0;
    tiles_a(rest, a0, rest);
    tiles_b(rest, b0, rest);
    a0 *= TILE_A, b0 *= TILE_B;
    char const* from = src;
    char* to = dst;
    CUTE_NO_UNROLL
    for (int k = 0; k < outer; ++k) {
      int digit;
      modes[k].extent(rest, digit, rest);
      from += digit * modes[k].src, to += digit * modes[k].dst;
    }
    int const tid = int(block.thread_rank());
    int const row = tid / TILE_B, along_b = tid % TILE_B, column = tid / TILE_A, along_a = tid % TILE_A;
    from += b.offset(b.src, b0 + along_b), to += a.offset(a.dst, a0 + along_a);
    int steps[EACH];  // bytes from there, of the elements that the thread loads
    CUTE_UNROLL
    for (int i = 0; i < EACH; ++i) steps[i] = a.offset(a.src, a0 + row + i * ROWS);
    block.griddep_wait();
    T x[EACH];
    CUTE_UNROLL
    for (int i = 0; i < EACH; ++i) {
      bool const on = a0 + row + i * ROWS < a.indices && b0 + along_b < b.indices;
      copy_one(load, on, block.gmem(reinterpret_cast<T const*>(from + steps[i])), &x[i]);
    }
    CUTE_UNROLL
    for (int i = 0; i < EACH; ++i) copy_one(atom, true, &x[i], make_smem_ptr(at(smem, row + i * ROWS, along_b)));
    CUTE_UNROLL
    for (int i = 0; i < EACH; ++i) steps[i] = b.offset(b.dst, b0 + column + i * COLUMNS);
    block.sync();
    CUTE_UNROLL
    for (int i = 0; i < EACH; ++i) {
      bool const on = b0 + column + i * COLUMNS < b.indices && a0 + along_a < a.indices;
      copy_one(atom, true, make_smem_ptr(at(smem, along_a, column + i * COLUMNS)), &x[i]);
      copy_one(atom, on, &x[i], block.gmem(reinterpret_cast<T*>(to + steps[i])));
    }
  }
  CUTE_DEVICE static T* at(Smem& smem, int index_a, int index_b) {
    return reinterpret_cast<T*>(smem.tile + index_a * PITCH + index_b * E);
  }
};

namespace copy_small_tile {

// Config::tile is 1 + the place here. The first shape has the most tiles.
struct Shape {
  int a, b, threads;
};
inline constexpr Shape kShapes[] = {{16, 16, 64}, {32, 32, 256}, {32, 64, 256}, {64, 16, 128}};

// The modes of a copy by their part in a tile.
struct Parts {
  std::array<Mode, TileModes::kMost> a, b;
  std::array<Mode, kModesOutsideSmallTiles> outer;
  int in_a = 0, in_b = 0, in_outer = 0;
  Reason rejected;

  explicit Parts(Copy const& m) {
    bool taken[Copy::kMaxRank]{};
    auto const put = [&](auto& part, int& count, int k) { part[std::size_t(count++)] = m.mode[k], taken[k] = true; };
    // The mode of the smallest step in the source that has no part yet; -1: none.
    auto const fastest = [&] {
      int best = -1;
      for (int k = 0; k < m.rank; ++k)
        if (int64_t const step = std::abs(m.mode[k].src_stride);
            !taken[k] && step && (best < 0 || step < std::abs(m.mode[best].src_stride)))
          best = k;
      return best;
    };
    int const first = m.rank ? fastest() : -1;
    if (first <= 0) {
      rejected = {"no mode but the destination's fastest is fast in the source"};
      return;
    }
    put(a, in_a, 0), put(b, in_b, first);
    // Short modes are joined with the next ones, until a run has about a hundred bytes.
    int64_t run_a = m.mode[0].extent * m.elem_bytes, run_b = m.mode[first].extent * m.elem_bytes;
    for (int joined = 0, next = 1; joined < TileModes::kMost - 1; ++joined) {
      if (run_a < 96 && in_a == joined + 1 && next < m.rank && !taken[next])
        run_a *= m.mode[next].extent, put(a, in_a, next++);
      auto const reach = [](Mode const& x) { return double(std::abs(x.src_stride)); };
      Mode const& before = b[std::size_t(joined)];
      if (int const k = fastest();
          run_b < 96 && in_b == joined + 1 && k >= 0 && reach(m.mode[k]) <= 4 * reach(before) * double(before.extent))
        run_b *= m.mode[k].extent, put(b, in_b, k);
    }
    for (int k = 0; k < m.rank; ++k) {
      if (taken[k]) continue;
      if (in_outer == int(outer.size())) {
        rejected = {"{} modes are more than a tile and its grid have", {m.rank}};
        return;
      }
      put(outer, in_outer, k);
    }
    for (auto const& [part, count] : {std::pair{&a, in_a}, {&b, in_b}}) check(*part, count);
    if (__int128(tiles(kShapes[0])) > INT32_MAX)
      rejected = {"{} elements are more tiles than a grid holds", {m.elements()}};
  }
  // Offsets within the tiles have 32 bits.
  void check(std::array<Mode, TileModes::kMost> const& part, int count) {
    __int128 indices = 1, span = 0;
    for (int i = 0; i < count; ++i) {
      Mode const& x = part[std::size_t(i)];
      indices *= x.extent;
      span += __int128(std::max(std::abs(x.src_stride), x.dst_stride)) * x.extent;
    }
    constexpr int64_t most = INT32_MAX - 4096;
    if (indices > most || span > most)
      rejected = {"the modes of a tile span more than the {} bytes that offsets of 32 bits reach", {most}};
  }
  static int64_t indices(std::array<Mode, TileModes::kMost> const& part, int count) {
    int64_t n = 1;
    for (int i = 0; i < count; ++i) n *= part[std::size_t(i)].extent;
    return n;
  }
  int64_t indices_a() const { return indices(a, in_a); }
  int64_t indices_b() const { return indices(b, in_b); }
  int64_t outer_indices() const {
    int64_t n = 1;
    for (int i = 0; i < in_outer; ++i) n *= outer[std::size_t(i)].extent;
    return n;
  }
  int64_t tiles(Shape const& s) const {
    return ceil_div(indices_a(), int64_t(s.a)) * ceil_div(indices_b(), int64_t(s.b)) * outer_indices();
  }
};

struct Step {};
template <class T>
struct Kernel {
  using U = Carrier<T>;
  static constexpr int E = sizeof(T);

  static double seconds_of_shape(Parts const& p, Shape const& s, Device const& device) {
    double const tiles = double(p.tiles(s)), a = double(std::min<int64_t>(s.a, p.indices_a())),
                 b = double(std::min<int64_t>(s.b, p.indices_b())), each = double(s.a * s.b / s.threads),
                 elements = double(p.indices_a() * p.indices_b()) * double(p.outer_indices());
    auto const lines = [&](auto const& part, int count, int64_t Mode::*stride, double n, double bytes) {
      return footprint_of({part.data(), std::size_t(count)}, stride, E, n).lines_of(bytes);
    };
    auto const in = [&](double bytes) { return a * lines(p.b, p.in_b, &Mode::src_stride, b, bytes); };
    auto const out = [&](double bytes) { return b * lines(p.a, p.in_a, &Mode::dst_stride, a, bytes); };
    // Fitted on an H200 to the copies below 64 MB of suites/wild.json, each in all shapes, the latency of a block and
    // the cost of joined modes to 109 copies drawn later: off by 11 % in the median, and the chosen shape takes 1.03 of
    // the fastest one's time.
    //
    // Sectors that two tiles share go to DRAM twice where the L2 does not hold the copy.
    double const joined = (p.in_a > 1) + (p.in_b > 1);  // groups of several modes
    bool const in_l2 = 2 * elements * E < double(device.l2_bytes);
    CopyWork const w{.bytes = in_l2 ? 2 * elements * E : 32 * tiles * (in(32) + out(32)),
                     .sectors = .95 * tiles * (in(32) + out(32)),
                     .instructions = tiles * (669 + s.threads / 32 * each * (23 + 12 * joined)),
                     .wavefronts = tiles * (in(128) + 3 * out(128)),
                     .blocks = tiles,
                     .resident_blocks = std::min(2048. / s.threads, 16.),
                     .block_us = .62 + .1 * each};
    return model::seconds_of(w, device);
  }
  static Config choose(Copy const& m, Device const& device) {
    Parts const parts(m);
    if (parts.rejected) return {.tile = 1};
    return fastest_of(std::size(kShapes), [&](std::size_t i) { return seconds_of_shape(parts, kShapes[i], device); });
  }
  static double seconds(Copy const& m, Device const& device, Config const& config) {
    Parts const parts(m);
    if (parts.rejected) return HUGE_VAL;
    return seconds_of_shape(parts, kShapes[index_of<Kernel>(m, device, config)], device);
  }

  template <class S, class F>
  static void launches(Copy const& m, S const& setting, F const& f) {
    Parts const parts(m);
    std::size_t const number = index_of<Kernel>(m, setting.device, setting.config);
    static_assert(std::size(kShapes) == 4);
    auto const of = [&]<int I>(Int<I>) {
      constexpr Shape s = kShapes[I];
      f(make<CopySmallTile<U, s.a, s.b, s.threads, Step>>(m, parts, s));
    };
    if (number == 0) return of(Int<0>{});
    if (number == 1) return of(Int<1>{});
    if (number == 2) return of(Int<2>{});
    of(Int<3>{});
  }
  template <class K>
  static K make(Copy const& m, Parts const& p, Shape const& s) {
    K k{};
    k.src = static_cast<char const*>(m.src), k.dst = static_cast<char*>(m.dst);
    k.tiles_a = int(ceil_div(p.indices_a(), int64_t(s.a))), k.tiles_b = int(ceil_div(p.indices_b(), int64_t(s.b)));
    for (int i = 0; i < p.in_a; ++i) k.a.add(p.a[std::size_t(i)]);
    for (int i = 0; i < p.in_b; ++i) k.b.add(p.b[std::size_t(i)]);
    k.all = int(p.tiles(s)), k.outer = p.in_outer;
    for (int i = 0; i < p.in_outer; ++i) {
      Mode const& x = p.outer[std::size_t(i)];
      k.modes[i] = {int(x.extent), x.src_stride, x.dst_stride};
    }
    return k;
  }
  static Reason rejects(Copy const& m, Device const&) {
    for (int k = 0; k < m.rank; ++k)
      if (m.mode[k].extent > INT32_MAX / 2)
        return {"an extent of {} is more than a tile's modes count", {m.mode[k].extent}};
    return Parts(m).rejected;
  }
};
using Dispatch = ByWidenedElement<Kernel>;

inline constexpr Info<Copy> info = {
    .name = "copy_small_tile",
    .idea =
        "Small tiles between any two fast directions, one barrier, no tables: transposing copies that latency decides.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .rejects = rejects_wide<Kernel>,
    .seconds = seconds_wide<Kernel>,
    .choose = choose_wide<Kernel>,
    .tiles = int(std::size(kShapes)),
};

}  // namespace copy_small_tile
}  // namespace inlay::kernels
