// A plane with logarithmic axes, as SVG whose colours the page's style sheet gives.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace inlay::lab::page {

struct Box {
  double x0, y0, x1, y1;
  bool meets(Box const& b) const { return x0 < b.x1 && b.x0 < x1 && y0 < b.y1 && b.y0 < y1; }
};

class Plot {
 public:
  static constexpr double kWidth = 580, kHeight = 470, kLeft = 58, kRight = 570, kTop = 14, kBottom = 412;

  // The least and the greatest value of each axis.
  Plot(double x0, double x1, double y0, double y1) : x0_(x0), x1_(x1), y0_(y0), y1_(y1) {}
  double x(double value) const;
  double y(double value) const;

  void axes(std::string const& x_name, std::string const& y_name);
  // Between points of the plane.
  void line(double xa, double ya, double xb, double yb, char const* classes);
  void text(double at_x, double at_y, char const* classes, std::string const& content);
  void add(std::string const& shape) { body_ += shape; }
  // Words in lines, each a name that links to its step, beside or below a place in pixels; not over what was placed before.
  void label(double at_x, double at_y, std::vector<std::pair<std::string, std::string>> const& links);
  void keep_free(Box const& box) { taken_.push_back(box); }

  std::string document(std::string const& title) const;

 private:
  double x0_, x1_, y0_, y1_;
  std::string body_;
  std::vector<Box> taken_;
};

}  // namespace inlay::lab::page
