#include "problems/copy_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "problems/checks.h"
#include "problems/kernels.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

using Integers = std::vector<std::int64_t>;

Integers packed(Integers const& extents) {
  Integers strides;
  std::int64_t n = 1;
  for (std::int64_t e : extents) strides.push_back(n), n *= e;
  return strides;
}
Integers permuted(Integers const& of, Integers const& perm) {
  Integers result;
  for (std::int64_t k : perm) result.push_back(of[std::size_t(k)]);
  return result;
}
std::int64_t span(Integers const& extents, Integers const& strides, int elem_bytes) {
  std::int64_t last = 0;
  for (std::size_t k = 0; k < extents.size(); ++k) last += std::abs(strides[k]) * (extents[k] - 1);
  return (last + 1) * elem_bytes;
}
// Elements from the lowest address to the first element: modes with negative strides start above it.
std::int64_t before(Integers const& extents, Integers const& strides) {
  std::int64_t n = 0;
  for (std::size_t k = 0; k < extents.size(); ++k) n -= std::min<std::int64_t>(strides[k], 0) * (extents[k] - 1);
  return n;
}

// The number of distinct sectors of a view that begins `base` bytes after a sector's start. Runs with gaps of less than
// a sector are joined, because all sectors between them are accessed. Beyond 2^22 runs, runs times the mean number of
// sectors of a run.
double sectors(Integers const& extents, Integers const& strides, int elem_bytes, std::int64_t base) {
  struct Mode {
    std::int64_t stride, extent;
  };
  std::vector<Mode> modes;
  for (std::size_t k = 0; k < extents.size(); ++k)
    if (extents[k] > 1 && strides[k]) modes.push_back({std::abs(strides[k]) * elem_bytes, extents[k]});
  std::sort(modes.begin(), modes.end(), [](Mode a, Mode b) { return a.stride < b.stride; });
  std::int64_t run = elem_bytes;
  std::size_t inner = 0;
  for (; inner < modes.size() && modes[inner].stride - run < 32; ++inner)
    run += modes[inner].stride * (modes[inner].extent - 1);
  double runs = 1;
  std::int64_t apart = 32;  // bytes: runs start at these multiples within a sector, after the first start
  for (std::size_t k = inner; k < modes.size(); ++k)
    runs *= double(modes[k].extent), apart = std::gcd(apart, modes[k].stride);
  if (apart == 32 || runs > 1 << 22) {
    double touched = 0;
    for (std::int64_t past = (base % apart + apart) % apart; past < 32; past += apart)
      touched += double((past + run + 31) / 32);
    return runs * touched / double(32 / apart);
  }
  double count = 0;
  std::int64_t seen = -1;
  Integers digit(modes.size(), 0);
  for (std::int64_t at = base;;) {
    std::int64_t const first = std::max(at / 32, seen + 1), last = (at + run - 1) / 32;
    if (last >= first) count += double(last - first + 1);
    seen = std::max(seen, last);
    std::size_t k = inner;
    for (; k < modes.size(); ++k) {
      at += modes[k].stride;
      if (++digit[k] < modes[k].extent) break;
      at -= modes[k].stride * modes[k].extent, digit[k] = 0;
      seen = std::min(seen, at / 32 + (1 << 30));
    }
    if (k == modes.size()) return count;
  }
}

Integers listed(std::string const& text, char between) {
  Integers all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, between);) all.push_back(number(one));
  return all;
}

// ", source base 1", ", destination base 1", ", bases 1 and 1", or an empty string if both are 0.
std::string of_either_side(char const* one, char const* both, std::int64_t src, std::int64_t dst) {
  if (src && dst) return fmt::format(", {} {} and {}", both, src, dst);
  if (src) return fmt::format(", source {} {}", one, src);
  return dst ? fmt::format(", destination {} {}", one, dst) : "";
}

std::string transpose_sentence(CopyCase const& c) {
  std::string s = fmt::format("{} x {}", c.rows(), c.cols());
  if (c.batch() > 1) s = fmt::format("{} x ({})", c.batch(), s);
  s += fmt::format(", {} B", c.elem_bytes);
  bool const from_pitch = c.source_pitch() != c.cols(), to_pitch = c.destination_pitch() != c.rows();
  return s + of_either_side("pitch", "pitches", from_pitch ? c.pitch_src : 0, to_pitch ? c.pitch_dst : 0) +
         of_either_side("base", "bases", c.base_src, c.base_dst);
}

void validate_transpose(CopyCase const& c) {
  at_least_one("--rows", c.rows());
  at_least_one("--cols", c.cols());
  at_least_one("--batch", c.batch());
  int const e = c.elem_bytes;
  if (e != 1 && e != 2 && e != 4 && e != 8 && e != 16)
    throw UsageError(fmt::format("--elem is {}; elements have 1, 2, 4, 8 or 16 bytes", e));
  check_pitch("--pitch", c.pitch_src, c.cols(), "the source");
  check_pitch("--pitch-dst", c.pitch_dst, c.rows(), "the destination");
  for (auto const& [flag, base] : {std::pair{"--base-src", c.base_src}, {"--base-dst", c.base_dst}})
    if (base < 0) throw UsageError(fmt::format("{} is {}; it must not be negative", flag, base));
  check_bytes({c.rows(), c.source_pitch(), c.batch(), c.base_src, e}, "source");
  check_bytes({c.cols(), c.destination_pitch(), c.batch(), c.base_dst, e}, "destination");
}

CopyCase read_transpose(Json const& row) {
  CopyCase c = transpose_case();
  read_extents(row.at("case"), {&c.sizes[1], &c.sizes[0]});
  c.elem_bytes = row.at("elem_bytes");
  c.sizes[2] = row.value("batch", c.batch());
  auto const elements = [&](char const* key) { return row.value(key, std::int64_t(0)) / c.elem_bytes; };
  c.pitch_src = elements("pitch_src"), c.pitch_dst = elements("pitch_dst");
  c.base_src = elements("base_src"), c.base_dst = elements("base_dst");
  return c;
}

constexpr Notation kTransposeNotation{
    .public_function = "transpose",
    .suites = "suites",
    .item_form = "(\\d+)x(\\d+):(\\d{1,2})",
    .item_shape = "ROWSxCOLS:ELEM",
    .item_example = "32768x32768:4",
    .units = {"GB/s", "gbps", "of copy", "of_copy", "the faster of cudaMemcpyAsync and copy_03_vector", 1, false}};
constexpr Notation kCopyNotation{
    .public_function = "copy",
    .suites = "suites/permute",
    .item_form = "(\\d+(?:x\\d+)*):(\\d+(?:-\\d+)*):(\\d{1,2})",
    .item_shape = "SIZExSIZE:PERM-PERM:ELEM",
    .item_example = "128x32x2048:0-2-1:2",
    .units = {"GB/s", "gbps", "of copy", "of_copy", "a contiguous copy of as many sectors", 1, false}};

}  // namespace

CopyCase transpose_case(std::int64_t rows, std::int64_t cols, std::int64_t batch, int elem_bytes) {
  CopyCase c;
  c.sizes = {cols, rows, batch}, c.perm = {1, 0, 2}, c.elem_bytes = elem_bytes, c.is_transpose = true;
  return c;
}

Notation const& CopyCase::notation() const { return is_transpose ? kTransposeNotation : kCopyNotation; }

Integers CopyCase::source_strides() const {
  if (is_transpose) return {1, source_pitch(), rows() * source_pitch()};
  return src_strides.empty() ? packed(sizes) : src_strides;
}
Integers CopyCase::destination_strides() const {
  if (is_transpose) return {1, destination_pitch(), cols() * destination_pitch()};
  return dst_strides.empty() ? packed(permuted(sizes, perm)) : dst_strides;
}
std::int64_t CopyCase::elements() const {
  std::int64_t n = 1;
  for (std::int64_t e : sizes) n *= e;
  return n;
}
std::int64_t CopyCase::source_span() const { return span(sizes, source_strides(), elem_bytes); }
std::int64_t CopyCase::destination_span() const {
  return span(permuted(sizes, perm), destination_strides(), elem_bytes);
}
std::int64_t CopyCase::sector_bytes() const {
  return std::int64_t(32 * (sectors(sizes, source_strides(), elem_bytes, base_src * base_unit()) +
                            sectors(permuted(sizes, perm), destination_strides(), elem_bytes, base_dst * base_unit())));
}

std::string CopyCase::name() const {
  if (is_transpose) return fmt::format("{}x{}", rows(), cols());
  return fmt::format("{}:{}", fmt::join(sizes, "x"), fmt::join(perm, "-"));
}
std::string CopyCase::sentence() const {
  if (is_transpose) return transpose_sentence(*this);
  std::string s = fmt::format("{} to {}, {} B", fmt::join(sizes, " x "), fmt::join(perm, " "), elem_bytes);
  if (!src_strides.empty()) s += fmt::format(", source strides {}", fmt::join(src_strides, " "));
  if (!dst_strides.empty()) s += fmt::format(", destination strides {}", fmt::join(dst_strides, " "));
  if (base_src || base_dst) s += fmt::format(", bases {} and {} B", base_src, base_dst);
  return s;
}
bool operator==(CopyCase const& a, CopyCase const& b) {
  return a.is_transpose == b.is_transpose && a.sizes == b.sizes && a.perm == b.perm && a.elem_bytes == b.elem_bytes &&
         a.source_strides() == b.source_strides() && a.destination_strides() == b.destination_strides() &&
         a.base_src == b.base_src && a.base_dst == b.base_dst;
}

CopyViews views(CopyCase const& c, CopyCall const& call) {
  Integers extents = permuted(c.sizes, c.perm), from = permuted(c.source_strides(), c.perm),
           to = c.destination_strides();
  auto const src = static_cast<char const*>(call.src) + c.base_src * c.base_unit() +
                   before(c.sizes, c.source_strides()) * c.elem_bytes;
  auto const dst = static_cast<char*>(call.dst) + c.base_dst * c.base_unit() + before(extents, to) * c.elem_bytes;
  for (Integers* v : {&extents, &from, &to}) std::reverse(v->begin(), v->end());
  DType const bits = opaque(c.elem_bytes);
  return {tensor(static_cast<void*>(dst), bits, extents, to),
          tensor(static_cast<void const*>(src), bits, extents, from)};
}

std::string CopyCase::short_name() const { return fmt::format("{:>2} B", elem_bytes); }

std::vector<Field> CopyCase::fields() {
  if (is_transpose)
    return {
        {"rows", "--rows", &sizes[1], "rows of the source", true, true},
        {"cols", "--cols", &sizes[0], "columns of the source", true, true},
        {"pitch", "--pitch", &pitch_src, "elements from one row of the source to the next (default: cols)", false},
        {"pitch_dst", "--pitch-dst", &pitch_dst, "the same of the destination (default: rows); copies pack the rows",
         false},
        {"base_src", "--base-src", &base_src, "elements from a 256-byte aligned address to the source (default: 0)",
         false},
        {"base_dst", "--base-dst", &base_dst, "the same of the destination (default: 0)", false},
        {"batch", "--batch", &sizes[2], "how many matrices"},
        {"elem_bytes", "--elem", &elem_bytes, "bytes of an element"},
    };
  return {
      {"sizes", "--sizes", &sizes, "extents of the source's modes, the fastest first", true, true},
      {"perm", "--perm", &perm, "which mode of the source each of the destination's is", true, true},
      {"elem_bytes", "--elem", &elem_bytes, "bytes of an element, 1 to 16", true, true},
      {"src_strides", "--src-strides", &src_strides, "of the source's modes, in elements (default: packed)", false},
      {"dst_strides", "--dst-strides", &dst_strides, "of the destination's modes, in elements (default: packed)",
       false},
      {"base_src", "--base-src", &base_src, "bytes from a 256-byte aligned address to the source (default: 0)", false},
      {"base_dst", "--base-dst", &base_dst, "the same of the destination (default: 0)", false},
      {"class", "--class", &group, "what it is filed under (default: nothing)", false},
  };
}

void CopyCase::take_item(std::smatch const& m) {
  if (is_transpose) {
    sizes[1] = number(m[1]), sizes[0] = number(m[2]), elem_bytes = int(number(m[3]));
    return;
  }
  sizes = listed(m[1], 'x'), perm = listed(m[2], '-'), elem_bytes = int(number(m[3]));
  src_strides.clear(), dst_strides.clear();
}

void CopyCase::validate() const {
  if (is_transpose) return validate_transpose(*this);
  std::size_t const rank = sizes.size();
  if (rank == 0 || rank > 64) throw UsageError(fmt::format("--sizes has {} extents; 1 to 64 are possible", rank));
  double bytes = elem_bytes;
  for (std::int64_t e : sizes) at_least_one("--sizes", e), bytes *= double(e);
  if (bytes > double(std::int64_t(1) << 46)) throw UsageError(fmt::format("{} bytes are more than 2^46", bytes));
  Integers sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t k = 0; k < rank; ++k)
    if (sorted.size() != rank || sorted[k] != std::int64_t(k))
      throw UsageError(fmt::format("--perm is {}, no permutation of 0 to {}", fmt::join(perm, ","), rank - 1));
  if (elem_bytes < 1 || elem_bytes > 16)
    throw UsageError(fmt::format("--elem is {}; elements have 1 to 16 bytes", elem_bytes));
  for (auto const& [flag, strides] : {std::pair{"--src-strides", &src_strides}, {"--dst-strides", &dst_strides}})
    if (!strides->empty() && strides->size() != rank)
      throw UsageError(fmt::format("{} has {} strides for {} extents", flag, strides->size(), rank));
  for (auto const& [flag, base] : {std::pair{"--base-src", base_src}, {"--base-dst", base_dst}})
    if (base < 0 || base > 1 << 20) throw UsageError(fmt::format("{} is {}; it must be 0 to 2^20", flag, base));
  if (source_span() >> 46 || destination_span() >> 46) throw UsageError("the strides span more than 2^46 bytes");
  try {
    (void)canonical({reinterpret_cast<void const*>(1ull << 60), reinterpret_cast<void*>(2ull << 60)}, nullptr);
  } catch (Error const& e) {
    throw UsageError(e.what());
  }
}

void CopyCase::write(std::string const& kernel, Json& json) const {
  auto const in_bytes = [&](Integers strides) {
    for (std::int64_t& s : strides) s *= elem_bytes;
    return strides;
  };
  if (is_transpose) {
    json["batch"] = batch();
    json["pitch_src"] = source_pitch() * elem_bytes, json["pitch_dst"] = destination_pitch() * elem_bytes;
    json["base_src"] = base_src * elem_bytes, json["base_dst"] = base_dst * elem_bytes;
  } else {
    if (!group.empty()) json["class"] = group;
    json["extents"] = sizes, json["perm"] = perm;
    json["src_strides"] = in_bytes(source_strides()), json["dst_strides"] = in_bytes(destination_strides());
    json["base_src"] = base_src, json["base_dst"] = base_dst;
    json["bytes"] = elements() * elem_bytes, json["sector_bytes"] = sector_bytes();
  }
  json["kernel"] = kernel;
  json["elem_bytes"] = elem_bytes;
}

bool CopyCase::wrote(Json const& row) { return row.contains("elem_bytes") && !row.contains("transa"); }

CopyCase CopyCase::read(Json const& row) {
  if (!row.contains("extents")) return read_transpose(row);
  CopyCase c;
  c.sizes = row.at("extents").get<Integers>(), c.perm = row.at("perm").get<Integers>();
  c.elem_bytes = row.at("elem_bytes");
  auto const elements = [&](char const* key) {
    auto strides = row.at(key).get<Integers>();
    for (std::int64_t& s : strides) s /= c.elem_bytes;
    return strides;
  };
  c.src_strides = elements("src_strides"), c.dst_strides = elements("dst_strides");
  if (c.src_strides == packed(c.sizes)) c.src_strides.clear();
  if (c.dst_strides == packed(permuted(c.sizes, c.perm))) c.dst_strides.clear();
  c.base_src = row.value("base_src", c.base_src), c.base_dst = row.value("base_dst", c.base_dst);
  c.group = row.value("class", c.group);
  return c;
}

CopyCase CopyCase::contiguous() const {
  std::int64_t const vector = 16 / elem_bytes;
  return transpose_case(1, (elements() + vector - 1) / vector * vector, 1, elem_bytes);
}

std::vector<OperandBuffer> CopyCase::operands() const {
  if (is_transpose)
    return {{"in", base_src + batch() * rows() * source_pitch(), elem_bytes},
            {"out", base_dst + batch() * cols() * destination_pitch(), elem_bytes}};
  std::int64_t const least = sector_bytes() / 2 + 32;
  return {{"in", std::max(base_src + source_span(), least), 1},
          {"out", std::max(base_dst + destination_span(), least), 1}};
}

Copy packing_copy(CopyCase const& c, CopyCall const& call) {
  auto const [dst, src] = views(c, call);
  return make_copy(tensor(dst.data, dst.dtype, {c.batch(), c.rows(), c.cols()}), src.transposed());
}

Copy CopyCase::canonical(CopyCall const& call, Info<Copy> const* info) const {
  if (is_transpose && info && is_copy(*info)) return packing_copy(*this, call);
  auto const [dst, src] = views(*this, call);
  return make_copy(dst, src);
}

}  // namespace inlay::lab
