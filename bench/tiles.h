// Which tile? What bench/tiles compares.
#pragma once
#include <vector>

#include "measure/contenders.h"

namespace inlay::kernels {

std::vector<lab::Contender> copy_03_tiles(lab::Case const& c);
std::vector<lab::Contender> transpose_06_tiles(lab::Case const& c);
std::vector<lab::Contender> transpose_09_tiles(lab::Case const& c);

}  // namespace inlay::kernels
