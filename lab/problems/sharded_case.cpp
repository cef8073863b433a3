#include "problems/sharded_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "usage_error.h"

namespace inlay::lab {
namespace {

std::vector<std::int64_t> result_shape(ShardedCase const& c) {
  std::vector<std::int64_t> shape;
  for (std::int64_t axis : c.axes) shape.push_back(c.shape[std::size_t(axis)]);
  return shape;
}
std::int64_t elements(std::vector<std::int64_t> const& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t(1), std::multiplies<>());
}
std::vector<std::int64_t> with_part(std::vector<std::int64_t> shape, int mode, std::int64_t extent) {
  shape[std::size_t(mode)] = extent;
  return shape;
}

}  // namespace

std::string ShardedCase::sentence() const {
  if (!name.empty()) return name;
  return fmt::format("{} to modes {}, {} B, cut along {} and then {}", fmt::join(shape, " x "), fmt::join(axes, " "),
                     elem_bytes, from, to);
}

std::vector<Field> ShardedCase::fields() {
  return {{"shape", "--shape", &shape, "extents of the whole source, its slowest mode first", true, true},
          {"axes", "--axes", &axes, "the source's modes in the order of the result", true, true},
          {"from", "--from", &from, "the mode of the source that is cut over the ranks", true, true},
          {"to", "--to", &to, "the mode of the result that is cut", true, true},
          {"elem_bytes", "--elem", &elem_bytes, "bytes of an element", true, true}};
}

void ShardedCase::validate() const {
  if (shape.empty() || shape.size() > 5)
    throw UsageError(fmt::format("the shape has {} modes; a redistribution here has 1 to 5", shape.size()));
  std::vector<std::int64_t> modes(shape.size());
  std::iota(modes.begin(), modes.end(), std::int64_t(0));
  if (!std::is_permutation(axes.begin(), axes.end(), modes.begin(), modes.end()))
    throw UsageError(
        fmt::format("--axes is {}, no order of the modes 0 to {}", fmt::join(axes, ","), shape.size() - 1));
  for (auto const& [flag, mode] : {std::pair{"--from", from}, {"--to", to}})
    if (mode < 0 || std::size_t(mode) >= shape.size())
      throw UsageError(fmt::format("{} is {}; the modes are 0 to {}", flag, mode, shape.size() - 1));
  for (std::int64_t extent : shape)
    if (extent < 0) throw UsageError(fmt::format("--shape has an extent of {}", extent));
  if (elem_bytes < 1 || elem_bytes > 16)
    throw UsageError(fmt::format("--elem is {}; elements have 1 to 16 bytes", elem_bytes));
}

std::int64_t ShardedCase::bytes() const { return elements(shape) * elem_bytes; }

std::int64_t ShardedCase::part_bytes(int ranks) const {
  auto const part = [&](std::vector<std::int64_t> const& whole, int mode) {
    return elements(with_part(whole, mode, even_extents(whole[std::size_t(mode)], ranks)[0])) * elem_bytes;
  };
  return std::max(part(shape, from), part(result_shape(*this), to));
}

ShardedViews views(ShardedCase const& c, int ranks, int rank, void* dst, void const* src) {
  DType const type = DType(int(DType::b8) + c.elem_bytes - 1);
  auto const source_cut = even_extents(c.shape[std::size_t(c.from)], ranks);
  std::vector<int> const axes(c.axes.begin(), c.axes.end());
  ConstSharded const source{tensor(src, type, with_part(c.shape, c.from, source_cut[std::size_t(rank)])), c.from,
                            source_cut};
  auto const result = result_shape(c);
  auto const result_cut = even_extents(result[std::size_t(c.to)], ranks);
  Tensor part = tensor(dst, type, with_part(result, c.to, result_cut[0]));
  part.extent[c.to] = result_cut[std::size_t(rank)];
  return {{part, c.to, result_cut}, source.permuted(axes)};
}

}  // namespace inlay::lab
