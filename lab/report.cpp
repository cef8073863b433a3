#include "report.h"

#include <fmt/format.h>

namespace inlay::lab {

std::string table(std::vector<Row> const& rows, std::string const& device) {
  std::string s = fmt::format("{}, on {}\n{:<32}{:>10}{:>10}{:>10}{:>9}{:>9}  {}\n", rows.front().measured.sentence(),
                              device, "", "ms", "IQR ms", "GB/s", "of copy", "of peak", "verdict");
  for (Row const& row : rows) {
    auto const number = [](std::optional<double> x, int digits) {
      return x ? fmt::format("{:.{}f}", *x, digits) : "-";
    };
    s += fmt::format("{:<32}{:>10}{:>10}{:>10}{:>9}{:>9}  {}\n", row.variant, number(row.ms_median, 4),
                     number(row.ms_iqr, 4), number(row.gbps, 1), number(row.of_copy, 3), number(row.of_peak, 3),
                     row.verdict);
  }
  return s;
}

}  // namespace inlay::lab
