#include "page/report_page.h"

#include <fmt/format.h>

#include <memory>
#include <set>

#include "page/html.h"
#include "page/parts.h"
#include "results/output.h"

namespace inlay::lab {
namespace {

using namespace page;

std::string shared_code(std::vector<Ladder> const& ladders) {
  std::set<std::string> stems;
  for (Ladder const& ladder : ladders)
    for (Step const& step : ladder.steps)
      for (std::string& stem : family_of(step.name)) stems.insert(std::move(stem));
  std::string s =
      "<section id=\"code\">\n<h2>Shared code</h2>\n<p>Steps that differ only in a layout, a copy operation or the "
      "launch share their body.</p>\n";
  for (std::string const& stem : stems)
    s += fmt::format(
        "<details><summary>{0}.h</summary>\n<pre id=\"code-{0}\" tabindex=\"0\"><code>{1}</code></pre></details>\n",
        stem, coloured(source_of(stem)));
  return s + "</section>\n";
}

std::string steps(Ladder const& ladder) {
  std::string s = fmt::format("<h2 id=\"steps-{}\">{}, step by step</h2>\n", ladder.id, ladder.title);
  for (Step const& step : ladder.steps) s += section(step);
  return s;
}

constexpr char const* kHead = R"(<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<link rel="icon" href="data:,"/>
<title>inlay: what each step does to memory</title>
<style>
)";

constexpr char const* kBody = R"(</style>
</head>
<body id="top">
<nav class="top" aria-label="parts">
<a href="#top"><b>inlay</b></a>
<a href="#transposes">transposes</a>
<a href="#GEMMs">GEMMs</a>
<a href="#tensor-cores">tensor cores</a>
<a href="#slices">fp32 on tensor cores</a>
<a href="#rooflines">rooflines</a>
<a href="#times">predicted</a>
<a href="#contents">steps</a>
<a href="#code">code</a>
</nav>
<main>
)";

}  // namespace

std::string report_page() {
  std::vector<Ladder> const ladders = page::ladders();
  std::string all_steps;
  for (Ladder const& ladder : ladders) all_steps += steps(ladder);
  return kHead + std::string(style()) + picture_style() + kBody + overview(ladders) + all_steps + shared_code(ladders) +
         "</main>\n</body>\n</html>\n";
}

void write_report(std::filesystem::path const& file) {
  check_writable(file);
  write_file(file, report_page());
}

void add_report_command(CLI::App& app) {
  auto* const command =
      app.add_subcommand("report", "a page of everything: ladders, rooflines, each step explained, its code");
  auto const file = std::make_shared<std::string>("report.html");
  command->add_option("--out", *file, "the file to write")->capture_default_str();
  command->callback([file] { write_report(*file); });
}

}  // namespace inlay::lab
