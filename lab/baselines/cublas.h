// cuBLAS's transpose: geam with alpha = 1 and beta = 0.
#pragma once
#include "contenders.h"

namespace inlay::lab {

// Takes one matrix of 4-, 8- or 16-byte elements, as floats, doubles or complex doubles.
Launch geam(Case const& c);

}  // namespace inlay::lab
