// Which tile? What bench/tiles compares.
#pragma once
#include <vector>

#include "measure/copy_candidates.h"

namespace inlay::kernels {

std::vector<lab::CopyCandidate<lab::TransposeCase>> copy_03_tiles(lab::TransposeCase const& c,
                                                                  lab::TransposeCall const& call);
std::vector<lab::CopyCandidate<lab::TransposeCase>> transpose_06_tiles(lab::TransposeCase const& c,
                                                                       lab::TransposeCall const& call);
std::vector<lab::CopyCandidate<lab::TransposeCase>> transpose_09_tiles(lab::TransposeCase const& c,
                                                                       lab::TransposeCall const& call);

}  // namespace inlay::kernels
