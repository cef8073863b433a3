// Rows and published figures in the form of the files under results/.
#pragma once
#include <nlohmann/json.hpp>

#include "results/results.h"

namespace inlay::lab {

Json to_json(Row const& row);
// They throw nlohmann's exceptions when a field is missing or of another type, Error for a row of no kind of `kinds`.
Problem parse_problem(Json const& row);
Row parse_row(Json const& json);
Published parse_published(Json const& json);

}  // namespace inlay::lab
