// Copy kernels whose configurations are numbered (Config::tile, from 1 on), and chosen by predicted time.
#pragma once
#include <inlay/kernels/common/dispatch.h>

#include <cmath>

namespace inlay::kernels {

// The one of `count` configurations with the least seconds(index).
template <class F>
Config fastest_of(std::size_t count, F const& seconds) {
  Config best{.tile = 1};
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < count; ++i)
    if (double const s = seconds(i); s < least) least = s, best.tile = int(i) + 1;
  return best;
}

// The index of the configuration that is given or, if it is open, of the one that Kernel<T> chooses.
template <class Kernel>
std::size_t index_of(Copy const& copy, Device const& device, Config const& config) {
  return std::size_t((config.tile ? config : Kernel::choose(copy, device)).tile - 1);
}

// Info::choose of a kernel that copies widened elements.
template <template <class> class Kernel>
Config choose_wide(Copy const& copy, Device const& device) {
  Copy const wide = copy.widened();
  return with_element(wide.elem_bytes, [&](auto e) { return Kernel<decltype(e)>::choose(wide, device); });
}

}  // namespace inlay::kernels
