#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/html.h"
#include "page/parts.h"

namespace inlay::lab::page {
namespace {

// ---- A plot with logarithmic axes, as SVG in the colours of the page's style sheet

struct Box {
  double x0, y0, x1, y1;
  bool overlaps(Box const& b) const { return x0 < b.x1 && b.x0 < x1 && y0 < b.y1 && b.y0 < y1; }
};

// 1, 2 and 5 times powers of ten.
std::vector<double> ticks(double from, double to) {
  std::vector<double> all;
  for (double power = std::pow(10, std::floor(std::log10(from))); power <= to; power *= 10)
    for (double digit : {1., 2., 5.})
      if (digit * power >= from && digit * power <= to) all.push_back(digit * power);
  return all;
}

std::string line_element(double x1, double y1, double x2, double y2, char const* classes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                     classes);
}

class Plot {
 public:
  static constexpr double kWidth = 580, kHeight = 470, kLeft = 58, kRight = 570, kTop = 14, kBottom = 412;

  // The least and the greatest value of each axis.
  Plot(double x0, double x1, double y0, double y1) : x0_(x0), x1_(x1), y0_(y0), y1_(y1) {}

  // Pixels of values.
  double x(double value) const { return kLeft + (kRight - kLeft) * std::log(value / x0_) / std::log(x1_ / x0_); }
  double y(double value) const { return kBottom - (kBottom - kTop) * std::log(value / y0_) / std::log(y1_ / y0_); }

  void axes(std::string const& x_name, std::string const& y_name) {
    for (double t : ticks(x0_, x1_)) {
      line(t, y0_, t, y1_, "grid");
      text(x(t), kBottom + 18, "tick middle", fmt::format("{:g}", t));
    }
    for (double t : ticks(y0_, y1_)) {
      line(x0_, t, x1_, t, "grid");
      text(kLeft - 8, y(t) + 4, "tick end", fmt::format("{:g}", t));
    }
    text((kLeft + kRight) / 2, kHeight - 14, "name middle", x_name);
    add(fmt::format("<text transform=\"translate(16 {:.1f}) rotate(-90)\" class=\"name middle\">{}</text>\n",
                    (kTop + kBottom) / 2, escaped(y_name)));
  }
  // Between two points, given as values.
  void line(double xa, double ya, double xb, double yb, char const* classes) {
    add(line_element(x(xa), y(ya), x(xb), y(yb), classes));
  }
  // At a point, given in pixels.
  void text(double at_x, double at_y, char const* classes, std::string const& content) {
    add(fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", at_x, at_y, classes, escaped(content)));
  }
  void add(std::string const& element) { body_ += element; }

  // Labels a point, given in pixels, with links to steps, as pairs of text and target. The label overlaps no box that
  // was reserved before, if there is such a place near the point.
  void label(double at_x, double at_y, std::vector<std::pair<std::string, std::string>> const& links) {
    double const lines = std::ceil(double(links.size()) / kLinksPerLine);
    double const width = kCharacter * (std::min(double(links.size()), kLinksPerLine) * 3 - 1), height = kLine * lines;
    Box const box = free_box(at_x, at_y, width, height);
    reserve(box);
    body_ += "<text class=\"step\">";
    for (std::size_t i = 0; i < links.size(); ++i) {
      double const row = std::floor(double(i) / kLinksPerLine), column = double(i) - row * kLinksPerLine;
      body_ += fmt::format("<a href=\"#{}\"><tspan x=\"{:.1f}\" y=\"{:.1f}\">{}</tspan></a> ", links[i].second,
                           box.x0 + column * 3 * kCharacter, box.y0 + kLine * (row + .78), links[i].first);
    }
    body_ += "</text>\n";
  }
  // Labels stay out of a reserved box.
  void reserve(Box const& box) { reserved_.push_back(box); }

  std::string document(std::string const& title) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {} {}\" "
        "role=\"img\">\n<title>{}</title>\n{}</svg>\n",
        kWidth, kHeight, escaped(title), body_);
  }

 private:
  static constexpr double kLine = 15, kCharacter = 7.2, kLinksPerLine = 5;  // a line's height, a character's width

  // The nearest place for a label, with a line to its point if it is not beside the point. A box of zeros if none is
  // free.
  Box free_box(double at_x, double at_y, double width, double height) {
    for (double away = 9; away < 120; away += 6)
      for (auto const& [x0, y0] : {std::pair{at_x + away, at_y - kLine / 2},
                                   {at_x - width / 2, at_y + away},
                                   {at_x - away - width, at_y - kLine / 2},
                                   {at_x + away * .7, at_y + away * .7},
                                   {at_x - width / 2, at_y - away - height}}) {
        Box const box{x0, y0, x0 + width, y0 + height};
        bool const inside = box.x0 > kLeft && box.x1 < kRight && box.y0 > kTop && box.y1 < kBottom;
        if (!inside || std::ranges::any_of(reserved_, [&](Box const& b) { return b.overlaps(box); })) continue;
        if (away > 15)
          add(line_element(at_x, at_y, std::clamp(at_x, box.x0, box.x1), std::clamp(at_y, box.y0, box.y1), "leader"));
        return box;
      }
    return {};
  }

  double x0_, x1_, y0_, y1_;
  std::string body_;
  std::vector<Box> reserved_;
};

// ---- The steps of a ladder in the plot

// The work of a step for each clock of the unit that supplies its threads with data, and its rates.
struct Point {
  Step const* step;
  double x, measured, predicted;  // GB/s or TFLOP/s; measured 0: nothing is recorded
  std::string unit;               // "L1", "L2"
  double rate() const { return measured > 0 ? measured : predicted; }
};

// Whether a unit on the chip supplies the threads with data. All data pass through the L1. GEMMs also read from the L2
// what other blocks have loaded; copies hardly use the L2 beyond what their DRAM accesses hide.
bool is_supplier(Resource const& r, bool gemm) { return r.name == "L1" || (gemm && r.name == "L2"); }

double clocks_per_second(Device const& device) { return device.sm_count * device.clock_ghz * 1e9; }

// 10^12 operations or 10^9 bytes: the unit of work.
double unit_of_work(Explanation const& x) { return x.work.flops > 0 ? 1e12 : 1e9; }
double work_of(Explanation const& x) { return (x.work.flops > 0 ? x.work.flops : x.work.dram_bytes) / unit_of_work(x); }

std::vector<Point> points_of(Ladder const& ladder) {
  std::vector<Point> points;
  for (Step const& step : ladder.steps) {
    if (!step.explained || !step.at_ladder_problem || step.is_copy()) continue;
    Explanation const& x = *step.explained;
    auto const supplier =
        std::ranges::find_if(x.resources, [&](Resource const& r) { return is_supplier(r, step.is_gemm()); });
    if (supplier == x.resources.end()) continue;
    points.push_back({.step = &step,
                      .x = work_of(x) * unit_of_work(x) / (supplier->seconds * clocks_per_second(x.device)),
                      .measured = step.recorded ? step.recorded->rate.value_or(0) : 0,
                      .predicted = work_of(x) / x.seconds,
                      .unit = supplier->name});
  }
  return points;
}

// One label for all points within 14 pixels of each other.
void add_labels(Plot& plot, std::vector<Point> points) {
  for (Point const& p : points) {
    double const x = plot.x(p.x), y = plot.y(p.rate());
    plot.reserve({x - 6, y - 6, x + 6, y + 6});
  }
  while (!points.empty()) {
    double const x = plot.x(points[0].x), y = plot.y(points[0].rate());
    auto const far = std::stable_partition(points.begin(), points.end(), [&](Point const& p) {
      return std::hypot(plot.x(p.x) - x, plot.y(p.rate()) - y) < 14;
    });
    std::vector<std::pair<std::string, std::string>> links;
    for (auto p = points.begin(); p != far; ++p) links.emplace_back(p->step->number(), p->step->name);
    plot.label(x, y, links);
    points.erase(points.begin(), far);
  }
}

void add_point(Plot& plot, Point const& p, char const* unit) {
  double const x = plot.x(p.x), predicted = plot.y(p.predicted);
  plot.add(fmt::format("<path d=\"M{:.1f} {:.1f}h12\" class=\"predicted\"/>\n", x - 6, predicted));
  if (p.measured <= 0) return;
  plot.add(
      fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" class=\"between\"/>\n<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" "
                  "r=\"4.5\" class=\"{3}\"><title>{4}: {5:.4g} {6}, predicted {7:.4g}; supplied by the {8}</title>"
                  "</circle>\n",
                  x, plot.y(p.measured), predicted, p.step->is_tutorial() ? "tutorial" : "own", p.step->name,
                  p.measured, unit, p.predicted, escaped(p.unit)));
}

// The rate of the flat roof, and the rate of the slanted roof at x = 1. They meet at the ridge.
struct Roofs {
  double flat, slope;
  double ridge() const { return flat / slope; }
};

void add_roofs(Plot& plot, Roofs const& roofs, double x0, double x1, double y0, std::string const& name) {
  double const from = std::max(x0, y0 / roofs.slope), ridge = roofs.ridge();
  plot.line(from, from * roofs.slope, ridge, roofs.flat, "roof");
  plot.line(ridge, roofs.flat, x1, roofs.flat, "roof");
  plot.text(plot.x(x1) - 6, plot.y(roofs.flat) - 9, "roof-name end", name);
  plot.reserve({plot.x(ridge), plot.y(roofs.flat) - 26, plot.x(x1), plot.y(roofs.flat) + 3});
  for (double at = from; at < ridge; at *= 1.04)
    plot.reserve({plot.x(at) - 4, plot.y(at * roofs.slope) - 4, plot.x(at) + 4, plot.y(at * roofs.slope) + 4});
}

void add_cublas(Plot& plot, double tflops, double x0, double x1) {
  plot.line(x0, tflops, x1, tflops, "peer-line");
  plot.text(plot.x(x0) + 8, plot.y(tflops) - 6, "peer-name", fmt::format("cuBLAS: {:.1f} TFLOP/s", tflops));
  plot.reserve({plot.x(x0), plot.y(tflops) - 18, plot.x(x0) + 150, plot.y(tflops) + 3});
}

// Points whose x is below the ridge's by more than this factor are listed in a corner: an axis that reached them would
// leave little space for the other points.
constexpr double kMaxFactorBelowRidge = 16;

void add_points_beyond(Plot& plot, std::vector<Point> const& points, char const* unit) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    Point const& p = points[i];
    double const x = Plot::kLeft + 8, y = Plot::kBottom - 10 - 17 * double(i);
    plot.add(fmt::format(
        "<text class=\"step\" x=\"{}\" y=\"{}\">← <a href=\"#{}\"><tspan>{}</tspan></a>: {:.3g} {} at {:.2g}</text>\n",
        x, y, p.step->name, p.step->number(), p.rate(), unit, p.x));
    plot.reserve({x, y - 14, x + 220, y + 4});
  }
}

// The titles of the numbered steps.
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
  double const slope = clocks_per_second(any.device) / unit_of_work(any);
  bool const tensor = any.totals.tensor_fma() > 0;
  int const rate = tensor ? any.device.wgmma_rate : any.device.fma_lanes;
  // Kernels that slice their operands multiply more on tensor cores than the GEMM has multiplications.
  double const useful = tensor ? any.work.flops / (2. * double(any.totals.tensor_fma())) : 1;
  Roofs const roofs{gemm ? 2 * rate * slope * useful : any.device.copy_gbps, slope};
  double x0 = roofs.ridge(), x1 = x0, y0 = roofs.flat;
  auto inside = points;
  auto const beyond = std::stable_partition(inside.begin(), inside.end(),
                                            [&](Point const& p) { return p.x > x0 / kMaxFactorBelowRidge; });
  std::vector<Point> const points_beyond(beyond, inside.end());
  inside.erase(beyond, inside.end());
  for (Point const& p : inside) {
    x0 = std::min(x0, p.x), x1 = std::max(x1, p.x), y0 = std::min(y0, p.predicted);
    if (p.measured > 0) y0 = std::min(y0, p.measured);
  }
  x0 /= 1.6, x1 *= 1.7, y0 /= 1.4;

  Plot plot(x0, x1, y0, roofs.flat * 1.5);
  plot.axes(gemm ? "FLOP for each clock of the L1 or the L2, whichever is busier, on each SM"
                 : "bytes moved for each clock of the L1 on each SM",
            unit);
  add_roofs(plot, roofs, x0, x1, y0,
            gemm ? fmt::format("{}: {:.1f} TFLOP/s", tensor ? "tensor cores" : "FMA units", roofs.flat)
                 : fmt::format("DRAM: {:.0f} GB/s, as a copy", roofs.flat));
  if (gemm && ladder.limit_ms) add_cublas(plot, any.work.flops / *ladder.limit_ms / 1e9, x0, x1);
  add_points_beyond(plot, points_beyond, unit);
  for (Point const& p : inside) add_point(plot, p, unit);
  add_labels(plot, inside);
  return "<figure>\n" + scrolling(ladder.title + ", roofline", plot.document("Roofline of the " + ladder.id)) +
         legend(ladder, points) + "</figure>\n";
}

}  // namespace inlay::lab::page
