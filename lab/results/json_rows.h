// Rows and published figures in the form of the files under results/.
#pragma once
#include <nlohmann/json.hpp>

#include "results/results.h"

namespace inlay::lab {

using Json = nlohmann::ordered_json;  // fields stay in the order they are written in

Json to_json(Row const& row);
// Both throw nlohmann's exceptions when a field is missing or of another type.
Row parse_row(Json const& json);
Published parse_published(Json const& json);

}  // namespace inlay::lab
