// CuTe's notation.
#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <cstdlib>

#include "layout/layout.h"
#include "layout/scanner.h"

namespace inlay::lab {
namespace {

constexpr int kDeepest = 16;  // levels of nesting

class Parser : Scanner {
 public:
  explicit Parser(std::string_view text) : Scanner(text) {}

  Layout layout() {
    LayoutFront front;
    bool const swizzled = take("Swizzle") || take("Sw");
    if (swizzled) {
      front.swizzle = swizzle();
      if (!take("_")) composed();  // a pointer's own swizzle is printed Sw<3,4,3>_smem_ptr[16b](...)
    }
    if (take("smem_ptr")) {
      front.elem_bytes = pointer(front.swizzle);
      front.swizzle = in_elements(front.swizzle, front.elem_bytes);
      composed();
    } else if (auto const offset = swizzled ? offset_before_o() : std::nullopt) {
      front.offset = *offset;
    }
    IntTuple shape = tuple(1, "an extent or '('");
    std::optional<IntTuple> stride;
    if (take(":")) stride = tuple(0, "a stride or '('");
    if (peek()) fail(stride ? "the end" : "':' or the end");
    return Layout(std::move(shape), std::move(stride), front);
  }

 private:
  void composed() {
    if (!take("o")) fail("'o', which composes");
  }

  Swizzle swizzle() {
    peek();
    std::size_t const start = at_;
    constexpr char const* what = "a number of bits";
    need("<");
    int const bits = int(number(0, 30, what));
    need(",");
    int const base = int(number(0, 30, what));
    int sign = 1, shift = bits;  // CuTe's default
    if (take(",")) {
      if (take("-")) sign = -1;
      shift = int(number(0, 30, what));
    }
    need(">");
    if (take("{")) need("}");
    Swizzle const s{bits, base, sign * shift};
    if (shift < bits)
      fail_with(
          fmt::format("{} xors bits with themselves: a shift of {} is less than {} bits", to_string(s), s.shift, bits),
          start);
    if (bits + base + shift > 31) fail_with(fmt::format("{} reaches beyond 31 bits", to_string(s)), start);
    return s;
  }

  // smem_ptr[16b](unset), or with an address: the bytes of an element.
  int pointer(Swizzle const& swizzle) {
    need("[");
    peek();
    std::size_t const start = at_;
    std::int64_t const bits = number(1, 1024, "the bits of an element");
    if (bits < 8 || bits > 128 || !std::has_single_bit(std::uint64_t(bits)))
      fail_with(fmt::format("expected elements of 8, 16, 32, 64 or 128 bits, found {}", bits), start);
    need("b");
    need("]");
    need("(");
    if (!take("unset")) address(swizzle);
    need(")");
    return int(bits) / 8;
  }

  // Where the tile lies does not matter as long as the swizzle begins anew there.
  void address(Swizzle const& swizzle) {
    if (!take("0x")) fail("unset or an address");
    std::size_t const start = at_;
    while (at_ < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
    if (at_ == start || at_ - start > 16) fail("an address of up to 16 digits", start);
    std::string const digits = text_.substr(start, at_ - start);
    std::uint64_t const period = std::uint64_t(1)
                                 << (swizzle.bits ? swizzle.bits + swizzle.base + std::abs(swizzle.shift) : 0);
    if (std::strtoull(digits.c_str(), nullptr, 16) % period)
      fail_with(fmt::format("expected a multiple of {}, after which {} begins anew, found 0x{}", period,
                            to_string(swizzle), digits),
                start);
  }

  std::optional<std::int64_t> offset_before_o() {
    char const first = peek();
    std::size_t const start = at_;
    if (first != '_' && !std::isdigit(static_cast<unsigned char>(first))) return {};
    std::int64_t const value = number(0, kMostOffset, "an offset");
    if (take("o")) return value;
    at_ = start;
    return {};
  }

  IntTuple tuple(std::int64_t least, char const* expected, int depth = 0) {
    if (!take("(")) return {number(least, kMostOffset, expected), {}};
    if (depth == kDeepest)
      fail_with(fmt::format("expected at most {} levels of nesting, found more", kDeepest), at_ - 1);
    IntTuple t;
    do t.parts.push_back(tuple(least, expected, depth + 1));
    while (take(","));
    if (!take(")")) fail("',' or ')'");
    return t;
  }
};

}  // namespace

Layout parse_layout(std::string_view text) { return Parser(text).layout(); }

}  // namespace inlay::lab
