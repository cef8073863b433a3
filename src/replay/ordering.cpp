#include "replay/ordering.h"

#include <algorithm>

namespace inlay::replay {
namespace {
void raise(Clock& c, std::size_t i, std::uint32_t to) {
  if (c.size() <= i) c.resize(i + 1);
  c[i] = std::max(c[i], to);
}
std::uint32_t at(Clock const& c, std::size_t i) { return i < c.size() ? c[i] : 0; }
}  // namespace

void Ordering::reset(unsigned threads, std::size_t shared_bytes) {
  threads_.assign(threads, {});
  operations_.clear();
  published_fence_.clear();
  published_fence_epoch_ = 0;
  cell_bytes_ = 16;
  cells_.assign((shared_bytes + 15) / 16, {});
}

Event Ordering::now(unsigned t) const { return {t, threads_[t].clock, threads_[t].epoch, -1}; }
Event Ordering::in_operation(unsigned t, int operation) const {
  Event e = now(t);
  e.operation = operation;
  return e;
}
int Ordering::start(char const* name) {
  operations_.push_back({name, {}});
  return int(operations_.size()) - 1;
}
void Ordering::observe(int operation, unsigned t) { operations_[std::size_t(operation)].observed.push_back(now(t)); }

bool Ordering::before(Event const& e, unsigned t) const {
  if (e.operation >= 0) {
    auto const& seen = operations_[std::size_t(e.operation)].observed;
    return std::any_of(seen.begin(), seen.end(), [&](Event const& o) { return before(o, t); });
  }
  return e.thread == t || e.epoch < threads_[t].epoch || at(threads_[t].seen, e.thread) >= e.clock;
}

void Ordering::barrier_arrive(unsigned t) {
  raise(published_fence_, t, threads_[t].fenced);
  published_fence_epoch_ = std::max(published_fence_epoch_, threads_[t].fenced_epoch);
  ++threads_[t].clock;
}
void Ordering::barrier_leave(unsigned t) { ++threads_[t].epoch; }

void Ordering::fence_async(unsigned t) {
  threads_[t].fenced = threads_[t].clock++;
  threads_[t].fenced_epoch = threads_[t].epoch;
}
void Ordering::release(unsigned t, Clock& into) {
  for (std::size_t i = 0; i < threads_[t].seen.size(); ++i) raise(into, i, threads_[t].seen[i]);
  raise(into, t, threads_[t].clock++);
}
void Ordering::acquire(unsigned t, Clock const& from) {
  for (std::size_t i = 0; i < from.size(); ++i) raise(threads_[t].seen, i, from[i]);
}

// A plain store reaches the copy engine if its thread fenced after it, or the issuer fenced after the barrier between.
bool Ordering::visible_to_async(Event const& e, unsigned t) const {
  if (e.operation >= 0) return true;
  std::uint32_t const fenced = e.thread == t ? threads_[t].fenced : at(published_fence_, e.thread);
  return e.clock <= fenced || e.epoch < std::max(threads_[t].fenced_epoch, published_fence_epoch_);
}

std::string Ordering::who(Event const& e) const {
  if (e.operation < 0) return "thread " + std::to_string(e.thread);
  return std::string(operations_[std::size_t(e.operation)].name) + " of thread " + std::to_string(e.thread);
}

template <class F>
void Ordering::each_cell(std::size_t offset, std::size_t bytes, F f) {
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
  for (std::size_t i = offset / cell_bytes_; i < (offset + bytes) / cell_bytes_; ++i) f(cells_[i]);
}

void Ordering::read(std::size_t offset, std::size_t bytes, Event const& e, unsigned t, Proxy proxy,
                    std::function<void(std::string const&)> const& report) {
  each_cell(offset, bytes, [&](Cell& c) {
    if (!c.written)
      report("which nobody has written");
    else if (!before(c.writer, t))
      report("written by " + who(c.writer) + " since the last barrier or wait");
    else if (proxy == Proxy::async && !visible_to_async(c.writer, t))
      report("stored by " + who(c.writer) + " with no fence.proxy.async since");
    if (!c.readers.empty() && c.readers.front().epoch < e.epoch)  // a barrier has settled the plain reads before it
      std::erase_if(c.readers, [&](Event const& r) { return r.operation < 0 && r.epoch < e.epoch; });
    if (c.readers.empty() || c.readers.back().thread != e.thread || c.readers.back().operation != e.operation)
      c.readers.push_back(e);
    else
      c.readers.back() = e;
  });
}

void Ordering::write(std::size_t offset, std::size_t bytes, Event const& e, unsigned t, Proxy,
                     std::function<void(std::string const&)> const& report) {
  each_cell(offset, bytes, [&](Cell& c) {
    if (c.written && !before(c.writer, t)) report("written by " + who(c.writer) + " since the last barrier or wait");
    for (Event const& r : c.readers)
      if (!before(r, t)) {
        report("read by " + who(r) + " since the last barrier or wait");
        break;
      }
    c.readers.clear();
    c.writer = e, c.written = true;
  });
}

}  // namespace inlay::replay
