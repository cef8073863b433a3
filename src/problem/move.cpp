#include "problem/move.h"

#include <algorithm>
#include <string>

#include "problem/footprint.h"

namespace inlay {
namespace {

void check_tensor(Tensor const& t, char const* who) {
  int const e = t.dtype.bytes;
  if (t.rank < 0 || t.rank > Tensor::kMaxRank)
    throw Error(std::string(who) + " has rank " + std::to_string(t.rank) + ", which is not between 0 and 64");
  if (e != 1 && e != 2 && e != 4 && e != 8 && e != 16)
    throw Error(std::string(who) + " has elements of " + std::to_string(e) + " bytes; 1, 2, 4, 8 and 16 are supported");
  check_extents(t, who);
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
  check_tensor(dst, "the destination");
  check_tensor(src, "the source");
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
  check_memory(dst, "the destination");
  check_memory(src, "the source");
  Footprint const written(dst), read(src);
  if (overlaps_itself(written))
    throw Error("the destination of shape " + shape(dst) + " has strides with which its elements overlap");
  if (overlap(written, read))
    throw Error("the source and the destination of shape " + shape(dst) + " overlap in memory");
  m.rank = dst.rank;
  for (int k = 0; k < dst.rank; ++k)
    m.mode[k] = dst.extent[k] == 1 ? Mode{1, 0, 0}
                                   : Mode{dst.extent[k], src.stride[k] * m.elem_bytes, dst.stride[k] * m.elem_bytes};
  canonicalise(m);
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
