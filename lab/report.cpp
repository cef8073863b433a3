#include "report.h"

#include <fmt/format.h>

namespace inlay::lab {

std::string table(std::vector<Row> const& rows, std::string const& device) {
  Case const& c = rows.front().measured;
  std::string s = fmt::format("{} elements of {} bytes", c.name(), c.elem_bytes);
  if (c.batch > 1) s += fmt::format(", batch of {}", c.batch);
  if (c.pitch) s += fmt::format(", source rows {} bytes apart", c.pitch * c.elem_bytes);
  s += fmt::format(", on {}\n{:<32}{:>10}{:>10}{:>10}{:>9}{:>9}  {}\n", device, "", "ms", "IQR ms", "GB/s", "of copy",
                   "of peak", "verdict");
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
