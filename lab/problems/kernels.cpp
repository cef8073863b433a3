#include "problems/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "problems/copy_case.h"
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

// The distance to the beginning of a name counts too: otherwise the nearest name of a short input would be the
// shortest.
std::size_t distance(std::string const& typed, std::string const& name) {
  return std::min(edit_distance(typed, name), edit_distance(typed, name.substr(0, typed.size())));
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

std::string did_you_mean(std::string const& typed, std::vector<std::string> const& known) {
  if (known.empty()) return "";
  std::string const nearest = *std::min_element(known.begin(), known.end(), [&](auto const& a, auto const& b) {
    return distance(typed, a) < distance(typed, b);
  });
  std::size_t const length = typed.size() - std::min(typed.size(), typed.find_first_not_of('-'));
  return distance(typed, nearest) <= (length + 2) / 3 ? fmt::format("; did you mean '{}'?", nearest) : "";
}

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

  std::string const near = did_you_mean(wanted, known);
  throw UsageError(
      fmt::format("there is no kernel '{}'{}", typed, near.empty() ? "; `inlay list` names them all" : near));
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
