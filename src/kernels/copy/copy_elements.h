// Copies element by element: small copies, which latency decides, and those without runs on either side. Neighbouring
// lanes take neighbouring elements of the destination or, where that is the strided side, of the source; a thread has
// one or four in flight. Modes are unrolled and offsets have 32 bits, so that little is read and computed before the
// first access.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/copy/access_footprint.h>
#include <inlay/kernels/copy/numbered_configs.h>
#include <inlay/kernels/copy/tile_grid.h>
#include <inlay/model/copy_time.h>

#include <array>

namespace inlay::kernels {

template <class T, int RANK, int EACH, class Step>
struct CopyElements {
  static constexpr int threads = 256;
  static constexpr LaunchInfo launch_info{.threads = threads, .follows = true};
  struct Smem {};
  struct Digit {
    Divisor extent;
    int src, dst;  // bytes
  };
  char const* src;
  char* dst;
  int all;             // elements
  Digit digits[RANK];  // of an element's number, the fastest first

  // modes: at most RANK, in the order of the lanes.
  static CopyElements make(Copy const& m, std::span<Mode const> modes) {
    CopyElements k{static_cast<char const*>(m.src), static_cast<char*>(m.dst), int(m.elements()), {}};
    for (std::size_t i = 0; i < modes.size(); ++i)
      k.digits[i] = {int(modes[i].extent), int(modes[i].src_stride), int(modes[i].dst_stride)};
    return k;
  }
  int64_t blocks() const { return ceil_div(int64_t(all), int64_t(threads * EACH)); }
  void relocate(auto const& at) { src = at(src), dst = at(dst); }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    Copy_Atom<On<Block, LoadGlobal<T>>, T> load;
    Copy_Atom<On<Block, UniversalCopy<T>>, T> store;
    block.griddep_launch_dependents();
    int const first = int(block.block_index()) * (threads * EACH) + int(block.thread_rank());
    T const* from[EACH];
    T* to[EACH];
    bool on[EACH];
    CUTE_UNROLL
    for (int i = 0; i < EACH; ++i) {
      on[i] = first + i * threads < all;
      int rest = on[i] ? first + i * threads : 0, source = 0, destination = 0;
      CUTE_UNROLL
      for (int k = 0; k < RANK; ++k) {
        int digit = rest;
        if (k + 1 < RANK) digits[k].extent(rest, digit, rest);
        source += digit * digits[k].src, destination += digit * digits[k].dst;
      }
      from[i] = reinterpret_cast<T const*>(src + source), to[i] = reinterpret_cast<T*>(dst + destination);
    }
    block.griddep_wait();
    T x[EACH];
    CUTE_UNROLL
    for (int i = 0; i < EACH; ++i) copy_one(load, on[i], block.gmem(from[i]), &x[i]);
    CUTE_UNROLL
    for (int i = 0; i < EACH; ++i) copy_one(store, on[i], &x[i], block.gmem(to[i]));
  }
};

namespace copy_elements {

// Elements in flight of a thread, and whether lanes lie along the source. Config::tile is 1 + the place here.
struct Form {
  int each;
  bool by_source;
};
inline constexpr Form kForms[] = {{1, false}, {4, false}, {1, true}, {4, true}};
inline constexpr int kMostModes = 6;
// The modes that a kernel unrolls for a copy of this rank.
constexpr int unrolled_modes(int rank) { return rank <= 2 ? 2 : rank <= 4 ? 4 : kMostModes; }

// The modes of a copy in the order of a form's lanes.
struct Ordered {
  std::array<Mode, Copy::kMaxRank> mode;
  std::size_t rank;
  Ordered(Copy const& m, bool by_source) : rank(std::size_t(m.rank)) {
    std::copy(m.mode, m.mode + m.rank, mode.begin());
    auto const step = [](Mode const& x) { return x.src_stride ? std::abs(x.src_stride) : INT64_MAX; };
    if (by_source)
      std::sort(mode.begin(), mode.begin() + m.rank, [&](Mode const& a, Mode const& b) {
        return std::pair(step(a), a.dst_stride) < std::pair(step(b), b.dst_stride);
      });
  }
  std::span<Mode const> modes() const { return {mode.data(), rank}; }
};

struct Step {};
template <class T>
struct Kernel {
  using U = Carrier<T>;
  static constexpr int E = sizeof(T), threads = CopyElements<U, 2, 1, Step>::threads;

  static double seconds_of_form(Copy const& m, Form const& form, Device const& device) {
    Ordered const order(m, form.by_source);
    double const elements = double(m.elements()), warps = std::ceil(elements / 32),
                 together = std::min(elements, double(threads * form.each)), warp = std::min(elements, 32.);
    auto const lines = [&](int64_t Mode::*stride, double count, double bytes) {
      return elements / count * footprint_of(order.modes(), stride, E, count).lines_of(bytes);
    };
    // The L1 keeps what elements of a block share of the source; stores go through warp by warp, and each line of a
    // store takes several clocks. Fitted on an H200 to 296 drawn copies below 256 MB, each in all forms: off by 8 % in
    // the median, and the chosen form takes 1.02 of the fastest one's time.
    // Fitted: sectors cost less where the L2 holds both sides.
    double const of_l2 = 2 * elements * E < double(device.l2_bytes) ? .82 : 1.2;
    double const modes = unrolled_modes(m.rank), blocks = std::ceil(elements / (threads * form.each)),
                 lines_in = lines(&Mode::src_stride, warp, 128);
    CopyWork const w{.bytes = read_bytes(m, device) + written_bytes(m),
                     .sectors = of_l2 * (lines(&Mode::src_stride, together, 32) + lines(&Mode::dst_stride, warp, 32)),
                     .instructions = warps * (100. / form.each + 2.2 * modes),
                     .wavefronts = .29 * lines_in + 3.2 * lines(&Mode::dst_stride, warp, 128),
                     .blocks = blocks,
                     .resident_blocks = 8,
                     .block_us = .82 + .021 * form.each * (modes - 1) + kLineMicroseconds * lines_in / blocks};
    return model::seconds_of(w, device);
  }
  static Config choose(Copy const& m, Device const& device) {
    return fastest_of(std::size(kForms), [&](std::size_t i) { return seconds_of_form(m, kForms[i], device); });
  }
  static double seconds(Copy const& m, Device const& device, Config const& config) {
    return seconds_of_form(m, kForms[index_of<Kernel>(m, device, config)], device);
  }

  template <class S, class F>
  static void launches(Copy const& m, S const& setting, F const& f) {
    Form const& form = kForms[index_of<Kernel>(m, setting.device, setting.config)];
    Ordered const order(m, form.by_source);
    auto const of = [&]<int RANK>(Int<RANK>) {
      if (form.each == 1) return f(CopyElements<U, RANK, 1, Step>::make(m, order.modes()));
      f(CopyElements<U, RANK, 4, Step>::make(m, order.modes()));
    };
    int const modes = unrolled_modes(m.rank);
    if (modes == 2) return of(Int<2>{});
    if (modes == 4) return of(Int<4>{});
    of(Int<kMostModes>{});
  }
  static Reason rejects(Copy const& m, Device const&) {
    if (m.rank > kMostModes) return {"{} modes are more than {}", {m.rank, kMostModes}};
    __int128 src = 0, dst = 0, all = 1;
    for (int i = 0; i < m.rank; ++i) {
      Mode const& x = m.mode[i];
      src += __int128(std::abs(x.src_stride)) * (x.extent - 1), dst += __int128(x.dst_stride) * (x.extent - 1);
      all *= x.extent;
    }
    constexpr int64_t most = INT32_MAX - 4 * threads;
    if (all > most) return {"{} elements are more than 31 bits count", {m.elements()}};
    if (src > most || dst > most)
      return {"an operand spans more than the {} bytes that offsets of 32 bits reach", {most}};
    return {};
  }
};
using Dispatch = ByWidenedElement<Kernel>;

inline constexpr Info<Copy> info = {
    .name = "copy_elements",
    .idea =
        "An element to a lane, one or four in flight a thread, along the destination or the source: for copies that "
        "latency decides.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .rejects = rejects_wide<Kernel>,
    .seconds = seconds_wide<Kernel>,
    .choose = choose_wide<Kernel>,
    .tiles = int(std::size(kForms)),
};

}  // namespace copy_elements
}  // namespace inlay::kernels
