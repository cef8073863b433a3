#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/html.h"
#include "page/parts.h"
#include "page/plot.h"
#include "variants.h"

namespace inlay::lab::page {
namespace {

// A step in the plane: its work for each clock of the unit that feeds it, and how fast it is.
struct Point {
  Step const* step;
  double x, measured, predicted;  // GB/s or TFLOP/s; measured 0: it is not
  std::string unit;
};

// What the slanted roof is made of: the unit on chip through which all data go. Moves spend little in the L2 that their DRAM
// does not hide; products find there what other blocks have loaded.
bool is_feed(Resource const& r, bool product) { return r.name == "L1" || (product && r.name == "L2"); }

double clocks_per_second(Gpu const& gpu) { return gpu.sm_count * gpu.clock_ghz * 1e9; }

// Bytes moved, in GB, or operations, in T.
double work_of(Explanation const& x) { return x.work.flops > 0 ? x.work.flops / 1e12 : x.work.dram_bytes / 1e9; }

std::vector<Point> points_of(Ladder const& ladder) {
  std::vector<Point> points;
  for (Step const& step : ladder.steps) {
    if (!step.explained || !step.at_home || is_copy(step.name)) continue;
    Explanation const& x = *step.explained;
    auto const feed = std::find_if(x.resources.begin(), x.resources.end(),
                                   [&](Resource const& r) { return is_feed(r, step.is_product()); });
    if (feed == x.resources.end()) continue;
    double const each = work_of(x) * (x.work.flops > 0 ? 1e12 : 1e9) / (feed->seconds * clocks_per_second(x.gpu));
    points.push_back(
        {&step, each, step.recorded ? step.recorded->rate.value_or(0) : 0, work_of(x) / x.seconds, feed->name});
  }
  return points;
}

// Steps whose points lie on each other have one label.
void add_labels(Plot& plot, std::vector<Point> points) {
  auto const shown = [](Point const& p) { return p.measured > 0 ? p.measured : p.predicted; };
  for (Point const& p : points) {
    double const x = plot.x(p.x), y = plot.y(shown(p));
    plot.keep_free({x - 6, y - 6, x + 6, y + 6});
  }
  while (!points.empty()) {
    double const x = plot.x(points[0].x), y = plot.y(shown(points[0]));
    auto const apart = std::stable_partition(points.begin(), points.end(), [&](Point const& p) {
      return std::hypot(plot.x(p.x) - x, plot.y(shown(p)) - y) < 14;
    });
    std::vector<std::pair<std::string, std::string>> links;
    for (auto p = points.begin(); p != apart; ++p) links.emplace_back(p->step->number(), p->step->name);
    plot.label(x, y, links);
    points.erase(points.begin(), apart);
  }
}

void add_point(Plot& plot, Point const& p, char const* unit) {
  double const x = plot.x(p.x), predicted = plot.y(p.predicted);
  plot.add(fmt::format("<path d=\"M{:.1f} {:.1f}h12\" class=\"predicted\"/>\n", x - 6, predicted));
  if (p.measured <= 0) return;
  double const y = plot.y(p.measured);
  plot.add(
      fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" class=\"between\"/>\n<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" "
                  "r=\"4.5\" class=\"{3}\"><title>{4}: "
                  "{5:.4g} {6}, predicted {7:.4g}; fed by {8}</title></circle>\n",
                  x, y, predicted, p.step->is_tutorials() ? "tutorial" : "own", p.step->name, p.measured, unit,
                  p.predicted, escaped(p.unit)));
}

}  // namespace

std::string roofline(Ladder const& ladder) {
  auto const points = points_of(ladder);
  if (points.empty()) return "<p>No step could be explained.</p>\n";
  Explanation const& any = *points[0].step->explained;
  bool const product = any.work.flops > 0;
  char const* const unit = product ? "TFLOP/s" : "GB/s";
  double const clocks = clocks_per_second(any.gpu), slope = clocks / (product ? 1e12 : 1e9);  // of the slanted roof
  double const flat = product ? 2 * any.gpu.fma_lanes * slope : any.gpu.dram_gbps;
  double x0 = flat / slope, x1 = x0, y0 = flat;
  for (Point const& p : points) {
    x0 = std::min(x0, p.x), x1 = std::max(x1, p.x), y0 = std::min(y0, p.predicted);
    if (p.measured > 0) y0 = std::min(y0, p.measured);
  }
  x0 /= 1.7, x1 *= 1.9, y0 /= 1.7;
  double const ridge = flat / slope, lowest = std::max(x0, y0 / slope), y1 = flat * 1.7;

  Plot plot(x0, x1, y0, y1);
  plot.axes(product ? "FLOP for each clock of the L1 or the L2, the busier of them, on each SM"
                    : "bytes moved for each clock of the L1 on each SM",
            unit);
  plot.line(lowest, lowest * slope, ridge, flat, "roof");
  plot.line(ridge, flat, x1, flat, "roof");
  plot.text(
      plot.x(x1) - 6, plot.y(flat) - 8, "roof-name end",
      product ? fmt::format("FMA units: {:.1f} TFLOP/s", flat) : fmt::format("DRAM: {:.0f} GB/s, as a copy", flat));
  if (product && ladder.limit_ms) {
    double const cublas = any.work.flops / *ladder.limit_ms / 1e9;
    plot.line(x0, cublas, x1, cublas, "peer-line");
    plot.text(plot.x(x0) + 8, plot.y(cublas) - 6, "peer-name", fmt::format("cuBLAS: {:.1f}", cublas));
  }
  for (Point const& p : points) add_point(plot, p, unit);
  add_labels(plot, points);
  return scrolling(ladder.title + ", roofline", plot.document("Roofline of the " + ladder.id));
}

}  // namespace inlay::lab::page
