// Which of many things are alike: calls f for a few of them, with how many each stands for.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>

namespace inlay::planner {

// Calls f(i, times) for i = 0, 1, ... of `count` things that lie these bytes apart in the input and in the output: how
// many lie as number i does, modulo a sector.
template <class F>
void over_phases(std::int64_t count, std::int64_t in_bytes, std::int64_t out_bytes, F f) {
  std::int64_t const period = 32 / std::gcd(std::gcd(in_bytes, out_bytes), std::int64_t(32));
  for (std::int64_t i = 0; i < std::min(count, period); ++i) f(i, (count - i + period - 1) / period);
}
// Calls f(i, times) for tiles along a mode that lie these bytes apart: the first and the last two, and those between by
// their phases.
template <class F>
void over_kinds(std::int64_t tiles, std::int64_t in_bytes, std::int64_t out_bytes, F f) {
  if (tiles > 0) f(0, 1);
  over_phases(tiles - 3, in_bytes, out_bytes, [&](std::int64_t i, std::int64_t times) { f(i + 1, times); });
  for (std::int64_t i = std::max<std::int64_t>(tiles - 2, 1); i < tiles; ++i) f(i, 1);
}
// Calls f(i, times) for tiles along a mode: the first and the last two, and one for all between.
template <class F>
void over_tiles(std::int64_t tiles, F f) {
  for (std::int64_t i = 0; i < tiles; i = i == 1 ? std::max<std::int64_t>(tiles - 2, 2) : i + 1)
    f(i, i == 1 ? std::max<std::int64_t>(tiles - 3, 1) : 1);
}
// Calls f(i, times): the last of `count` things, and one for all the others.
template <class F>
void over_edge(std::int64_t count, F const& f) {
  if (count > 1) f(0, count - 1);
  f(count - 1, 1);
}

// What a kernel does that has all of K in a block is affine in K beyond its first stages, in steps of `period`. Calls
// f(K, times) so that the sum of what those do is what `all` does.
template <class F>
void over_lengths(std::int64_t all, std::int64_t period, F const& f) {
  std::int64_t const shortest = all % period + 2 * period, steps = (all - shortest) / period;
  if (steps < 2) return f(all, 1);
  f(shortest, 1 - steps);
  f(shortest + period, steps);
}

}  // namespace inlay::planner
