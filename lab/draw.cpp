#include "draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "results.h"
#include "usage_error.h"
#include "variants.h"

namespace inlay::lab {
namespace {

// In user units, which are pixels at the natural size. Names end where the bars begin; times stand right of them.
constexpr int kWidth = 960, kMargin = 28, kBars = 300, kBarsWidth = 540, kTop = 104;
constexpr int kRowHeight = 22, kBarHeight = 16, kHeadingHeight = 20, kGroupGap = 12;
constexpr int kLabelledInside = 48;  // a bar of this length has room for its value

constexpr char const *kInk = "#24292f", *kPale = "#6e7781", *kGrid = "#e4e7eb";
constexpr char const* kSans = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";
constexpr char const* kMono = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

struct Group {
  char const *title, *colour;
};
constexpr Group kGroups[] = {
    {"copies", "#8b949e"}, {"the tutorials' steps", "#4a7ab0"}, {"inlay", "#2f8f5b"}, {"peers", "#d5812f"}};

std::size_t group_of(std::string const& variant) {
  if (is_copy(variant) || variant == "cudaMemcpyAsync") return 0;
  if (is_tutorial_step(variant)) return 1;
  return variant.starts_with("transpose") ? 2 : 3;
}

std::string escaped(std::string const& text) {
  std::string s;
  for (char c : text) s += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return s;
}

std::string text(double x, double y, char const* attributes, std::string const& content) {
  return fmt::format("<text x=\"{:g}\" y=\"{:g}\" {}>{}</text>\n", x, y, attributes, escaped(content));
}

// A name, its bar with the share, and its time; a row without numbers says why in a word.
std::string bar(Row const& row, double y, char const* colour, double scale) {
  double const baseline = y + kBarHeight - 4;
  std::string s = text(kBars - 10, baseline, "text-anchor=\"end\"", row.variant);
  if (!row.share)
    return s + text(kBars + 6, baseline, fmt::format("fill=\"{}\"", kPale).c_str(),
                    row.verdict.substr(0, row.verdict.find(':')));
  double const length = *row.share * scale;
  s += fmt::format("<rect x=\"{}\" y=\"{:g}\" width=\"{:.1f}\" height=\"{}\" rx=\"2\" fill=\"{}\"/>\n", kBars, y,
                   length, kBarHeight, colour);
  bool const inside = length >= kLabelledInside;
  double const end = inside ? std::min(length, scale) - 6 : length + 6;  // no value crosses the copy limit's line
  s += text(kBars + end, baseline, inside ? "text-anchor=\"end\" fill=\"#ffffff\"" : "",
            fmt::format("{:.3f}", *row.share));
  return s + text(kWidth - kMargin, baseline, fmt::format("text-anchor=\"end\" fill=\"{}\"", kPale).c_str(),
                  fmt::format("{:.3f} ms", row.ms_median.value_or(0)));
}

std::string vertical(double x, double bottom, char const* colour, double width) {
  return fmt::format(
      "<line x1=\"{0:g}\" y1=\"{1}\" x2=\"{0:g}\" y2=\"{2:g}\" stroke=\"{3}\" stroke-width=\"{4:g}\"/>\n", x, kTop - 8,
      bottom, colour, width);
}

// Under the bars: lines at the quarters and what they stand for.
std::string axis(double scale, double bottom) {
  std::string s;
  for (int quarter = 0; quarter <= 4; ++quarter) {
    double const x = kBars + quarter * scale / 4;
    s += vertical(x, bottom, kGrid, 1);
    s += text(x, bottom + 16, "text-anchor=\"middle\"", fmt::format("{:.2f}", quarter / 4.));
  }
  return s + text(kBars + scale, kTop - 14, "text-anchor=\"middle\"", "copy limit");
}

std::string ladder(Case const& c, Results const& ours, std::vector<Row> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](Row const& a, Row const& b) { return group_of(a.variant) < group_of(b.variant); });
  double longest = 1;
  for (Row const& row : rows) longest = std::max(longest, row.share.value_or(0));
  double const scale = kBarsWidth / longest;

  std::string bars, headings;
  double y = kTop - kGroupGap;
  for (std::size_t i = 0; i < rows.size(); ++i, y += kRowHeight) {
    std::size_t const group = group_of(rows[i].variant);
    auto const& [title, colour] = kGroups[group];
    if (i == 0 || group != group_of(rows[i - 1].variant)) {
      y += kGroupGap + kHeadingHeight;
      headings += text(kBars - 10, y - 7, fmt::format("text-anchor=\"end\" fill=\"{}\"", colour).c_str(), title);
    }
    bars += bar(rows[i], y, colour, scale);
  }
  int const bottom = int(y) + 6, height = bottom + 64;
  std::string const title = "Transposes against a copy: " + c.sentence();
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
             "role=\"img\" font-family=\"{2}\" fill=\"{3}\">\n<title>{4}</title>\n"
             "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
             kWidth, height, kSans, kInk, escaped(title)) +
         text(kMargin, 42, "font-size=\"20\" font-weight=\"600\"", title) +
         text(kMargin, 64, fmt::format("font-size=\"13\" fill=\"{}\"", kPale).c_str(),
              "Share of the copy limit: the throughput of the faster of two plain copies of as many bytes is 1.") +
         "<g font-size=\"11.5\">\n" + axis(scale, bottom) + "</g>\n<g font-size=\"11.5\" font-weight=\"600\">\n" +
         headings + fmt::format("</g>\n<g font-size=\"12\" font-family=\"{}\">\n", kMono) + bars + "</g>\n" +
         vertical(kBars + scale, bottom, kInk, 1.5) +
         text(kMargin, height - 18, fmt::format("font-size=\"12\" fill=\"{}\"", kPale).c_str(),
              fmt::format("{}, {}; every result verified bitwise, medians.", ours.device, ours.date.substr(0, 10))) +
         "</svg>\n";
}

}  // namespace

void draw_ladder(Case const& c, std::filesystem::path const& file) {
  Recorded const recorded = load_recorded();
  auto rows = recorded.rows(c);
  if (rows.empty())
    throw UsageError(
        fmt::format("{} has no row for {}", (results_dir() / "h200" / "transpose.json").string(), c.sentence()));
  std::ofstream out(file);
  if (!(out << ladder(c, recorded.ours, std::move(rows))).flush())
    throw UsageError(fmt::format("{} cannot be written", file.string()));
}

}  // namespace inlay::lab
