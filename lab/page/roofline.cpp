#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/html.h"
#include "page/parts.h"
#include "page/plot.h"

namespace inlay::lab::page {
namespace {

// A step in the plane: its work for each clock of its producer on chip, and how fast it is.
struct Point {
  Step const* step;
  double x, measured, predicted;  // GB/s or TFLOP/s; measured 0: it is not
  std::string unit;
};

// What the slanted roof is made of: the unit on chip through which all data go. Moves spend little in the L2 that their
// DRAM does not hide; GEMMs find there what other blocks have loaded.
bool is_producer(Resource const& r, bool gemm) { return r.name == "L1" || (gemm && r.name == "L2"); }

double clocks_per_second(Device const& device) { return device.sm_count * device.clock_ghz * 1e9; }

// Bytes moved, in GB, or operations, in T.
double work_of(Explanation const& x) { return x.work.flops > 0 ? x.work.flops / 1e12 : x.work.dram_bytes / 1e9; }

std::vector<Point> points_of(Ladder const& ladder) {
  std::vector<Point> points;
  for (Step const& step : ladder.steps) {
    if (!step.explained || !step.at_home || step.is_copy()) continue;
    Explanation const& x = *step.explained;
    auto const producer = std::find_if(x.resources.begin(), x.resources.end(),
                                       [&](Resource const& r) { return is_producer(r, step.is_product()); });
    if (producer == x.resources.end()) continue;
    double const each =
        work_of(x) * (x.work.flops > 0 ? 1e12 : 1e9) / (producer->seconds * clocks_per_second(x.device));
    points.push_back(
        {&step, each, step.recorded ? step.recorded->rate.value_or(0) : 0, work_of(x) / x.seconds, producer->name});
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
                  "{5:.4g} {6}, predicted {7:.4g}; producer: {8}</title></circle>\n",
                  x, y, predicted, p.step->is_tutorials() ? "tutorial" : "own", p.step->name, p.measured, unit,
                  p.predicted, escaped(p.unit)));
}

// Where the flat roof and the slanted one are: work a second, and a second's work for each of a clock.
struct Roofs {
  double flat, slope;
  double ridge() const { return flat / slope; }
};

void add_roofs(Plot& plot, Roofs const& roofs, double x0, double x1, double y0, std::string const& name) {
  double const from = std::max(x0, y0 / roofs.slope), ridge = roofs.ridge();
  plot.line(from, from * roofs.slope, ridge, roofs.flat, "roof");
  plot.line(ridge, roofs.flat, x1, roofs.flat, "roof");
  plot.text(plot.x(x1) - 6, plot.y(roofs.flat) - 9, "roof-name end", name);
  plot.keep_free({plot.x(ridge), plot.y(roofs.flat) - 26, plot.x(x1), plot.y(roofs.flat) + 3});
  for (double at = from; at < ridge; at *= 1.04)
    plot.keep_free({plot.x(at) - 4, plot.y(at * roofs.slope) - 4, plot.x(at) + 4, plot.y(at * roofs.slope) + 4});
}

void add_cublas(Plot& plot, double tflops, double x0, double x1) {
  plot.line(x0, tflops, x1, tflops, "peer-line");
  plot.text(plot.x(x0) + 8, plot.y(tflops) - 6, "peer-name", fmt::format("cuBLAS: {:.1f} TFLOP/s", tflops));
  plot.keep_free({plot.x(x0), plot.y(tflops) - 18, plot.x(x0) + 150, plot.y(tflops) + 3});
}

// A step so far on the left would press all others together.
constexpr double kInSight = 16;

void add_out_of_sight(Plot& plot, std::vector<Point> const& points, char const* unit) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    Point const& p = points[i];
    double const x = Plot::kLeft + 8, y = Plot::kBottom - 10 - 17 * double(i);
    plot.add(fmt::format(
        "<text class=\"step\" x=\"{}\" y=\"{}\">← <a href=\"#{}\"><tspan>{}</tspan></a>: {:.3g} {} at {:.2g}</text>\n",
        x, y, p.step->name, p.step->number(), p.measured > 0 ? p.measured : p.predicted, unit, p.x));
    plot.keep_free({x, y - 14, x + 220, y + 4});
  }
}

// The names behind the numbers.
std::string legend(Ladder const& ladder, std::vector<Point> const& points) {
  std::string s;
  for (Point const& p : points)
    s += fmt::format("<li><a href=\"#{}\"><b>{}</b> {}</a></li>\n", p.step->name, p.step->number(),
                     escaped(p.step->title()));
  return fmt::format("<figcaption>\n<h3>{}</h3>\n<ol>\n{}</ol>\n</figcaption>\n", ladder.title, s);
}

}  // namespace

std::string roofline(Ladder const& ladder) {
  auto const points = points_of(ladder);
  if (points.empty()) return "<p>No step could be explained.</p>\n";
  Explanation const& any = *points[0].step->explained;
  bool const gemm = any.work.flops > 0;
  char const* const unit = gemm ? "TFLOP/s" : "GB/s";
  double const slope = clocks_per_second(any.device) / (gemm ? 1e12 : 1e9);
  Roofs const roofs{gemm ? 2 * any.device.fma_lanes * slope : any.device.copy_gbps, slope};
  double x0 = roofs.ridge(), x1 = x0, y0 = roofs.flat;
  auto seen = points;
  auto const far = std::stable_partition(seen.begin(), seen.end(), [&](Point const& p) { return p.x > x0 / kInSight; });
  std::vector<Point> const out_of_sight(far, seen.end());
  seen.erase(far, seen.end());
  for (Point const& p : seen) {
    x0 = std::min(x0, p.x), x1 = std::max(x1, p.x), y0 = std::min(y0, p.predicted);
    if (p.measured > 0) y0 = std::min(y0, p.measured);
  }
  x0 /= 1.6, x1 *= 1.7, y0 /= 1.4;

  Plot plot(x0, x1, y0, roofs.flat * 1.5);
  plot.axes(gemm ? "FLOP for each clock of the L1 or the L2, the busier of them, on each SM"
                 : "bytes moved for each clock of the L1 on each SM",
            unit);
  add_roofs(plot, roofs, x0, x1, y0,
            gemm ? fmt::format("FMA units: {:.1f} TFLOP/s", roofs.flat)
                 : fmt::format("DRAM: {:.0f} GB/s, as a copy", roofs.flat));
  if (gemm && ladder.limit_ms) add_cublas(plot, any.work.flops / *ladder.limit_ms / 1e9, x0, x1);
  add_out_of_sight(plot, out_of_sight, unit);
  for (Point const& p : seen) add_point(plot, p, unit);
  add_labels(plot, seen);
  return "<figure>\n" + scrolling(ladder.title + ", roofline", plot.document("Roofline of the " + ladder.id)) +
         legend(ladder, points) + "</figure>\n";
}

}  // namespace inlay::lab::page
