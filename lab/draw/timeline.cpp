#include "draw/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

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

Timeline timeline_of(Entry<Copy> const& entry, TransposeCase const& c) { return timeline(entry, c); }
Timeline timeline_of(Entry<Gemm> const& entry, GemmCase const& c) { return timeline(entry, c); }

}  // namespace inlay::lab
