#include <inlay/replay/ordering.h>

#include <algorithm>

namespace inlay::replay {
namespace {
using Clocks = std::vector<std::uint32_t>;

void raise(Clocks& c, std::size_t i, std::uint32_t to) {
  if (c.size() <= i) c.resize(i + 1);
  c[i] = std::max(c[i], to);
}
void join(Clocks& c, Clocks const& with) {
  if (c.size() < with.size()) c.resize(with.size());
  for (std::size_t i = 0; i < with.size(); ++i) c[i] = std::max(c[i], with[i]);
}
std::uint32_t at(Clocks const& c, std::size_t i) { return i < c.size() ? c[i] : 0; }

// Adds the fences that a thread knows of to a clock.
void add_fences(ThreadClock const& t, unsigned thread, Clock& into) {
  if (t.fenced) raise(into.fenced, thread, t.fenced);
  join(into.fenced, t.fenced_others);
  into.fenced_epoch = std::max(into.fenced_epoch, t.fenced_epoch);
}
}  // namespace

char const* name_of(Atomic kind) {
  switch (kind) {
    case Atomic::add:
      return "add";
    case Atomic::min:
      return "min";
    case Atomic::max:
      return "max";
    case Atomic::exchange:
      return "exchange";
    case Atomic::cas:
      return "cas";
  }
  return "";
}

void Ordering::reset(unsigned threads, std::size_t shared_bytes) {
  threads_.assign(threads, {});
  operations_.clear();
  has_exited_threads_ = false;
  arriving_ = published_ = {};
  ++block_;
  if (shared_bytes_ == shared_bytes) return;  // keeps cells_ and cell_bytes_ for the next block
  shared_bytes_ = shared_bytes;
  cell_bytes_ = 16;
  cells_.assign((shared_bytes + 15) / 16, {});
}

Event Ordering::now(unsigned t) const { return {t, threads_[t].clock, threads_[t].epoch, Event::kPlain}; }
Event Ordering::in_operation(unsigned t, int operation) const {
  Event e = now(t);
  e.operation = operation;
  return e;
}
int Ordering::start(char const* name, Proxy proxy) {
  operations_.push_back({name, proxy, false, {}, nullptr});
  return int(operations_.size()) - 1;
}
void Ordering::observe(int operation, unsigned t) {
  Operation& o = operations_[std::size_t(operation)];
  if (!o.is_observed) {
    o.is_observed = true, o.first = now(t);
    return;
  }
  if (!o.further) {
    o.further = std::make_unique<Operation::Observations>();
    o.further->by_thread.resize(threads_.size());
  }
  if (o.further->by_thread[t]) return;
  o.further->by_thread[t] = true;
  o.further->events.push_back(now(t));
}
bool Ordering::is_over(int operation, unsigned t) const {
  Operation const& o = operations_[std::size_t(operation)];
  if (!o.is_observed) return false;
  if (before(o.first, t)) return true;
  if (!o.further) return false;
  auto const& seen = o.further->events;
  return o.further->by_thread[t] || std::any_of(seen.begin(), seen.end(), [&](Event const& e) { return before(e, t); });
}

void Ordering::barrier_arrive(unsigned t) {
  add_fences(threads_[t], t, arriving_);
  ++threads_[t].clock;
}
void Ordering::barrier_complete() {
  join(published_.fenced, arriving_.fenced);
  published_.fenced_epoch = arriving_.fenced_epoch;
}
void Ordering::barrier_leave(unsigned t) { ++threads_[t].epoch; }
void Ordering::leave(unsigned t) {
  threads_[t].exit_epoch = threads_[t].epoch;
  has_exited_threads_ = true;
}

void Ordering::fence_proxy_async(unsigned t) {
  ThreadClock& x = threads_[t];
  x.fenced = x.clock++;
  join(x.fenced_others, x.seen);
  x.fenced_epoch = x.epoch;
}
void Ordering::release(unsigned t, Clock& into) {
  add_fences(threads_[t], t, into);
  join(into.seen, threads_[t].seen);
  raise(into.seen, t, threads_[t].clock++);
}
void Ordering::acquire(unsigned t, Clock const& from) {
  ThreadClock& x = threads_[t];
  join(x.seen, from.seen);
  join(x.fenced_others, from.fenced);
  x.fenced_epoch = std::max(x.fenced_epoch, from.fenced_epoch);
}

// Whether thread t knows of a fence.proxy.async, of any thread, that came after e.
bool Ordering::is_fenced(Event const& e, unsigned t) const {
  ThreadClock const& x = threads_[t];
  std::uint32_t const own = e.thread == t ? x.fenced : 0;
  return e.clock <= std::max({own, at(x.fenced_others, e.thread), at(published_.fenced, e.thread)}) ||
         is_settled(e, std::max(x.fenced_epoch, published_.fenced_epoch));
}
// cp.async stores through the generic proxy: the fence must come after its completion is observed.
bool Ordering::visible_to_async(Event const& e, unsigned t) const {
  if (e.operation < 0) return is_fenced(e, t);
  Operation const& o = operations_[std::size_t(e.operation)];
  if (o.proxy == Proxy::async) return true;
  if (!o.is_observed) return false;
  if (is_fenced(o.first, t)) return true;
  return o.further && std::any_of(o.further->events.begin(), o.further->events.end(),
                                  [&](Event const& seen) { return is_fenced(seen, t); });
}

std::string Ordering::who(Event const& e) const {
  if (e.operation < 0) return "thread " + std::to_string(e.thread);
  return std::string(operations_[std::size_t(e.operation)].name) + " of thread " + std::to_string(e.thread);
}
std::string Ordering::since(char const* did, Event const& e) const {
  return (e.is_atomic() ? "changed atomically" : did) + (" by " + who(e)) + " since the last barrier or wait";
}

template <class F>
void Ordering::for_each_cell(std::size_t offset, std::size_t bytes, F f) {
  std::size_t fit = cell_bytes_;
  while ((offset | bytes) % fit) fit /= 2;
  if (fit < cell_bytes_) {
    std::vector<Cell> fine;
    fine.reserve(cells_.size() * (cell_bytes_ / fit));
    for (Cell const& c : cells_)
      for (std::size_t i = 0; i < cell_bytes_ / fit; ++i) fine.push_back(c);
    cells_.swap(fine);
    cell_bytes_ = fit;
  }
  for (std::size_t i = offset / cell_bytes_; i < (offset + bytes) / cell_bytes_; ++i) {
    Cell& c = cells_[i];
    if (c.block != block_) {
      c.block = block_, c.is_written = c.is_changed = false;
      c.readers.clear();
    }
    f(c);
  }
}

// Returns the end of a sentence if an atomic operation on the cell is not ordered before a read by thread t.
std::string Ordering::unordered_change(Cell const& c, unsigned t, Proxy proxy) const {
  for (Event const& r : c.readers) {
    if (!r.is_atomic()) continue;
    if (!before(r, t)) return since("", r);
    if (proxy == Proxy::async && !visible_to_async(r, t))
      return "changed by " + who(r) + " with no fence.proxy.async since";
  }
  return {};
}

std::string Ordering::before_read(Cell const& c, unsigned t, Proxy proxy) const {
  if (!c.is_written) return "which nobody has written";
  if (!before(c.writer, t)) return since("written", c.writer);
  if (proxy == Proxy::async && !visible_to_async(c.writer, t))
    return "stored by " + who(c.writer) + " with no fence.proxy.async since";
  return c.is_changed ? unordered_change(c, t, proxy) : std::string();
}
std::string Ordering::would_read(std::size_t offset, std::size_t bytes, unsigned t, Proxy proxy) const {
  for (std::size_t i = offset / cell_bytes_; i * cell_bytes_ < offset + bytes; ++i)
    if (Cell const& c = cells_[i]; c.block == block_)
      if (std::string how = before_read(c, t, proxy); !how.empty()) return how;
  return {};
}

std::string Ordering::read(std::size_t offset, std::size_t bytes, Event const& e, unsigned t, Proxy proxy) {
  std::string how;
  for_each_cell(offset, bytes, [&](Cell& c) {
    if (how.empty()) how = before_read(c, t, proxy);
    // A barrier has ordered the plain reads of earlier epochs before this one.
    if (!c.readers.empty() && c.readers.front().epoch < e.epoch)
      std::erase_if(c.readers, [&](Event const& r) { return r.operation == Event::kPlain && is_settled(r, e.epoch); });
    if (c.readers.empty() || c.readers.back().thread != e.thread || c.readers.back().operation != e.operation)
      c.readers.push_back(e);
    else
      c.readers.back() = e;
  });
  return how;
}

// Reads of the generic proxy need no fence before a later asynchronous write, because their values have arrived in
// registers.
std::string Ordering::before_write(Cell const& c, unsigned t, Proxy proxy) const {
  if (c.is_written && !before(c.writer, t)) return since("written", c.writer);
  for (Event const& r : c.readers)
    if (!before(r, t)) return since("read", r);
  if (proxy == Proxy::async && c.is_written && !visible_to_async(c.writer, t))
    return "stored by " + who(c.writer) + " with no fence.proxy.async since";
  return proxy == Proxy::async && c.is_changed ? unordered_change(c, t, proxy) : std::string();
}

std::string Ordering::write(std::size_t offset, std::size_t bytes, Event const& e, unsigned t, Proxy proxy) {
  std::string how;
  for_each_cell(offset, bytes, [&](Cell& c) {
    if (how.empty() && (c.is_written || !c.readers.empty())) how = before_write(c, t, proxy);
    c.readers.clear();
    c.writer = e, c.is_written = true, c.is_changed = false;
  });
  return how;
}

std::string Ordering::change(std::size_t offset, std::size_t bytes, Event const& e, unsigned t) {
  std::string how;
  for_each_cell(offset, bytes, [&](Cell& c) {
    if (how.empty() && !c.is_written) how = "which nobody has written";
    if (how.empty() && !before(c.writer, t)) how = since("written", c.writer);
    for (Event const& r : c.readers)
      if (how.empty() && !r.commutes_with(e) && !before(r, t)) how = since("read", r);
    std::erase_if(c.readers, [&](Event const& r) {
      return r.operation < 0 && (is_settled(r, e.epoch) || (r.thread == e.thread && r.operation == e.operation));
    });
    c.readers.push_back(e);
    c.is_changed = true;
  });
  return how;
}

std::string Ordering::would_write(std::size_t offset, std::size_t bytes, unsigned t) const {
  for (std::size_t i = offset / cell_bytes_; i * cell_bytes_ < offset + bytes; ++i)
    if (Cell const& c = cells_[i]; c.block == block_)
      if (std::string how = before_write(c, t, Proxy::generic); !how.empty()) return how;
  return {};
}

std::string Ordering::end(std::size_t offset, std::size_t bytes, Clock const& known) {
  std::string how;
  for_each_cell(offset, bytes, [&](Cell& c) {
    for (Event const& r : c.readers)
      if (how.empty() && r.operation < 0 && at(known.seen, r.thread) < r.clock) how = since("read", r);
  });
  return how;
}

}  // namespace inlay::replay
