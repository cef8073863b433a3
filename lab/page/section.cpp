#include <fmt/format.h>

#include "page/html.h"
#include "page/parts.h"
#include "results/text.h"

namespace inlay::lab::page {
namespace {

// The check results and the main figures.
std::string figures(Step const& step) {
  std::string s;
  auto const add = [&s](char const* name, std::string const& value, std::string const& note) {
    s += fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>\n", name, value, note);
  };
  Units const& in = units(step.problem);
  add("replayed on a CPU", step.replayed,
      step.replayed == "ok" ? "any size; result, bounds, races, barriers" : "accepted sizes; all checks");
  if (step.recorded) {
    Row const& row = *step.recorded;
    add("verified on the GPU", escaped(row.status()), "every element");
    if (row.ms_median)
      add("measured", duration(*row.ms_median * 1e-3), fmt::format("{} {}", number(row.rate, in.digits, "–"), in.rate));
    if (row.share) add(in.share, fmt::format("{:.3f}", *row.share), "1 is as fast");
  }
  if (step.explained) {
    auto const ratio = step.predicted_over_measured();
    std::string note = ratio ? deviation(*ratio) + " off" : "";
    if (!step.explained->doubt().empty()) note += note.empty() ? "in doubt" : ", in doubt";
    add("predicted", duration(step.explained->seconds), note);
    add("limited by", escaped(step.explained->limit), "in the model");
  }
  return "<dl class=\"figures\">\n" + s + "</dl>\n";
}

std::string listing(std::string const& file, std::string const& source) {
  return fmt::format("<p class=\"file\">{}</p>\n<pre tabindex=\"0\"><code>{}</code></pre>\n", file, coloured(source));
}

// The file of the step, and the body of the kernel if that is in a file of its family.
std::string code(Step const& step) {
  std::string const source = source_of(step.name);
  if (source.empty()) return "";
  std::string family;
  for (std::string const& stem : family_of(step.name))
    family += fmt::format("{}<a href=\"#code-{}\">{}.h</a>", family.empty() ? " with " : ", ", stem, stem);
  std::string s = "<div class=\"code\">" + listing(path_of(step.name) + family, source);
  Body const body = body_of(step.name);
  if (!body.text.empty() && body.stem != step.name)
    s += listing(fmt::format("The kernel's body, from <a href=\"#code-{0}\">{0}.h</a>", body.stem), body.text);
  return s + "</div>\n";
}

std::string pictures(Step const& step) {
  std::string s;
  for (Picture const& p : step.pictures)
    s += fmt::format("<figure>\n<h4>{}</h4>\n{}</figure>\n", escaped(p.caption), scrolling(p.caption, p.svg));
  return s.empty() ? s : "<div class=\"pictures\">\n" + s + "</div>\n";
}

}  // namespace

std::string section(Step const& step) {
  std::string published;
  for (std::string const& p : step.published) published += fmt::format("<li>{}</li>\n", escaped(p));
  return fmt::format(
             "<section class=\"step\" id=\"{0}\">\n<h3><a href=\"#{0}\"><span class=\"number\">{1}</span> {2}</a> "
             "<code>{0}</code></h3>\n"
             "<p class=\"idea\">{3}</p>\n<p class=\"source\">{4}</p>\n",
             step.name, step.number(), escaped(step.title()), escaped(step.idea),
             step.source == "inlay" ? "inlay's own" : "after " + escaped(step.source)) +
         (published.empty() ? "" : "<ul class=\"published\">\n" + published + "</ul>\n") + figures(step) +
         "<details>\n<summary>memory accesses, where the time goes, code, pictures</summary>\n"
         "<div class=\"beside\">\n<div class=\"explained\">\n" +
         explanation(step) + "</div>\n" + code(step) + "</div>\n" + pictures(step) + "</details>\n</section>\n";
}

}  // namespace inlay::lab::page
