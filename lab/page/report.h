// Tables for people.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/results.h"

namespace inlay::lab {

// "1.234", or `nothing`; "7.89e-07", or `nothing`.
std::string number(std::optional<double> x, int digits, char const* nothing);
std::string error_number(std::optional<double> x, char const* nothing);

// All rows are of one case.
std::string table(std::vector<Row> const& rows, std::string const& device);

}  // namespace inlay::lab
