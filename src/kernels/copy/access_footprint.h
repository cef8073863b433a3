// The memory that neighbouring elements of a copy take on one side: for predicted times of kernels without runs.
#pragma once
#include <inlay/model/device.h>
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

inline constexpr std::int64_t kDramBytes = 64;  // smallest DRAM transfer
// Microseconds by which each line that a block loads from delays it, where a warp's load hits many lines.
inline constexpr double kLineMicroseconds = .00054;

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

// The least bytes that DRAM delivers for the source of the first elements.
inline double source_bytes(problem::Copy const& m, double elements) {
  std::span<problem::Mode const> const modes{m.mode, std::size_t(m.rank)};
  return kDramBytes * footprint_of(modes, &problem::Mode::src_stride, m.elem_bytes, elements).lines_of(kDramBytes);
}

// Bytes that DRAM delivers if elements are read in the order of the destination. The L2 keeps what DRAM has delivered
// for as many elements as take a quarter of it: later ones fetch the same pieces of DRAM again.
inline double read_bytes(problem::Copy const& m, model::Device const& device) {
  double const elements = double(m.elements()), l2 = double(device.l2_bytes),
               part = std::min(elements, l2 / 4 / m.elem_bytes), at_once = source_bytes(m, elements);
  return at_once < l2 / 2 ? at_once : elements / part * source_bytes(m, part);
}

// Bytes that DRAM takes and delivers for what a copy writes: sectors that are written in part are read first.
inline double written_bytes(problem::Copy const& m) {
  double const elements = double(m.elements()), bytes = elements * m.elem_bytes;
  AccessFootprint const f =
      footprint_of({m.mode, std::size_t(m.rank)}, &problem::Mode::dst_stride, m.elem_bytes, elements);
  double const touched = 32 * f.lines_of(32);
  bool const has_gaps = bytes < .9 * f.pieces * f.piece;
  return has_gaps ? 2 * touched : touched;
}

}  // namespace inlay::kernels
