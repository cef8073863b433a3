// The pictures of a variant.
#pragma once
#include <string>
#include <vector>

#include "replay/registry.h"

namespace inlay::lab::page {

struct Picture {
  std::string caption, svg;  // which has no style of its own
};

// Its way through memory, the request that costs most beyond its ideal, the stages of its pipeline: those that there are.
std::vector<Picture> pictures_of(Entry<Move> const& entry);
std::vector<Picture> pictures_of(Entry<Gemm> const& entry);

// What all of them need once.
std::string picture_style();

}  // namespace inlay::lab::page
