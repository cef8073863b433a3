#include "results/text.h"

#include <fmt/format.h>

#include <cmath>

namespace inlay::lab {

std::string counted(std::int64_t n, char const* singular) {
  return fmt::format("{} {}{}", n, singular, n == 1 ? "" : "s");
}

std::string number(std::optional<double> x, int digits, char const* missing) {
  return x ? fmt::format("{:.{}f}", *x, digits) : missing;
}

std::string error_number(std::optional<double> x, char const* missing) {
  return x ? fmt::format("{:.2e}", *x) : missing;
}

double geometric_mean(std::vector<double> const& values) {
  double logarithms = 0;
  for (double x : values) logarithms += std::log(x);
  return std::exp(logarithms / double(values.size()));
}

std::string table(std::vector<Row> const& rows, std::string const& device) {
  Problem const& problem = rows.front().measured;
  Units const& in = units(problem);
  std::string s = fmt::format("{}, on {}\n{:<32}{:>10}{:>10}{:>10}{:>11}{:>9}", sentence(problem), device, "", "ms",
                              "IQR ms", in.rate, in.share, "of peak");
  if (in.errors) s += fmt::format("{:>10}{:>10}", "error", "cuBLAS's");
  s += "  check result\n";
  for (Row const& row : rows) {
    s += fmt::format("{:<32}{:>10}{:>10}{:>10}{:>11}{:>9}", row.kernel, number(row.ms_median, 4, "-"),
                     number(row.ms_iqr, 4, "-"), number(row.rate, in.digits, "-"), number(row.share, 3, "-"),
                     number(row.of_peak, 3, "-"));
    if (in.errors)
      s += fmt::format("{:>10}{:>10}", error_number(row.rel_err, "-"), error_number(row.rel_err_cublas, "-"));
    s += "  " + row.check_result + '\n';
  }
  return s;
}

}  // namespace inlay::lab
