#include <fmt/format.h>

#include <algorithm>

#include "page/html.h"
#include "page/parts.h"
#include "report.h"

namespace inlay::lab::page {
namespace {

std::string fact(char const* name, std::string const& value, std::string const& note) {
  return fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>\n", name, value, note);
}

// The verdict and the numbers that sum it up.
std::string facts(Step const& step) {
  Units const& in = units(step.problem);
  std::string s = "<dl class=\"facts\">\n";
  s += fact("replayed on a CPU", step.replayed,
            step.replayed == "ok" ? "any size; result, bounds, races, barriers" : "sizes that it takes; all checks");
  if (step.recorded) {
    Row const& row = *step.recorded;
    s += fact("verified on the GPU", escaped(row.verdict.substr(0, row.verdict.find(':'))), "every element");
    if (row.ms_median)
      s += fact("measured", duration(*row.ms_median * 1e-3),
                fmt::format("{} {}", number(row.rate, in.digits, "–"), in.rate));
    if (row.share) s += fact(in.share, fmt::format("{:.3f}", *row.share), "1 is as fast");
  }
  if (step.explained) {
    s += fact("predicted", duration(step.explained->seconds), step.off() ? deviation(*step.off()) + " off" : "");
    s += fact("limited by", escaped(step.explained->limit()), "in the model");
  }
  return s + "</dl>\n";
}

std::string site_row(ExplainedSite const& x) {
  Site const& t = x.site;
  bool const box = t.mechanism == Mechanism::tma, global = t.space == replay::Space::global;
  double const ratio = x.ideal() > 0 ? x.per_request() / x.ideal() : 1;
  bool const costly = ratio > 1.005;
  std::string s = fmt::format(
      "<tr{}><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td><td class=\"each\">{:.4g}{}</td><td>{:.4g}</td><td "
      "class=\"word\">{}</td><td>{}</td></tr>\n",
      costly ? " class=\"costly\"" : "", escaped(x.name),
      box                                  ? " <small>TMA</small>"
      : t.mechanism == Mechanism::cp_async ? " <small>cp.async</small>"
                                           : "",
      box ? "box" : fmt::format("{} B", t.bytes), count(double(t.traffic.requests)), x.per_request(),
      costly ? fmt::format(" <small>×{:.3g}</small>", ratio) : "", x.ideal(),
      box      ? "bytes"
      : global ? "sectors"
               : "wavefronts",
      global ? fmt::format("{:.0f} %", 100 * x.useful_share()) : "");
  if (!x.advice.empty()) s += fmt::format("<tr class=\"advice\"><td colspan=\"7\">{}</td></tr>\n", escaped(x.advice));
  return s;
}

std::string accesses(Explanation const& x) {
  std::string s =
      "<table><thead><tr><th>access</th><th>a lane</th><th>requests</th><th>each</th><th>ideal</th><th "
      "class=\"word\"></th><th>useful</th></tr></thead><tbody>\n";
  for (ExplainedSite const& site : x.sites) s += site_row(site);
  return scrolling("accesses of " + x.work.variant, s + "</tbody></table>\n");
}

std::string resources(Explanation const& x) {
  std::string s =
      "<table class=\"resources\"><thead><tr><th>busy</th><th>for</th><th></th><th "
      "class=\"word\">why</th></tr></thead><tbody>\n";
  for (Resource const& r : x.resources) {
    double const share = x.seconds > 0 ? r.seconds / x.seconds : 0;
    s += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td><span class=\"meter\"><i "
        "style=\"width:{:.1f}%\"></i></span></td><td class=\"word\">{}</td></tr>\n",
        escaped(r.name), duration(r.seconds), std::min(100., 100 * share), escaped(r.why));
  }
  return scrolling("resources of " + x.work.variant, s + "</tbody></table>\n");
}

std::string launches(Explanation const& x) {
  std::string s;
  for (Launch const& l : x.launches)
    s += fmt::format("<li>{} blocks of {} threads{}, {} bytes of shared memory; {} of them on a multiprocessor</li>\n",
                     count(double(l.blocks)), l.threads,
                     l.cluster > 1 ? fmt::format(" in clusters of {}", l.cluster) : "", l.shared_bytes,
                     resident_blocks(l, x.gpu));
  if (x.totals.fma) {
    double const wavefronts = double(x.totals.shared_load.transactions + x.totals.shared_store.transactions);
    s += fmt::format("<li>{} multiply-adds, {:.1f} % of them wanted; {:.2f} shared wavefronts for 128 of them</li>\n",
                     count(double(x.totals.fma)), 50 * x.work.flops / double(x.totals.fma),
                     128 * wavefronts / double(x.totals.fma));
  }
  return "<ul class=\"launches\">\n" + s + "</ul>\n";
}

std::string counters(Step const& step) {
  if (step.counters.empty()) return "";
  std::string s =
      "<table><thead><tr><th>counter</th><th>predicted</th><th>measured</th><th>off</th></tr></thead><tbody>\n";
  for (Counter const& c : step.counters) {
    std::string name = c.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    auto const cell = [](std::optional<double> x) { return x ? count(*x) : "–"; };
    s += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", escaped(name),
                     cell(c.predicted), cell(c.measured),
                     c.predicted && c.measured && *c.measured > 0 ? deviation(*c.predicted / *c.measured) : "");
  }
  return "<h4>What the hardware counted</h4>\n" + scrolling("counters of " + step.name, s + "</tbody></table>\n");
}

std::string explanation(Step const& step) {
  if (!step.explained) return fmt::format("<p>{}</p>\n", escaped(step.why_not_explained));
  Explanation const& x = *step.explained;
  return fmt::format("<h4>What its warps ask for <small>{}</small></h4>\n", escaped(x.work.what)) + accesses(x) +
         launches(x) + "<h4>Where the time goes</h4>\n" + resources(x) +
         fmt::format("<p class=\"next\"><b>Next:</b> {}</p>\n", escaped(x.advice())) + counters(step);
}

std::string code(Step const& step) {
  std::string const source = source_of(step.name);
  if (source.empty()) return "";
  std::string s = fmt::format("<div class=\"code\"><p class=\"file\">src/kernels/{}.h", step.name);
  auto const family = family_of(step.name);
  for (std::size_t i = 0; i < family.size(); ++i)
    s += fmt::format("{}<a href=\"#code-{}\">{}.h</a>", i ? ", " : " <span>with ", family[i], family[i]);
  s += family.empty() ? "</p>\n" : "</span></p>\n";
  return s + fmt::format("<pre tabindex=\"0\"><code>{}</code></pre></div>\n", coloured(source));
}

std::string pictures(Step const& step) {
  std::string s;
  for (Picture const& p : step.pictures)
    s += fmt::format("<figure>\n<h4>{}</h4>\n{}</figure>\n", escaped(p.caption), scrolling(p.caption, p.svg));
  return s.empty() ? s : "<div class=\"pictures\">\n" + s + "</div>\n";
}

}  // namespace

std::string section(Step const& step) {
  std::string figures;
  for (std::string const& p : step.published) figures += fmt::format("<li>{}</li>\n", escaped(p));
  return fmt::format(
             "<section class=\"step\" id=\"{0}\">\n<h3><a href=\"#{0}\"><span class=\"number\">{1}</span> {2}</a> "
             "<code>{0}</code></h3>\n"
             "<p class=\"idea\">{3}</p>\n<p class=\"source\">{4}</p>\n",
             step.name, step.number(), escaped(step.title()), escaped(step.idea),
             step.source == "inlay" ? "inlay's own" : "after " + escaped(step.source)) +
         (figures.empty() ? "" : "<ul class=\"published\">\n" + figures + "</ul>\n") + facts(step) +
         "<div class=\"beside\">\n<div class=\"explained\">\n" + explanation(step) + "</div>\n" + code(step) +
         "</div>\n" + pictures(step) + "</section>\n";
}

}  // namespace inlay::lab::page
