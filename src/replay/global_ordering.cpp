#include <inlay/replay/global_ordering.h>

#include <algorithm>
#include <new>

namespace inlay::replay {
namespace {
AccessHistory::Words zeros(std::size_t n) {
  AccessHistory::Words words(static_cast<std::uint32_t*>(std::calloc(n, sizeof(std::uint32_t))));
  if (!words) throw std::bad_alloc();
  return words;
}
}  // namespace

AccessHistory::AccessHistory(std::size_t bytes, std::size_t granule_bytes, bool initialised)
    : granule_bytes(granule_bytes),
      initialised(initialised),
      writer(zeros(bytes / granule_bytes + 1)),
      accessed(zeros(bytes / granule_bytes + 1)) {}

void GlobalOrdering::forget() {
  kernel_ = releases_ = 0;
  accesses_.assign(1, {});
  first_of_block_ = 1;
  nodes_.clear();
  nodes_of_earlier_kernels_ = 0;
  flags_.clear();
}
void GlobalOrdering::next_kernel() {
  ++kernel_;
  nodes_of_earlier_kernels_ += std::uint32_t(nodes_.size());
  nodes_.clear();
}
void GlobalOrdering::next_block(unsigned block) {
  block_ = block;
  first_of_block_ = accesses_.size();
  acquired_.clear();
}

std::uint32_t GlobalOrdering::add(Event const& e, Proxy proxy) {
  if (accesses_.size() == first_of_block_ || accesses_.back().event != e || accesses_.back().release)
    accesses_.push_back({kernel_, block_, e, proxy});
  return std::uint32_t(accesses_.size() - 1);
}

bool GlobalOrdering::ordered(Access const& a, unsigned t, Ordering const& ordering) const {
  if (a.kernel < kernel_) return true;
  if (a.block == block_) return ordering.before(a.event, t);
  return a.release && std::any_of(acquired_.begin(), acquired_.end(), [&](Release const& k) {
           return k.block == a.block && a.release <= k.release && ordering.before(k.since, t);
         });
}
std::string GlobalOrdering::conflict(std::uint32_t access, char const* did, unsigned t, Ordering const& ordering,
                                     Proxy proxy) const {
  Access const& a = accesses_[access];
  if (a.kernel < kernel_) return {};
  bool const here = a.block == block_;
  std::string const by = (a.event.is_atomic() ? "changed atomically" : did) + std::string(" by ") +
                         (here ? ordering.who(a.event) : "block " + std::to_string(a.block));
  if (!ordered(a, t, ordering))
    return by + (here        ? " since the last barrier or wait"
                 : a.release ? ", whose flag this thread has not acquired"
                             : ", which has released no flag since");
  // fence_proxy_async() is a fence of shared memory only.
  return proxy == Proxy::async && a.proxy == Proxy::generic ? by + " in this kernel, which TMA may not see yet" : "";
}

// An access is redundant beside a later access of the same kind that is ordered after it: whatever comes after the
// later access comes after both.
std::uint32_t GlobalOrdering::prepend(std::uint32_t list, std::uint32_t access, Ordering const& ordering) {
  Event const& e = accesses_[access].event;
  for (; is_current(list); list = node(list).next) {
    Access const& head = accesses_[node(list).access];
    if (node(list).access == access) return list;
    if (head.event.is_atomic() != e.is_atomic() || (e.is_atomic() && head.event.operation != e.operation)) break;
    if (!ordered(head, e.thread, ordering)) break;
  }
  nodes_.push_back({access, is_current(list) ? list : 0});
  return nodes_of_earlier_kernels_ + std::uint32_t(nodes_.size());
}

std::string GlobalOrdering::read(AccessHistory& history, std::size_t offset, std::size_t bytes, Event const& e,
                                 Ordering const& ordering, Proxy proxy) {
  std::string how;
  std::uint32_t const me = add(e, proxy);
  std::uint32_t checked = 0, old = 0, list = 0;
  for (std::size_t i = offset / history.granule_bytes; i < (offset + bytes) / history.granule_bytes; ++i) {
    std::uint32_t const writer = history.writer[i], head = history.accessed[i];
    if (how.empty()) {
      if (!writer && !history.initialised && !sampled) how = "which nobody has written";
      if (writer && writer != checked) how = conflict(checked = writer, "written", e.thread, ordering, proxy);
      for (std::uint32_t n = head; is_current(n) && how.empty(); n = node(n).next)
        if (accesses_[node(n).access].event.is_atomic()) how = conflict(node(n).access, "", e.thread, ordering, proxy);
    }
    if (list == 0 || head != old)
      old = head, list = prepend(head, me, ordering);  // adjacent granules with equal lists share the new list
    history.accessed[i] = list;
  }
  return how;
}

std::string GlobalOrdering::write(AccessHistory& history, std::size_t offset, std::size_t bytes, Event const& e,
                                  Ordering const& ordering, Proxy proxy) {
  std::string how;
  std::uint32_t const me = add(e, proxy);
  std::uint32_t checked = 0;
  for (std::size_t i = offset / history.granule_bytes; i < (offset + bytes) / history.granule_bytes; ++i) {
    std::uint32_t& writer = history.writer[i];
    std::uint32_t& head = history.accessed[i];
    if (how.empty() && writer && writer != me && writer != checked)
      how = conflict(checked = writer, "written", e.thread, ordering, proxy);
    for (std::uint32_t n = head; is_current(n) && how.empty(); n = node(n).next)
      how = conflict(node(n).access, "read", e.thread, ordering, Proxy::generic);
    writer = me, head = 0;
  }
  return how;
}

std::string GlobalOrdering::change(AccessHistory& history, std::size_t offset, std::size_t bytes, Event const& e,
                                   Ordering const& ordering) {
  std::string how;
  std::uint32_t const me = add(e, Proxy::generic);
  for (std::size_t i = offset / history.granule_bytes; i < (offset + bytes) / history.granule_bytes; ++i) {
    std::uint32_t const writer = history.writer[i];
    std::uint32_t& head = history.accessed[i];
    if (how.empty() && !writer && !history.initialised && !sampled) how = "which nobody has written";
    if (how.empty() && writer) how = conflict(writer, "written", e.thread, ordering, Proxy::generic);
    for (std::uint32_t n = head; is_current(n) && how.empty(); n = node(n).next)
      if (!accesses_[node(n).access].event.commutes_with(e))
        how = conflict(node(n).access, "read", e.thread, ordering, Proxy::generic);
    head = prepend(head, me, ordering);
  }
  return how;
}

void GlobalOrdering::release(AccessHistory& history, std::size_t flag, unsigned t, Ordering const& ordering) {
  ++releases_;
  for (std::size_t i = first_of_block_; i < accesses_.size(); ++i)
    if (Access& a = accesses_[i]; !a.release && ordering.before(a.event, t)) a.release = releases_;
  std::uint32_t const me = add(ordering.now(t), Proxy::generic);
  Flag f{me, {{block_, releases_, {}}}};
  for (Release const& k : acquired_)
    if (ordering.before(k.since, t)) f.releases.push_back(k);
  history.writer[flag / kWord] = me, history.accessed[flag / kWord] = 0;
  flags_[flag] = std::move(f);
}

std::string GlobalOrdering::acquire(AccessHistory& history, std::size_t flag, unsigned t, Ordering const& ordering) {
  auto const it = flags_.find(flag);
  if (it == flags_.end() || it->second.writer != history.writer[flag / kWord])
    return read(history, flag, kWord, ordering.now(t), ordering);
  if (accesses_[it->second.writer].kernel == kernel_)
    for (Release const& k : it->second.releases) acquired_.push_back({k.block, k.release, ordering.now(t)});
  return {};
}

}  // namespace inlay::replay
