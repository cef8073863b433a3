#include "layout/grid.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::lab {
namespace {

constexpr std::int64_t kColumns = 120, kRows = 16;

std::int64_t digits(std::int64_t n) { return std::int64_t(std::to_string(n).size()); }

}  // namespace

std::string grid(std::string const& title, GridAxis const& rows, GridAxis const& cols, bool whole,
                 GridCell const& cell) {
  std::int64_t const m = whole ? rows.extent : std::min(rows.extent, kRows);
  std::int64_t largest = (cols.extent - 1) * cols.step;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < cols.extent; ++j) largest = std::max(largest, cell(i, j));
  std::int64_t const width = digits(largest) + 1;
  std::int64_t const label = std::max<std::int64_t>(4, digits((rows.extent - 1) * rows.step) + 1);
  std::int64_t n = whole ? cols.extent : std::min(cols.extent, (kColumns - label - 2) / width);
  if (n < cols.extent) n = (kColumns - label - 2 - 4) / width;  // " ..." is wanted
  if (n < cols.extent && n > 8) n -= n % 8;

  std::string shown;
  if (m < rows.extent) shown += fmt::format(", {} of {} {}s", m, rows.extent, rows.name);
  if (n < cols.extent) shown += fmt::format(", {} of {} {}s", n, cols.extent, cols.name);
  std::string s = title + shown + '\n' + std::string(std::size_t(label) + 2, ' ');
  for (std::int64_t j = 0; j < n; ++j) s += fmt::format("{:>{}}", j * cols.step, width);
  std::string const more = n < cols.extent ? " ...\n" : "\n";
  s += more;
  for (std::int64_t i = 0; i < m; ++i) {
    s += fmt::format("{:>{}} |", i * rows.step, label);
    for (std::int64_t j = 0; j < n; ++j)
      s += cell(i, j) < 0 ? fmt::format("{:>{}}", '.', width) : fmt::format("{:>{}}", cell(i, j), width);
    s += more;
  }
  return m < rows.extent ? s + fmt::format("{:>{}}\n", "...", label) : s;
}

}  // namespace inlay::lab
