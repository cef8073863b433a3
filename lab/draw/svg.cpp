#include "draw/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace inlay::lab::svg {
namespace {

constexpr char const* kStyle = R"(<style>
.inlay { font-family: system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; font-size: 12px }
.inlay .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace }
.inlay .s8 { font-size: 8.2px } .inlay .s9 { font-size: 9px } .inlay .s10 { font-size: 10px }
.inlay .s11 { font-size: 11px }
.inlay .head { font-size: 18px; font-weight: 600 } .inlay .bold { font-weight: 600 }
.inlay .middle { text-anchor: middle } .inlay .end { text-anchor: end }
.inlay .page { fill: #ffffff } .inlay .ink, .inlay text { fill: #24292f } .inlay .pale { fill: #59636e }
.inlay .on { fill: #ffffff } .inlay .dark { fill: #0d1117 } .inlay .costly { fill: #b34700 }
.inlay .cell { fill: #eef1f4 } .inlay .line { stroke: #d5dbe1 } .inlay .rule { stroke: #24292f; stroke-width: 1.4 }
.inlay .good { fill: #0072b2 } .inlay .bad { fill: #d55e00 } .inlay .spare { fill: #f5d08a }
.inlay .dark-line { stroke: #0d1117; stroke-width: 1.4 }
.inlay .good-line { stroke: #0072b2 } .inlay .bad-line { stroke: #d55e00 }
.inlay .firm { stroke-width: 2.2 }
.inlay .held { fill: #d9eaf6 } .inlay .held-line { stroke: #0072b2; stroke-dasharray: 4 3 } .inlay .frame { fill: none }
.inlay .plain { fill: #6e7781 } .inlay .own { fill: #1f8a5f } .inlay .peer { fill: #b8680f }
.inlay .k0 { fill: #56b4e9 } .inlay .k1 { fill: #e69f00 } .inlay .k2 { fill: #009e73 } .inlay .k3 { fill: #f0e442 }
.inlay .k4 { fill: #0072b2 } .inlay .k5 { fill: #d55e00 } .inlay .k6 { fill: #cc79a7 } .inlay .k7 { fill: #999999 }
.inlay .k0-line { stroke: #56b4e9 } .inlay .k1-line { stroke: #e69f00 } .inlay .k2-line { stroke: #009e73 }
.inlay .k3-line { stroke: #f0e442 } .inlay .k4-line { stroke: #0072b2 } .inlay .k5-line { stroke: #d55e00 }
.inlay .k6-line { stroke: #cc79a7 } .inlay .k7-line { stroke: #999999 }
.inlay .cell-line { stroke: #eef1f4 } .inlay .tile, .inlay .tile-line { fill: #c9dcec; stroke: #c9dcec }
.inlay .warp, .inlay .warp-line { fill: #6db3e0; stroke: #6db3e0 }
.inlay .first, .inlay .first-line { fill: #0b3d66; stroke: #0b3d66 }
@media (prefers-color-scheme: dark) {
.inlay .page { fill: #0d1117 } .inlay .ink, .inlay text { fill: #e6edf3 } .inlay .pale { fill: #9198a1 }
.inlay .on { fill: #ffffff } .inlay .dark { fill: #0d1117 } .inlay .costly { fill: #f0813a }
.inlay .cell { fill: #1c2229 } .inlay .line { stroke: #353c45 } .inlay .rule { stroke: #e6edf3 }
.inlay .spare { fill: #6b501c } .inlay .held { fill: #11324a } .inlay .held-line { stroke: #56b4e9 }
.inlay .good { fill: #2a86c8 } .inlay .good-line { stroke: #56b4e9 } .inlay .bad-line { stroke: #f0813a }
.inlay .cell-line { stroke: #1c2229 } .inlay .tile, .inlay .tile-line { fill: #1d3850; stroke: #1d3850 }
.inlay .warp, .inlay .warp-line { fill: #3a7cb0; stroke: #3a7cb0 }
.inlay .first, .inlay .first-line { fill: #e2f1fd; stroke: #e2f1fd }
}
</style>
)";

// At most two decimals, without trailing zeros.
std::string number(double x) {
  std::string s = fmt::format("{:.2f}", x);
  s.erase(s.find_last_not_of('0') + 1);
  if (s.back() == '.') s.pop_back();
  return s == "-0" ? "0" : s;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string s;
  for (char c : text)
    s += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
  return s;
}

void Picture::text(double x, double y, std::string_view classes, std::string_view content) {
  std::string const attribute = classes.empty() ? "" : fmt::format(R"( class="{}")", classes);
  body_ += fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", number(x), number(y), attribute, escaped(content));
}

void Picture::rect(double x, double y, double width, double height, std::string_view classes) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"/>\n", number(x), number(y),
                       number(width), number(height), classes);
}

void Picture::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", number(x1), number(y1),
                       number(x2), number(y2), classes);
}

void Picture::arrow(double x1, double y, double x2) {
  line(x1, y, x2 - 5, y, "rule");
  body_ += fmt::format("<path d=\"M{} {} l-8 -4 v8 z\" class=\"ink\"/>\n", number(x2), number(y));
}

void Picture::tiles(std::vector<Tile> const& tiles, double height, std::string const& paint) {
  if (tiles.empty()) return;
  body_ += "<path d=\"";
  for (Tile const& t : tiles) body_ += fmt::format("M{} {}h{}", number(t.x), number(t.y + height / 2), number(t.width));
  body_ +=
      fmt::format("\" {}=\"{}\" stroke-width=\"{}\"/>\n", paint[0] == '#' ? "stroke" : "class", paint, number(height));
}

void Picture::words(std::vector<double> const& middles, double y, std::string_view classes,
                    std::vector<std::string> const& words) {
  constexpr double kHalfSpace = 2.5;  // a tspan is centred with the space after its word
  body_ += fmt::format("<text y=\"{}\" class=\"middle s8 mono {}\">", number(y), classes);
  for (std::size_t i = 0; i < words.size(); ++i) {
    bool const last = i + 1 == words.size();
    body_ += fmt::format("<tspan x=\"{}\">{}</tspan>{}", number(middles[i] + (last ? 0 : kHalfSpace)),
                         escaped(words[i]), last ? "" : " ");
  }
  body_ += "</text>\n";
}

double Picture::legend(double x, double y, std::string_view classes, std::string_view words) {
  rect(x, y - 9, 14, 11, classes);
  text(x + 20, y, "s11", words);
  return x + 20 + width_of(words, 11) + 18;
}

std::string Picture::document(double height, std::string_view title, double width) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "class=\"inlay\">\n<title>{2}</title>\n{3}<rect width=\"{0}\" height=\"{1}\" class=\"page\"/>\n{4}</svg>\n",
      number(width), number(height), escaped(title), kStyle, body_);
}

double width_of(std::string_view text, double size) { return .54 * size * double(text.size()); }

std::string ramp(double t) {
  static constexpr std::array<std::array<double, 3>, 7> stops{
      {{59, 81, 139}, {44, 113, 142}, {33, 144, 141}, {39, 173, 129}, {92, 200, 99}, {170, 220, 50}, {253, 231, 37}}};
  constexpr double kWhite = .35;
  double const at = std::clamp(t, 0., 1.) * (stops.size() - 1);
  auto const i = std::min(std::size_t(at), stops.size() - 2);
  auto const mixed = [&](std::size_t channel) {
    double const pure = stops[i][channel] + (at - double(i)) * (stops[i + 1][channel] - stops[i][channel]);
    return int(pure + kWhite * (255 - pure) + .5);
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2));
}

std::string category(unsigned i) { return fmt::format("k{}", i % 8); }
std::string text_on_category(unsigned i) { return i % 8 == 4 ? "on" : "dark"; }

std::string ranges(std::vector<unsigned> const& sorted) {
  std::string s;
  for (std::size_t i = 0, last; i < sorted.size(); i = last + 1) {
    for (last = i; last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1;) ++last;
    s += fmt::format("{}{}", i ? "," : "", sorted[i]);
    if (last > i) s += fmt::format("{}{}", last == i + 1 ? "," : "-", sorted[last]);
  }
  return s;
}

}  // namespace inlay::lab::svg
