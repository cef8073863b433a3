#include "problems/transpose_case.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "problems/checks.h"
#include "problems/kernels.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

DType bits_of(TransposeCase const& c) { return opaque(c.elem_bytes); }

Tensor batch_of_matrices(void* buffer, std::int64_t base, DType dtype, std::int64_t batch, std::int64_t rows,
                         std::int64_t cols, std::int64_t pitch) {
  Tensor t;
  t.data = static_cast<char*>(buffer) + base * bytes_of(dtype), t.dtype = dtype, t.rank = 3;
  t.extent[0] = batch, t.extent[1] = rows, t.extent[2] = cols;
  t.stride[0] = rows * pitch, t.stride[1] = pitch, t.stride[2] = 1;
  return t;
}

Tensor source_view(TransposeCase const& c, void const* buffer) {
  return batch_of_matrices(const_cast<void*>(buffer), c.base_src, bits_of(c), c.batch, c.rows, c.cols,
                           c.source_pitch());
}

// Nothing, ", source base 1", ", destination base 1" or ", bases 1 and 1".
std::string of_either_side(char const* one, char const* both, std::int64_t src, std::int64_t dst) {
  if (src && dst) return fmt::format(", {} {} and {}", both, src, dst);
  if (src) return fmt::format(", source {} {}", one, src);
  return dst ? fmt::format(", destination {} {}", one, dst) : "";
}

}  // namespace

std::string TransposeCase::sentence() const {
  std::string s = fmt::format("{} x {}", rows, cols);
  if (batch > 1) s = fmt::format("{} x ({})", batch, s);
  s += fmt::format(", {} B", elem_bytes);
  bool const from_pitch = source_pitch() != cols, to_pitch = destination_pitch() != rows;
  return s + of_either_side("pitch", "pitches", from_pitch ? pitch : 0, to_pitch ? pitch_dst : 0) +
         of_either_side("base", "bases", base_src, base_dst);
}

bool operator==(TransposeCase const& a, TransposeCase const& b) {
  return a.rows == b.rows && a.cols == b.cols && a.batch == b.batch && a.elem_bytes == b.elem_bytes &&
         a.source_pitch() == b.source_pitch() && a.destination_pitch() == b.destination_pitch() &&
         a.base_src == b.base_src && a.base_dst == b.base_dst;
}

void TransposeCase::validate() const {
  at_least_one("--rows", rows);
  at_least_one("--cols", cols);
  at_least_one("--batch", batch);
  int const e = elem_bytes;
  if (e != 1 && e != 2 && e != 4 && e != 8 && e != 16)
    throw UsageError(fmt::format("--elem is {}; elements have 1, 2, 4, 8 or 16 bytes", e));
  check_pitch("--pitch", pitch, cols, "the source");
  check_pitch("--pitch-dst", pitch_dst, rows, "the destination");
  if (base_src < 0) throw UsageError(fmt::format("--base-src is {}; it must not be negative", base_src));
  if (base_dst < 0) throw UsageError(fmt::format("--base-dst is {}; it must not be negative", base_dst));
  check_bytes({rows, source_pitch(), batch, base_src, e}, "source");
  check_bytes({cols, destination_pitch(), batch, base_dst, e}, "destination");
}

std::string TransposeCase::short_name() const { return fmt::format("{:>2} B", elem_bytes); }

std::vector<Field> TransposeCase::fields() {
  return {
      {"rows", "--rows", &rows, "rows of the source", true, true},
      {"cols", "--cols", &cols, "columns of the source", true, true},
      {"pitch", "--pitch", &pitch, "elements from one row of the source to the next (default: cols)", false},
      {"pitch_dst", "--pitch-dst", &pitch_dst, "the same of the destination (default: rows); copies pack the rows",
       false},
      {"base_src", "--base-src", &base_src, "elements from a 256-byte aligned address to the source (default: 0)",
       false},
      {"base_dst", "--base-dst", &base_dst, "the same of the destination (default: 0)", false},
      {"batch", "--batch", &batch, "how many matrices"},
      {"elem_bytes", "--elem", &elem_bytes, "bytes of an element"},
  };
}

void TransposeCase::take_item(std::smatch const& m) {
  rows = number(m[1]), cols = number(m[2]), elem_bytes = int(number(m[3]));
}

void TransposeCase::write(std::string const& kernel, Json& json) const {
  json["batch"] = batch;
  json["pitch_src"] = source_pitch() * elem_bytes, json["pitch_dst"] = destination_pitch() * elem_bytes;
  json["base_src"] = base_src * elem_bytes, json["base_dst"] = base_dst * elem_bytes;
  json["kernel"] = kernel;
  json["elem_bytes"] = elem_bytes;
}

bool TransposeCase::wrote(Json const& row) {
  return row.contains("elem_bytes") && !row.contains("transa") && !row.contains("extents");
}

TransposeCase TransposeCase::read(Json const& row) {
  TransposeCase c;
  read_extents(row.at("case"), {&c.rows, &c.cols});
  c.elem_bytes = row.at("elem_bytes");
  c.batch = row.value("batch", c.batch);
  auto const elements = [&](char const* key) { return row.value(key, std::int64_t(0)) / c.elem_bytes; };
  c.pitch = elements("pitch_src"), c.pitch_dst = elements("pitch_dst");
  c.base_src = elements("base_src"), c.base_dst = elements("base_dst");
  return c;
}

std::vector<OperandBuffer> TransposeCase::operands() const {
  return {{"in", source_elements(), elem_bytes}, {"out", destination_elements(), elem_bytes}};
}

TransposeCase TransposeCase::contiguous() const {
  std::int64_t const vector = 16 / elem_bytes;
  return {1, (elements() + vector - 1) / vector * vector, 1, elem_bytes};
}

CopyViews views(TransposeCase const& c, TransposeCall const& call) {
  return {batch_of_matrices(call.dst, c.base_dst, bits_of(c), c.batch, c.cols, c.rows, c.destination_pitch()),
          source_view(c, call.src).transposed()};
}

Copy packing_copy(TransposeCase const& c, TransposeCall const& call) {
  return make_copy(batch_of_matrices(call.dst, c.base_dst, bits_of(c), c.batch, c.rows, c.cols, c.cols),
                   source_view(c, call.src));
}

Copy TransposeCase::canonical(Call const& call, Info<Copy> const* info) const {
  if (info && is_copy(*info)) return packing_copy(*this, call);
  auto const [dst, src] = views(*this, call);
  return make_copy(dst, src);
}

}  // namespace inlay::lab
