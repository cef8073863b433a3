// Reads rows and published figures from JSON, and writes rows, for the files under results/.
#pragma once
#include <nlohmann/json.hpp>

#include "results/results.h"

namespace inlay::lab {

Json to_json(Row const& row);
// These throw nlohmann's exceptions if a field is missing or has another type, and Error for a row without a known
// problem.
Problem parse_problem(Json const& row);
Row parse_row(Json const& json);
Published parse_published(Json const& json);

}  // namespace inlay::lab
