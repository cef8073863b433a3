// Layouts in CuTe's notation, read at run time: what takes the coordinates of a tile to offsets in memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::lab {

// Limit for one layout, whose elements are visited one by one.
constexpr std::int64_t kMostElements = std::int64_t(1) << 22, kMostOffset = std::int64_t(1) << 48;

// CuTe's Swizzle<B,M,S>: the B bits from bit M + S on are xored into those from bit M on; S below 0 exchanges the two.
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

// What acts on byte offsets, as acting on offsets in elements of that size. Throws UsageError if it takes elements apart.
Swizzle in_elements(Swizzle const& of_bytes, int elem_bytes);
Swizzle on_bytes(Swizzle const& of_elements, int elem_bytes);

// A number, or a list of such: (4,(8,2)).
struct IntTuple {
  std::int64_t value = 0;
  std::vector<IntTuple> parts{};  // empty: a number
};

std::string to_string(IntTuple const& tuple);

// What stands before the plain layout. The swizzle acts on elements: of how many bytes, if the notation tells, else 0.
struct LayoutFront {
  Swizzle swizzle{};
  std::int64_t offset = 0;
  int elem_bytes = 0;
};

// Swizzle o Offset o Shape:Stride. Coordinates run as CuTe's do: the first extents fastest, at every level of nesting.
class Layout {
 public:
  // Without strides it is compact, the first extents fastest. Throws UsageError: an extent below 1, a negative stride or
  // offset, shape and stride that are not congruent, more than kMostElements, an offset beyond kMostOffset.
  explicit Layout(IntTuple shape, std::optional<IntTuple> stride = {}, LayoutFront front = {});

  int rank() const { return shape_.parts.empty() ? 1 : int(shape_.parts.size()); }
  std::int64_t size() const { return size_; }
  std::int64_t rows() const { return rows_; }          // the extent of the first mode
  std::int64_t cols() const { return size_ / rows_; }  // of all the others
  std::int64_t cosize() const;                         // the largest offset plus 1, of a swizzled layout too
  std::int64_t operator()(std::int64_t index) const;   // offset in elements; colexicographic index below size()
  std::vector<std::int64_t> offsets() const;           // of all indices
  std::int64_t operator()(std::int64_t i, std::int64_t j) const { return (*this)(i + j * rows_); }

  LayoutFront const& front() const { return front_; }
  Layout with(Swizzle const& swizzle) const;
  // Strides above which nothing is packed tightly, those a padding can lengthen; the shortest first. Each is a multiple of
  // the one before.
  std::vector<std::int64_t> pitches() const;
  // Without a swizzle, and each of the pitches longer by so much. What is longer than a pitch grows in proportion, so that
  // paddings nest: ((8,8),8):((1,64),8) by {1, 2} is ((8,8),8):((1,74),9).
  Layout padded(std::vector<std::int64_t> const& by) const;

  friend std::string to_string(Layout const& layout);

 private:
  struct Leaf {
    std::int64_t extent, stride;
  };
  IntTuple shape_, stride_;
  LayoutFront front_;
  std::vector<Leaf> leaves_;  // in the order of the coordinates
  std::int64_t size_ = 1, rows_ = 1;
};

// The bytes of an element of them all: what is given, or what their notation names, or 4. Throws UsageError: what is no
// width, and those that contradict each other.
int elem_bytes_of(std::vector<Layout> const& layouts, std::optional<int> given);

// "((4,8),(2,4)):((1,8),(4,32))", "(8,64)", "Swizzle<3,3,3> o (8,64):(64,1)"; "_8" for 8; and as CuTe prints:
// "Sw<3,3,3> o _0 o (8,64):(64,1)", "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", whose swizzle acts on bytes.
// Throws UsageError: what was expected where, with a caret under the place.
Layout parse_layout(std::string_view text);

}  // namespace inlay::lab
