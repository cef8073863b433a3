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

}  // namespace

std::string times(Ladder const& ladder) {
  std::string rows;
  for (Step const& s : ladder.steps) {
    if (!s.explained) continue;
    auto const off = s.off();
    bool const elsewhere = !(s.problem == ladder.problem);
    rows += fmt::format(
        "<tr><th scope=\"row\"><a href=\"#{0}\">{0}</a>{1}</th><td>{2}</td><td>{3}</td><td>{4}</td><td>{5}</td><td "
        "class=\"word\">{6}</td></tr>\n",
        s.name, elsewhere ? fmt::format(" <small>{}</small>", escaped(sentence(s.problem))) : "",
        s.recorded && s.recorded->ms_median ? duration(*s.recorded->ms_median * 1e-3) : "–",
        duration(s.explained->seconds), off ? deviation(*off) : "–", off ? deviation_bar(*off) : "",
        escaped(s.explained->limit()));
  }
  return scrolling(
      "predicted beside measured times, " + ladder.id,
      "<table class=\"times\"><thead><tr><th>step</th><th>measured</th><th>predicted</th><th>off</th><th>−50 % … "
      "+50 %</th><th class=\"word\">limited by</th></tr></thead><tbody>\n" +
          rows + "</tbody></table>\n");
}

}  // namespace inlay::lab::page
