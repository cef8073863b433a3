// The pictures of a variant.
#pragma once
#include <string>
#include <vector>

namespace inlay::lab::page {

struct Picture {
  std::string caption, svg;
};

// Those that there are, as SVG without an id.
std::vector<Picture> pictures_of(std::string const& variant);

}  // namespace inlay::lab::page
