#include <fmt/format.h>

#include <algorithm>

#include "page/html.h"
#include "page/parts.h"

namespace inlay::lab::page {
namespace {

// The transactions of a request: a few sectors or wavefronts, or the many bytes of a TMA box.
std::string each(double n) { return n < 9999.5 ? fmt::format("{:.4g}", n) : count(n); }

std::string site_row(ExplainedSite const& x) {
  replay::Site const& t = x.site;
  bool const box = t.mechanism == Mechanism::tma, global = t.space == replay::Space::global;
  double const ratio = x.ideal() > 0 ? x.per_request() / x.ideal() : 1;
  bool const costly = ratio > 1.005;
  std::string s = fmt::format(
      "<tr{}><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td><td class=\"each\">{}{}</td><td>{}</td><td "
      "class=\"word\">{}</td><td>{}</td></tr>\n",
      costly ? " class=\"costly\"" : "", escaped(x.name),
      box                                  ? " <small>TMA</small>"
      : t.mechanism == Mechanism::cp_async ? " <small>cp.async</small>"
                                           : "",
      box ? "box" : fmt::format("{} B", t.bytes), count(double(t.traffic.requests)), each(x.per_request()),
      costly ? fmt::format(" <small>×{:.3g}</small>", ratio) : "", each(x.ideal()),
      box      ? "bytes"
      : global ? "sectors"
               : "wavefronts",
      global ? fmt::format("{:.0f} %", 100 * x.useful_share()) : "");
  if (!x.advice.empty()) s += fmt::format("<tr class=\"advice\"><td colspan=\"7\">{}</td></tr>\n", escaped(x.advice));
  return s;
}

std::string accesses(Explanation const& x) {
  std::string rows;
  for (ExplainedSite const& site : x.sites) rows += site_row(site);
  return table("accesses of " + x.work.kernel, "",
               "<th>access</th><th>a lane</th><th>requests</th><th>each</th><th>ideal</th><th class=\"word\"></th>"
               "<th>useful</th>",
               rows);
}

std::string resources(Explanation const& x) {
  std::string rows;
  for (Resource const& r : x.resources) {
    double const share = x.seconds > 0 ? r.seconds / x.seconds : 0;
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td><span class=\"meter\"><i "
        "style=\"width:{:.1f}%\"></i></span></td><td class=\"word\">{}</td></tr>\n",
        escaped(r.name), duration(r.seconds), std::min(100., 100 * share), escaped(r.why));
  }
  return table("resources of " + x.work.kernel, " class=\"resources\"",
               "<th>busy</th><th>for</th><th></th><th class=\"word\">why</th>", rows);
}

std::string launches(Explanation const& x) {
  std::string s;
  for (model::LaunchDemand const& l : x.demand.launches)
    s += fmt::format("<li>{} block{} of {} threads{}, {} bytes of shared memory; a multiprocessor holds {}</li>\n",
                     count(double(l.blocks)), l.blocks == 1 ? "" : "s", l.threads,
                     l.cluster > 1 ? fmt::format(" in clusters of {}", l.cluster) : "", l.shared_bytes,
                     resident_blocks(l, x.device));
  if (double const fma = double(x.totals.all_fma())) {
    int const clock = explain::rate_of(x.totals, x.device);
    double const wavefronts = double(x.totals.shared_load.transactions + x.totals.shared_store.transactions);
    s += fmt::format("<li>{} multiply-adds, {:.1f} % of them necessary; {:.2f} shared wavefronts for {} of them</li>\n",
                     count(fma), 50 * x.work.flops / fma, clock * wavefronts / fma, clock);
  }
  return "<ul class=\"launches\">\n" + s + "</ul>\n";
}

// The name as words, and the unit: "stall_long_scoreboard" becomes "stalled: long scoreboard", in warps that wait for
// each issued instruction, and "fma_pipe_percent" becomes "fma pipe", in %.
std::string counter_name(std::string name) {
  char const* unit = "";
  auto const take_suffix = [&](std::string_view suffix, char const* suffix_unit) {
    if (name.ends_with(suffix)) name.erase(name.size() - suffix.size()), unit = suffix_unit;
  };
  take_suffix("_percent", "%");
  take_suffix("_us", "µs");
  if (name.starts_with("stall_")) name.replace(0, 6, "stalled: "), unit = "warps for each issue";
  std::replace(name.begin(), name.end(), '_', ' ');
  return escaped(name) + (*unit ? fmt::format(" <small>{}</small>", unit) : "");
}

std::string counters(Step const& step) {
  if (step.counters.empty()) return "";
  std::string rows;
  for (Counter const& c : step.counters) {
    auto const cell = [](std::optional<double> x) { return x ? each(*x) : "–"; };
    std::string off;
    if (c.predicted && c.measured && *c.measured > 0)
      off = *c.predicted == *c.measured ? "equal" : deviation(*c.predicted / *c.measured);
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", counter_name(c.name),
                        cell(c.predicted), cell(c.measured), off);
  }
  return "<h4>Hardware counters</h4>\n" +
         table("counters of " + step.name, "", "<th>counter</th><th>predicted</th><th>measured</th><th>off</th>", rows);
}

}  // namespace

std::string explanation(Step const& step) {
  if (!step.explained) return fmt::format("<p>{}</p>\n", escaped(step.why_not_explained));
  Explanation const& x = *step.explained;
  return fmt::format("<h4>Memory accesses <small>{}</small></h4>\n", escaped(x.work.what)) + accesses(x) + launches(x) +
         "<h4>Where the time goes</h4>\n" + resources(x) +
         (x.doubt().empty() ? "" : fmt::format("<p class=\"next\"><b>In doubt:</b> {}</p>\n", escaped(x.doubt()))) +
         fmt::format("<p class=\"next\"><b>Next:</b> {}</p>\n", escaped(x.advice())) + counters(step);
}

}  // namespace inlay::lab::page
