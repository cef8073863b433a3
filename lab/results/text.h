// Numbers as text, and the table of a case.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/results.h"

namespace inlay::lab {

// "1 row", "3 rows".
std::string counted(std::int64_t n, char const* singular);

// "1.234", or `missing`; "7.89e-07", or `missing`.
std::string number(std::optional<double> x, int digits, char const* missing);
std::string error_number(std::optional<double> x, char const* missing);

// The geometric mean of positive values.
double geometric_mean(std::vector<double> const& values);

// The rows of one case.
std::string table(std::vector<Row> const& rows, std::string const& device);

// The errors of the rows of one case: a line for each row and data set. Empty if no row has any.
std::string errors_table(std::vector<Row> const& rows);

}  // namespace inlay::lab
