#include <inlay/replay/global_ordering.h>

#include <algorithm>
#include <new>

namespace inlay::replay {
namespace {
Places::Words zeros(std::size_t n) {
  Places::Words words(static_cast<std::uint32_t*>(std::calloc(n, sizeof(std::uint32_t))));
  if (!words) throw std::bad_alloc();
  return words;
}
}  // namespace

Places::Places(std::size_t bytes, std::size_t grain, bool initial)
    : grain(grain), initial(initial), writer(zeros(bytes / grain + 1)), touched(zeros(bytes / grain + 1)) {}

void GlobalOrdering::forget() {
  kernel_ = releases_ = 0;
  accesses_.assign(1, {});
  first_of_block_ = 1;
  nodes_.clear();
  before_ = 0;
  flags_.clear();
}
void GlobalOrdering::next_kernel() {
  ++kernel_;
  before_ += std::uint32_t(nodes_.size());
  nodes_.clear();
}
void GlobalOrdering::next_block(unsigned block) {
  block_ = block;
  first_of_block_ = accesses_.size();
  known_.clear();
}

std::uint32_t GlobalOrdering::add(Event const& e, Proxy proxy) {
  if (accesses_.size() == first_of_block_ || accesses_.back().event != e || accesses_.back().release)
    accesses_.push_back({kernel_, block_, e, proxy});
  return std::uint32_t(accesses_.size() - 1);
}

bool GlobalOrdering::ordered(Access const& a, unsigned t, Ordering const& ordering) const {
  if (a.kernel < kernel_) return true;
  if (a.block == block_) return ordering.before(a.event, t);
  return a.release && std::any_of(known_.begin(), known_.end(), [&](Known const& k) {
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
  // No fence of the vocabulary is for global memory.
  return proxy == Proxy::async && a.proxy == Proxy::generic ? by + " in this kernel, which TMA may not see yet" : "";
}

// An access is nothing beside a later one of its kind that came after it: what comes after the later one, comes after both.
std::uint32_t GlobalOrdering::with(std::uint32_t list, std::uint32_t access, Ordering const& ordering) {
  Event const& e = accesses_[access].event;
  for (; lists(list); list = node(list).next) {
    Access const& head = accesses_[node(list).access];
    if (node(list).access == access) return list;
    if (head.event.is_atomic() != e.is_atomic() || (e.is_atomic() && head.event.operation != e.operation)) break;
    if (!ordered(head, e.thread, ordering)) break;
  }
  nodes_.push_back({access, lists(list) ? list : 0});
  return before_ + std::uint32_t(nodes_.size());
}

std::string GlobalOrdering::read(Places& places, std::size_t offset, std::size_t bytes, Event const& e,
                                 Ordering const& ordering, Proxy proxy) {
  std::string how;
  std::uint32_t const me = add(e, proxy);
  std::uint32_t checked = 0, old = 0, list = 0;
  for (std::size_t i = offset / places.grain; i < (offset + bytes) / places.grain; ++i) {
    std::uint32_t const writer = places.writer[i], head = places.touched[i];
    if (how.empty()) {
      if (!writer && !places.initial && !partly) how = "which nobody has written";
      if (writer && writer != checked) how = conflict(checked = writer, "written", e.thread, ordering, proxy);
      for (std::uint32_t n = head; lists(n) && how.empty(); n = node(n).next)
        if (accesses_[node(n).access].event.is_atomic()) how = conflict(node(n).access, "", e.thread, ordering, proxy);
    }
    if (list == 0 || head != old) old = head, list = with(head, me, ordering);  // neighbours have one list
    places.touched[i] = list;
  }
  return how;
}

std::string GlobalOrdering::write(Places& places, std::size_t offset, std::size_t bytes, Event const& e,
                                  Ordering const& ordering, Proxy proxy) {
  std::string how;
  std::uint32_t const me = add(e, proxy);
  std::uint32_t checked = 0;
  for (std::size_t i = offset / places.grain; i < (offset + bytes) / places.grain; ++i) {
    std::uint32_t& writer = places.writer[i];
    std::uint32_t& head = places.touched[i];
    if (how.empty() && writer && writer != me && writer != checked)
      how = conflict(checked = writer, "written", e.thread, ordering, proxy);
    for (std::uint32_t n = head; lists(n) && how.empty(); n = node(n).next)
      how = conflict(node(n).access, "read", e.thread, ordering, Proxy::generic);
    writer = me, head = 0;
  }
  return how;
}

std::string GlobalOrdering::change(Places& places, std::size_t offset, std::size_t bytes, Event const& e,
                                   Ordering const& ordering) {
  std::string how;
  std::uint32_t const me = add(e, Proxy::generic);
  for (std::size_t i = offset / places.grain; i < (offset + bytes) / places.grain; ++i) {
    std::uint32_t const writer = places.writer[i];
    std::uint32_t& head = places.touched[i];
    if (how.empty() && !writer && !places.initial && !partly) how = "which nobody has written";
    if (how.empty() && writer) how = conflict(writer, "written", e.thread, ordering, Proxy::generic);
    for (std::uint32_t n = head; lists(n) && how.empty(); n = node(n).next)
      if (!accesses_[node(n).access].event.commutes_with(e))
        how = conflict(node(n).access, "read", e.thread, ordering, Proxy::generic);
    head = with(head, me, ordering);
  }
  return how;
}

void GlobalOrdering::release(Places& places, std::size_t flag, unsigned t, Ordering const& ordering) {
  ++releases_;
  for (std::size_t i = first_of_block_; i < accesses_.size(); ++i)
    if (Access& a = accesses_[i]; !a.release && ordering.before(a.event, t)) a.release = releases_;
  std::uint32_t const me = add(ordering.now(t), Proxy::generic);
  Flag f{me, {{block_, releases_, {}}}};
  for (Known const& k : known_)
    if (ordering.before(k.since, t)) f.known.push_back(k);
  places.writer[flag / kWord] = me, places.touched[flag / kWord] = 0;
  flags_[flag] = std::move(f);
}

std::string GlobalOrdering::acquire(Places& places, std::size_t flag, unsigned t, Ordering const& ordering) {
  auto const it = flags_.find(flag);
  if (it == flags_.end() || it->second.writer != places.writer[flag / kWord])
    return read(places, flag, kWord, ordering.now(t), ordering);
  if (accesses_[it->second.writer].kernel == kernel_)
    for (Known const& k : it->second.known) known_.push_back({k.block, k.release, ordering.now(t)});
  return {};
}

}  // namespace inlay::replay
