#include "problems/checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "usage_error.h"

namespace inlay::lab {

void at_least_one(char const* what, std::int64_t value) {
  if (value < 1) throw UsageError(fmt::format("{} is {}; it must be at least 1", what, value));
}

void check_pitch(char const* flag, std::int64_t pitch, std::int64_t row, char const* whose) {
  if (pitch < 0) throw UsageError(fmt::format("{} is {}; it must not be negative", flag, pitch));
  if (pitch && pitch < row)
    throw UsageError(fmt::format("{} is {}, less than the {} elements of a row of {}", flag, pitch, row, whose));
}

void check_bytes(Extent const& x, char const* whose) {
  std::int64_t n = 1;
  bool overflows = false;
  for (std::int64_t factor : {x.rows, x.pitch, x.batch}) overflows |= __builtin_mul_overflow(n, factor, &n);
  overflows |= __builtin_add_overflow(n, x.base, &n) || __builtin_mul_overflow(n, std::int64_t(x.elem_bytes), &n);
  if (overflows || n >> 62)
    throw UsageError(fmt::format("{} x {} elements of {} bytes (batch {}, base {}) are more than 2^62 bytes of {}",
                                 x.rows, x.pitch, x.elem_bytes, x.batch, x.base, whose));
}

std::int64_t number(std::string const& digits) {
  try {
    return std::stoll(digits);
  } catch (std::out_of_range const&) {
    throw UsageError(fmt::format("{} does not fit in 64 bits", digits));
  }
}

void read_extents(std::string name, std::initializer_list<std::int64_t*> extents) {
  for (std::int64_t* extent : extents) {
    *extent = std::stoll(name);
    name.erase(0, std::min(name.find('x'), name.size() - 1) + 1);
  }
}

void over_list(std::string const& text, std::regex const& form, std::string const& example,
               std::function<void(std::smatch const&)> const& f) {
  for (std::size_t at = 0; at <= text.size();) {
    auto const comma = std::min(text.find(',', at), text.size());
    std::string const one = text.substr(at, comma - at);
    std::smatch m;
    if (!std::regex_match(one, m, form))
      throw UsageError(fmt::format("--cases has '{}', which is no {}", one, example));
    f(m);
    at = comma + 1;
  }
}

}  // namespace inlay::lab
