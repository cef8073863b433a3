#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/html.h"
#include "page/parts.h"

namespace inlay::lab::page {
namespace {

constexpr char const* kTerms = R"(<dl class="terms">
<div><dt>request</dt><dd>what the 32 threads of a warp ask of memory with one instruction</dd></div>
<div><dt>sector</dt><dd>32 bytes: what global memory moves at least. 32 lanes of 4 bytes need 4</dd></div>
<div><dt>wavefront</dt><dd>one pass over the 32 banks of shared memory. Lanes that want different words of one bank wait for another</dd></div>
<div><dt>share</dt><dd>the throughput beside that of a copy of as many bytes, or of cuBLAS at the same transposes, measured in the same run</dd></div>
</dl>
)";

// The names of the steps.
std::string list(Ladder const& ladder) {
  std::string s = fmt::format("<h3>{}</h3>\n<ul>\n", ladder.title);
  for (Step const& step : ladder.steps) s += fmt::format("<li><a href=\"#{0}\">{0}</a></li>\n", step.name);
  return s + "</ul>\n";
}

// The share of the public function at the ladder's problem.
std::string headline(Ladder const& ladder, char const* function, char const* than) {
  for (Row const& row : ladder.others)
    if (row.kernel == function && row.share)
      return fmt::format("<div><strong>{:.3f}</strong> <span>{}: <code>inlay::{}</code>, {}</span></div>\n", *row.share,
                         than, function, escaped(sentence(row.measured)));
  return "";
}

// How far off the times of a ladder are: the median and the worst.
std::string how_far_off(Ladder const& ladder) {
  std::vector<std::pair<double, std::string>> off;
  for (Step const& s : ladder.steps)
    if (s.off() && s.at_home) off.emplace_back(std::abs(*s.off() - 1), s.name);
  if (off.empty()) return "<p>Nothing is recorded to compare with.</p>\n";
  std::sort(off.begin(), off.end());
  return fmt::format(
      "<p>{}: half of the steps are within {:.1f}&#160;%; the farthest off is <a href=\"#{}\">{}</a>, by "
      "{:.0f}&#160;%.</p>\n",
      ladder.title, 100 * off[off.size() / 2].first, off.back().second, off.back().second, 100 * off.back().first);
}

std::string recorded_on(Ladder const& ladder) {
  return ladder.device.empty() ? "Nothing is recorded yet."
                               : fmt::format("Recorded on {}, {}: medians, every result verified.",
                                             escaped(ladder.device), ladder.date.substr(0, 10));
}

std::string ladder_section(Ladder const& ladder, char const* explained) {
  return fmt::format("<section id=\"{}\">\n<h2>{} <small>{}</small></h2>\n<p>{} {}</p>\n{}</section>\n", ladder.id,
                     ladder.title, escaped(sentence(ladder.problem)), explained, recorded_on(ladder), bars(ladder));
}

}  // namespace

std::string header(Ladder const& copies, Ladder const& gemms) {
  return R"(<header>
<h1>What each step does to memory</h1>
<p class="lead">Two ladders of CUDA kernels, from the naive one to the fast: transposes and GEMMs of matrices. The body that
runs on the GPU is replayed on a CPU, thread by thread; its accesses are counted, checked and priced, and set beside what a GPU
measured.</p>
<div class="headlines">
)" + headline(copies, "transpose", "of the copy limit") +
         headline(gemms, "gemm", "of cuBLAS") +
         fmt::format("<div><strong>{}</strong> <span>kernels, replayed with every check</span></div>\n",
                     copies.steps.size() + gemms.steps.size()) +
         "</div>\n" + kTerms + "</header>\n";
}

std::string ladders(Ladder const& copies, Ladder const& gemms) {
  return ladder_section(copies,
                        "Share of the copy limit: the throughput of the faster of two plain copies of as many bytes is "
                        "1. A line across a bar is the model's prediction.") +
         ladder_section(
             gemms,
             "Share of the throughput of cuBLAS in fp32, without TF32, at the same transposes. A line across a "
             "bar is the model's prediction.");
}

std::string rooflines(Ladder const& copies, Ladder const& gemms) {
  return R"(<section id="rooflines" class="rooflines">
<h2>Rooflines</h2>
<p>No step is faster than the DRAM moves its bytes, or the multiply-add units do its work: the flat roof. Before that, the
producer of what the threads work on may hold it up: the L1, which passes a wavefront or a line in a clock, and for GEMMs the L2 too, where it is the
busier. That is the slanted roof. So the axis is the work that a step gets done for each of those clocks, as the replay counts
them: who has bank conflicts, scattered sectors or narrow loads stands on the left.</p>
<p>Points are measured, in blue the tutorials' steps and in green inlay's; dashes are predicted.</p>
)" + roofline(copies) +
         roofline(gemms) + "</section>\n";
}

std::string model(Ladder const& copies, Ladder const& gemms) {
  return "<section id=\"times\">\n<h2>Predicted beside measured</h2>\n<p>Predicted without a GPU, from the counts of "
         "the "
         "replay and a few numbers about an H200. A bar to the right is a time predicted too long, to the left too "
         "short; it ends at 50&#160;%.</p>\n" +
         how_far_off(copies) + how_far_off(gemms) + "<div class=\"pair\">\n" + times(copies) + times(gemms) +
         "</div>\n</section>\n";
}

std::string contents(Ladder const& copies, Ladder const& gemms) {
  return "<nav id=\"contents\" aria-label=\"steps\">\n<h2>The steps</h2>\n" + list(copies) + list(gemms) + "</nav>\n";
}

}  // namespace inlay::lab::page
