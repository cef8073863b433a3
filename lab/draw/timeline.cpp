#include "draw/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "draw/svg.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

using replay::Happens, replay::TraceEvent;

class Watcher {
 public:
  explicit Watcher(Recorder const& recorder) : recorder_(recorder) {}

  void operator()(TraceEvent const& e) {
    if (e.block != 0) return;
    now_ = {now_.at + 1, recorder_.fma, now_.accesses + (e.what == Happens::access)};
    if (threads_.size() <= e.thread) threads_.resize(e.thread + 1);
    Thread& thread = threads_[e.thread];
    switch (e.what) {
      case Happens::access:
        return note_access(e, thread);
      case Happens::commit:
        return note_commit(thread);
      case Happens::landed:
        for (std::size_t i = 0; i < e.count; ++i) note_landed(thread);
        return;
      case Happens::box:
        return note_box(e, thread);
      case Happens::arrive:  // what it has stored itself belongs to the stage that it now declares full
        if (e.operand->name.ends_with("full") && !thread.stored.empty()) own(phase(e), thread.stored);
        thread.stored.clear();
        return;
      case Happens::phase_ends:
        return note_phase(e);
      case Happens::store_box:
        store("TMA store", true, thread);
        return;
      case Happens::stored:
        for (std::size_t s : thread.stores) timeline.stores[s].end = now_;
        thread.stores.clear();
        return;
      default:
        return;
    }
  }

  // Stages of cp.async are told apart by where they begin.
  void name_stages() {
    std::set<std::uint64_t> begins;
    for (auto const& [use, begin] : begin_of_) begins.insert(begin);
    for (auto const& [use, begin] : begin_of_)
      timeline.uses[use].stage = fmt::format("stage {}", std::distance(begins.begin(), begins.find(begin)));
    timeline.askers.assign(askers_.begin(), askers_.end());
  }

  Timeline timeline;

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Thread {
    std::vector<std::uint64_t> copied, boxed,
        stored;                          // words of shared memory: in this group, this box, since it arrived
    std::size_t groups = 0, landed = 0;  // that copied anything
    std::vector<bool> empty;             // of each group
    std::vector<std::size_t> stores;     // under way
  };

  std::size_t new_use(std::string stage) {
    timeline.uses.push_back({std::move(stage), now_, {}, {}, {}, {}});
    return timeline.uses.size() - 1;
  }
  void own(std::size_t use, std::vector<std::uint64_t>& words) {
    for (std::uint64_t w : words) owner_[w] = use;
    words.clear();
  }

  void note_access(TraceEvent const& e, Thread& thread) {
    bool const shared = e.space == replay::Space::shared;
    if (!shared) {
      if (e.store && e.mechanism == Mechanism::plain) {
        Site const site{e.operand->name, e.space, true, e.mechanism, unsigned(e.bytes)};
        timeline.stores[store(name_of(site), false, thread)].end = now_;
      }
      return;
    }
    for (std::uint64_t w = e.address / 4; w <= (e.address + e.bytes - 1) / 4; ++w) {
      if (!e.store)
        note_read(w, e.mechanism);
      else if (e.mechanism == Mechanism::plain)
        thread.stored.push_back(w);
      else if (e.mechanism == Mechanism::tma)
        thread.boxed.push_back(w);
      else
        note_copied(w, thread, e.thread);
    }
  }
  void note_read(std::uint64_t word, Mechanism mechanism) {
    auto const owner = owner_.find(word);
    if (owner == owner_.end() || mechanism == Mechanism::tma) return;
    StageUse& use = timeline.uses[owner->second];
    if (!use.first_read.is_known()) use.first_read = now_;
    use.last_read = now_;
  }

  // The n-th groups of all threads are one filling.
  void note_copied(std::uint64_t word, Thread& thread, unsigned rank) {
    std::size_t const n = thread.empty.size();
    if (group_use_.size() <= n) group_use_.resize(n + 1, kNone);
    if (group_use_[n] == kNone) group_use_[n] = new_use("");
    auto const [begin, is_new] = begin_of_.try_emplace(group_use_[n], word);
    begin->second = std::min(begin->second, word);
    owner_[word] = group_use_[n];
    thread.copied.push_back(word);
    askers_.insert(rank);
    timeline.by = "cp.async";
  }
  void note_commit(Thread& thread) {
    thread.empty.push_back(thread.copied.empty());
    thread.copied.clear();
  }
  void note_landed(Thread& thread) {
    std::size_t const n = thread.landed++;
    if (!thread.empty[n]) timeline.uses[group_use_[n]].landed = now_;
  }

  // The filling that the mbarrier's current phase stands for.
  std::size_t phase(TraceEvent const& e) {
    auto const [at, is_new] = phases_.try_emplace({e.operand->name, e.offset}, kNone);
    if (at->second == kNone)
      at->second = new_use(e.operand->name.ends_with("full") ? fmt::format("stage {}", e.offset / 8) : "raw");
    return at->second;
  }
  void note_box(TraceEvent const& e, Thread& thread) {
    own(phase(e), thread.boxed);
    askers_.insert(e.thread);
    timeline.by = "TMA";
  }
  void note_phase(TraceEvent const& e) {
    std::string const name = fmt::format("stage {}", e.offset / 8);
    auto const at = phases_.find({e.operand->name, e.offset});
    if (at != phases_.end() && at->second != kNone) {
      timeline.uses[at->second].landed = now_;
      at->second = kNone;
    } else if (e.operand->name.ends_with("empty")) {
      auto const last = std::find_if(timeline.uses.rbegin(), timeline.uses.rend(),
                                     [&](StageUse const& use) { return use.stage == name && use.landed.is_known(); });
      if (last != timeline.uses.rend()) last->freed = now_;
    }
  }

  // Where it is counted.
  std::size_t store(std::string const& name, bool in_flight, Thread& thread) {
    auto& stores = timeline.stores;
    auto at = std::find_if(stores.begin(), stores.end(), [&](StoreSpan const& s) { return s.name == name; });
    if (at == stores.end()) at = stores.insert(at, {name, in_flight, now_, {}});
    auto const i = std::size_t(at - stores.begin());
    if (in_flight) thread.stores.push_back(i);
    return i;
  }

  Recorder const& recorder_;
  Moment now_;
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, std::size_t> owner_;  // of a word of shared memory: the filling that it came with
  std::vector<std::size_t> group_use_;                    // by the number of a thread's group
  std::map<std::size_t, std::uint64_t> begin_of_;         // of a filling by cp.async: its first word
  std::map<std::pair<std::string, std::size_t>, std::size_t> phases_;
  std::set<unsigned> askers_;
};

template <class P, class C>
Timeline timeline(Entry<P> const& entry, C const& c) {
  Recorder recorder;
  Watcher watcher(recorder);
  recorder.watch([&](TraceEvent const& e) { watcher(e); });
  replay_sound(entry, c, recorder);
  watcher.name_stages();
  if (watcher.timeline.uses.empty())
    throw UsageError(fmt::format("{} loads nothing asynchronously: it has no stages to draw", entry.info().name));
  return watcher.timeline;
}

// ---- the picture
using svg::kMargin, svg::kWidth;
constexpr std::size_t kMostUses = 12;
constexpr double kLabels = 78, kLeft = kMargin + kLabels, kSpace = kWidth - kMargin - kLeft;
constexpr double kTop = 136, kRow = 34, kBar = 24, kLeast = 4;

// From moments to x: what was done takes room, and so that what happens at once can be told apart, does every moment.
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

}  // namespace

std::size_t Timeline::most_in_flight() const {
  std::size_t most = 0;
  for (StageUse const& a : uses) {  // at the moment when this one is asked for
    std::size_t n = 0;
    for (StageUse const& b : uses) n += b.asked.at <= a.asked.at && !(b.landed.is_known() && b.landed.at <= a.asked.at);
    most = std::max(most, n);
  }
  return most;
}

Timeline timeline_of(Entry<Move> const& entry, Case const& c) { return timeline(entry, c); }
Timeline timeline_of(Entry<Gemm> const& entry, GemmCase const& c) { return timeline(entry, c); }

std::string draw_timeline(std::string const& title, Timeline const& t) {
  // The first fillings tell it all.
  std::map<std::string, std::size_t> fillings;
  std::map<std::string, std::vector<StageUse const*>> rows;
  std::map<std::string, std::vector<std::size_t>> numbers;
  std::vector<Moment> moments, steps;
  std::size_t shown = 0, of_stages = 0;
  for (StageUse const& use : t.uses) {
    bool const raw = use.stage == "raw";
    if (!raw && of_stages == kMostUses) break;
    rows[use.stage].push_back(&use);
    numbers[use.stage].push_back(raw ? rows["raw"].size() - 1 : of_stages);
    of_stages += !raw, ++shown;
    for (Moment const& m : {use.asked, use.landed, use.first_read, use.last_read, use.freed})
      if (m.is_known()) moments.push_back(m);
    if (!raw && use.first_read.is_known()) steps.push_back(use.first_read);
  }
  bool const whole = shown == t.uses.size();
  if (whole)
    for (StoreSpan const& s : t.stores) moments.push_back(s.begin), moments.push_back(s.end);
  Axis const x(moments);
  steps.push_back(x.moments().back());

  svg::Picture picture;
  picture.text(kMargin, 36, "head", title);
  picture.text(
      kMargin, 58, "",
      fmt::format("The first block as it is replayed: {} ask{} by {}; stages on their way at once: at most {} of {}.",
                  t.askers.size() == 1 ? fmt::format("thread {}", t.askers.front())
                                       : fmt::format("threads {}", svg::ranges(t.askers)),
                  t.askers.size() == 1 ? "s" : "", t.by, t.most_in_flight(), rows.size() - rows.count("raw")));
  double at = picture.legend(kMargin, 82, "held held-line", "asked for, on its way");
  at = picture.legend(at, 82, "tile", "landed");
  at = picture.legend(at, 82, "good", x.multiplies() ? "read and multiplied" : "read");
  at = picture.legend(at, 82, "spare", "read, not yet free");
  if (x.multiplies()) picture.legend(at, 82, "own", "multiply-adds");

  double y = kTop;
  double const bottom = kTop + kRow * double(rows.size() + x.multiplies() + (whole ? t.stores.size() : 0)) - 10;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    picture.line(x(steps[i]), kTop - 6, x(steps[i]), bottom + 4, "line");
    if (steps.size() < 3) continue;
    picture.text(x(steps[i]), kTop - 12, "s10 middle pale", std::to_string(i));
  }
  if (steps.size() >= 3) picture.text(kMargin, kTop - 12, "s10 pale", "k tile read");
  for (auto const& [stage, uses] : rows) add_stage(picture, uses, numbers[stage], x, y), y += kRow;
  if (x.multiplies()) add_fma(picture, x, steps, y), y += kRow;
  for (std::size_t i = 0; whole && i < t.stores.size(); ++i, y += kRow) {
    StoreSpan const& s = t.stores[i];
    picture.text(kMargin, y + kBar / 2 + 4, "", s.name.substr(0, s.name.find(" (")));
    picture.rect(kLeft, y, x.end() - kLeft, kBar, "cell");
    add_bar(picture, x(s.begin), x(s.end), y, s.in_flight ? "held held-line" : "own");
  }
  picture.arrow(kLeft, bottom + 16, x.end());
  picture.text(kLeft, bottom + 34, "pale s11",
               fmt::format("The order of the replay, no time: room is given to {}, a little to every event. Loads land "
                           "here as late as the waits",
                           x.multiplies() ? "multiply-adds" : "accesses"));
  picture.text(kLeft, bottom + 50, "pale s11",
               "allow, so a dashed bar is all the work that a load has to arrive in before anybody waits for it.");
  return picture.document(bottom + 68, title);
}

}  // namespace inlay::lab
