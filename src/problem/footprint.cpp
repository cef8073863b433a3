#include <inlay/problem/footprint.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

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
  return true;
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
