// Tables for people.
#pragma once
#include <string>
#include <vector>

#include "results.h"

namespace inlay::lab {

// All rows are of one case.
std::string table(std::vector<Row> const& rows, std::string const& device);

}  // namespace inlay::lab
