// The memory that neighbouring elements of a copy take on one side: for predicted times of kernels without runs.
#pragma once
#include <inlay/problem/copy.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace inlay::kernels {

// `pieces` ranges of `piece` bytes.
struct AccessFootprint {
  double piece, pieces, elem_bytes;
  // Lines of `bytes` bytes that the ranges touch, wherever they begin.
  double lines_of(double bytes) const { return pieces * (piece + bytes - elem_bytes) / bytes; }
};

// What `elements` elements take that are neighbours in the order of these modes, on the side whose strides are given.
// Ranges with small gaps are one.
inline AccessFootprint footprint_of(std::span<problem::Mode const> modes, std::int64_t problem::Mode::*stride,
                                    int elem_bytes, double elements) {
  double taken[problem::Copy::kMaxRank], rest = elements;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    taken[i] = std::min(rest, double(modes[i].extent));
    rest = std::max(1., rest / double(modes[i].extent));
  }
  AccessFootprint f{double(elem_bytes), elements, double(elem_bytes)};
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t i = 0; i < modes.size(); ++i) {
      double const step = std::abs(double(modes[i].*stride));
      if (taken[i] <= 1 || step > std::max(2 * f.piece, 64.)) continue;
      f.piece += step * (taken[i] - 1), f.pieces /= taken[i], taken[i] = 1, grows = true;
    }
  }
  f.pieces = std::max(f.pieces, 1.);
  return f;
}

}  // namespace inlay::kernels
