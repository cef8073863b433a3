#include "readme.h"

#include <fmt/format.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "results.h"
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
std::string markdown_table(Case const& c) {
  auto const published = load_published();
  std::string s =
      "| variant | ms | GB/s | of copy limit | verdict | the tutorial's own figure |\n|---|--:|--:|--:|---|---|\n";
  bool any = false;
  std::optional<double> limit;  // ms; the peers' own files know no copy limit
  for (char const* file : {"transpose.json", "torch.json"})
    if (auto const results = load_results(results_dir() / "h200" / file))
      for (Row row : results->rows) {
        if (!(row.measured == c)) continue;
        if (row.of_copy && *row.of_copy >= 1) limit = limit.value_or(*row.ms_median);
        if (row.variant.starts_with("torch") && row.ms_median && limit) row.of_copy = *limit / *row.ms_median;
        s += markdown_row(row, published);
        any = true;
      }
  if (!any)
    throw UsageError(fmt::format("{} has no row for {} at {} bytes",
                                 (results_dir() / "h200" / "transpose.json").string(), c.name(), c.elem_bytes));
  return s;
}

std::string with_tables(std::string const& text, std::string const& file) {
  static std::regex const marker("<!-- table:h200-(\\d{1,9})-(\\d{1,2}) -->\n");
  std::string const closing = "<!-- /table -->";
  std::string s;
  auto at = text.begin();
  for (std::smatch m; std::regex_search(at, text.end(), m, marker);) {
    auto const end = text.find(closing, std::size_t(m[0].second - text.begin()));
    if (end == text.npos) throw UsageError(fmt::format("{} has a table without its '{}'", file, closing));
    Case c;
    c.rows = c.cols = std::stoll(m[1]), c.elem_bytes = std::stoi(m[2]);
    s.append(at, m[0].second);
    s += markdown_table(c);
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
