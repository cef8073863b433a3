#include "results/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace inlay::lab {
namespace {

// Whether f16 slices computed the result: "ran", "refused" or "refused by 3 of 8"; "-": the row does not try them.
std::string slices(Row const& row, DataError const& error) {
  if (!error.refused) return "-";
  if (*error.refused == 0) return "ran";
  std::int64_t const batch = std::get<GemmCase>(row.measured).batch;
  return batch == 1 ? "refused" : fmt::format("refused by {} of {}", *error.refused, batch);
}

}  // namespace

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
  if (rows.front().sustained) s += fmt::format("{:>8}", "SM MHz");
  s += "  check result\n";
  for (Row const& row : rows) {
    s += fmt::format("{:<32}{:>10}{:>10}{:>10}{:>11}{:>9}", row.kernel, number(row.ms_median, 4, "-"),
                     number(row.ms_iqr, 4, "-"), number(row.rate, in.digits, "-"), number(row.share, 3, "-"),
                     number(row.of_peak, 3, "-"));
    if (in.errors)
      s += fmt::format("{:>10}{:>10}", error_number(row.rel_err, "-"), error_number(row.rel_err_cublas, "-"));
    if (row.sustained) s += fmt::format("{:>8}", number(row.clock_mhz, 0, "-"));
    s += "  " + row.check_result + '\n';
  }
  return s;
}

std::string errors_table(std::vector<Row> const& rows) {
  auto const with_errors = std::find_if(rows.begin(), rows.end(), [](Row const& row) { return !row.errors.empty(); });
  if (with_errors == rows.end()) return "";
  std::string s = fmt::format("{:<14}{:<32}{:>10}{:>10}{:>11}  f16 slices\n", "data", "error against fp64", "relative",
                              "largest", "of cuBLAS");
  for (DataError const& each : with_errors->errors)
    for (Row const& row : rows)
      for (DataError const& error : row.errors)
        if (error.data == each.data)
          s += fmt::format("{:<14}{:<32}{:>10}{:>10}{:>11}  {}\n", error.data, row.kernel,
                           error_number(error.rel_err, "-"), error_number(error.largest, "-"),
                           number(error.of_cublas, 3, "-"), slices(row, error));
  return s;
}

}  // namespace inlay::lab
