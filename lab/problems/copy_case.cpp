#include "problems/copy_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "problems/checks.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers packed(Numbers const& extents) {
  Numbers strides;
  std::int64_t n = 1;
  for (std::int64_t e : extents) strides.push_back(n), n *= e;
  return strides;
}
Numbers permuted(Numbers const& of, Numbers const& perm) {
  Numbers result;
  for (std::int64_t k : perm) result.push_back(of[std::size_t(k)]);
  return result;
}
std::int64_t span(Numbers const& extents, Numbers const& strides, int elem_bytes) {
  std::int64_t last = 0;
  for (std::size_t k = 0; k < extents.size(); ++k) last += std::abs(strides[k]) * (extents[k] - 1);
  return (last + 1) * elem_bytes;
}
// Elements between the lowest address and the first element, of modes that run backwards.
std::int64_t before(Numbers const& extents, Numbers const& strides) {
  std::int64_t n = 0;
  for (std::size_t k = 0; k < extents.size(); ++k) n -= std::min<std::int64_t>(strides[k], 0) * (extents[k] - 1);
  return n;
}

// The distinct sectors of a view that begins `base` bytes past a sector. Runs less than a sector apart are one, as each
// sector between them is touched; where there are too many runs to look at, what one touches on average.
double sectors(Numbers const& extents, Numbers const& strides, int elem_bytes, std::int64_t base) {
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
  std::int64_t apart = 32;  // the bytes past a sector at which runs begin are this far from each other
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
  Numbers digit(modes.size(), 0);
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

Numbers listed(std::string const& text, char between) {
  Numbers all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, between);) all.push_back(number(one));
  return all;
}

}  // namespace

Numbers CopyCase::source_strides() const { return src_strides.empty() ? packed(sizes) : src_strides; }
Numbers CopyCase::destination_strides() const {
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
  return std::int64_t(32 * (sectors(sizes, source_strides(), elem_bytes, base_src) +
                            sectors(permuted(sizes, perm), destination_strides(), elem_bytes, base_dst)));
}

std::string CopyCase::name() const { return fmt::format("{}:{}", fmt::join(sizes, "x"), fmt::join(perm, "-")); }
std::string CopyCase::sentence() const {
  std::string s = fmt::format("{} to {}, {} B", fmt::join(sizes, " x "), fmt::join(perm, " "), elem_bytes);
  if (!src_strides.empty()) s += fmt::format(", source strides {}", fmt::join(src_strides, " "));
  if (!dst_strides.empty()) s += fmt::format(", destination strides {}", fmt::join(dst_strides, " "));
  if (base_src || base_dst) s += fmt::format(", bases {} and {} B", base_src, base_dst);
  return s;
}
bool operator==(CopyCase const& a, CopyCase const& b) {
  return a.sizes == b.sizes && a.perm == b.perm && a.elem_bytes == b.elem_bytes &&
         a.source_strides() == b.source_strides() && a.destination_strides() == b.destination_strides() &&
         a.base_src == b.base_src && a.base_dst == b.base_dst;
}

CopyViews views(CopyCase const& c, TransposeCall const& call) {
  Numbers extents = permuted(c.sizes, c.perm), from = permuted(c.source_strides(), c.perm),
          to = c.destination_strides();
  auto const src = static_cast<char const*>(call.src) + c.base_src + before(c.sizes, c.source_strides()) * c.elem_bytes;
  auto const dst = static_cast<char*>(call.dst) + c.base_dst + before(extents, to) * c.elem_bytes;
  for (Numbers* v : {&extents, &from, &to}) std::reverse(v->begin(), v->end());
  DType const bits = opaque(c.elem_bytes);
  return {tensor(static_cast<void*>(dst), bits, extents, to),
          tensor(static_cast<void const*>(src), bits, extents, from)};
}

std::string CopyCase::short_name() const { return fmt::format("{:>2} B", elem_bytes); }

std::vector<Field> CopyCase::fields() {
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
  sizes = listed(m[1], 'x'), perm = listed(m[2], '-'), elem_bytes = int(number(m[3]));
  src_strides.clear(), dst_strides.clear();
}

void CopyCase::validate() const {
  std::size_t const rank = sizes.size();
  if (rank == 0 || rank > 64) throw UsageError(fmt::format("--sizes has {} extents; 1 to 64 are possible", rank));
  double bytes = elem_bytes;
  for (std::int64_t e : sizes) at_least_one("--sizes", e), bytes *= double(e);
  if (bytes > double(std::int64_t(1) << 46)) throw UsageError(fmt::format("{} bytes are more than 2^46", bytes));
  Numbers sorted = perm;
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
  auto const in_bytes = [&](Numbers strides) {
    for (std::int64_t& s : strides) s *= elem_bytes;
    return strides;
  };
  if (!group.empty()) json["class"] = group;
  json["extents"] = sizes, json["perm"] = perm;
  json["src_strides"] = in_bytes(source_strides()), json["dst_strides"] = in_bytes(destination_strides());
  json["base_src"] = base_src, json["base_dst"] = base_dst;
  json["bytes"] = elements() * elem_bytes, json["sector_bytes"] = sector_bytes();
  json["kernel"] = kernel;
  json["elem_bytes"] = elem_bytes;
}

bool CopyCase::wrote(Json const& row) { return row.contains("extents"); }

CopyCase CopyCase::read(Json const& row) {
  CopyCase c;
  c.sizes = row.at("extents").get<Numbers>(), c.perm = row.at("perm").get<Numbers>();
  c.elem_bytes = row.at("elem_bytes");
  auto const elements = [&](char const* key) {
    auto strides = row.at(key).get<Numbers>();
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

std::vector<OperandBuffer> CopyCase::operands() const {
  std::int64_t const least = sector_bytes() / 2 + 32;
  return {{"in", std::max(base_src + source_span(), least), 1},
          {"out", std::max(base_dst + destination_span(), least), 1}};
}

Copy CopyCase::canonical(TransposeCall const& call, Info<Copy> const*) const {
  auto const [dst, src] = views(*this, call);
  return make_copy(dst, src);
}

}  // namespace inlay::lab
