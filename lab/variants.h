// Finding variants by what a user types.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "replay/registry.h"

namespace inlay::lab {

inline bool is_copy(std::string_view name) { return name.starts_with("copy_"); }

// A step of the published tutorials; those after it are our own, and the planner may choose them.
inline bool is_tutorial_step(std::string_view name) { return name.starts_with("transpose_") && name < "transpose_12"; }

// The one of `known` that `typed` names: exactly, or by a prefix that no other has. Throws UsageError with the nearest.
std::string resolve(std::string const& typed, std::vector<std::string> const& known);

std::vector<std::string> variant_names();
Entry<Move> const& variant_named(std::string const& name);

// The named variants in the order given; all of them when none is named.
std::vector<Entry<Move> const*> select_variants(std::vector<std::string> const& typed);

// `inlay list`
void list_variants(bool json);

}  // namespace inlay::lab
