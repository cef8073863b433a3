// Family: copies between R planes and rows of R elements, such as the channels of an image.
//
// A thread processes a unit: 16 bytes of each plane, which are 16 R consecutive bytes of the rows. The units of a warp
// are consecutive, so that it loads and stores 512 bytes at once on both sides. Through its own part of shared memory,
// without a block barrier, each thread gets the R vectors of its rows. The bytes are permuted in registers.
//
//   R = 3, 1 byte   rows    r0 g0 b0 r1 | g1 b1 r2 g2 | b2 r3 g3 b3     words of a unit; a byte permute combines two of
//                   planes  r0 r1 r2 r3,  g0 g1 g2 g3,  b0 b1 b2 b3     them
//
// Planes and rows begin at any element: loads and stores realign them.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/copy/counted_modes.h>
#include <inlay/kernels/copy/line_store.h>
#include <inlay/model/copy_time.h>

#include <numeric>

namespace inlay::kernels {

enum class Interleaving { to_planes, from_planes };

template <class T, int R, Interleaving direction, class Step>
struct Interleaved {
  static constexpr int E = sizeof(T), V = 16 / E, threads = R > 4 ? 128 : 256, warps = threads / 32, kModes = 8;
  static constexpr bool to_planes = direction == Interleaving::to_planes;
  static constexpr LaunchInfo launch_info{.threads = threads, .follows = true};
  struct Smem {
    alignas(128) Vector16 rows[warps * 32 * R];
    static void members(auto name) { name("rows", &Smem::rows); }
  };

  char const* src;
  char* dst;
  SourceRange range;
  Divisor passes;        // of warps, for one index of the other modes
  int64_t plane, bytes;  // stride between planes, size of a plane, in bytes
  int all;               // passes in all
  int step;  // units of a pass: 31 if planes are not aligned to 16 bytes, because a lane then needs its neighbour's
             // bytes
  CountedModes<kModes> others;  // all modes but the planes and their elements

  // The modes of the planes and of their elements; -1: the copy has no such mode.
  struct Form {
    int planes = -1, elements = -1;
  };
  static Form form_of(Copy const& m) {
    Form f;
    for (int k = 0; k < m.rank; ++k) {
      int64_t const rows = to_planes ? m.mode[k].src_stride : m.mode[k].dst_stride;
      int64_t const along = to_planes ? m.mode[k].dst_stride : m.mode[k].src_stride;
      if (rows == E && m.mode[k].extent == R) f.planes = k;
      if (rows == R * E && along == E) f.elements = k;
    }
    return f;
  }
  static bool fits(Copy const& m) {
    Form const f = form_of(m);
    return f.planes >= 0 && f.elements >= 0;
  }

  static Interleaved make(Copy const& m, auto const&) {
    Interleaved k{};
    Form const f = form_of(m);
    k.src = static_cast<char const*>(m.src);
    k.dst = static_cast<char*>(m.dst);
    k.range = SourceRange(m);
    k.plane = to_planes ? m.mode[f.planes].dst_stride : m.mode[f.planes].src_stride;
    k.bytes = m.mode[f.elements].extent * E;
    bool whole = reinterpret_cast<uintptr_t>(m.dst) % 16 == 0 && k.plane % 16 == 0;
    for (int i = 0; i < m.rank; ++i) {
      if (i == f.planes || i == f.elements) continue;
      k.others.add(m.mode[i]);
      whole &= m.mode[i].dst_stride % 16 == 0;
    }
    k.step = to_planes && !whole ? 31 : 32;
    k.passes = {int(passes_of(m, k.step))};
    k.all = int(m.elements() / (m.mode[f.elements].extent * R) * k.passes.by);
    return k;
  }
  // Passes of warps for one index of the other modes.
  static int64_t passes_of(Copy const& m, int step) {
    int64_t const units = (m.mode[form_of(m).elements].extent * E + 15) / 16;
    return (units + step - 1) / step;
  }
  int64_t blocks() const { return (int64_t(all) + warps - 1) / warps; }
  void relocate(auto const& at) { src = at(src), dst = at(dst), range.relocate(at); }

  // Position of vector i of the units' rows in the shared memory of a warp, swizzled against bank conflicts.
  CUTE_HOST_DEVICE static constexpr int place(int i) { return i ^ ((i >> 3) & (std::gcd(R, 8) - 1)); }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_launch_dependents();
    int const tid = int(block.thread_rank()), lane = tid % 32, warp = int(block.block_index()) * warps + tid / 32;
    if (warp >= all) return;
    int rest, pass;
    passes(rest, pass, warp);
    char const* from = src;
    char* to = dst;
    others.advance(rest, from, to);
    block.griddep_wait();
    int64_t const x = int64_t(pass) * step * 16;  // the pass's first byte of a plane
    int const left = int(bytes - x < 512 ? bytes - x : 512);
    Vector16* const rows = smem.rows + tid / 32 * 32 * R;
    if constexpr (to_planes)
      rows_to_planes(block, rows, from + x * R, to + x, left, lane, pass == 0);
    else
      planes_to_rows(block, rows, from + x, to + x * R, left, lane);
  }

  template <class Block>
  CUTE_DEVICE void rows_to_planes(Block block, Vector16* rows, char const* from, char* to, int left, int lane,
                                  bool begins) const {
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_atom;
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> load_atom;
    Vector16 r[R];
    load(
        block, from + lane * 16, 512, [&](int k) { return left * R - k * 512 - lane * 16; }, r);
    CUTE_UNROLL
    for (int k = 0; k < R; ++k) copy_one(store_atom, true, &r[k], make_smem_ptr(rows + place(k * 32 + lane)));
    block.syncwarp();
    uint32_t word[4 * R];
    CUTE_UNROLL
    for (int k = 0; k < R; ++k) {
      copy_one(load_atom, true, make_smem_ptr(rows + place(lane * R + k)), &r[k]);
      split(r[k], word + 4 * k);
    }
    CUTE_UNROLL
    for (int c = 0; c < R; ++c) {
      uint32_t of[4];
      CUTE_UNROLL
      for (int w = 0; w < 4; ++w) {
        int at[4]{};
        CUTE_UNROLL
        for (int i = 0; i < 4; ++i) at[i] = ((4 * w + i) / E * R + c) * E + i % E;
        of[w] = bytes_at(word, at);
      }
      Vector16 const v = join(of);
      char* const line = to + c * plane;
      if (step == 32) {
        store_vector<E>(block, line + lane * 16, left - lane * 16, v);
      } else {
        store_aligned<E>(block, lane > 0 || begins, line, lane, 0, left, of_lane_before(block, v), v);
      }
    }
  }
  template <class Block>
  CUTE_DEVICE void planes_to_rows(Block block, Vector16* rows, char const* from, char* to, int left, int lane) const {
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_atom;
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> load_atom;
    Vector16 r[R];
    load(
        block, from + lane * 16, plane, [&](int) { return left - lane * 16; }, r);
    uint32_t word[4 * R];
    CUTE_UNROLL
    for (int c = 0; c < R; ++c) split(r[c], word + 4 * c);
    CUTE_UNROLL
    for (int k = 0; k < R; ++k) {
      uint32_t of[4];
      CUTE_UNROLL
      for (int w = 0; w < 4; ++w) {
        int at[4]{};
        CUTE_UNROLL
        for (int i = 0; i < 4; ++i) {
          int const element = (16 * k + 4 * w + i) / E;
          at[i] = element % R * 16 + element / R * E + i % E;
        }
        of[w] = bytes_at(word, at);
      }
      Vector16 const v = join(of);
      copy_one(store_atom, true, &v, make_smem_ptr(rows + place(lane * R + k)));
    }
    block.syncwarp();
    int const end = left * R;
    bool const aligned = reinterpret_cast<uintptr_t>(to) % 16 == 0;
    CUTE_UNROLL
    for (int k = 0; k <= R; ++k) {
      if (k == R && aligned) break;
      int const i = k * 32 + lane;  // k == R: the end of the last vector, if `to` is misaligned
      Vector16 v = 0, before = 0;
      copy_one(load_atom, k < R, make_smem_ptr(rows + (k < R ? place(i) : 0)), &v);
      if (aligned) {
        store_vector<E>(block, to + i * 16, end - i * 16, v);
      } else {
        bool const on = i > 0 && i <= 32 * R;
        copy_one(load_atom, on, make_smem_ptr(rows + (on ? place(i - 1) : 0)), &before);
        store_aligned<E>(block, i <= 32 * R, to, i, 0, end, before, v);
      }
    }
  }
  // Loads r[k]: 16 bytes at from + k * apart, of which the first left(k) are needed.
  template <class Block, class Left>
  CUTE_DEVICE void load(Block block, char const* from, int64_t apart, Left const& left, Vector16 (&r)[R]) const {
    Copy_Atom<On<Block, LoadEvictLast<Vector16>>, Vector16> load_atom;
    Copy_Atom<On<Block, LoadGlobal<T>>, T> unit_atom;
    Vector16 more[R];
    bool outside[R];  // some bytes lie outside the source
    CUTE_UNROLL
    for (int k = 0; k < R; ++k) {
      char const* const p = from + k * apart;
      int const past = int(reinterpret_cast<uintptr_t>(p) & 15);
      bool const on = left(k) > 0, two = past && past + left(k) > 16;
      outside[k] = on && !range.holds(p - past, two ? 32 : 16);
      auto const vectors = block.gmem(reinterpret_cast<Vector16 const*>(p - past));
      copy_one(load_atom, on && !outside[k], vectors, &r[k]);
      copy_one(load_atom, on && !outside[k] && two, vectors + 1, &more[k]);
    }
    CUTE_UNROLL
    for (int k = 0; k < R; ++k) {
      char const* const p = from + k * apart;
      if (int const past = int(reinterpret_cast<uintptr_t>(p) & 15)) {  // the same for all lanes
        uint32_t word[4];
        realign(r[k], more[k], unsigned(past), word);
        r[k] = join(word);
      }
      if (!block.any(outside[k])) continue;
      Vector16 units = 0;
      CUTE_NO_UNROLL
      for (int v = V - 1; v >= 0; --v) {
        T e{};
        copy_one(unit_atom, outside[k] && v * E < left(k), block.gmem(reinterpret_cast<T const*>(p + v * E)), &e);
        units = units << 8 * E | Vector16(e);
      }
      if (outside[k]) r[k] = units;
    }
  }

  static double seconds(Copy const& m, Device const& device) {
    Interleaved const k = make(m, 0);
    double const elements = double(m.elements()), planes = elements * E / double(k.bytes), edges = k.step == 31 ? 1 : 0;
    CopyWork w{.bytes = 2 * elements * E, .blocks = double(k.blocks()), .resident_blocks = 6, .block_us = 1.6};
    w.sectors = 2 * elements * E / 32 + planes * 2 + double(k.all) * R * edges;
    w.instructions = k.all * (70. + 14 * k.others.count + R * (60 + (E == 1 ? 12 : 6) + 50 * edges));
    w.wavefronts = k.all * R * 20.;
    return seconds_of(w, device);
  }
  static Reason rejects(Copy const& m) {
    int64_t const elements = m.mode[form_of(m).elements].extent;
    for (int k = 0; k < m.rank; ++k)
      if (m.mode[k].extent > INT32_MAX && k != form_of(m).elements)
        return {"an extent of {} is more than {}", {m.mode[k].extent, INT32_MAX}};
    if (m.rank - 2 > kModes) return {"{} modes beside the planes' are more than {}", {m.rank - 2, kModes}};
    return too_many("{} elements in {} planes are more than a grid counts", passes_of(m, 31),
                    m.elements() / elements / R, {elements, m.elements() / elements, 0}, INT32_MAX - warps);
  }
};

// The kernels for kLeast to kMost planes: for narrow elements in few planes copy_tiled is slowest.
template <class T, Interleaving direction, class Step>
struct AnyInterleaved {
  static constexpr int E = sizeof(T), kLeast = 2, kMost = E == 1 ? 8 : E == 2 ? 3 : 1;

  // Calls f(std::type_identity<K>{}) for the K of the copy's planes; returns whether there is one.
  template <int R = kLeast, class F>
  static bool with(Copy const& m, F const& f) {
    if constexpr (R <= kMost) {
      using K = Interleaved<T, R, direction, Step>;
      if (!K::fits(m)) return with<R + 1>(m, f);
      f(std::type_identity<K>{});
      return true;
    }
    return false;
  }
  template <class S, class F>
  static void launches(Copy const& m, S const& setting, F const& f) {
    with(m, [&]<class K>(std::type_identity<K>) { f(K::make(m, setting)); });
  }
  static double seconds(Copy const& m, Device const& device) {
    double s = 0;
    with(m, [&]<class K>(std::type_identity<K>) { s = K::seconds(m, device); });
    return s;
  }
  static Reason rejects(Copy const& m, Device const&) {
    Reason reason;
    if (with(m, [&]<class K>(std::type_identity<K>) { reason = K::rejects(m); })) return reason;
    if (kMost < kLeast) return {"made for elements of 1 and 2 bytes, not {}", {E}};
    return {"no {} to {} planes of {} bytes an element, whose elements are neighbours on the other side",
            {kLeast, kMost, E}};
  }
};

// ---- the instances of kernels.def

struct Deinterleave {
  static constexpr Interleaving direction = Interleaving::to_planes;
  static constexpr char const* idea =
      "Two to eight interleaved channels become planes: a thread separates 16 bytes of each channel in registers.";
};
struct Interleave {
  static constexpr Interleaving direction = Interleaving::from_planes;
  static constexpr char const* idea = "Two to eight planes become interleaved channels, in registers.";
};

namespace interleaved {
template <class Instance>
struct Family {
  template <class T>
  using Kernel = AnyInterleaved<Carrier<T>, Instance::direction, Instance>;
};
template <class Instance>
using Dispatch = ByWidenedElement<Family<Instance>::template Kernel>;
template <class Instance>
constexpr Info<Copy> info(char const* name) {
  return {.name = name,
          .idea = Instance::idea,
          .source = "inlay",
          .ladder = Ladder::none,
          .origin = Origin::ours,
          .rejects = rejects_wide<Family<Instance>::template Kernel>,
          .seconds = seconds_wide<Family<Instance>::template Kernel>};
}
}  // namespace interleaved

}  // namespace inlay::kernels
