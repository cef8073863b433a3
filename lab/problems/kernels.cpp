#include "problems/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "problems/problem.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// Levenshtein's distance, one row of the table at a time.
std::size_t edit_distance(std::string const& a, std::string const& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t const replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

// Adds a leading zero to a step number of one digit: transpose_6 means transpose_06_..., not transpose_01.
std::string with_two_digits(std::string s) {
  auto const digit = [](char c) { return c >= '0' && c <= '9'; };
  for (auto at = s.find('_'); at != s.npos && at + 1 < s.size(); at = s.find('_', at + 1))
    if (digit(s[at + 1]) && (at + 2 == s.size() || s[at + 2] == '_')) return s.insert(at + 1, "0");
  return s;
}

// Whether the name contains each part of `typed` between underscores.
bool has_slices(std::string const& name, std::string const& typed) {
  for (std::size_t at = 0; at <= typed.size();) {
    auto const end = std::min(typed.find('_', at), typed.size());
    if (name.find(typed.substr(at, end - at)) == name.npos) return false;
    at = end + 1;
  }
  return !typed.empty();
}

// "'a', 'b' or 'c'", "'a', 'b', 'c' or one of 5 others"
std::string any_of(std::vector<std::string> const& names) {
  constexpr std::size_t kMost = 4;
  bool const all = names.size() <= kMost;
  std::size_t const told = all ? names.size() : kMost - 1;
  std::string s;
  for (std::size_t i = 0; i < told; ++i)
    s += fmt::format("{}'{}'", i == 0 ? "" : all && i + 1 == told ? " or " : ", ", names[i]);
  return all ? s : s + fmt::format(" or one of {} others", names.size() - told);
}

}  // namespace

std::string resolve(std::string const& typed, std::vector<std::string> const& known) {
  if (std::find(known.begin(), known.end(), typed) != known.end()) return typed;
  std::vector<std::string> begins;
  std::copy_if(known.begin(), known.end(), std::back_inserter(begins),
               [&](std::string const& name) { return !typed.empty() && name.starts_with(typed); });
  if (begins.size() == 1) return begins.front();
  if (begins.size() > 1)
    throw UsageError(fmt::format("'{}' begins {} names: say {} or {}", typed, begins.size(), begins[0], begins[1]));

  std::string const wanted = with_two_digits(typed);
  std::vector<std::string> contain;
  std::copy_if(known.begin(), known.end(), std::back_inserter(contain),
               [&](std::string const& name) { return has_slices(name, wanted); });
  if (!contain.empty())
    throw UsageError(fmt::format("there is no kernel '{}'; did you mean {}?", typed, any_of(contain)));

  // The distance to the beginning of a name counts too: otherwise the nearest name of a short input would be the
  // shortest.
  auto const distance = [&](std::string const& name) {
    return std::min(edit_distance(wanted, name), edit_distance(wanted, name.substr(0, wanted.size())));
  };
  auto const nearest = std::min_element(known.begin(), known.end(),
                                        [&](auto const& a, auto const& b) { return distance(a) < distance(b); });
  throw UsageError(fmt::format("there is no kernel '{}'; did you mean '{}'?", typed, *nearest));
}

std::vector<std::string> all_kernel_names() {
  auto names = kernel_names<CopyCase>();
  for (std::string& name : kernel_names<GemmCase>()) names.push_back(std::move(name));
  return names;
}

bool is_copy(std::string_view name) {
  Info<Copy> const* const info = info_of<CopyCase>(name);
  return info && is_copy(*info);
}

namespace {
// Shapes at which kernels are shown: the given one; with a K of 16, for those that take a short one; a batch of 16 x 16 x 16 with as many
// multiply-adds, for those that take small matrices; four columns, for those that take few.
std::vector<GemmCase> shapes(std::int64_t M, std::int64_t N, std::int64_t K) {
  GemmCase batch = gemm_case(16, 16, 16, "nn");
  batch.batch = std::clamp<std::int64_t>(M * N * K / 4096, 10, 100000);
  return {gemm_case(M, N, K, "nn"), gemm_case(M, N, 16, "nn"), batch, gemm_case(M, 4, K, "nn")};
}
// The first of these shapes that the kernel accepts with the type, at the first operand transposes; none: it does not accept the type.
// The ladder of the tensor cores is recorded at nt.
std::optional<GemmCase> accepted(Info<Gemm> const& info, std::string const& type, std::vector<GemmCase> const& all) {
  bool const is_half = type != "f32";
  for (GemmCase c : all)
    for (std::string const transposes : {is_half ? "nt" : "nn", is_half ? "nn" : "nt", "tn", "tt"}) {
      c.type = type, c.transa = transposes.substr(0, 1), c.transb = transposes.substr(1);
      if (!info.rejects(planned(c), Device{})) return c;
    }
  return std::nullopt;
}
}  // namespace

bool takes_type(Info<Gemm> const& info, DType type) {
  return accepted(info, name_of(type), shapes(256, 256, 32)).has_value();
}

GemmCase shown_case(Info<Gemm> const& info, std::int64_t M, std::int64_t N, std::int64_t K) {
  std::string const type = takes_type(info, f32) ? "f32" : "bf16";
  auto const small = shapes(256, 256, 96), all = shapes(M, N, K);  // 96 is no short K
  // The shape and the transposes are those that it accepts at a small size: at another one it may reject odd extents.
  GemmCase c = all[0];
  for (std::size_t i = small.size(); i-- > 0;)
    if (auto const takes = accepted(info, type, {small[i]}))
      c = all[i], c.transa = takes->transa, c.transb = takes->transb;
  if (std::string_view(info.name).ends_with("column_major_b")) c.transa = "n", c.transb = "t";
  c.type = type;
  return c;
}

Selection::Selection(std::vector<std::string> const& typed, std::vector<std::string> const& known)
    : all_(typed.empty()) {
  for (auto const& name : typed)
    if (name == kAll)
      all_ = true;
    else if (name == kProduction)
      production_ = true;
    else
      wanted_.push_back(resolve(name, known));
}

bool Selection::has(std::string const& name, bool is_production) const {
  return all_ || (production_ && is_production) || std::find(wanted_.begin(), wanted_.end(), name) != wanted_.end();
}

void list_kernels(bool json) {
  auto rows = nlohmann::ordered_json::array();
  auto const add = [&](auto const& info) {
    if (json)
      rows.push_back({{"name", info.name}, {"idea", info.idea}, {"source", info.source}});
    else
      fmt::print("{}\n  {}\n  [{}]\n", info.name, info.idea, info.source);
  };
  for (auto const& entry : copy_kernels()) add(entry.info());
  for (auto const& entry : gemm_kernels()) add(entry.info());
  if (json) fmt::print("{}\n", rows.dump(2));
}

}  // namespace inlay::lab
