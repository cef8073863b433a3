// Groups tiles, rows or edges with the same memory accesses: f is called once per group, with the size of the group.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>

namespace inlay::model {

// Calls f(i, times) for `count` tiles that are in_bytes apart in the input and out_bytes apart in the output: `times`
// tiles have the same addresses modulo a sector as tile i.
template <class F>
void over_phases(std::int64_t count, std::int64_t in_bytes, std::int64_t out_bytes, F f) {
  std::int64_t const period = 32 / std::gcd(std::gcd(in_bytes, out_bytes), std::int64_t(32));
  for (std::int64_t i = 0; i < std::min(count, period); ++i) f(i, (count - i + period - 1) / period);
}
// The same for tiles along a mode whose edges differ: the first and the last two tiles are groups of their own.
template <class F>
void over_kinds(std::int64_t tiles, std::int64_t in_bytes, std::int64_t out_bytes, F f) {
  if (tiles > 0) f(0, 1);
  over_phases(tiles - 3, in_bytes, out_bytes, [&](std::int64_t i, std::int64_t times) { f(i + 1, times); });
  for (std::int64_t i = std::max<std::int64_t>(tiles - 2, 1); i < tiles; ++i) f(i, 1);
}
// Calls f(i, times) for tiles along a mode: the first and the last two tiles, and one for all between them.
template <class F>
void over_tiles(std::int64_t tiles, F f) {
  for (std::int64_t i = 0; i < tiles; i = i == 1 ? std::max<std::int64_t>(tiles - 2, 2) : i + 1)
    f(i, i == 1 ? std::max<std::int64_t>(tiles - 3, 1) : 1);
}
// Calls f(i, times) for `count` tiles: one for all but the last, and the last.
template <class F>
void over_edge(std::int64_t count, F const& f) {
  if (count > 1) f(0, count - 1);
  f(count - 1, 1);
}

// For a kernel whose blocks loop over all of K, counts are affine in K, in steps of `period`, beyond the first stages.
// Calls f(K, times) with a few K, so that the sum of times * counts(K) is counts(all). `times` may be negative.
template <class F>
void over_lengths(std::int64_t all, std::int64_t period, F const& f) {
  std::int64_t const shortest = all % period + 2 * period, steps = (all - shortest) / period;
  if (steps < 2) return f(all, 1);
  f(shortest, 1 - steps);
  f(shortest + period, steps);
}

}  // namespace inlay::model
