#include <inlay/replay/workspace.h>

#include <new>

namespace inlay::replay {

void Workspace::forget(std::size_t bytes) {
  kernel_ = releases_ = 0;
  writers_.assign(1, {});
  first_of_block_ = 1;
  word_.reset(static_cast<std::uint32_t*>(std::calloc(bytes / kWord + 1, sizeof(std::uint32_t))));
  if (!word_) throw std::bad_alloc();
  flags_.clear();
}

void Workspace::next_block(unsigned block) {
  block_ = block;
  first_of_block_ = writers_.size();
  known_.clear();
}

std::uint32_t Workspace::add(Event const& e) {
  Event const& last = writers_.back().event;
  if (writers_.size() == first_of_block_ || last.thread != e.thread || last.clock != e.clock ||
      last.operation != e.operation || writers_.back().release)
    writers_.push_back({kernel_, block_, e});
  return std::uint32_t(writers_.size() - 1);
}

std::string Workspace::conflict(std::uint32_t writer, unsigned t, Ordering const& ordering) const {
  Writer const& w = writers_[writer];
  if (w.kernel < kernel_) return {};
  if (w.block == block_)
    return ordering.before(w.event, t) ? "" : "written by " + ordering.who(w.event) + " since the last barrier or wait";
  for (Known const& k : known_)
    if (k.block == w.block && w.release && w.release <= k.release && ordering.before(k.since, t)) return {};
  return "written by block " + std::to_string(w.block) +
         (w.release ? ", whose flag this thread has not acquired" : ", which has released no flag since");
}

std::string Workspace::read(std::size_t offset, std::size_t bytes, unsigned t, Ordering const& ordering) const {
  std::uint32_t checked = 0;
  for (std::size_t i = offset / kWord; i < (offset + bytes) / kWord; ++i) {
    std::uint32_t const writer = word_[i];
    if (!writer && partly) continue;
    if (!writer) return "which nobody has written";
    if (writer == checked) continue;
    if (std::string how = conflict(writer, t, ordering); !how.empty()) return how;
    checked = writer;
  }
  return {};
}

std::string Workspace::write(std::size_t offset, std::size_t bytes, Event const& e, Ordering const& ordering) {
  std::string how;
  std::uint32_t const me = add(e);
  for (std::size_t i = offset / kWord; i < (offset + bytes) / kWord; ++i) {
    if (word_[i] && word_[i] != me && how.empty()) how = conflict(word_[i], e.thread, ordering);
    word_[i] = me;
  }
  return how;
}

void Workspace::release(std::size_t flag, unsigned t, Ordering const& ordering) {
  ++releases_;
  for (std::size_t i = first_of_block_; i < writers_.size(); ++i)
    if (!writers_[i].release && ordering.before(writers_[i].event, t)) writers_[i].release = releases_;
  std::uint32_t const me = add(ordering.now(t));
  Flag f{me, {{block_, releases_, {}}}};
  for (Known const& k : known_)
    if (ordering.before(k.since, t)) f.known.push_back(k);
  word_[flag / kWord] = me;
  flags_[flag] = std::move(f);
}

std::string Workspace::acquire(std::size_t flag, unsigned t, Ordering const& ordering) {
  auto const it = flags_.find(flag);
  if (it == flags_.end() || it->second.writer != word_[flag / kWord]) return read(flag, kWord, t, ordering);
  if (writers_[it->second.writer].kernel == kernel_)
    for (Known const& k : it->second.known) known_.push_back({k.block, k.release, ordering.now(t)});
  return {};
}

}  // namespace inlay::replay
