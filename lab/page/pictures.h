// The pictures of a variant.
#pragma once
#include <inlay/registry/registry.h>

#include <optional>
#include <string>
#include <vector>

#include "problems/own_kinds.h"

namespace inlay::lab::page {

struct Picture {
  std::string caption, svg;  // which has no style of its own
};

// A problem that is small enough to be seen, and that the variant takes.
std::optional<MoveCase> small_case(Entry<Move> const& entry);
std::optional<GemmCase> small_case(Entry<Gemm> const& entry);

// Its way through memory, the request that costs most beyond its ideal, the stages of its pipeline: those that there are.
std::vector<Picture> pictures_of(Entry<Move> const& entry, MoveCase const& small);
std::vector<Picture> pictures_of(Entry<Gemm> const& entry, GemmCase const& small);

// What all of them need once.
std::string picture_style();

}  // namespace inlay::lab::page
