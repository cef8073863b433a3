#include "layout/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "usage_error.h"

namespace inlay::lab {
namespace {

template <class F>
void for_each_number(IntTuple const& t, F f) {
  if (t.parts.empty()) f(t.value);
  for (IntTuple const& part : t.parts) for_each_number(part, f);
}

std::int64_t checked_size(IntTuple const& shape) {
  std::int64_t size = 1;
  for_each_number(shape, [&](std::int64_t extent) {
    if (extent < 1) throw UsageError(fmt::format("the shape {} has an extent of {}", to_string(shape), extent));
    if (extent > kMostElements / size)
      throw UsageError(fmt::format("the shape {} has more than the {} elements that can be looked at", to_string(shape),
                                   kMostElements));
    size *= extent;
  });
  return size;
}

// The strides of a compact layout; `next` is the stride of its first extent, and afterwards that of the next mode.
IntTuple compact(IntTuple shape, std::int64_t& next) {
  if (shape.parts.empty()) return {std::exchange(next, next * shape.value), {}};
  for (IntTuple& part : shape.parts) part = compact(std::move(part), next);
  return shape;
}

// Throws UsageError for the first tuple of the shape that has another number of elements than its counterpart in the
// stride.
void check_congruent(IntTuple const& shape, IntTuple const& stride, std::string const& layout) {
  if (shape.parts.size() != stride.parts.size())
    throw UsageError(fmt::format("{} is not congruent: {} in the shape stands against {} in the stride", layout,
                                 to_string(shape), to_string(stride)));
  for (std::size_t i = 0; i < shape.parts.size(); ++i) check_congruent(shape.parts[i], stride.parts[i], layout);
}

// Adds `by` elements to each whole `pitch` of every stride.
IntTuple lengthened(IntTuple stride, std::int64_t pitch, std::int64_t by) {
  if (stride.parts.empty() && stride.value >= pitch) stride.value += stride.value / pitch * by;
  for (IntTuple& part : stride.parts) part = lengthened(std::move(part), pitch, by);
  return stride;
}

}  // namespace

std::string to_string(Swizzle const& s) { return fmt::format("Swizzle<{},{},{}>", s.bits, s.base, s.shift); }

Swizzle in_elements(Swizzle const& of_bytes, int elem_bytes) {
  if (of_bytes.bits == 0) return of_bytes;
  int const byte_bits = std::countr_zero(unsigned(elem_bytes));
  if (of_bytes.base < byte_bits)
    throw UsageError(fmt::format("{} on bytes takes elements of {} bytes apart; its second number must be at least {}",
                                 to_string(of_bytes), elem_bytes, byte_bits));
  return {of_bytes.bits, of_bytes.base - byte_bits, of_bytes.shift};
}

Swizzle on_bytes(Swizzle const& of_elements, int elem_bytes) {
  return {of_elements.bits, of_elements.base + std::countr_zero(unsigned(elem_bytes)), of_elements.shift};
}

std::string to_string(IntTuple const& t) {
  if (t.parts.empty()) return std::to_string(t.value);
  std::string s;
  for (IntTuple const& part : t.parts) s += (s.empty() ? "(" : ",") + to_string(part);
  return s + ')';
}

Layout::Layout(IntTuple shape, std::optional<IntTuple> stride, LayoutFront front)
    : shape_(std::move(shape)), front_(front), size_(checked_size(shape_)) {
  std::int64_t next = 1;
  stride_ = stride ? *std::move(stride) : compact(shape_, next);
  std::string const whole = to_string(shape_) + ':' + to_string(stride_);
  check_congruent(shape_, stride_, whole);
  for_each_number(shape_, [&](std::int64_t extent) { leaves_.push_back({extent, 0}); });
  auto leaf = leaves_.begin();
  for_each_number(stride_, [&](std::int64_t s) { leaf++->stride = s; });

  std::int64_t largest = front_.offset;
  if (largest < 0 || largest > kMostOffset)
    throw UsageError(fmt::format("{} begins at {}; offsets lie between 0 and {}", whole, largest, kMostOffset));
  for (auto const& [extent, s] : leaves_) {
    if (s < 0) throw UsageError(fmt::format("{} has a stride of {}; it must not be negative", whole, s));
    if (extent > 1 && s > (kMostOffset - largest) / (extent - 1))
      throw UsageError(fmt::format("{} has offsets beyond {}", whole, kMostOffset));
    largest += (extent - 1) * s;
  }
  for_each_number(shape_.parts.empty() ? shape_ : shape_.parts[0], [&](std::int64_t extent) { rows_ *= extent; });
}

std::int64_t Layout::operator()(std::int64_t index) const {
  std::int64_t offset = front_.offset;
  for (auto const& [extent, stride] : leaves_) {
    offset += index % extent * stride;
    index /= extent;
  }
  return front_.swizzle(offset);
}

std::vector<std::int64_t> Layout::offsets() const {
  std::vector<std::int64_t> all{front_.offset};
  all.reserve(std::size_t(size_));
  for (auto const& [extent, stride] : leaves_) {
    std::size_t const faster = all.size();  // elements of the faster modes
    for (std::int64_t n = 1; n < extent; ++n)
      for (std::size_t i = 0; i < faster; ++i) all.push_back(all[i] + n * stride);
  }
  if (front_.swizzle.bits)
    for (std::int64_t& offset : all) offset = front_.swizzle(offset);
  return all;
}

std::int64_t Layout::cosize() const {
  std::int64_t largest = front_.offset;
  for (auto const& [extent, stride] : leaves_) largest += (extent - 1) * stride;
  if (front_.swizzle.bits) {
    auto const all = offsets();
    largest = *std::max_element(all.begin(), all.end());
  }
  return largest + 1;
}

Layout Layout::with(Swizzle const& swizzle) const {
  Layout other = *this;
  other.front_.swizzle = swizzle;
  return other;
}

std::vector<std::int64_t> Layout::pitches() const {
  std::vector<std::int64_t> found;
  for (auto const& [pitch_extent, pitch] : leaves_) {
    std::int64_t largest_below = 0;  // the largest offset that shorter strides reach
    bool longer_are_multiples = true;
    for (auto const& [extent, stride] : leaves_) {
      if (stride < pitch) largest_below += (extent - 1) * stride;
      longer_are_multiples &= extent == 1 || stride < pitch || (pitch > 0 && stride % pitch == 0);
    }
    if (pitch_extent > 1 && largest_below > 0 && largest_below < pitch && longer_are_multiples) found.push_back(pitch);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Layout Layout::padded(std::vector<std::int64_t> const& by) const {
  IntTuple stride = stride_;
  std::int64_t shorter = 1, padded_shorter = 1;  // the next shorter pitch, before and after padding
  auto padding = by.begin();
  for (std::int64_t const pitch : pitches()) {
    std::int64_t const grown = pitch / shorter * padded_shorter;
    stride = lengthened(std::move(stride), grown, *padding);
    shorter = pitch, padded_shorter = grown + *padding++;
  }
  return Layout(shape_, std::move(stride), {{}, front_.offset, front_.elem_bytes});
}

int elem_bytes_of(std::vector<Layout> const& layouts, std::optional<int> given) {
  auto const is_width = [](int n) { return n == 1 || n == 2 || n == 4 || n == 8 || n == 16; };
  if (given && !is_width(*given))
    throw UsageError(fmt::format("--elem is {}; elements have 1, 2, 4, 8 or 16 bytes", *given));
  int bytes = given.value_or(0);
  for (Layout const& layout : layouts) {
    int const named = layout.front().elem_bytes;
    if (named && bytes && named != bytes)
      throw UsageError(given ? fmt::format("--elem is {}, but the layout is one of elements of {} bytes", bytes, named)
                             : fmt::format("the layouts are of elements of {} and of {} bytes", bytes, named));
    if (named) bytes = named;
  }
  return bytes ? bytes : 4;
}

std::string to_string(Layout const& layout) {
  LayoutFront const& front = layout.front_;
  std::string s = front.swizzle.bits ? to_string(front.swizzle) + " o " : "";
  if (front.offset) s += fmt::format("{} o ", front.offset);
  return s + to_string(layout.shape_) + ':' + to_string(layout.stride_);
}

}  // namespace inlay::lab
