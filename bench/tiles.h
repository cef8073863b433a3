// The candidates of bench/tiles.
#pragma once
#include <vector>

#include "measure/copy_candidates.h"

namespace inlay::kernels {

std::vector<lab::CopyCandidate> copy_03_tiles(lab::CopyCase const& c, lab::CopyCall const& call);
std::vector<lab::CopyCandidate> transpose_06_tiles(lab::CopyCase const& c, lab::CopyCall const& call);
std::vector<lab::CopyCandidate> transpose_09_tiles(lab::CopyCase const& c, lab::CopyCall const& call);

}  // namespace inlay::kernels
