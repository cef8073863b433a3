#include "readme.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "results.h"
#include "suites.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

std::string number(std::optional<double> x, int digits) { return x ? fmt::format("{:.{}f}", *x, digits) : "–"; }

std::string markdown_row(Row const& row, std::vector<Published> const& published) {
  std::string figures;
  for (Published const& p : published)
    if (p.variant == row.variant) figures += (figures.empty() ? "" : "; ") + p.sentence();
  return fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row.variant, number(row.ms_median, 3), number(row.gbps, 0),
                     number(row.of_copy, 3), row.verdict, figures);
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
  for (SuiteCase const& c : load_suite(suite)) {
    auto const rows = recorded.rows(c.shape);
    auto const row = [&](char const* variant) {
      auto const at = std::find_if(rows.begin(), rows.end(), [&](Row const& r) { return r.variant == variant; });
      return at == rows.end() ? Row{} : *at;
    };
    Row const own = row("transpose");
    s += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", c.shape.sentence(), number(own.ms_median, 3),
                     number(own.gbps, 0), number(own.of_copy, 3), number(row("torch_eager").of_copy, 3),
                     number(row("torch_compile").of_copy, 3), number(row("cublas_geam").of_copy, 3));
  }
  return s;
}

std::string with_tables(std::string const& text, std::string const& file) {
  static std::regex const marker("<!-- table:h200-(?:(\\d{1,9})-(\\d{1,2})|suite-(\\w+)) -->\n");
  std::string const closing = "<!-- /table -->";
  Recorded const recorded = load_recorded();
  std::string s;
  auto at = text.begin();
  for (std::smatch m; std::regex_search(at, text.end(), m, marker);) {
    auto const end = text.find(closing, std::size_t(m[0].second - text.begin()));
    if (end == text.npos) throw UsageError(fmt::format("{} has a table without its '{}'", file, closing));
    s.append(at, m[0].second);
    if (m[3].matched)
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
