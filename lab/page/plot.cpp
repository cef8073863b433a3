#include "page/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/html.h"

namespace inlay::lab::page {
namespace {

// 1, 2 and 5 times powers of ten.
std::vector<double> ticks(double from, double to) {
  std::vector<double> all;
  for (double power = std::pow(10, std::floor(std::log10(from))); power <= to; power *= 10)
    for (double digit : {1., 2., 5.})
      if (digit * power >= from && digit * power <= to) all.push_back(digit * power);
  return all;
}

constexpr double kLine = 15, kDigit = 7.2, kAcross = 5;  // height of a line, width of a character, words in a line

}  // namespace

double Plot::x(double value) const { return kLeft + (kRight - kLeft) * std::log(value / x0_) / std::log(x1_ / x0_); }
double Plot::y(double value) const { return kBottom - (kBottom - kTop) * std::log(value / y0_) / std::log(y1_ / y0_); }

void Plot::line(double xa, double ya, double xb, double yb, char const* classes) {
  body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x(xa), y(ya),
                       x(xb), y(yb), classes);
}

void Plot::text(double at_x, double at_y, char const* classes, std::string const& content) {
  body_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", at_x, at_y, classes, escaped(content));
}

void Plot::axes(std::string const& x_name, std::string const& y_name) {
  for (double t : ticks(x0_, x1_)) {
    line(t, y0_, t, y1_, "grid");
    text(x(t), kBottom + 18, "tick middle", fmt::format("{:g}", t));
  }
  for (double t : ticks(y0_, y1_)) {
    line(x0_, t, x1_, t, "grid");
    text(kLeft - 8, y(t) + 4, "tick end", fmt::format("{:g}", t));
  }
  text((kLeft + kRight) / 2, kHeight - 14, "name middle", x_name);
  body_ += fmt::format("<text transform=\"translate(16 {:.1f}) rotate(-90)\" class=\"name middle\">{}</text>\n",
                       (kTop + kBottom) / 2, escaped(y_name));
}

void Plot::label(double at_x, double at_y, std::vector<std::pair<std::string, std::string>> const& links) {
  double const lines = std::ceil(double(links.size()) / kAcross);
  double const width = kDigit * (std::min(double(links.size()), kAcross) * 3 - 1), height = kLine * lines;
  Box best{};
  for (double away = 9; away < 120; away += 6) {
    Box const around[] = {{at_x + away, at_y - kLine / 2, 0, 0},
                          {at_x - width / 2, at_y + away, 0, 0},
                          {at_x - away - width, at_y - kLine / 2, 0, 0},
                          {at_x + away * .7, at_y + away * .7, 0, 0},
                          {at_x - width / 2, at_y - away - height, 0, 0}};
    auto const free = [&](Box b) {
      b = {b.x0, b.y0, b.x0 + width, b.y0 + height};
      bool const inside = b.x0 > kLeft && b.x1 < kRight && b.y0 > kTop && b.y1 < kBottom;
      return inside && std::none_of(taken_.begin(), taken_.end(), [&](Box const& t) { return t.meets(b); });
    };
    auto const at = std::find_if(std::begin(around), std::end(around), free);
    if (at == std::end(around)) continue;
    best = {at->x0, at->y0, at->x0 + width, at->y0 + height};
    if (away > 15)
      body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"leader\"/>\n", at_x,
                           at_y, std::clamp(at_x, best.x0, best.x1), std::clamp(at_y, best.y0, best.y1));
    break;
  }
  taken_.push_back(best);
  body_ += "<text class=\"step\">";
  for (std::size_t i = 0; i < links.size(); ++i) {
    double const row = std::floor(double(i) / kAcross), column = double(i) - row * kAcross;
    body_ += fmt::format("<a href=\"#{}\"><tspan x=\"{:.1f}\" y=\"{:.1f}\">{}</tspan></a> ", links[i].second,
                         best.x0 + column * 3 * kDigit, best.y0 + kLine * (row + .78), links[i].first);
  }
  body_ += "</text>\n";
}

std::string Plot::document(std::string const& title) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {} {}\" "
      "role=\"img\">\n<title>{}</title>\n{}</svg>\n",
      kWidth, kHeight, escaped(title), body_);
}

}  // namespace inlay::lab::page
