// `inlay explain`: what a variant does to memory, and how long that takes on a GPU that need not be here.
#pragma once
#include <inlay/explain/explanation.h>

#include <string>

#include "problems/problems.h"
#include "results/json_rows.h"

namespace CLI {
class App;
}

namespace inlay::lab {

// Of a problem of any size, from samples. Throws UsageError when the variant does not take it, or there is no such variant.
Explanation explain_variant(std::string const& variant, Case const& c, Device const& device);
Explanation explain_variant(std::string const& variant, GemmCase const& c, Device const& device);

Json to_json(Explanation const& explanation);

void add_explain_command(CLI::App& app);

}  // namespace inlay::lab
