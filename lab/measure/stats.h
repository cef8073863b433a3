// The median and the inter-quartile range of a series of measurements.
#pragma once
#include <algorithm>
#include <vector>

namespace inlay::lab {

struct Spread {
  double median, iqr;
};

// The q-quantile of sorted, non-empty data, linear between neighbours.
inline double quantile(std::vector<double> const& sorted, double q) {
  double const at = q * double(sorted.size() - 1);
  auto const below = std::size_t(at);
  auto const above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - double(below)) * (sorted[above] - sorted[below]);
}

inline Spread spread(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, .5), quantile(samples, .75) - quantile(samples, .25)};
}

}  // namespace inlay::lab
