// SVG pictures. A style sheet gives shapes their colours, for light and for dark pages. A picture has no scripts, no
// ids and no fonts from other files, so that several pictures can stand in one page. Text stays text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace inlay::lab::svg {

// Lengths are in pixels. Pictures are as wide as a README's column.
constexpr double kWidth = 830, kMargin = 24;

// `&`, `<`, `>` and `"` as XML entities.
std::string escaped(std::string_view text);

// Shapes and text take classes of the style sheet:
//   ink pale costly on dark    text colours: normal, secondary, costly, on strong fills, on light fills
//   s8 s9 s10 s11 head         font sizes in pixels, 12 without a class; head: a title
//   mono bold middle end       font and anchor of text
//   ink page cell              fills: foreground, background, an empty cell
//   good bad spare             fills: without conflicts; costly; transferred, but not requested
//   held                       fill: in flight
//   tile warp first            fills: what a block, its first warp, the first request or thread touches
//   own peer plain             fills of ladders: inlay, baselines, copies
//   k0 .. k7                   fills: eight categories that a colour-blind reader can tell apart (Okabe and Ito)
//   frame                      no fill
//   line rule dark-line        strokes: faint, strong, strong on light fills
//   firm                       a thicker stroke
//   NAME-line                  a stroke in the colour of the fill NAME: good bad held cell tile warp first k0 .. k7
class Picture {
 public:
  void text(double x, double y, std::string_view classes, std::string_view content);
  void rect(double x, double y, double width, double height, std::string_view classes);
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void arrow(double x1, double y, double x2);
  // Rectangles of one height as a single path. `paint` is a class of strokes or a colour #rrggbb.
  struct Tile {
    double x, y, width;
  };
  void tiles(std::vector<Tile> const& tiles, double height, std::string const& paint);
  // The words of one line of text; word i is centred at middles[i].
  void words(std::vector<double> const& middles, double y, std::string_view classes,
             std::vector<std::string> const& words);
  // A rectangle and its meaning. Returns the x at which the next entry can begin.
  double legend(double x, double y, std::string_view classes, std::string_view words);

  std::string document(double height, std::string_view title, double width = kWidth) const;

 private:
  std::string body_;
};

// The approximate width of a text in a font of `size` pixels.
double width_of(std::string_view text, double size = 12);

// A colour from blue (t = 0) to yellow (t = 1): a section of viridis, lightened so that dark text is legible on it.
std::string ramp(double t);

// The class of category i (k0 .. k7, repeating), and the class of text on it.
std::string category(unsigned i);
std::string text_on_category(unsigned i);

// Sorted numbers as ranges: {0,1,2,7} -> "0-2,7".
std::string ranges(std::vector<unsigned> const& sorted);

}  // namespace inlay::lab::svg
