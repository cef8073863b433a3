// Pictures as SVG: shapes whose colours a style sheet gives, for light and for dark. No scripts, no fonts from
// elsewhere, no ids, so that several may stand in one page. Text is text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace inlay::lab::svg {

// Pictures are as wide as a README's column: a unit is a pixel there.
constexpr double kWidth = 830, kMargin = 24;

// Shapes and text take classes of the style sheet:
//   ink pale costly on dark    text: normal, aside, what costs, on strong colours, on light ones
//   s8 s9 s10 s11 head         its size in pixels, where it is not 12; a title
//   mono bold middle end
//   ink page cell              shapes: firm, like the page, an empty place
//   good bad spare             what does well; what costs; what is moved along but not asked for
//   held                       what is under way
//   tile warp first            a block's, a warp's, what is looked at
//   own peer plain             ours, others', what has no side
//   k0 .. k7                   kinds that a colour-blind reader can tell apart (Okabe and Ito)
//   frame                      an outline alone
//   line rule dark-line        strokes: faint, firm, firm on light colours
//   good-line bad-line held-line firm    of those colours; thicker
//   cell-line tile-line warp-line first-line k0-line .. k7-line    the shapes' colours, for tiles
class Picture {
 public:
  void text(double x, double y, std::string_view classes, std::string_view content);
  void rect(double x, double y, double width, double height, std::string_view classes);
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void arrow(double x1, double y, double x2);
  // Many shapes of one height; `paint` is a class of strokes, or a colour of its own, #rrggbb.
  struct Tile {
    double x, y, width;
  };
  void tiles(std::vector<Tile> const& tiles, double height, std::string const& paint);
  // Words of one line, each with its middle at its own place.
  void words(std::vector<double> const& middles, double y, std::string_view classes,
             std::vector<std::string> const& words);
  // A shape and what it stands for; returns where the next may begin.
  double legend(double x, double y, std::string_view classes, std::string_view words);

  std::string document(double height, std::string_view title, double width = kWidth) const;

 private:
  std::string body_;
};

// About how wide a text is.
double width_of(std::string_view text, double size = 12);

// From blue to yellow for t from 0 to 1 (a part of viridis, lightened): dark text can be read on all of it.
std::string ramp(double t);

// The class of the i-th kind, and of text on it.
std::string kind(unsigned i);
std::string on_kind(unsigned i);

// {0,1,2,7} -> "0-2,7"
std::string ranges(std::vector<unsigned> const& sorted);

}  // namespace inlay::lab::svg
