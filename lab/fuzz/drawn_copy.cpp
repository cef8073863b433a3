#include "fuzz/drawn_copy.h"

#include <cstdlib>

namespace inlay::lab {

std::int64_t DrawnCopy::elements() const {
  std::int64_t n = 1;
  for (std::int64_t extent : extents) n *= extent;
  return n;
}

std::int64_t DrawnCopy::span(Numbers const& strides, bool below) const {
  std::int64_t n = 0;
  for (std::size_t k = 0; k < extents.size(); ++k)
    if (extents[k] > 1 && (strides[k] < 0) == below) n += std::abs(strides[k]) * (extents[k] - 1);
  return n;
}

std::size_t DrawnCopy::bytes(Numbers const& strides, std::int64_t base) const {
  if (elements() == 0) return 16;
  return std::size_t(base + (span(strides, true) + span(strides, false) + 1) * elem);
}

std::string DrawnCopy::text() const {
  auto const list = [](Numbers const& v) {
    std::string s;
    for (std::int64_t n : v) s += (s.empty() ? "" : ",") + std::to_string(n);
    return s;
  };
  return name + ": " + std::to_string(elem) + " B, extents (" + list(extents) + "), source strides (" + list(src) +
         ") + " + std::to_string(base_src) + " B, destination strides (" + list(dst) + ") + " +
         std::to_string(base_dst) + " B";
}

}  // namespace inlay::lab
