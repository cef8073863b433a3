// Which tile? What bench/tiles compares.
#pragma once
#include <vector>

#include "measure/move_contenders.h"

namespace inlay::kernels {

std::vector<lab::MoveContender> copy_03_tiles(lab::MoveCase const& c);
std::vector<lab::MoveContender> transpose_06_tiles(lab::MoveCase const& c);
std::vector<lab::MoveContender> transpose_09_tiles(lab::MoveCase const& c);

}  // namespace inlay::kernels
