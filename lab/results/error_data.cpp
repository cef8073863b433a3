#include "results/error_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "problems/gemm_case.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// In the order of ErrorData.
constexpr char const* kNames[] = {"normal",  "uniform",    "wide",     "scaled_rows", "outliers",  "sparse",
                                  "hilbert", "orthogonal", "decaying", "spikes",      "denormals", "huge_column"};
static_assert(std::size(kNames) == std::size_t(ErrorData::huge_column) + 1);

}  // namespace

char const* name_of(ErrorData data) { return kNames[int(data)]; }

std::string error_data_names() { return fmt::format("{}", fmt::join(kNames, ", ")); }

std::vector<ErrorData> error_data_named(std::span<std::string const> names) {
  std::vector<ErrorData> found;
  for (std::string const& name : names) {
    auto const at = std::find(std::begin(kNames), std::end(kNames), name);
    if (at == std::end(kNames) && name != "all")
      throw UsageError(fmt::format("there is no data set '{}'; there are {}", name, error_data_names()));
    for (int i = 0; i < int(std::size(kNames)); ++i)
      if ((name == "all" || at == kNames + i) && std::find(found.begin(), found.end(), ErrorData(i)) == found.end())
        found.push_back(ErrorData(i));
  }
  return found;
}

std::string why_no_errors(GemmCase const& c) {
  if (c.dtype() != f32) return fmt::format("--errors takes operands of f32, not {}", c.type);
  if (c.beta != 0) return fmt::format("--errors takes a beta of 0, not {}", c.beta);
  return "";
}

}  // namespace inlay::lab
