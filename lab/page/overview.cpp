#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/html.h"
#include "page/parts.h"

namespace inlay::lab::page {
namespace {

constexpr char const* kTerms = R"(<dl class="terms">
<div><dt>request</dt><dd>one memory instruction of the 32 threads of a warp</dd></div>
<div><dt>sector</dt><dd>32 bytes: the smallest transfer of global memory. 32 lanes of 4 bytes need 4 sectors</dd></div>
<div><dt>wavefront</dt><dd>one access to the 32 banks of shared memory. Different words of one bank need further
wavefronts</dd></div>
<div><dt>share</dt><dd>the throughput divided by that of a copy of as many bytes, or of cuBLAS at the same transposes,
measured in the same run</dd></div>
</dl>
)";

// Links to the steps.
std::string list(Ladder const& ladder) {
  std::string s = fmt::format("<h3>{}</h3>\n<ul>\n", ladder.title);
  for (Step const& step : ladder.steps) s += fmt::format("<li><a href=\"#{0}\">{0}</a></li>\n", step.name);
  return s + "</ul>\n";
}

// The share that the public function reaches at the ladder's problem.
std::string headline(Ladder const& ladder) {
  for (Row const& row : ladder.other_rows)
    if (row.kernel == ladder.public_function && row.share)
      return fmt::format("<div><strong>{:.3f}</strong> <span>of {}: <code>inlay::{}</code>, {}</span></div>\n",
                         *row.share, ladder.baseline, row.kernel, escaped(sentence(row.measured)));
  return "";
}

// The median and the largest error of the predicted times.
std::string prediction_errors(Ladder const& ladder) {
  std::vector<std::pair<double, std::string>> errors;
  for (Step const& s : ladder.steps)
    if (auto const ratio = s.predicted_over_measured(); ratio && s.at_ladder_problem)
      errors.emplace_back(std::abs(*ratio - 1), s.name);
  if (errors.empty()) return "<p>Nothing is recorded to compare with.</p>\n";
  std::sort(errors.begin(), errors.end());
  auto const& [largest, step] = errors.back();
  return fmt::format(
      "<p>{0}: half of the steps are within {1:.1f}&#160;%; the farthest off is <a href=\"#{2}\">{2}</a>, by "
      "{3:.0f}&#160;%.</p>\n",
      ladder.title, 100 * errors[errors.size() / 2].first, step, 100 * largest);
}

// A bar to the right for a prediction that is too long, to the left for one that is too short, of at most 50 %.
std::string deviation_bar(double ratio) {
  double const percent = std::clamp(100 * (ratio - 1), -50., 50.);
  return fmt::format("<span class=\"off\"><i style=\"left:{:.1f}%;width:{:.1f}%\"></i></span>",
                     std::min(50., 50 + percent), std::max(std::abs(percent), .6));
}

// The predicted and the measured time of each step.
std::string times(Ladder const& ladder) {
  std::string rows;
  for (Step const& s : ladder.steps) {
    if (!s.explained) continue;
    auto const ratio = s.predicted_over_measured();
    std::string const note =
        s.problem == ladder.problem ? "" : fmt::format(" <small>{}</small>", escaped(shown_problem(s)));
    bool const is_measured = s.recorded && s.recorded->ms_median;
    rows += fmt::format(
        "<tr><th scope=\"row\"><a href=\"#{}\">{}{} {}</a>{}</th><td>{}</td><td>{}</td><td>{}</td>"
        "<td class=\"bar-cell\">{}</td><td class=\"word\">{}</td></tr>\n",
        s.name, s.is_copy() ? "copy " : "", s.number(), escaped(s.title()), note,
        is_measured ? duration(*s.recorded->ms_median * 1e-3) : "–", duration(s.explained->seconds),
        ratio ? deviation(*ratio) : "–", ratio ? deviation_bar(*ratio) : "", escaped(s.explained->limit));
  }
  return table("predicted beside measured times, " + ladder.id, " class=\"times\"",
               fmt::format("<th>{}</th><th>measured</th><th>predicted</th><th>off</th><th class=\"bar-cell\"></th>"
                           "<th class=\"word\">limited by</th>",
                           ladder.title),
               rows);
}

std::string recorded_on(Ladder const& ladder) {
  return ladder.device.empty() ? "Nothing is recorded yet."
                               : fmt::format("Recorded on {}, {}: medians, every result verified.",
                                             escaped(ladder.device), ladder.date.substr(0, 10));
}

std::string ladder_section(Ladder const& ladder) {
  return fmt::format(
      "<section id=\"{}\">\n<h2>{} <small>{}</small></h2>\n<p>{} A line across a bar is the model's prediction. "
      "{}</p>\n{}</section>\n",
      ladder.id, ladder.title, escaped(sentence(ladder.problem)), ladder.meaning_of_share, recorded_on(ladder),
      bars(ladder));
}

// What `section_of` returns for each ladder.
std::string of_each(std::vector<Ladder> const& ladders, std::string (*section_of)(Ladder const&)) {
  std::string s;
  for (Ladder const& ladder : ladders) s += section_of(ladder);
  return s;
}

std::string header(std::vector<Ladder> const& ladders) {
  std::size_t kernels = 0;
  for (Ladder const& ladder : ladders) kernels += ladder.steps.size();
  return R"(<header>
<h1>What each step does to memory</h1>
<p class="lead">Ladders of CUDA kernels, from naive to fast: transposes, and GEMMs on FMA units and on tensor cores. The code that runs
on the GPU is replayed on a CPU, thread by thread. The replay checks and counts its memory accesses; a model predicts
its time, which stands beside the time measured on a GPU.</p>
<div class="headlines">
)" + of_each(ladders, headline) +
         fmt::format("<div><strong>{}</strong> <span>kernels, replayed with every check</span></div>\n", kernels) +
         "</div>\n" + kTerms + "</header>\n";
}

std::string rooflines(std::vector<Ladder> const& ladders) {
  return R"(<section id="rooflines" class="rooflines">
<h2>Rooflines</h2>
<p>The flat roof is the bandwidth of DRAM, or the throughput of the multiply-add units. The slanted roof is the unit
that supplies the threads with data: the L1, which serves one wavefront or cache line per clock, or, for a GEMM, the
L2 if that is busier. The horizontal axis is the work that a step does for each clock of this unit, as the replay
counts them. Steps with bank conflicts, scattered sectors or narrow loads are on the left.</p>
<p>Points are measured: the tutorials' steps are blue, inlay's are green. Dashes are predicted.</p>
)" + of_each(ladders, roofline) +
         "</section>\n";
}

std::string model(std::vector<Ladder> const& ladders) {
  return "<section id=\"times\">\n<h2>Predicted and measured times</h2>\n<p>Times are predicted without a GPU, from "
         "the counts of the replay and the rates of an H200. A bar to the right is a time predicted too long, one to "
         "the left a time predicted too short; bars end at 50&#160;%.</p>\n" +
         of_each(ladders, prediction_errors) + "<div class=\"pair\">\n" + of_each(ladders, times) +
         "</div>\n</section>\n";
}

std::string contents(std::vector<Ladder> const& ladders) {
  return "<nav id=\"contents\" aria-label=\"steps\">\n<h2>The steps</h2>\n" + of_each(ladders, list) + "</nav>\n";
}

}  // namespace

std::string overview(std::vector<Ladder> const& ladders) {
  return header(ladders) + of_each(ladders, ladder_section) + rooflines(ladders) + model(ladders) + contents(ladders);
}

}  // namespace inlay::lab::page
