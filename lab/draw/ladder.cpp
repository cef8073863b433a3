#include "draw/ladder.h"

#include <fmt/format.h>

#include <algorithm>

#include "draw/svg.h"
#include "problems/kernels.h"
#include "results/results.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// Kernel names are left of x = kBars, bars right of it, times at the right margin.
constexpr double kWidth = 960, kMargin = 28, kBars = 300, kBarsWidth = 540, kTop = 104;
constexpr double kRowHeight = 22, kBarHeight = 16, kHeadingHeight = 20, kGroupGap = 12;
constexpr double kLabelledInside = 48;  // the shortest bar that has its share written inside

struct Group {
  char const *title, *classes;
};
constexpr Group kGroups[] = {
    {"copies", "plain"}, {"the tutorials' steps", "good"}, {"inlay", "own"}, {"baselines", "peer"}};

std::size_t group_of(std::string const& kernel) {
  Info<Copy> const* const info = info_of<CopyCase>(kernel);
  if (!info) return kernel == "cudaMemcpyAsync" ? 0 : kernel == "transpose" ? 2 : 3;
  return is_copy(*info) ? 0 : info->origin == Origin::tutorial ? 1 : 2;
}

// The kernel's name, its share as a bar and as a number, and its time; for a row without numbers, its check result.
void add_bar(svg::Picture& picture, Row const& row, double y, char const* classes, double scale) {
  double const baseline = y + kBarHeight - 4;
  picture.text(kBars - 10, baseline, "end mono", row.kernel);
  if (!row.share) return picture.text(kBars + 6, baseline, "pale mono", row.status());
  double const length = *row.share * scale;
  picture.rect(kBars, y, length, kBarHeight, classes);
  bool const inside = length >= kLabelledInside;
  double const end = inside ? std::min(length, scale) - 6 : length + 6;  // left of the copy limit's line
  picture.text(kBars + end, baseline, inside ? "mono end on" : "mono", fmt::format("{:.3f}", *row.share));
  picture.text(kWidth - kMargin, baseline, "pale mono end", fmt::format("{:.3f} ms", row.ms_median.value_or(0)));
}

// Vertical lines at each quarter of the copy limit, with their shares below.
void add_axis(svg::Picture& picture, double scale, double bottom) {
  for (int quarter = 0; quarter <= 4; ++quarter) {
    double const x = kBars + quarter * scale / 4;
    picture.line(x, kTop - 8, x, bottom, "line");
    picture.text(x, bottom + 16, "s11 middle", fmt::format("{:.2f}", quarter / 4.));
  }
  picture.text(kBars + scale, kTop - 14, "s11 middle", "copy limit");
}

std::string ladder(CopyCase const& c, Results const& ours, std::vector<Row> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](Row const& a, Row const& b) { return group_of(a.kernel) < group_of(b.kernel); });
  double longest = 1;
  for (Row const& row : rows) longest = std::max(longest, row.share.value_or(0));
  double const scale = kBarsWidth / longest;
  std::vector<double> top;  // the y of each row
  double y = kTop - kGroupGap;
  for (std::size_t i = 0; i < rows.size(); ++i, y += kRowHeight) {
    if (i == 0 || group_of(rows[i].kernel) != group_of(rows[i - 1].kernel)) y += kGroupGap + kHeadingHeight;
    top.push_back(y);
  }
  double const bottom = y + 6, height = bottom + 64;

  svg::Picture picture;
  std::string const title = "Transposes against a copy: " + c.sentence();
  picture.text(kMargin, 42, "head", title);
  picture.text(kMargin, 64, "pale",
               "Share of the copy limit: the throughput of the faster of two plain copies of as many bytes is 1.");
  add_axis(picture, scale, bottom);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto const& [name, classes] = kGroups[group_of(rows[i].kernel)];
    if (i == 0 || group_of(rows[i].kernel) != group_of(rows[i - 1].kernel))
      picture.text(kBars - 10, top[i] - 7, fmt::format("end s11 bold {}", classes), name);
    add_bar(picture, rows[i], top[i], classes, scale);
  }
  picture.line(kBars + scale, kTop - 8, kBars + scale, bottom, "rule");
  picture.text(kMargin, height - 18, "pale",
               fmt::format("{}, {}; every result verified bitwise, medians.", ours.device, ours.date.substr(0, 10)));
  return picture.document(height, title, kWidth);
}

}  // namespace

std::string draw_ladder(CopyCase const& c) {
  Recorded const recorded = load_recorded();
  auto rows = recorded.rows(c);
  if (rows.empty())
    throw UsageError(
        fmt::format("{} has no row for {}", (results_dir() / "h200" / "transpose.json").string(), c.sentence()));
  return ladder(c, recorded.ours, std::move(rows));
}

}  // namespace inlay::lab
