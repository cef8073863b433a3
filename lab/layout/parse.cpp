// Parses layouts in CuTe's notation.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>

#include "layout/layout.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

constexpr int kMaxDepth = 16;  // levels of nested tuples

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    std::ranges::replace_if(
        text_, [](unsigned char c) { return std::isspace(c); }, ' ');
  }

  Layout layout() {
    LayoutFront front;
    bool const swizzled = take("Swizzle") || take("Sw");
    if (swizzled) {
      front.swizzle = swizzle();
      if (!take("_")) expect_composition();  // the swizzle of a pointer is printed as Sw<3,4,3>_smem_ptr[16b](...)
    }
    if (take("smem_ptr")) {
      front.elem_bytes = pointer(front.swizzle);
      front.swizzle = in_elements(front.swizzle, front.elem_bytes);
      expect_composition();
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
  // ---- Characters. These functions skip blanks first.

  // The next character, or 0 at the end.
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  // Moves behind `word` if it comes next.
  bool take(std::string_view word) {
    peek();
    if (!std::string_view(text_).substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word)) fail(fmt::format("'{}'", word));
  }
  void expect_composition() {
    if (!take("o")) fail("'o', which composes");
  }
  // Digits, with an underscore before those of a static integer.
  std::int64_t number(std::int64_t least, std::int64_t most, char const* expected) {
    take("_");
    char const first = peek();
    std::size_t const start = at_;
    std::int64_t value = 0;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_)
      value = std::min(value * 10 + (text_[at_] - '0'), most + 1);
    if (at_ == start) fail(first == '-' ? "a number that is not negative" : expected);
    if (value < least || value > most)
      fail_with(fmt::format("expected a number from {} to {}, found {}", least, most, text_.substr(start, at_ - start)),
                start);
    return value;
  }

  // ---- Errors: a UsageError with the position from 1, the text, and a caret below the position.

  [[noreturn]] void fail(std::string const& expected) { fail(expected, (peek(), at_)); }
  [[noreturn]] void fail(std::string const& expected, std::size_t at) const {
    std::size_t end = std::min(at + 1, text_.size());
    while (end < text_.size() && (text_[end] & 0xC0) == 0x80) ++end;  // the remaining bytes of a UTF-8 character
    std::string const found = at < text_.size() ? fmt::format("'{}'", text_.substr(at, end - at)) : "the end";
    fail_with(fmt::format("expected {}, found {}", expected, found), at);
  }
  [[noreturn]] void fail_with(std::string const& sentence, std::size_t at) const {
    throw UsageError(fmt::format("at {}: {}\n  {}\n  {:>{}}", at + 1, sentence, text_, '^', at + 1));
  }

  // ---- The grammar.

  Swizzle swizzle() {
    peek();
    std::size_t const start = at_;
    constexpr char const* what = "a number of bits";
    expect("<");
    int const bits = int(number(0, 30, what));
    expect(",");
    int const base = int(number(0, 30, what));
    int sign = 1, shift = bits;  // CuTe's default
    if (take(",")) {
      if (take("-")) sign = -1;
      shift = int(number(0, 30, what));
    }
    expect(">");
    if (take("{")) expect("}");
    Swizzle const s{bits, base, sign * shift};
    if (shift < bits)
      fail_with(
          fmt::format("{} xors bits with themselves: a shift of {} is less than {} bits", to_string(s), s.shift, bits),
          start);
    if (bits + base + shift > 31) fail_with(fmt::format("{} reaches beyond 31 bits", to_string(s)), start);
    return s;
  }

  // [16b](unset), or with an address. Returns the bytes of an element.
  int pointer(Swizzle const& swizzle) {
    expect("[");
    peek();
    std::size_t const start = at_;
    std::int64_t const bits = number(1, 1024, "the bits of an element");
    if (bits < 8 || bits > 128 || !std::has_single_bit(std::uint64_t(bits)))
      fail_with(fmt::format("expected elements of 8, 16, 32, 64 or 128 bits, found {}", bits), start);
    expect("b");
    expect("]");
    expect("(");
    if (!take("unset")) address(swizzle);
    expect(")");
    return int(bits) / 8;
  }

  // An address has no effect on a layout if it is a multiple of the swizzle's period; others are rejected.
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

  // A number that an 'o' follows; otherwise the number is not taken.
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
    if (depth == kMaxDepth)
      fail_with(fmt::format("expected at most {} levels of nesting, found more", kMaxDepth), at_ - 1);
    IntTuple t;
    do t.parts.push_back(tuple(least, expected, depth + 1));
    while (take(","));
    if (!take(")")) fail("',' or ')'");
    return t;
  }

  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

Layout parse_layout(std::string_view text) { return Parser(text).layout(); }

}  // namespace inlay::lab
