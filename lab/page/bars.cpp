#include <fmt/format.h>

#include <algorithm>

#include "page/html.h"
#include "page/parts.h"

namespace inlay::lab::page {
namespace {

// Groups of bars, with a colour and a heading each.
struct Kind {
  char const *classes, *heading;
};
constexpr Kind kReference{"copy", "copies"}, kTutorials{"tutorial", "the tutorials' steps"},
    kOwn{"own", "inlay's steps"}, kPublic{"public", "inlay's functions"}, kBaselines{"peer", "baselines"};

struct Bar {
  Kind const* kind;
  Row row;
  std::string note{};                 // the problem, if it is not the ladder's
  std::optional<double> predicted{};  // the predicted share
  bool is_step = false;
};

Kind const& kind_of(Row const& row) {
  if (row.kernel == "cudaMemcpyAsync") return kReference;
  return row.kernel == "transpose" || row.kernel.starts_with("gemm") ? kPublic : kBaselines;
}

Bar bar_of(Ladder const& ladder, Step const& step) {
  Bar b{.kind = step.is_copy()       ? &kReference
                : step.is_tutorial() ? &kTutorials
                                     : &kOwn,
        .row = step.recorded.value_or(Row{}),
        .is_step = true};
  b.row.kernel = step.name;
  if (auto const ratio = step.predicted_over_measured(); ratio && b.row.share) b.predicted = *b.row.share / *ratio;
  if (step.problem != ladder.problem) b.note = shown_problem(step);
  return b;
}

std::string html_of(Bar const& b, double scale) {
  std::string const name = b.is_step ? fmt::format("<a href=\"#{0}\">{0}</a>", b.row.kernel) : b.row.kernel;
  std::string track;
  if (b.row.share)
    track += fmt::format("<i class=\"{}\" style=\"width:{:.2f}%\"></i>", b.kind->classes, *b.row.share * scale);
  if (b.predicted)
    track += fmt::format("<b title=\"predicted {:.3f}\" style=\"left:{:.2f}%\"></b>", *b.predicted,
                         std::min(*b.predicted * scale, 100.));
  std::string const note = b.note.empty() ? "" : fmt::format(" <small>{}</small>", escaped(b.note));
  return fmt::format(
      "<div class=\"bar\"><span class=\"name\">{}{}</span><span class=\"track\">{}</span>"
      "<span class=\"share\">{}</span><span class=\"rate\">{}</span></div>\n",
      name, note, track, b.row.share ? fmt::format("{:.3f}", *b.row.share) : "–",
      b.row.ms_median              ? duration(*b.row.ms_median * 1e-3)
      : b.row.check_result.empty() ? "not recorded"
                                   : escaped(b.row.status()));
}

}  // namespace

std::string bars(Ladder const& ladder) {
  std::vector<Bar> all;
  for (Row const& row : ladder.other_rows) all.push_back({&kind_of(row), row});
  for (Step const& step : ladder.steps) all.push_back(bar_of(ladder, step));
  double longest = 1;
  for (Bar const& b : all)
    longest = std::max({longest, b.row.share.value_or(0), std::min(b.predicted.value_or(0), 1.3)});
  double const scale = 100 / (longest * 1.01);

  std::string s = fmt::format(
      "<div class=\"bars\" style=\"--one:{:.2f}%\">\n<div class=\"bar axis\"><span class=\"name\"></span>"
      "<span class=\"track\"><span>{}</span></span><span class=\"share\">share</span><span "
      "class=\"rate\">time</span></div>\n",
      scale, ladder.baseline);
  for (Kind const* kind : {&kReference, &kTutorials, &kOwn, &kPublic, &kBaselines}) {
    std::string rows;
    for (Bar const& b : all)
      if (b.kind == kind) rows += html_of(b, scale);
    if (!rows.empty()) s += fmt::format("<h4 class=\"{}\">{}</h4>\n", kind->classes, kind->heading) + rows;
  }
  return s + "</div>\n";
}

}  // namespace inlay::lab::page
