#include <inlay/problem/footprint.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include <inlay/problem/integers.h>

namespace inlay::problem {

std::string shape(ConstTensor const& t) {
  std::string s = "(";
  for (int k = 0; k < t.rank; ++k) s.append(k ? "," : "").append(std::to_string(t.extent[k]));
  return s + ")";
}

void check_extents(ConstTensor const& t, char const* who) {
  for (int k = 0; k < t.rank; ++k)
    if (t.extent[k] < 0) throw Error(std::string(who) + " of shape " + shape(t) + " has a negative extent");
}

namespace {
// Whether the bytes of the tensor span less than 2^63. The stride of an extent of 1 is never used.
bool offsets_fit(ConstTensor const& t) {
  std::int64_t span = bytes_of(t.dtype), mode;
  for (int k = 0; k < t.rank; ++k) {
    if (t.extent[k] == 1) continue;
    if (t.stride[k] == std::numeric_limits<std::int64_t>::min() ||
        __builtin_mul_overflow(std::abs(t.stride[k]), t.extent[k], &mode) ||
        __builtin_mul_overflow(mode, std::int64_t(bytes_of(t.dtype)), &mode) ||
        __builtin_add_overflow(span, mode, &span))
      return false;
  }
  return true;
}

// Bytes from the first byte of f to the end of its elements, without the modes whose strides are multiples of `pitch`.
std::uint64_t span_within(Footprint const& f, std::uint64_t pitch) {
  auto span = std::uint64_t(f.elem_bytes);
  for (int k = 0; k < f.rank; ++k)
    if (std::uint64_t(f.mode[k].stride) % pitch) span += std::uint64_t(f.mode[k].stride * (f.mode[k].extent - 1));
  return span;
}
}  // namespace

void check_memory(ConstTensor const& t, char const* who) {
  if (!t.data) throw Error(std::string(who) + " is a null pointer, but has elements");
  int const bytes = bytes_of(t.dtype), unit = bytes & -bytes;
  if (auto const past = misalignment(t.data, unit))
    throw Error(std::string(who) + " begins " + std::to_string(past) + " bytes past a multiple of " +
                (unit == bytes
                     ? "its element size, " + std::to_string(bytes)
                     : std::to_string(unit) + ", which elements of " + std::to_string(bytes) + " bytes need"));
  if (!offsets_fit(t))
    throw Error("the byte offsets of " + std::string(who) + " of shape " + shape(t) + " exceed 63 bits");
  Footprint const f(t);
  auto const address = reinterpret_cast<std::uint64_t>(t.data);
  if (f.first > address || f.last < address)  // the range wraps around at 2^64
    throw Error(std::string(who) + " of shape " + shape(t) + " leaves the address space");
}

Footprint::Footprint(void const* base, std::int64_t bytes)
    : first(reinterpret_cast<std::uint64_t>(base)), last(first + std::uint64_t(bytes)), elem_bytes(bytes) {}

Footprint::Footprint(ConstTensor const& t) : Footprint(t.data, bytes_of(t.dtype)) {
  for (int k = 0; k < t.rank; ++k) {
    std::int64_t const extent = t.extent[k];
    if (extent == 1) continue;  // its stride may be anything
    std::int64_t const stride = t.stride[k] * elem_bytes;
    if (stride < 0) first -= std::uint64_t(-stride * (extent - 1));
    if (stride > 0) last += std::uint64_t(stride * (extent - 1));
    mode[rank++] = {extent, std::abs(stride)};
  }
}

namespace {

// The modes of a view, neighbours merged where the elements of one continue the other; an extent of 1 where there are
// fewer than two.
struct Merged {
  bool fits = false;  // in two modes
  std::int64_t elem_bytes;
  Footprint::Mode inner{1, 0}, outer{1, 0};

  explicit Merged(Footprint const& f) : elem_bytes(f.elem_bytes) {
    if (elem_bytes > 16) {  // a range of memory, of which each byte is an element
      inner = {elem_bytes, 1}, elem_bytes = 1, fits = f.rank == 0;
      return;
    }
    Footprint sorted = f;
    std::sort(sorted.mode, sorted.mode + f.rank, [](auto const& a, auto const& b) { return a.stride < b.stride; });
    int modes = 0;
    for (int k = 0; k < f.rank; ++k) {
      Footprint::Mode const& m = sorted.mode[k];
      if (m.stride == 0) continue;  // the same elements again
      Footprint::Mode* const last = modes == 0 ? nullptr : modes == 1 ? &inner : &outer;
      if (last && m.stride == last->stride * last->extent)
        last->extent *= m.extent;
      else if (++modes > 2)
        return;
      else
        (modes == 1 ? inner : outer) = m;
    }
    fits = true;
    if (outer.extent > inner.extent) std::swap(inner, outer);
  }
};

// The inverse of x modulo `of`, to which x is prime.
std::int64_t inverse(std::int64_t x, std::int64_t of) {
  std::int64_t r = of, s = x % of, t = 0, u = 1;
  while (s) {
    std::int64_t const q = r / s;
    r = std::exchange(s, r - q * s), t = std::exchange(u, t - q * u);
  }
  return (t % of + of) % of;
}

// The inner modes of two views: elements at i * a.stride, i < a.extent, and at j * b.stride, j < b.extent, in bytes.
struct Rows {
  Footprint::Mode a, b;
  std::int64_t bytes_a, bytes_b;                       // of an element
  std::int64_t common = std::gcd(a.stride, b.stride);  // of all differences of two addresses
  // From one pair (i,j) with the same difference to the next.
  std::int64_t step_i = b.stride / common, step_j = a.stride / common;
  std::int64_t reciprocal = step_i == 1 ? 0 : inverse(step_j, step_i);

  static Footprint::Mode with_stride(Footprint::Mode m) { return {m.extent, m.extent == 1 ? 1 : m.stride}; }
  Rows(Merged const& of_a, Merged const& of_b)
      : a(with_stride(of_a.inner)), b(with_stride(of_b.inner)), bytes_a(of_a.elem_bytes), bytes_b(of_b.elem_bytes) {}

  // Whether two elements share a byte where b begins `distance` bytes behind a.
  bool meet(std::int64_t distance) const {
    if (distance >= a.stride * (a.extent - 1) + bytes_a || -distance >= b.stride * (b.extent - 1) + bytes_b)
      return false;
    // i * a.stride - j * b.stride = difference, for each difference at which they do.
    for (std::int64_t difference = distance - bytes_a + 1; difference < distance + bytes_b; ++difference) {
      if (difference % common) continue;
      __int128 const m = difference / common % step_i;
      __int128 const i = (m < 0 ? m + step_i : m) * reciprocal % step_i;  // the least
      __int128 const j = (i * a.stride - difference) / b.stride;
      __int128 const first = j < 0 ? (-j + step_j - 1) / step_j : 0;
      if (i + first * step_i < a.extent && j + first * step_j < b.extent) return true;
    }
    return false;
  }
};

// Exact for views that have at most two modes once they are merged, and few indices of the shorter ones; otherwise
// true.
bool share_a_byte(Footprint const& a, Footprint const& b) {
  constexpr std::int64_t kMostPairs = 4096;
  Merged const of_a(a), of_b(b);
  if (!of_a.fits || !of_b.fits || of_a.outer.extent > kMostPairs / of_b.outer.extent) return true;
  auto const distance = std::int64_t(b.first - a.first);
  Rows const rows(of_a, of_b);
  for (std::int64_t i = 0; i < of_a.outer.extent; ++i)
    for (std::int64_t j = 0; j < of_b.outer.extent; ++j)
      if (rows.meet(distance + j * of_b.outer.stride - i * of_a.outer.stride)) return true;
  return false;
}

}  // namespace

bool overlap(Footprint const& a, Footprint const& b) {
  if (a.last <= b.first || b.last <= a.first) return false;
  for (Footprint const* f : {&a, &b})
    for (int k = 0; k < f->rank; ++k) {
      auto const pitch = std::uint64_t(f->mode[k].stride);
      if (pitch == 0) continue;
      std::uint64_t const distance =
          b.first >= a.first ? (b.first - a.first) % pitch : (pitch - (a.first - b.first) % pitch) % pitch;
      if (span_within(a, pitch) <= distance && distance + span_within(b, pitch) <= pitch) return false;
    }
  return share_a_byte(a, b);
}

bool overlaps_itself(Footprint f) {
  std::sort(f.mode, f.mode + f.rank, [](auto const& a, auto const& b) { return a.stride < b.stride; });
  std::int64_t span = f.elem_bytes;
  for (int k = 0; k < f.rank; ++k) {
    if (f.mode[k].stride < span) return true;
    span += f.mode[k].stride * (f.mode[k].extent - 1);
  }
  return false;
}

}  // namespace inlay::problem
