// Layouts in CuTe's notation, parsed at run time. A layout maps coordinates of a tile to offsets in memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::lab {

// Limits of a layout. Its elements are visited one by one.
constexpr std::int64_t kMostElements = std::int64_t(1) << 22, kMostOffset = std::int64_t(1) << 48;

// CuTe's Swizzle<B,M,S>: XORs the B bits from bit M + S on into the B bits from bit M on. If S is negative, XORs the B
// bits from bit M on into those from bit M - S on.
struct Swizzle {
  int bits = 0, base = 0, shift = 0;

  std::int64_t operator()(std::int64_t offset) const {
    std::int64_t const ones = (std::int64_t(1) << bits) - 1;
    return shift >= 0 ? offset ^ ((offset & ones << (base + shift)) >> shift)
                      : offset ^ ((offset & ones << base) << -shift);
  }
  friend bool operator==(Swizzle const&, Swizzle const&) = default;
};

std::string to_string(Swizzle const& swizzle);

// Converts a swizzle of byte offsets into one of offsets in elements, and back. Throws UsageError if the swizzle
// changes bits within an element.
Swizzle in_elements(Swizzle const& of_bytes, int elem_bytes);
Swizzle on_bytes(Swizzle const& of_elements, int elem_bytes);

// A number, or a tuple of IntTuples: (4,(8,2)).
struct IntTuple {
  std::int64_t value = 0;
  std::vector<IntTuple> parts{};  // empty: a number
};

std::string to_string(IntTuple const& tuple);

// What is composed with the plain layout.
struct LayoutFront {
  Swizzle swizzle{};  // of offsets in elements
  std::int64_t offset = 0;
  int elem_bytes = 0;  // 0: the notation does not name it
};

// Swizzle o Offset o Shape:Stride. Coordinates are colexicographic, as in CuTe: the first mode varies fastest, at every
// level of nesting.
class Layout {
 public:
  // Without strides, the layout is compact and its first mode has stride 1. Throws UsageError for an extent below 1, a
  // negative stride or offset, a shape and stride that are not congruent, more than kMostElements, or an offset beyond
  // kMostOffset.
  explicit Layout(IntTuple shape, std::optional<IntTuple> stride = {}, LayoutFront front = {});

  int rank() const { return shape_.parts.empty() ? 1 : int(shape_.parts.size()); }
  std::int64_t size() const { return size_; }
  std::int64_t rows() const { return rows_; }          // the extent of the first mode
  std::int64_t cols() const { return size_ / rows_; }  // the size of the other modes
  std::int64_t cosize() const;                         // the largest offset plus 1, after the swizzle
  std::int64_t operator()(std::int64_t index) const;   // the offset in elements; index: colexicographic, below size()
  std::vector<std::int64_t> offsets() const;           // for each index
  std::int64_t operator()(std::int64_t i, std::int64_t j) const { return (*this)(i + j * rows_); }

  LayoutFront const& front() const { return front_; }
  Layout with(Swizzle const& swizzle) const;
  // The strides that a padding can lengthen, in ascending order: those beyond all offsets that shorter strides reach,
  // and of which all longer strides are multiples.
  std::vector<std::int64_t> pitches() const;
  // The layout without its swizzle, with pitch i longer by by[i]. Strides longer than a pitch grow in proportion, so
  // that paddings nest: ((8,8),8):((1,64),8) by {1, 2} is ((8,8),8):((1,74),9).
  Layout padded(std::vector<std::int64_t> const& by) const;

  friend std::string to_string(Layout const& layout);

 private:
  struct Leaf {
    std::int64_t extent, stride;
  };
  IntTuple shape_, stride_;
  LayoutFront front_;
  std::vector<Leaf> leaves_;  // the modes without nesting, the fastest first
  std::int64_t size_ = 1, rows_ = 1;
};

// The bytes of an element of all layouts: `given`, or the width that the notation names, or 4. Throws UsageError if
// `given` is not 1, 2, 4, 8 or 16, or if two widths differ.
int elem_bytes_of(std::vector<Layout> const& layouts, std::optional<int> given);

// Parses "((4,8),(2,4)):((1,8),(4,32))", "(8,64)", "Swizzle<3,3,3> o (8,64):(64,1)", with "_8" for a static 8, and what
// CuTe prints: "Sw<3,3,3> o _0 o (8,64):(64,1)", "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)". The swizzle of an
// smem_ptr acts on byte offsets. Throws UsageError with the position, what is expected there, and a caret below the
// text.
Layout parse_layout(std::string_view text);

}  // namespace inlay::lab
