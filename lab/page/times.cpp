#include <fmt/format.h>

#include <algorithm>

#include "page/html.h"
#include "page/parts.h"

namespace inlay::lab::page {
namespace {

// A bar to the right for too long, to the left for too short; half the width is 50 %.
std::string deviation_bar(double ratio) {
  double const off = std::clamp(100 * (ratio - 1), -50., 50.);
  return fmt::format("<span class=\"off\"><i style=\"left:{:.1f}%;width:{:.1f}%\"></i></span>", std::min(50., 50 + off),
                     std::max(off < 0 ? -off : off, .6));
}

// "03 smem read conflict", and what of the problem is not the ladder's.
std::string name_in(Ladder const& ladder, Step const& s) {
  std::string text =
      fmt::format("<a href=\"#{}\">{}{} {}</a>", s.name, s.is_copy() ? "copy " : "", s.number(), escaped(s.title()));
  if (!(s.problem == ladder.problem)) text += fmt::format(" <small>{}</small>", escaped(shown_problem(s)));
  return text;
}

}  // namespace

std::string times(Ladder const& ladder) {
  std::string rows;
  for (Step const& s : ladder.steps) {
    if (!s.explained) continue;
    auto const off = s.off();
    std::string measured = "–";
    if (s.recorded && s.recorded->ms_median) measured = duration(*s.recorded->ms_median * 1e-3);
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td class=\"bar-cell\">{}</td><td "
        "class=\"word\">{}</td></tr>\n",
        name_in(ladder, s), measured, duration(s.explained->seconds), off ? deviation(*off) : "–",
        off ? deviation_bar(*off) : "", escaped(s.explained->limit));
  }
  return scrolling(
      "predicted beside measured times, " + ladder.id,
      fmt::format("<table class=\"times\"><thead><tr><th>{}</th><th>measured</th><th>predicted</th>"
                  "<th>off</th><th class=\"bar-cell\"></th><th class=\"word\">limited by</th></tr></thead><tbody>\n{}"
                  "</tbody></table>\n",
                  ladder.title, rows));
}

}  // namespace inlay::lab::page
