#include "problem/move.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

namespace inlay {
namespace {

std::string shape(Tensor const& t) {
  std::string s = "(";
  for (int k = 0; k < t.rank; ++k) s += (k ? "," : "") + std::to_string(t.extent[k]);
  return s + ")";
}

void check_tensor(Tensor const& t, char const* role) {
  std::string const who = std::string("the ") + role;
  int const e = t.dtype.bytes;
  if (t.rank < 0 || t.rank > Tensor::kMaxRank)
    throw Error(who + " has rank " + std::to_string(t.rank) + ", which is not between 0 and 64");
  if (e != 1 && e != 2 && e != 4 && e != 8 && e != 16)
    throw Error(who + " has elements of " + std::to_string(e) + " bytes; 1, 2, 4, 8 and 16 are supported");
  for (int k = 0; k < t.rank; ++k)
    if (t.extent[k] < 0) throw Error(who + " of shape " + shape(t) + " has a negative extent");
}

// Do the bytes of the tensor span less than 2^63? Strides of single extents are never used.
bool offsets_fit(Tensor const& t) {
  std::int64_t span = t.dtype.bytes, mode;
  for (int k = 0; k < t.rank; ++k) {
    if (t.extent[k] == 1) continue;
    if (t.stride[k] == std::numeric_limits<std::int64_t>::min() ||
        __builtin_mul_overflow(std::abs(t.stride[k]), t.extent[k], &mode) ||
        __builtin_mul_overflow(mode, std::int64_t(t.dtype.bytes), &mode) || __builtin_add_overflow(span, mode, &span))
      return false;
  }
  return true;
}

// One operand's bytes: first byte, one past the last, and its strides (bytes, positive) with their extents.
struct Footprint {
  std::uint64_t first, last;
  int rank = 0;
  std::int64_t extent[Tensor::kMaxRank], stride[Tensor::kMaxRank];
};
Footprint footprint(Move const& m, bool dst) {
  Footprint f{};
  auto const base = reinterpret_cast<std::uint64_t>(dst ? m.dst : m.src);
  f.first = base, f.last = base + std::uint64_t(m.elem_bytes);
  for (int k = 0; k < m.rank; ++k) {
    std::int64_t const s = dst ? m.mode[k].dst_stride : m.mode[k].src_stride, n = m.mode[k].extent;
    if (s < 0) f.first -= std::uint64_t(-s * (n - 1));
    if (s > 0) f.last += std::uint64_t(s * (n - 1));
    if (s == 0) continue;
    f.extent[f.rank] = n, f.stride[f.rank++] = std::abs(s);
  }
  return f;
}
// How many bytes f covers between multiples of `pitch`, counted from its first.
std::uint64_t span_within(Footprint const& f, std::uint64_t pitch, int elem_bytes) {
  std::uint64_t span = std::uint64_t(elem_bytes);
  for (int k = 0; k < f.rank; ++k)
    if (std::uint64_t(f.stride[k]) % pitch) span += std::uint64_t(f.stride[k] * (f.extent[k] - 1));
  return span;
}
// Two views whose ranges of addresses meet may still be apart: column blocks of one pitched matrix. They are if, modulo
// some row pitch, their bytes form disjoint intervals. Sufficient; anything subtler counts as an overlap.
bool overlap(Move const& m) {
  Footprint const a = footprint(m, true), b = footprint(m, false);
  if (a.last <= b.first || b.last <= a.first) return false;
  for (Footprint const* f : {&a, &b})
    for (int k = 0; k < f->rank; ++k) {
      auto const pitch = std::uint64_t(f->stride[k]);
      std::uint64_t const distance =
          b.first >= a.first ? (b.first - a.first) % pitch : (pitch - (a.first - b.first) % pitch) % pitch;
      if (span_within(a, pitch, m.elem_bytes) <= distance && distance + span_within(b, pitch, m.elem_bytes) <= pitch)
        return false;
    }
  return true;
}

// Sorted by destination stride, each mode must step over all that lies below it.
bool dst_overlaps_itself(Move const& m) {
  std::int64_t span = m.elem_bytes;
  for (int k = 0; k < m.rank; ++k) {
    if (m.mode[k].dst_stride < span) return true;
    span += m.mode[k].dst_stride * (m.mode[k].extent - 1);
  }
  return false;
}

// Destination strides become positive, extents of 1 go, modes are sorted, neighbours are fused.
void canonicalise(Move& m) {
  int n = 0;
  for (int k = 0; k < m.rank; ++k) {
    Mode mode = m.mode[k];
    if (mode.extent == 1) continue;
    if (mode.dst_stride < 0) {
      m.dst = static_cast<char*>(m.dst) + mode.dst_stride * (mode.extent - 1);
      m.src = static_cast<char const*>(m.src) + mode.src_stride * (mode.extent - 1);
      mode.dst_stride = -mode.dst_stride, mode.src_stride = -mode.src_stride;
    }
    m.mode[n++] = mode;
  }
  std::sort(m.mode, m.mode + n, [](Mode const& a, Mode const& b) { return a.dst_stride < b.dst_stride; });
  m.rank = 0;
  for (int k = 0; k < n; ++k) {
    Mode const& next = m.mode[k];
    if (m.rank) {
      Mode& last = m.mode[m.rank - 1];
      if (next.dst_stride == last.dst_stride * last.extent && next.src_stride == last.src_stride * last.extent) {
        last.extent *= next.extent;
        continue;
      }
    }
    m.mode[m.rank++] = next;
  }
}

}  // namespace

Move make_move(Tensor const& dst, Tensor const& src) {
  check_tensor(dst, "destination");
  check_tensor(src, "source");
  if (dst.dtype.bytes != src.dtype.bytes)
    throw Error("the destination has elements of " + std::to_string(dst.dtype.bytes) + " bytes, the source of " +
                std::to_string(src.dtype.bytes));
  bool same = dst.rank == src.rank;
  for (int k = 0; same && k < dst.rank; ++k) same = dst.extent[k] == src.extent[k];
  if (!same) throw Error("the destination has shape " + shape(dst) + " where the source gives " + shape(src));

  Move m;
  m.elem_bytes = dst.dtype.bytes;
  m.src = src.data, m.dst = dst.data;
  for (int k = 0; k < dst.rank; ++k)
    if (dst.extent[k] == 0) {  // nothing to move: pointers and strides do not matter
      m.rank = 1, m.mode[0] = {0, m.elem_bytes, m.elem_bytes};
      return m;
    }
  require(src.data != nullptr, "the source is a null pointer, but has elements");
  require(dst.data != nullptr, "the destination is a null pointer, but has elements");
  for (auto [t, role] : {std::pair{&dst, "destination"}, std::pair{&src, "source"}}) {
    if (auto const a = reinterpret_cast<std::uint64_t>(t->data); a % std::uint64_t(m.elem_bytes))
      throw Error("the " + std::string(role) + " begins " + std::to_string(a % std::uint64_t(m.elem_bytes)) +
                  " bytes past a multiple of its element size, " + std::to_string(m.elem_bytes));
    if (!offsets_fit(*t))
      throw Error("the byte offsets of the " + std::string(role) + " of shape " + shape(*t) + " leave 63 bits");
  }
  m.rank = dst.rank;
  for (int k = 0; k < dst.rank; ++k)
    m.mode[k] = dst.extent[k] == 1 ? Mode{1, 0, 0}
                                   : Mode{dst.extent[k], src.stride[k] * m.elem_bytes, dst.stride[k] * m.elem_bytes};
  canonicalise(m);
  if (dst_overlaps_itself(m))
    throw Error("the destination of shape " + shape(dst) + " has strides with which its elements overlap");
  if (overlap(m)) throw Error("the source and the destination of shape " + shape(dst) + " overlap in memory");
  return m;
}

namespace {
// Which modes are M, N and L; the rest of the work is the same for a transpose and a copy.
std::optional<Matrices> as_matrices(Move const& m, bool transpose) {
  Matrices x{m.src, m.dst};
  std::int64_t const e = m.elem_bytes;
  if (m.elements() == 0) return x.M = x.N = x.L = 0, x;
  bool has_m = false, has_n = false, has_l = false;
  for (int k = 0; k < m.rank; ++k) {
    auto const [extent, src, dst] = m.mode[k];
    if (src % e || dst % e) return std::nullopt;
    bool const inner = transpose ? src == e : src == e && dst == e;  // runs along the input's rows
    if (inner && !has_n) {
      has_n = true, x.N = extent;
      if (transpose) x.ld_out = dst / e;
    } else if (!has_m && (!transpose || dst == e)) {
      has_m = true, x.M = extent, x.ld_in = src / e;
      if (!transpose) x.ld_out = dst / e;
    } else if (!has_l) {
      has_l = true, x.L = extent, x.batch_in = src / e, x.batch_out = dst / e;
    } else {
      return std::nullopt;
    }
  }
  return x;
}
}  // namespace

std::optional<Matrices> as_transpose(Move const& move) { return as_matrices(move, true); }
std::optional<Matrices> as_copy(Move const& move) { return as_matrices(move, false); }

}  // namespace inlay
