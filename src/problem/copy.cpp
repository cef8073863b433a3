#include <inlay/problem/copy.h>

#include <algorithm>
#include <string>

#include <inlay/problem/footprint.h>

namespace inlay::problem {
namespace {

void check_tensor(ConstTensor const& t, char const* who) {
  int const e = bytes_of(t.dtype);
  if (t.rank < 0 || t.rank > Tensor::kMaxRank)
    throw Error(std::string(who) + " has rank " + std::to_string(t.rank) + ", which is not between 0 and 64");
  if (e < 1 || e > 16)
    throw Error(std::string(who) + " has elements of " + std::to_string(e) + " bytes; 1 to 16 are supported");
  check_extents(t, who);
}

// Makes destination strides positive, removes extents of 1, sorts the modes by destination stride and fuses adjacent
// ones.
void canonicalise(Copy& m) {
  int n = 0;
  for (int k = 0; k < m.rank; ++k) {
    Mode mode = m.mode[k];
    if (mode.extent == 1) continue;
    if (mode.dst_stride < 0) {
      m.dst_shift += mode.dst_stride * (mode.extent - 1);
      m.src_shift += mode.src_stride * (mode.extent - 1);
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
  m.dst = static_cast<char*>(m.dst) + m.dst_shift;
  m.src = static_cast<char const*>(m.src) + m.src_shift;
}

}  // namespace

Copy make_copy(Tensor const& written_to, ConstTensor const& src) {
  ConstTensor const dst = written_to;
  check_tensor(dst, "the destination");
  check_tensor(src, "the source");
  int const e = bytes_of(dst.dtype);
  if (e != bytes_of(src.dtype))
    throw Error("the destination has elements of " + std::to_string(e) + " bytes, the source of " +
                std::to_string(bytes_of(src.dtype)));
  bool same = dst.rank == src.rank;
  for (int k = 0; same && k < dst.rank; ++k) same = dst.extent[k] == src.extent[k];
  if (!same) throw Error("the destination has shape " + shape(dst) + " where the source gives " + shape(src));

  Copy m;
  int const unit = m.elem_bytes = e & -e;
  m.src = src.data, m.dst = written_to.data;
  for (int k = 0; k < dst.rank; ++k)
    if (dst.extent[k] == 0) {  // nothing to copy: pointers and strides do not matter
      m.rank = 1, m.mode[0] = {0, unit, unit};
      return m.analyse(), m;
    }
  check_memory(dst, "the destination");
  check_memory(src, "the source");
  Footprint const written(dst), read(src);
  if (overlaps_itself(written))
    throw Error("the destination of shape " + shape(dst) + " has strides with which its elements overlap");
  if (overlap(written, read))
    throw Error("the source and the destination of shape " + shape(dst) + " overlap in memory");
  if (e != unit) m.mode[m.rank++] = {e / unit, unit, unit};
  for (int k = 0; k < dst.rank; ++k)
    m.mode[m.rank++] = dst.extent[k] == 1 ? Mode{1, 0, 0} : Mode{dst.extent[k], src.stride[k] * e, dst.stride[k] * e};
  canonicalise(m);
  return m.analyse(), m;
}

namespace {
// The copy as a batch of matrix transposes or copies: finds which modes are M, N and L. Empty if it is none.
std::optional<Matrices> as_matrices(Copy const& m, bool transpose) {
  Matrices x{m.src, m.dst};
  std::int64_t const e = m.elem_bytes;
  if (m.elements() == 0) return x.M = x.N = x.L = 0, x;
  bool has_m = false, has_n = false, has_l = false;
  for (int k = 0; k < m.rank; ++k) {
    auto const [extent, src, dst] = m.mode[k];
    if (src % e || dst % e) return std::nullopt;
    bool const inner = transpose ? src == e : src == e && dst == e;  // contiguous along the rows of the input
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

char const* name_of(Copy::Kind kind) {
  constexpr char const* names[] = {"contiguous copy", "copy of rows", "transpose", "general copy"};
  return names[int(kind)];
}

void Copy::analyse() {
  copy_ = as_matrices(*this, false), transpose_ = as_matrices(*this, true);
  bool const one_run = rank == 0 || (rank == 1 && mode[0].src_stride == elem_bytes && mode[0].dst_stride == elem_bytes);
  bool const rows = copy_ && copy_->N > 1;  // rows of one element are also a transpose
  kind = one_run      ? Kind::contiguous
         : rows       ? Kind::rows
         : transpose_ ? Kind::transpose
         : copy_      ? Kind::rows
                      : Kind::general;
}

Copy Copy::widened() const {
  Copy m = *this;
  auto address = [](void const* p) { return reinterpret_cast<std::uint64_t>(p); };
  int const u = elem_bytes;
  if (rank == 0 || mode[0].src_stride != u || mode[0].dst_stride != u) return m;
  std::uint64_t all = address(src) | address(dst) | std::uint64_t(mode[0].extent * u) | 16;
  for (int k = 1; k < rank; ++k) all |= std::uint64_t(mode[k].src_stride) | std::uint64_t(mode[k].dst_stride);
  int const wide = int(all & -all);
  if (wide <= u) return m;
  m.elem_bytes = wide;
  m.mode[0] = {mode[0].extent * u / wide, wide, wide};
  if (m.mode[0].extent == 1) {
    std::copy(m.mode + 1, m.mode + m.rank, m.mode);
    --m.rank;
  }
  m.analyse();
  return m;
}

Copy Copy::between(void const* from, void* to) const {
  Copy m = *this;
  m.src = from, m.dst = to;
  for (auto* x : {&m.copy_, &m.transpose_})
    if (*x) (*x)->in = from, (*x)->out = to;
  return m;
}

}  // namespace inlay::problem
