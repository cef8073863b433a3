#include <inlay/replay/ordering.h>

#include <algorithm>

namespace inlay::replay {
namespace {
void raise(Clock& c, std::size_t i, std::uint32_t to) {
  if (c.size() <= i) c.resize(i + 1);
  c[i] = std::max(c[i], to);
}
void join(Clock& c, Clock const& with) {
  if (c.size() < with.size()) c.resize(with.size());
  for (std::size_t i = 0; i < with.size(); ++i) c[i] = std::max(c[i], with[i]);
}
std::uint32_t at(Clock const& c, std::size_t i) { return i < c.size() ? c[i] : 0; }
}  // namespace

void Ordering::reset(unsigned threads, std::size_t shared_bytes) {
  threads_.assign(threads, {});
  operations_.clear();
  published_fence_.clear();
  published_fence_epoch_ = 0;
  ++block_;
  if (shared_bytes_ == shared_bytes) return;  // the cells of the block before, split as this one's will be
  shared_bytes_ = shared_bytes;
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
  operations_.push_back({name, false, {}, nullptr});
  return int(operations_.size()) - 1;
}
void Ordering::observe(int operation, unsigned t) {
  Operation& o = operations_[std::size_t(operation)];
  if (!o.over) {
    o.over = true, o.first = now(t);
    return;
  }
  if (!o.others) {
    o.others = std::make_unique<Operation::Others>();
    o.others->by.resize(threads_.size());
  }
  if (o.others->by[t]) return;
  o.others->by[t] = true;
  o.others->observed.push_back(now(t));
}
bool Ordering::over(int operation, unsigned t) const {
  Operation const& o = operations_[std::size_t(operation)];
  if (!o.over) return false;
  if (before(o.first, t)) return true;
  if (!o.others) return false;
  auto const& seen = o.others->observed;
  return o.others->by[t] || std::any_of(seen.begin(), seen.end(), [&](Event const& e) { return before(e, t); });
}

void Ordering::publish_fence(unsigned t) {
  raise(published_fence_, t, threads_[t].fenced);
  published_fence_epoch_ = std::max(published_fence_epoch_, threads_[t].fenced_epoch);
}
void Ordering::barrier_arrive(unsigned t) {
  publish_fence(t);
  ++threads_[t].clock;
}
void Ordering::barrier_leave(unsigned t) { ++threads_[t].epoch; }

void Ordering::fence_async(unsigned t) {
  threads_[t].fenced = threads_[t].clock++;
  threads_[t].fenced_epoch = threads_[t].epoch;
}
void Ordering::release(unsigned t, Clock& into) {
  publish_fence(t);
  join(into, threads_[t].seen);
  raise(into, t, threads_[t].clock++);
}
void Ordering::acquire(unsigned t, Clock const& from) { join(threads_[t].seen, from); }

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
  for (std::size_t i = offset / cell_bytes_; i < (offset + bytes) / cell_bytes_; ++i) {
    Cell& c = cells_[i];
    if (c.block != block_) {
      c.block = block_, c.written = false;
      c.readers.clear();
    }
    f(c);
  }
}

std::string Ordering::read(std::size_t offset, std::size_t bytes, Event const& e, unsigned t, Proxy proxy) {
  std::string how;
  each_cell(offset, bytes, [&](Cell& c) {
    if (how.empty()) {
      if (!c.written)
        how = "which nobody has written";
      else if (!before(c.writer, t))
        how = "written by " + who(c.writer) + " since the last barrier or wait";
      else if (proxy == Proxy::async && !visible_to_async(c.writer, t))
        how = "stored by " + who(c.writer) + " with no fence.proxy.async since";
    }
    if (!c.readers.empty() && c.readers.front().epoch < e.epoch)  // a barrier has settled the plain reads before it
      std::erase_if(c.readers, [&](Event const& r) { return r.operation < 0 && r.epoch < e.epoch; });
    if (c.readers.empty() || c.readers.back().thread != e.thread || c.readers.back().operation != e.operation)
      c.readers.push_back(e);
    else
      c.readers.back() = e;
  });
  return how;
}

std::string Ordering::write(std::size_t offset, std::size_t bytes, Event const& e, unsigned t) {
  std::string how;
  each_cell(offset, bytes, [&](Cell& c) {
    if (how.empty() && c.written && !before(c.writer, t))
      how = "written by " + who(c.writer) + " since the last barrier or wait";
    if (how.empty())
      for (Event const& r : c.readers)
        if (!before(r, t)) {
          how = "read by " + who(r) + " since the last barrier or wait";
          break;
        }
    c.readers.clear();
    c.writer = e, c.written = true;
  });
  return how;
}

std::string Ordering::end(std::size_t offset, std::size_t bytes, Clock const& known) {
  std::string how;
  each_cell(offset, bytes, [&](Cell& c) {
    for (Event const& r : c.readers)
      if (how.empty() && r.operation < 0 && at(known, r.thread) < r.clock)
        how = "read by " + who(r) + " since the last barrier or wait";
  });
  return how;
}

}  // namespace inlay::replay
