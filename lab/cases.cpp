#include "cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "usage_error.h"

namespace inlay::lab {
namespace {

void at_least_one(char const* what, std::int64_t value) {
  if (value < 1) throw UsageError(fmt::format("{} is {}; it must be at least 1", what, value));
}

DType bits_of(Case const& c) { return {DType::Kind::bits, std::uint8_t(c.elem_bytes)}; }

Tensor batch_of_matrices(void* data, DType dtype, std::int64_t batch, std::int64_t rows, std::int64_t cols,
                         std::int64_t pitch) {
  Tensor t;
  t.data = data, t.dtype = dtype, t.rank = 3;
  t.extent[0] = batch, t.extent[1] = rows, t.extent[2] = cols;
  t.stride[0] = rows * pitch, t.stride[1] = pitch, t.stride[2] = 1;
  return t;
}

std::int64_t number(std::string const& digits) {
  try {
    return std::stoll(digits);
  } catch (std::out_of_range const&) {
    throw UsageError(fmt::format("{} does not fit in 64 bits", digits));
  }
}

}  // namespace

void validate(Case const& c) {
  at_least_one("--rows", c.rows);
  at_least_one("--cols", c.cols);
  at_least_one("--batch", c.batch);
  int const e = c.elem_bytes;
  if (e != 1 && e != 2 && e != 4 && e != 8 && e != 16)
    throw UsageError(fmt::format("--elem is {}; elements have 1, 2, 4, 8 or 16 bytes", e));
  if (c.pitch < 0) throw UsageError(fmt::format("--pitch is {}; it must not be negative", c.pitch));
  if (c.source_pitch() < c.cols)
    throw UsageError(fmt::format("--pitch is {}, less than the {} elements of a row", c.pitch, c.cols));
  std::int64_t bytes = e;
  for (std::int64_t factor : {c.rows, c.source_pitch(), c.batch})
    if (__builtin_mul_overflow(bytes, factor, &bytes) || bytes >> 62)
      throw UsageError(fmt::format("{} x {} elements of {} bytes (batch {}) are more than 2^62 bytes", c.rows,
                                   c.source_pitch(), e, c.batch));
}

std::vector<Case> parse_cases(std::string const& text, Case const& defaults) {
  std::vector<Case> cases;
  static std::regex const form("(\\d+)x(\\d+):(\\d{1,2})");
  for (std::size_t at = 0; at <= text.size();) {
    auto const comma = std::min(text.find(',', at), text.size());
    std::string const one = text.substr(at, comma - at);
    std::smatch m;
    if (!std::regex_match(one, m, form))
      throw UsageError(fmt::format("--cases has '{}', which is no ROWSxCOLS:ELEM such as 32768x32768:4", one));
    Case c = defaults;
    c.rows = number(m[1]), c.cols = number(m[2]), c.elem_bytes = int(number(m[3]));
    validate(c);
    cases.push_back(c);
    at = comma + 1;
  }
  return cases;
}

Tensor source_view(Case const& c, void const* data) {
  return batch_of_matrices(const_cast<void*>(data), bits_of(c), c.batch, c.rows, c.cols, c.source_pitch());
}

Tensor transposed_view(Case const& c, void* data) {
  return batch_of_matrices(data, bits_of(c), c.batch, c.cols, c.rows, c.rows);
}

Move transpose_move(Case const& c, void* dst, void const* src) {
  return make_move(transposed_view(c, dst), source_view(c, src).transposed());
}

Move copy_move(Case const& c, void* dst, void const* src) {
  return make_move(batch_of_matrices(dst, bits_of(c), c.batch, c.rows, c.cols, c.cols), source_view(c, src));
}

}  // namespace inlay::lab
