#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "draw/svg.h"
#include "draw/timeline.h"

namespace inlay::lab {
namespace {

using svg::kMargin, svg::kWidth;
constexpr std::size_t kMostUses = 12;  // uses of stages that are drawn, without those named "raw"
constexpr double kLabels = 78, kLeft = kMargin + kLabels, kSpace = kWidth - kMargin - kLeft;
constexpr double kTop = 136, kRow = 34, kBar = 24;
constexpr double kGap = 4;  // that every moment adds to the axis

// Maps moments to x. The distance between two moments is proportional to the FMAs between them, or, if the kernel has
// no FMAs, to the accesses; and every moment adds a little, so that moments without work between them can be told
// apart.
class Axis {
 public:
  explicit Axis(std::vector<Moment> moments) : moments_(std::move(moments)) {
    std::ranges::sort(moments_, {}, &Moment::at);
    auto const duplicates = std::ranges::unique(moments_, {}, &Moment::at);
    moments_.erase(duplicates.begin(), duplicates.end());
    multiplies_ = moments_.back().fma > moments_.front().fma;
    double const work = work_between(moments_.front(), moments_.back()), even = kSpace / double(moments_.size());
    double const scale = work > 0 ? std::max(0., kSpace - kGap * double(moments_.size() - 1)) / work : 0;
    double const gap = work > 0 ? std::min(kGap, even) : even;
    x_.push_back(kLeft);
    for (std::size_t i = 1; i < moments_.size(); ++i)
      x_.push_back(x_.back() + gap + work_between(moments_[i - 1], moments_[i]) * scale);
  }

  double operator()(Moment const& m) const {
    auto const at = std::ranges::lower_bound(moments_, m.at, {}, &Moment::at);
    return at == moments_.end() ? x_.back() : x_[std::size_t(at - moments_.begin())];
  }
  bool multiplies() const { return multiplies_; }
  double end() const { return x_.back(); }
  std::vector<Moment> const& moments() const { return moments_; }

 private:
  double work_between(Moment const& a, Moment const& b) const {
    return double(multiplies_ ? b.fma - a.fma : b.accesses - a.accesses);
  }
  std::vector<Moment> moments_;
  std::vector<double> x_;
  bool multiplies_ = false;
};

void add_bar(svg::Picture& picture, double from, double to, double y, std::string const& classes,
             std::string const& label = "", char const* text_colour = "ink") {
  if (to - from < .5) return;
  picture.rect(from, y, to - from, kBar, classes);
  if (svg::width_of(label, 10) + 2 <= to - from)
    picture.text((from + to) / 2, y + kBar / 2 + 4, fmt::format("s10 middle {}", text_colour), label);
}

// The label at the left of a row, and the row's background.
void add_row(svg::Picture& picture, std::string_view label, Axis const& x, double y) {
  picture.text(kMargin, y + kBar / 2 + 4, "", label);
  picture.rect(kLeft, y, x.end() - kLeft, kBar, "cell");
}

std::string millions(std::int64_t n) {
  return n < 1000000 ? fmt::format("{}k", (n + 500) / 1000) : fmt::format("{:.1f}M", double(n) / 1e6);
}

// A use that is drawn, and the number of its k tile.
struct NumberedUse {
  StageUse const* use;
  std::size_t k_tile;
};

// The uses of a stage in a row.
void add_stage(svg::Picture& picture, std::vector<NumberedUse> const& uses, Axis const& x, double y) {
  add_row(picture, uses.front().use->stage, x, y);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    StageUse const& use = *uses[i].use;
    std::string const number = std::to_string(uses[i].k_tile);
    double const landed = use.landed.is_known() ? x(use.landed) : x.end();
    add_bar(picture, x(use.asked), landed, y, "held held-line", number);
    if (!use.first_read.is_known()) continue;
    add_bar(picture, landed, x(use.first_read), y, "tile");
    add_bar(picture, x(use.first_read), x(use.last_read), y, "good", number, "on");
    double const free = use.freed.is_known()  ? x(use.freed)
                        : i + 1 < uses.size() ? x(uses[i + 1].use->asked)
                                              : x(use.last_read);
    add_bar(picture, x(use.last_read), free, y, "spare");
  }
}

// The FMAs of each k tile, as bars. `steps`: the moments at which a k tile is first read.
void add_fma(svg::Picture& picture, Axis const& x, std::vector<Moment> const& steps, double y) {
  add_row(picture, "FMAs", x, y);
  auto const& all = x.moments();
  auto const is_step = [&](Moment const& m) { return std::ranges::find(steps, m.at, &Moment::at) != steps.end(); };
  for (std::size_t i = 0, end; i + 1 < all.size(); i = end) {
    end = i + 1;
    if (all[end].fma == all[i].fma) continue;
    while (end + 1 < all.size() && all[end + 1].fma > all[end].fma && !is_step(all[end])) ++end;
    add_bar(picture, x(all[i]) + .5, x(all[end]) - .5, y, "own", millions(all[end].fma - all[i].fma), "on");
  }
}

// The part of a timeline that is drawn: the first uses, and the stores if all uses are drawn.
struct Excerpt {
  std::map<std::string, std::vector<NumberedUse>> stages;  // by name
  std::vector<StoreSpan> stores;
  std::vector<Moment> moments, steps;  // steps: the first read of each k tile
};
Excerpt excerpt_of(Timeline const& t) {
  Excerpt shown{.stages = {}, .stores = t.stores, .moments = {}, .steps = {}};
  std::size_t tiles = 0, raw_tiles = 0;
  for (StageUse const& use : t.uses) {
    bool const raw = use.stage == "raw";
    if (!raw && tiles == kMostUses) {
      shown.stores.clear();
      break;
    }
    shown.stages[use.stage].push_back({&use, raw ? raw_tiles++ : tiles++});
    for (Moment const& m : {use.asked, use.landed, use.first_read, use.last_read, use.freed})
      if (m.is_known()) shown.moments.push_back(m);
    if (!raw && use.first_read.is_known()) shown.steps.push_back(use.first_read);
  }
  for (StoreSpan const& s : shown.stores) shown.moments.push_back(s.begin), shown.moments.push_back(s.end);
  return shown;
}

void add_head(svg::Picture& picture, std::string const& title, Timeline const& t, std::size_t stages, bool multiplies) {
  bool const one = t.askers.size() == 1;
  picture.text(kMargin, 36, "head", title);
  picture.text(kMargin, 58, "",
               fmt::format("The first block, replayed: {} {} {} loads by {}; at most {} of {} stages are in flight.",
                           one ? "thread" : "threads", svg::ranges(t.askers), one ? "issues" : "issue", t.by,
                           t.most_in_flight(), stages));
  double at = picture.legend(kMargin, 82, "held held-line", "in flight");
  at = picture.legend(at, 82, "tile", "landed");
  at = picture.legend(at, 82, "good", multiplies ? "read and multiplied" : "read");
  at = picture.legend(at, 82, "spare", "read, not yet free");
  if (multiplies) picture.legend(at, 82, "own", "multiply-adds");
}

void add_steps(svg::Picture& picture, Axis const& x, std::vector<Moment> const& steps, double bottom) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    picture.line(x(steps[i]), kTop - 6, x(steps[i]), bottom + 4, "line");
    if (steps.size() > 1) picture.text(x(steps[i]), kTop - 12, "s10 middle pale", std::to_string(i));
  }
  if (steps.size() > 1) picture.text(kMargin, kTop - 12, "s10 pale", "k tile read");
}

void add_store(svg::Picture& picture, StoreSpan const& store, Axis const& x, double y) {
  add_row(picture, store.name.substr(0, store.name.find(" (")), x, y);
  add_bar(picture, x(store.begin), x(store.end), y, store.in_flight ? "held held-line" : "own");
}

}  // namespace

std::string draw_timeline(std::string const& title, Timeline const& t) {
  Excerpt const shown = excerpt_of(t);
  Axis const x(shown.moments);
  double const bottom = kTop + kRow * double(shown.stages.size() + x.multiplies() + shown.stores.size()) - 10;
  svg::Picture picture;
  add_head(picture, title, t, shown.stages.size() - shown.stages.count("raw"), x.multiplies());
  add_steps(picture, x, shown.steps, bottom);
  double y = kTop;
  for (auto const& [stage, uses] : shown.stages) add_stage(picture, uses, x, y), y += kRow;
  if (x.multiplies()) add_fma(picture, x, shown.steps, y), y += kRow;
  for (StoreSpan const& store : shown.stores) add_store(picture, store, x, y), y += kRow;
  picture.arrow(kLeft, bottom + 16, x.end());
  picture.text(
      kLeft, bottom + 34, "pale s11",
      fmt::format("The order of the replay, not time: width is proportional to {}, plus a little for each event. "
                  "Loads land as late",
                  x.multiplies() ? "multiply-adds" : "accesses"));
  picture.text(kLeft, bottom + 50, "pale s11",
               "as the waits allow, so a dashed bar spans all the work that the load can overlap.");
  return picture.document(bottom + 68, title);
}

}  // namespace inlay::lab
