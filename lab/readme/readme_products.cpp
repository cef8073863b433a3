#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/report.h"
#include "problems/suites.h"
#include "readme/readme_parts.h"

namespace inlay::lab {
namespace {

// "57.81 (1.129)"
std::string rate_and_share(Row const* row) {
  return row && row->rate ? fmt::format("{:.2f} ({})", *row->rate, cell(row->share, 3)) : kNone;
}

// The variants in the order of the file, each once.
std::vector<std::string> variants_of(Results const& results, std::vector<SuiteCase> const& cases) {
  std::vector<std::string> names;
  for (Row const& row : results.rows)
    if (std::any_of(cases.begin(), cases.end(), [&](SuiteCase const& c) { return c.problem == row.measured; }) &&
        std::find(names.begin(), names.end(), row.variant) == names.end())
      names.push_back(row.variant);
  return names;
}

}  // namespace

std::string gemm_ladder_table(Results const& results) {
  auto const cases = load_gemm_suite("ladder");
  auto const published = load_published();
  std::string s = "| TFLOP/s (of cuBLAS) |", line = "|---|", name;
  for (SuiteCase const& c : cases) {
    auto const& product = std::get<GemmCase>(c.problem);
    name = fmt::format("{}, {}", product.M, product.layout);
    s += " " + name + " |", line += "--:|";
  }
  s += fmt::format(" error, cuBLAS's at {} | the tutorial's own figure |\n{}--:|---|\n", name, line);
  for (std::string const& variant : variants_of(results, cases)) {
    s += fmt::format("| `{}` |", variant);
    std::string errors;  // of the last case
    for (SuiteCase const& c : cases) {
      Row const* const row = results.find(c.problem, variant, "ladder");
      s += ' ' + rate_and_share(row) + " |";
      auto const error = [&](auto member) { return error_number(row ? row->*member : std::nullopt, kNone); };
      errors = error(&Row::rel_err) + ", " + error(&Row::rel_err_cublas);
    }
    s += fmt::format(" {} | {} |\n", errors, figures(published, variant));
  }
  return s;
}

std::string gemm_suite_table(Results const& results, std::string const& suite) {
  std::string s =
      "| case | cuBLAS, TFLOP/s | `inlay::gemm` | of cuBLAS | of peak | no workspace | two levels | error | two "
      "levels' | "
      "cuBLAS's |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  double logarithms = 0;
  int measured = 0;
  for (SuiteCase const& c : load_gemm_suite(suite)) {
    auto const row = [&](char const* variant) {
      Row const* const found = results.find(c.problem, variant, suite);
      return found ? *found : Row{};
    };
    Row const own = row("gemm"), two_level = row("gemm_two_level");
    if (own.share) logarithms += std::log(*own.share), ++measured;
    s +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", sentence(c.problem),
                    cell(row("cublas").rate, 2), cell(own.rate, 2), cell(own.share, 3), cell(own.of_peak, 3),
                    cell(row("gemm_no_workspace").share, 3), cell(two_level.share, 3), error_number(own.rel_err, kNone),
                    error_number(two_level.rel_err, kNone), error_number(own.rel_err_cublas, kNone));
  }
  if (measured) s += fmt::format("| geometric mean | | | {:.3f} | | | | | | |\n", std::exp(logarithms / measured));
  return s;
}

}  // namespace inlay::lab
