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

// Makes destination strides positive, removes extents of 1, sorts modes by destination stride, fuses neighbours.
void canonicalise(Copy& copy) {
  int n = 0;
  for (int k = 0; k < copy.rank; ++k) {
    Mode mode = copy.mode[k];
    if (mode.extent == 1) continue;
    if (mode.dst_stride < 0) {
      copy.dst_shift += mode.dst_stride * (mode.extent - 1);
      copy.src_shift += mode.src_stride * (mode.extent - 1);
      mode.dst_stride = -mode.dst_stride, mode.src_stride = -mode.src_stride;
    }
    copy.mode[n++] = mode;
  }
  std::sort(copy.mode, copy.mode + n, [](Mode const& a, Mode const& b) { return a.dst_stride < b.dst_stride; });
  copy.rank = 0;
  for (int k = 0; k < n; ++k) {
    Mode const& next = copy.mode[k];
    if (copy.rank) {
      Mode& last = copy.mode[copy.rank - 1];
      if (next.dst_stride == last.dst_stride * last.extent && next.src_stride == last.src_stride * last.extent) {
        last.extent *= next.extent;
        continue;
      }
    }
    copy.mode[copy.rank++] = next;
  }
  copy.dst = static_cast<char*>(copy.dst) + copy.dst_shift;
  copy.src = static_cast<char const*>(copy.src) + copy.src_shift;
}

// Whether elements of the same size mean different numbers: integers of either sign do not, opaque bits and tf32, whose
// bits are those of an f32, neither.
bool would_convert(DType a, DType b) {
  auto const kind = [](DType t) { return t == DType::tf32 ? DType::f32 : t >= DType::i8 ? DType::i8 : t; };
  auto const is_opaque = [](DType t) { return t <= DType::b128; };
  return !is_opaque(a) && !is_opaque(b) && kind(a) != kind(b);
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
  if (would_convert(dst.dtype, src.dtype))
    throw Error(std::string("the destination is of ") + name_of(dst.dtype) + ", the source of " + name_of(src.dtype) +
                ": a copy does not convert; view one of them as " + name_of(opaque(e)));
  bool same = dst.rank == src.rank;
  for (int k = 0; same && k < dst.rank; ++k) same = dst.extent[k] == src.extent[k];
  if (!same) throw Error("the destination has shape " + shape(dst) + " where the source gives " + shape(src));

  Copy copy;
  int const unit = copy.elem_bytes = e & -e;
  copy.src = src.data, copy.dst = written_to.data;
  for (int k = 0; k < dst.rank; ++k)
    if (dst.extent[k] == 0) {  // nothing to copy: pointers and strides do not matter
      copy.rank = 1, copy.mode[0] = {0, unit, unit};
      return copy.analyse(), copy;
    }
  check_memory(dst, "the destination");
  check_memory(src, "the source");
  Footprint const written(dst), read(src);
  if (overlaps_itself(written))
    throw Error("the destination of shape " + shape(dst) + " has strides with which its elements overlap");
  if (overlap(written, read))
    throw Error("the source and the destination of shape " + shape(dst) + " overlap in memory");
  if (e != unit) copy.mode[copy.rank++] = {e / unit, unit, unit};
  for (int k = 0; k < dst.rank; ++k)
    copy.mode[copy.rank++] =
        dst.extent[k] == 1 ? Mode{1, 0, 0} : Mode{dst.extent[k], src.stride[k] * e, dst.stride[k] * e};
  canonicalise(copy);
  return copy.analyse(), copy;
}

namespace {
// The copy as a batch of matrix transposes or copies: finds which modes are M, N and L. Empty if it is none.
std::optional<Matrices> as_matrices(Copy const& copy, bool transpose) {
  Matrices x{copy.src, copy.dst};
  std::int64_t const e = copy.elem_bytes;
  if (copy.elements() == 0) return x.M = x.N = x.L = 0, x;
  bool has_m = false, has_n = false, has_l = false;
  for (int k = 0; k < copy.rank; ++k) {
    auto const [extent, src, dst] = copy.mode[k];
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
  Copy copy = *this;
  auto address = [](void const* p) { return reinterpret_cast<std::uint64_t>(p); };
  int const u = elem_bytes;
  if (rank == 0 || mode[0].src_stride != u || mode[0].dst_stride != u) return copy;
  std::uint64_t all = address(src) | address(dst) | std::uint64_t(mode[0].extent * u) | 16;
  for (int k = 1; k < rank; ++k) all |= std::uint64_t(mode[k].src_stride) | std::uint64_t(mode[k].dst_stride);
  int const wide = int(all & -all);
  if (wide <= u) return copy;
  copy.elem_bytes = wide;
  copy.mode[0] = {mode[0].extent * u / wide, wide, wide};
  if (copy.mode[0].extent == 1) {
    std::copy(copy.mode + 1, copy.mode + copy.rank, copy.mode);
    --copy.rank;
  }
  copy.analyse();
  return copy;
}

Copy Copy::between(void const* from, void* to) const {
  Copy copy = *this;
  copy.src = from, copy.dst = to;
  for (auto* x : {&copy.copy_, &copy.transpose_})
    if (*x) (*x)->in = from, (*x)->out = to;
  return copy;
}

}  // namespace inlay::problem
