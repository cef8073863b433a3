#include "readme/readme.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "page/report.h"
#include "problems/suites.h"
#include "readme/readme_parts.h"
#include "results/results.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

std::string markdown_row(Row const& row, std::vector<Published> const& published) {
  return fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row.variant, cell(row.ms_median, 3), cell(row.rate, 0),
                     cell(row.share, 3), row.verdict, figures(published, row.variant));
}

// The square of n x n elements, ours and then the peers'.
std::string square_table(Recorded const& recorded, Case const& c) {
  auto const published = load_published();
  auto const rows = recorded.rows(c);
  if (rows.empty())
    throw UsageError(fmt::format("{} has no row for {} at {} bytes",
                                 (results_dir() / "h200" / "transpose.json").string(), c.name(), c.elem_bytes));
  std::string s =
      "| variant | ms | GB/s | of copy limit | verdict | the tutorial's own figure |\n|---|--:|--:|--:|---|---|\n";
  for (Row const& row : rows) s += markdown_row(row, published);
  return s;
}

// A line for each case of a suite: the public function, and the peers' shares of the same copy limit.
std::string suite_table(Recorded const& recorded, std::string const& suite) {
  std::string s =
      "| case | `inlay::transpose`, ms | GB/s | of copy limit | torch eager | torch.compile | cuBLAS geam |\n"
      "|---|--:|--:|--:|--:|--:|--:|\n";
  for (SuiteCase const& listed : load_suite(suite)) {
    Case const& c = std::get<Case>(listed.problem);
    auto const rows = recorded.rows(c);
    auto const row = [&](char const* variant) {
      auto const at = std::find_if(rows.begin(), rows.end(), [&](Row const& r) { return r.variant == variant; });
      return at == rows.end() ? Row{} : *at;
    };
    Row const own = row("transpose");
    s += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", c.sentence(), cell(own.ms_median, 3), cell(own.rate, 0),
                     cell(own.share, 3), cell(row("torch_eager").share, 3), cell(row("torch_compile").share, 3),
                     cell(row("cublas_geam").share, 3));
  }
  return s;
}

std::string with_tables(std::string const& text, std::string const& file) {
  static std::regex const marker("<!-- table:h200-(?:(\\d{1,9})-(\\d{1,2})|suite-(\\w+)|gemm-(\\w+)) -->\n");
  std::string const closing = "<!-- /table -->";
  Recorded const recorded = load_recorded();
  std::string s;
  auto at = text.begin();
  for (std::smatch m; std::regex_search(at, text.end(), m, marker);) {
    auto const end = text.find(closing, std::size_t(m[0].second - text.begin()));
    if (end == text.npos) throw UsageError(fmt::format("{} has a table without its '{}'", file, closing));
    s.append(at, m[0].second);
    if (m[4].matched)
      s += m[4] == "ladder" ? gemm_ladder_table(recorded.products) : gemm_suite_table(recorded.products, m[4]);
    else if (m[3].matched)
      s += suite_table(recorded, m[3]);
    else
      s += square_table(recorded, {std::stoll(m[1]), std::stoll(m[1]), 1, std::stoi(m[2])});
    at = text.begin() + std::ptrdiff_t(end);
  }
  if (at == text.begin())
    throw UsageError(fmt::format("{} has no line '<!-- table:h200-32768-4 -->' or the like", file));
  return s.append(at, text.end());
}

}  // namespace

std::string cell(std::optional<double> x, int digits) { return number(x, digits, kNone); }

std::string figures(std::vector<Published> const& published, std::string const& variant) {
  std::string s;
  for (Published const& p : published)
    if (p.variant == variant) s += (s.empty() ? "" : "; ") + p.sentence();
  return s;
}

bool update_readme(std::filesystem::path const& file, bool check_only) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UsageError(fmt::format("{} cannot be read", file.string()));
  std::stringstream buffer;
  buffer << in.rdbuf();
  std::string const text = buffer.str(), updated = with_tables(text, file.string());
  if (updated == text) return true;
  if (!check_only) {
    std::ofstream out(file, std::ios::binary);
    if (!(out << updated).flush()) throw UsageError(fmt::format("{} cannot be written", file.string()));
  }
  return false;
}

}  // namespace inlay::lab
