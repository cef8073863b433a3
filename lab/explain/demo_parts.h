// What the halves of the demo share, and the report with them.
#pragma once
#include <string>
#include <vector>

#include "results/results.h"
#include "verify/replay_check.h"

namespace inlay::lab {

// The verdict comes from a size that fits no tile, the counts from one that fits them all.
inline Case const kRagged{204, 148, 1, 4}, kFull{256, 256, 1, 4};
inline GemmCase ragged_product(std::string const& layout) { return product_of(130, 70, 20, layout); }
inline GemmCase full_product(std::string const& layout) { return product_of(256, 256, 32, layout); }

// Transactions per request, "4", "15.9"; of cp.async with an a; "box" for TMA; "-" for none.
std::string per_request(Traffic const& plain, Traffic const& async, Traffic const& tma);

// In one or two words; what failed is told by `inlay verify`.
std::string short_verdict(Replayed const& ragged, Replayed const& full);

// The first that is listed: published.json begins with the figures for the size measured here.
std::string tutorial(std::vector<Published> const& published, std::string const& variant);

// The ladder of products.
std::string products_screen(Results const& results, std::vector<Published> const& published);

}  // namespace inlay::lab
