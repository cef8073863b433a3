#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "draw/svg.h"
#include "draw/timeline.h"

namespace inlay::lab {
namespace {

using svg::kMargin, svg::kWidth;
constexpr std::size_t kMostUses = 12;
constexpr double kLabels = 78, kLeft = kMargin + kLabels, kSpace = kWidth - kMargin - kLeft;
constexpr double kTop = 136, kRow = 34, kBar = 24, kLeast = 4;

// From moments to x: what was done takes space, and so that what happens at once can be told apart, does every moment.
class Axis {
 public:
  explicit Axis(std::vector<Moment> moments) : moments_(std::move(moments)) {
    std::sort(moments_.begin(), moments_.end(), [](Moment const& a, Moment const& b) { return a.at < b.at; });
    auto const same = [](Moment const& a, Moment const& b) { return a.at == b.at; };
    moments_.erase(std::unique(moments_.begin(), moments_.end(), same), moments_.end());
    multiplies_ = moments_.back().fma > moments_.front().fma;
    double const work = done(moments_.front(), moments_.back()), gaps = kLeast * double(moments_.size() - 1);
    double const scale = work > 0 ? std::max(0., kSpace - gaps) / work : 0;
    double const least =
        work > 0 ? std::min(kLeast, kSpace / double(moments_.size())) : kSpace / double(moments_.size());
    x_.push_back(kLeft);
    for (std::size_t i = 1; i < moments_.size(); ++i)
      x_.push_back(x_.back() + least + done(moments_[i - 1], moments_[i]) * scale);
  }

  double operator()(Moment const& m) const {
    auto const at = std::lower_bound(moments_.begin(), moments_.end(), m,
                                     [](Moment const& a, Moment const& b) { return a.at < b.at; });
    return at == moments_.end() ? x_.back() : x_[std::size_t(at - moments_.begin())];
  }
  bool multiplies() const { return multiplies_; }
  double end() const { return x_.back(); }
  std::vector<Moment> const& moments() const { return moments_; }

 private:
  double done(Moment const& a, Moment const& b) const {
    return double(multiplies_ ? b.fma - a.fma : b.accesses - a.accesses);
  }
  std::vector<Moment> moments_;
  std::vector<double> x_;
  bool multiplies_ = false;
};

void add_bar(svg::Picture& picture, double from, double to, double y, std::string const& classes,
             std::string const& words = "", char const* on = "ink") {
  if (to - from < .5) return;
  picture.rect(from, y, to - from, kBar, classes);
  if (svg::width_of(words, 10) + 2 <= to - from)
    picture.text((from + to) / 2, y + kBar / 2 + 4, fmt::format("s10 middle {}", on), words);
}

std::string millions(std::int64_t n) {
  return n < 1000000 ? fmt::format("{}k", (n + 500) / 1000) : fmt::format("{:.1f}M", double(n) / 1e6);
}

// All fillings of a stage in a row.
void add_stage(svg::Picture& picture, std::vector<StageUse const*> const& uses, std::vector<std::size_t> const& numbers,
               Axis const& x, double y) {
  picture.text(kMargin, y + kBar / 2 + 4, "", uses.front()->stage);
  picture.rect(kLeft, y, x.end() - kLeft, kBar, "cell");
  for (std::size_t i = 0; i < uses.size(); ++i) {
    StageUse const& use = *uses[i];
    std::string const number = std::to_string(numbers[i]);
    double const end = x.end(), landed = use.landed.is_known() ? x(use.landed) : end;
    add_bar(picture, x(use.asked), landed, y, "held held-line", number);
    if (!use.first_read.is_known()) continue;
    add_bar(picture, landed, x(use.first_read), y, "tile");
    add_bar(picture, x(use.first_read), x(use.last_read), y, "good", number, "on");
    double const free = use.freed.is_known()  ? x(use.freed)
                        : i + 1 < uses.size() ? x(uses[i + 1]->asked)
                                              : x(use.last_read);
    add_bar(picture, x(use.last_read), free, y, "spare");
  }
}

// When anybody multiplies, and how much, apart for each k tile.
void add_fma(svg::Picture& picture, Axis const& x, std::vector<Moment> const& steps, double y) {
  picture.text(kMargin, y + kBar / 2 + 4, "", "FMAs");
  picture.rect(kLeft, y, x.end() - kLeft, kBar, "cell");
  auto const& all = x.moments();
  auto const is_step = [&](Moment const& m) {
    return std::any_of(steps.begin(), steps.end(), [&](Moment const& s) { return s.at == m.at; });
  };
  for (std::size_t i = 0, end; i + 1 < all.size(); i = end) {
    end = i + 1;
    if (all[end].fma == all[i].fma) continue;
    while (end + 1 < all.size() && all[end + 1].fma > all[end].fma && !is_step(all[end])) ++end;
    add_bar(picture, x(all[i]) + .5, x(all[end]) - .5, y, "own", millions(all[end].fma - all[i].fma), "on");
  }
}

// The part of a timeline that is drawn: the first fillings tell it all.
struct Shown {
  struct Row {
    std::vector<StageUse const*> uses;
    std::vector<std::size_t> numbers;  // of their k tiles
  };
  std::map<std::string, Row> rows;     // by stage
  std::vector<Moment> moments, steps;  // steps: each k tile is begun to be read
  bool whole = true;
};
Shown shown(Timeline const& t) {
  Shown part;
  std::size_t tiles = 0, raw_tiles = 0;
  for (StageUse const& use : t.uses) {
    bool const raw = use.stage == "raw";
    if (!raw && tiles == kMostUses) {
      part.whole = false;
      break;
    }
    part.rows[use.stage].uses.push_back(&use);
    part.rows[use.stage].numbers.push_back(raw ? raw_tiles++ : tiles++);
    for (Moment const& m : {use.asked, use.landed, use.first_read, use.last_read, use.freed})
      if (m.is_known()) part.moments.push_back(m);
    if (!raw && use.first_read.is_known()) part.steps.push_back(use.first_read);
  }
  for (StoreSpan const& s : t.stores)
    if (part.whole) part.moments.push_back(s.begin), part.moments.push_back(s.end);
  return part;
}

void add_head(svg::Picture& picture, std::string const& title, Timeline const& t, std::size_t stages, bool multiplies) {
  bool const one = t.askers.size() == 1;
  picture.text(kMargin, 36, "head", title);
  picture.text(kMargin, 58, "",
               fmt::format("The first block, replayed: {} {} {} by {}; stages on their way at once: at most {} of {}.",
                           one ? "thread" : "threads", svg::ranges(t.askers), one ? "asks" : "ask", t.by,
                           t.most_in_flight(), stages));
  double at = picture.legend(kMargin, 82, "held held-line", "asked for, on its way");
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
  picture.text(kMargin, y + kBar / 2 + 4, "", store.name.substr(0, store.name.find(" (")));
  picture.rect(kLeft, y, x.end() - kLeft, kBar, "cell");
  add_bar(picture, x(store.begin), x(store.end), y, store.in_flight ? "held held-line" : "own");
}

}  // namespace

std::string draw_timeline(std::string const& title, Timeline const& t) {
  Shown const part = shown(t);
  Axis const x(part.moments);
  std::size_t const stores = part.whole ? t.stores.size() : 0;
  double const bottom = kTop + kRow * double(part.rows.size() + x.multiplies() + stores) - 10;
  svg::Picture picture;
  add_head(picture, title, t, part.rows.size() - part.rows.count("raw"), x.multiplies());
  add_steps(picture, x, part.steps, bottom);
  double y = kTop;
  for (auto const& [stage, row] : part.rows) add_stage(picture, row.uses, row.numbers, x, y), y += kRow;
  if (x.multiplies()) add_fma(picture, x, part.steps, y), y += kRow;
  for (std::size_t i = 0; i < stores; ++i, y += kRow) add_store(picture, t.stores[i], x, y);
  picture.arrow(kLeft, bottom + 16, x.end());
  picture.text(
      kLeft, bottom + 34, "pale s11",
      fmt::format("The order of the replay, no time: module is given to {}, a little to every event. Loads land "
                  "here as late as the waits",
                  x.multiplies() ? "multiply-adds" : "accesses"));
  picture.text(kLeft, bottom + 50, "pale s11",
               "allow, so a dashed bar is all the work that a load has to arrive in before anybody waits for it.");
  return picture.document(bottom + 68, title);
}

}  // namespace inlay::lab
