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
    now_ = {now_.at + 1, recorder_.fma + recorder_.mma_fma + recorder_.wgmma_fma,
            now_.accesses + (e.what == Happens::access)};
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
      case Happens::arrive:  // at a full barrier: the stage also has the words that the thread has stored itself
        is_mixed |= e.operand->name.ends_with("full") && !begin_of_.empty();
        if (e.operand->name.ends_with("full") && !thread.stored.empty()) assign(thread.stored, phase_use(e));
        thread.stored.clear();
        return;
      case Happens::phase_ends:
        return note_phase(e);
      case Happens::store_box:
        note_store("TMA store", true, thread);
        return;
      case Happens::stored:
        for (std::size_t s : thread.stores) timeline.stores[s].end = now_;
        thread.stores.clear();
        return;
      default:
        return;
    }
  }

  // Names the stages of cp.async, which are distinguished by their lowest addresses.
  void name_stages() {
    std::set<std::uint64_t> begins;
    for (auto const& [use, begin] : begin_of_) begins.insert(begin);
    for (auto const& [use, begin] : begin_of_)
      timeline.uses[use].stage = fmt::format("stage {}", std::distance(begins.begin(), begins.find(begin)));
    timeline.askers.assign(askers_.begin(), askers_.end());
  }

  Timeline timeline;
  bool is_mixed =
      false;  // mbarriers tell of stages that cp.async fills, so that groups of several threads are not one stage

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Thread {
    // Words of shared memory, by address / 4.
    std::vector<std::uint64_t> copied;  // by cp.async since the last commit
    std::vector<std::uint64_t> boxed;   // by the TMA box that is being issued
    std::vector<std::uint64_t> stored;  // by stores since the last arrival
    std::vector<bool> is_empty;         // for each committed group: it copies nothing
    std::size_t landed = 0;             // groups
    std::vector<std::size_t> stores;    // indices in Timeline::stores of TMA stores in flight
  };

  std::size_t new_use(std::string stage) {
    timeline.uses.push_back({std::move(stage), now_, {}, {}, {}, {}});
    return timeline.uses.size() - 1;
  }
  void assign(std::vector<std::uint64_t>& words, std::size_t use) {
    for (std::uint64_t w : words) use_of_word_[w] = use;
    words.clear();
  }

  void note_access(TraceEvent const& e, Thread& thread) {
    if (e.space != replay::Space::shared) {
      if (e.store && e.mechanism == Mechanism::plain)
        note_store(name_of(Site{e.operand->name, e.space, true, e.mechanism, unsigned(e.bytes)}), false, thread).end =
            now_;
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
    auto const at = use_of_word_.find(word);
    if (at == use_of_word_.end() || mechanism == Mechanism::tma) return;
    StageUse& use = timeline.uses[at->second];
    if (!use.first_read.is_known()) use.first_read = now_;
    use.last_read = now_;
  }

  // The n-th groups of all threads fill one stage.
  void note_copied(std::uint64_t word, Thread& thread, unsigned rank) {
    std::size_t const n = thread.is_empty.size();
    if (group_use_.size() <= n) group_use_.resize(n + 1, kNone);
    if (group_use_[n] == kNone) group_use_[n] = new_use("");
    auto const [begin, is_new] = begin_of_.try_emplace(group_use_[n], word);
    begin->second = std::min(begin->second, word);
    use_of_word_[word] = group_use_[n];
    thread.copied.push_back(word);
    askers_.insert(rank);
    timeline.by = "cp.async";
  }
  void note_commit(Thread& thread) {
    thread.is_empty.push_back(thread.copied.empty());
    thread.copied.clear();
  }
  void note_landed(Thread& thread) {
    std::size_t const n = thread.landed++;
    if (!thread.is_empty[n]) timeline.uses[group_use_[n]].landed = now_;
  }

  // The use that the current phase of an mbarrier fills.
  std::size_t phase_use(TraceEvent const& e) {
    auto const [at, is_new] = phase_use_.try_emplace({e.operand->name, e.offset}, kNone);
    if (at->second == kNone)
      at->second = new_use(e.operand->name.ends_with("full") ? fmt::format("stage {}", e.offset / 8) : "raw");
    return at->second;
  }
  void note_box(TraceEvent const& e, Thread& thread) {
    assign(thread.boxed, phase_use(e));
    askers_.insert(e.thread);
    timeline.by = "TMA";
  }
  void note_phase(TraceEvent const& e) {
    std::string const name = fmt::format("stage {}", e.offset / 8);
    auto const at = phase_use_.find({e.operand->name, e.offset});
    if (at != phase_use_.end() && at->second != kNone) {
      timeline.uses[at->second].landed = now_;
      at->second = kNone;
    } else if (e.operand->name.ends_with("empty")) {
      auto const last = std::find_if(timeline.uses.rbegin(), timeline.uses.rend(),
                                     [&](StageUse const& use) { return use.stage == name && use.landed.is_known(); });
      if (last != timeline.uses.rend()) last->freed = now_;
    }
  }

  // All stores of one name share a span, from the first one's begin.
  StoreSpan& note_store(std::string const& name, bool in_flight, Thread& thread) {
    auto& stores = timeline.stores;
    auto at = std::ranges::find(stores, name, &StoreSpan::name);
    if (at == stores.end()) at = stores.insert(at, {name, in_flight, now_, {}});
    if (in_flight) thread.stores.push_back(std::size_t(at - stores.begin()));
    return *at;
  }

  Recorder const& recorder_;
  Moment now_;
  std::vector<Thread> threads_;
  // Indices in Timeline::uses.
  std::unordered_map<std::uint64_t, std::size_t> use_of_word_;            // that filled the word of shared memory
  std::vector<std::size_t> group_use_;                                    // by the number of a thread's group
  std::map<std::pair<std::string, std::size_t>, std::size_t> phase_use_;  // by the mbarrier's operand and offset
  std::map<std::size_t, std::uint64_t> begin_of_;                         // the lowest word of a use by cp.async
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
  if (watcher.is_mixed)
    throw UsageError(
        fmt::format("{} loads by cp.async in warps that alternate, which is not drawn", entry.info().name));
  return watcher.timeline;
}

}  // namespace

std::size_t Timeline::most_in_flight() const {
  std::size_t most = 0;
  for (StageUse const& a : uses) {
    std::size_t in_flight = 0;  // when the first load of `a` is issued
    for (StageUse const& b : uses)
      in_flight += b.asked.at <= a.asked.at && !(b.landed.is_known() && b.landed.at <= a.asked.at);
    most = std::max(most, in_flight);
  }
  return most;
}

Timeline timeline_of(Entry<Copy> const& entry, CopyCase const& c) { return timeline(entry, c); }
Timeline timeline_of(Entry<Gemm> const& entry, GemmCase const& c) { return timeline(entry, c); }

}  // namespace inlay::lab
