#include "problems/cases.h"

#include <fmt/format.h>

#include "problems/checks.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

DType bits_of(Case const& c) { return opaque(c.elem_bytes); }

Tensor batch_of_matrices(void* buffer, std::int64_t base, DType dtype, std::int64_t batch, std::int64_t rows,
                         std::int64_t cols, std::int64_t pitch) {
  Tensor t;
  t.data = static_cast<char*>(buffer) + base * bytes_of(dtype), t.dtype = dtype, t.rank = 3;
  t.extent[0] = batch, t.extent[1] = rows, t.extent[2] = cols;
  t.stride[0] = rows * pitch, t.stride[1] = pitch, t.stride[2] = 1;
  return t;
}

// Nothing, ", source base 1", ", destination base 1" or ", bases 1 and 1".
std::string of_either_side(char const* one, char const* both, std::int64_t src, std::int64_t dst) {
  if (src && dst) return fmt::format(", {} {} and {}", both, src, dst);
  if (src) return fmt::format(", source {} {}", one, src);
  return dst ? fmt::format(", destination {} {}", one, dst) : "";
}

}  // namespace

std::string Case::sentence() const {
  std::string s = fmt::format("{} x {}", rows, cols);
  if (batch > 1) s = fmt::format("{} x ({})", batch, s);
  s += fmt::format(", {} B", elem_bytes);
  bool const from_pitch = source_pitch() != cols, to_pitch = destination_pitch() != rows;
  return s + of_either_side("pitch", "pitches", from_pitch ? pitch : 0, to_pitch ? pitch_dst : 0) +
         of_either_side("base", "bases", base_src, base_dst);
}

bool operator==(Case const& a, Case const& b) {
  return a.rows == b.rows && a.cols == b.cols && a.batch == b.batch && a.elem_bytes == b.elem_bytes &&
         a.source_pitch() == b.source_pitch() && a.destination_pitch() == b.destination_pitch() &&
         a.base_src == b.base_src && a.base_dst == b.base_dst;
}

void validate(Case const& c) {
  at_least_one("--rows", c.rows);
  at_least_one("--cols", c.cols);
  at_least_one("--batch", c.batch);
  int const e = c.elem_bytes;
  if (e != 1 && e != 2 && e != 4 && e != 8 && e != 16)
    throw UsageError(fmt::format("--elem is {}; elements have 1, 2, 4, 8 or 16 bytes", e));
  check_pitch("--pitch", c.pitch, c.cols, "the source");
  check_pitch("--pitch-dst", c.pitch_dst, c.rows, "the destination");
  if (c.base_src < 0) throw UsageError(fmt::format("--base-src is {}; it must not be negative", c.base_src));
  if (c.base_dst < 0) throw UsageError(fmt::format("--base-dst is {}; it must not be negative", c.base_dst));
  check_bytes({c.rows, c.source_pitch(), c.batch, c.base_src, e}, "source");
  check_bytes({c.cols, c.destination_pitch(), c.batch, c.base_dst, e}, "destination");
}

std::vector<Case> parse_cases(std::string const& text, Case const& defaults) {
  std::vector<Case> cases;
  static std::regex const form("(\\d+)x(\\d+):(\\d{1,2})");
  over_list(text, form, "ROWSxCOLS:ELEM such as 32768x32768:4", [&](std::smatch const& m) {
    Case c = defaults;
    c.rows = number(m[1]), c.cols = number(m[2]), c.elem_bytes = int(number(m[3]));
    validate(c);
    cases.push_back(c);
  });
  return cases;
}

Tensor source_view(Case const& c, void const* buffer) {
  return batch_of_matrices(const_cast<void*>(buffer), c.base_src, bits_of(c), c.batch, c.rows, c.cols,
                           c.source_pitch());
}

Tensor transposed_view(Case const& c, void* buffer) {
  return batch_of_matrices(buffer, c.base_dst, bits_of(c), c.batch, c.cols, c.rows, c.destination_pitch());
}

Move transpose_move(Case const& c, void* dst, void const* src) {
  return make_move(transposed_view(c, dst), source_view(c, src).transposed());
}

Move copy_move(Case const& c, void* dst, void const* src) {
  return make_move(batch_of_matrices(dst, c.base_dst, bits_of(c), c.batch, c.rows, c.cols, c.cols),
                   source_view(c, src));
}

}  // namespace inlay::lab
