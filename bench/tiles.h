// Which tile? What bench/tiles compares.
#pragma once
#include <vector>

#include "measure/transpose_candidates.h"

namespace inlay::kernels {

std::vector<lab::TransposeCandidate> copy_03_tiles(lab::TransposeCase const& c);
std::vector<lab::TransposeCandidate> transpose_06_tiles(lab::TransposeCase const& c);
std::vector<lab::TransposeCandidate> transpose_09_tiles(lab::TransposeCase const& c);

}  // namespace inlay::kernels
