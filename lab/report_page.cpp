#include "report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <set>

#include "page/html.h"
#include "page/parts.h"
#include "page/pictures.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

using namespace page;

std::string contents(Ladder const& ladder) {
  std::string s = fmt::format("<h3>{}</h3>\n<ul>\n", ladder.title);
  for (Step const& step : ladder.steps) s += fmt::format("<li><a href=\"#{0}\">{0}</a></li>\n", step.name);
  return s + "</ul>\n";
}

// Of the public function at the ladder's problem.
std::string headline(Ladder const& ladder, char const* function, char const* than) {
  for (Row const& row : ladder.others)
    if (row.variant == function && row.share)
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
      "<p>{}: half of the steps are within {:.1f} %; the farthest off is <a href=\"#{}\">{}</a>, by {:.0f} %.</p>\n",
      ladder.title, 100 * off[off.size() / 2].first, off.back().second, off.back().second, 100 * off.back().first);
}

std::string shared_code(std::vector<Ladder const*> const& ladders) {
  std::set<std::string> stems;
  for (Ladder const* ladder : ladders)
    for (Step const& step : ladder->steps)
      for (std::string& stem : family_of(step.name)) stems.insert(std::move(stem));
  std::string s;
  for (std::string const& stem : stems)
    s += fmt::format(
        "<details><summary>{0}.h</summary>\n<pre id=\"code-{0}\" tabindex=\"0\"><code>{1}</code></pre></details>\n",
        stem, coloured(source_of(stem)));
  return s;
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

std::string steps(Ladder const& ladder) {
  std::string s = fmt::format("<h2 id=\"steps-{}\">{}, step by step</h2>\n", ladder.id, ladder.title);
  for (Step const& step : ladder.steps) s += section(step);
  return s;
}

constexpr char const* kLead =
    "Two ladders of CUDA kernels, from the naive one to the fast: transposes and products of matrices. The body that "
    "runs on the GPU is replayed here on a "
    "CPU, thread by thread; its accesses are counted, checked and priced, and set beside what a GPU measured.";

constexpr char const* kTerms =
    "<dl class=\"terms\">\n"
    "<div><dt>request</dt><dd>what the 32 threads of a warp ask of memory with one instruction</dd></div>\n"
    "<div><dt>sector</dt><dd>32 bytes: what global memory moves at least. 32 lanes of 4 bytes need 4</dd></div>\n"
    "<div><dt>wavefront</dt><dd>one pass over the 32 banks of shared memory. Lanes that want different words of one "
    "bank wait for another</dd></div>\n"
    "<div><dt>share</dt><dd>the throughput beside that of a copy of as many bytes, or of cuBLAS at the same letters, "
    "measured in the same run</dd></div>\n"
    "</dl>\n";

constexpr char const* kRooflines =
    "<p>No step is faster than the DRAM moves its bytes, or the multiply-add units do its work: the flat roof. Before "
    "that, what feeds the threads may hold it up: "
    "the L1, which passes a wavefront or a line in a clock, and for products the L2 too, if it is the busier. That is "
    "the slanted roof. So the axis is the work that a step gets done for each of those clocks, "
    "as the replay counts them: who has bank conflicts, scattered sectors or narrow loads stands on the left. Points "
    "are measured, dashes predicted; the numbers lead to the steps.</p>\n";

std::string page_of(Ladder const& moves, Ladder const& products) {
  return std::string(
             "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
             "charset=\"utf-8\"/>\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<meta name=\"color-scheme\" "
             "content=\"light dark\"/>\n"
             "<link rel=\"icon\" href=\"data:,\"/>\n<title>inlay: what each step does to memory</title>\n<style>\n") +
         style() + picture_style() +
         "</style>\n</head>\n<body>\n<nav class=\"top\" aria-label=\"parts\"><a href=\"#top\"><b>inlay</b></a><a "
         "href=\"#transposes\">transposes</a>"
         "<a href=\"#products\">products</a><a href=\"#rooflines\">rooflines</a><a href=\"#times\">predicted</a><a "
         "href=\"#contents\">steps</a><a href=\"#code\">code</a></nav>\n<main id=\"top\">\n"
         "<header>\n<h1>What each step does to memory</h1>\n<p class=\"lead\">" +
         kLead + "</p>\n<div class=\"headlines\">\n" + headline(moves, "transpose", "of the copy limit") +
         headline(products, "gemm", "of cuBLAS") +
         fmt::format("<div><strong>{}</strong> <span>kernels, replayed with every check</span></div>\n",
                     moves.steps.size() + products.steps.size()) +
         "</div>\n" + kTerms + "</header>\n" +
         ladder_section(moves,
                        "Share of the copy limit: the throughput of the faster of two plain copies of as many bytes is "
                        "1. A line across a bar is the model's prediction.") +
         ladder_section(products,
                        "Share of the throughput of cuBLAS in fp32, without TF32, at the same letters. A line across a "
                        "bar is the model's prediction.") +
         "<section id=\"rooflines\">\n<h2>Rooflines</h2>\n" + kRooflines + "<div class=\"pair\">\n<figure>\n" +
         roofline(moves) + "<figcaption>Transposes</figcaption></figure>\n<figure>\n" + roofline(products) +
         "<figcaption>Products</figcaption></figure>\n</div>\n</section>\n<section id=\"times\">\n<h2>Predicted beside "
         "measured</h2>\n" +
         "<p>Predicted without a GPU, from the counts of the replay and a few numbers about an H200.</p>\n" +
         how_far_off(moves) + how_far_off(products) + "<div class=\"pair\">\n" + times(moves) + times(products) +
         "</div>\n</section>\n<nav id=\"contents\" aria-label=\"steps\">\n<h2>The steps</h2>\n" + contents(moves) +
         contents(products) + "</nav>\n" + steps(moves) + steps(products) +
         "<section id=\"code\">\n<h2>What the steps share</h2>\n"
         "<p>Steps that differ only in a layout, a copy operation or a launch fact share their body.</p>\n" +
         shared_code({&moves, &products}) + "</section>\n</main>\n</body>\n</html>\n";
}

}  // namespace

std::string report_page() { return page_of(page::moves(), page::products()); }

void write_report(std::filesystem::path const& file) {
  std::string const page = report_page();
  std::ofstream out(file, std::ios::binary);
  if (!(out << page).flush()) throw UsageError(fmt::format("{} cannot be written", file.string()));
}

void add_report_command(CLI::App& app) {
  auto* const command =
      app.add_subcommand("report", "a page of everything: ladders, rooflines, each step explained, its code");
  auto const file = std::make_shared<std::string>("report.html");
  command->add_option("--out", *file, "the file to write")->capture_default_str();
  command->callback([file] { write_report(*file); });
}

}  // namespace inlay::lab
