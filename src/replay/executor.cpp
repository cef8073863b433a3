#include "replay/executor.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

namespace inlay::replay {
namespace {

std::string str(std::uint64_t n) { return std::to_string(n); }
thread_local Executor* current = nullptr;

// An access that bypassed the recorder. Replay units are compiled with -fnon-call-exceptions: the handler may throw.
void on_segv(int signal, siginfo_t* info, void*) {
  if (current)
    if (auto sentence = current->unrecorded(info->si_addr)) throw Fault(Check::unrecorded, *sentence);
  struct sigaction fallback {};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal, &fallback, nullptr);  // a real crash: return, fault again, die
}
void watch_for_unrecorded() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_segv;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
  });
}

}  // namespace

Executor& running() { return *current; }

int Executor::new_place() {
  static std::atomic<int> places = 0;
  return places++;
}

// ---- sentences
std::string Executor::here() const {
  return recorder_.kernel + ", block " + str(block_) + ", thread " + str(rank()) + ": ";
}
std::string Executor::element(Region const& r, std::size_t offset) const {
  Operand const& o = r.operand(offset);
  std::size_t const in = offset - o.offset;
  return o.name + "[" + str(in / std::size_t(o.elem_bytes)) + "] (byte " + str(in) + ")";
}
std::optional<std::string> Executor::unrecorded(void const* address) const {
  Region const* r = memory.find(address);
  if (!r) return std::nullopt;
  auto const offset = std::size_t(static_cast<char const*>(address) - r->seen);
  return here() + "touches " + element(*r, offset) + " past the recorder, without a copy operation";
}

// ---- blocks
void Executor::run(std::int64_t blocks, unsigned threads, std::size_t smem_bytes, std::vector<Operand> const& smem,
                   Body const& body) {
  watch_for_unrecorded();
  count_ = threads;
  shared_ = smem_bytes ? &memory.map(Space::shared, smem_bytes, smem) : nullptr;
  struct Running {  // also when a body throws something of its own
    Executor* const outer;
    ~Running() { current = outer; }
  } const restore{std::exchange(current, this)};
  try {
    for (std::int64_t b = 0; b < blocks; ++b) run_block(unsigned(b), threads, body);
  } catch (Fault const& f) {
    recorder_.report(f.check, f.what());
  } catch (Deadlock const& d) {
    recorder_.report(Check::deadlock, recorder_.kernel + ", block " + str(block_) + ": " + d.what());
  }
  tally();
  memory.unmap_shared();
  shared_ = nullptr;
}

void Executor::run_block(unsigned block, unsigned count, Body const& body) {
  block_ = block;
  threads_.assign(count, {});
  ordering_.reset(count, shared_ ? shared_->bytes : 0);
  mbarriers_.clear();
  in_flight_.clear();
  arrived_ = 0;
  if (shared_) std::memset(shared_->real, 0xCD, shared_->bytes);
  fibers_.run(
      count, [&](unsigned rank) { body(block, rank, shared_ ? shared_->seen : nullptr); },
      [&] {
        if (in_flight_.empty()) return false;
        auto land = std::move(in_flight_.front());
        in_flight_.pop_front();
        land();
        return true;
      });
  if (!in_flight_.empty())
    recorder_.report(Check::misuse, recorder_.kernel + ", block " + str(block) + ": ends with a TMA load in flight");
  for (unsigned t = 0; t < count; ++t) {
    Thread const& x = threads_[t];
    std::string const who = recorder_.kernel + ", block " + str(block) + ", thread " + str(t) + ": ";
    if (!x.cp_pending.empty() || !x.cp_groups.empty())
      recorder_.report(Check::misuse, who + "ends with a cp.async that it did not wait for");
    if (!x.store_pending.empty() || !x.store_groups.empty())
      recorder_.report(Check::misuse, who + "ends with a TMA store that it did not wait for");
  }
  tally();
}

// ---- one lane's access
Executor::Slot Executor::tick(int place) {
  auto& passes = thread().passes;
  if (passes.size() <= std::size_t(place)) passes.resize(std::size_t(place) + 1);
  return {place, passes[std::size_t(place)]++};
}

char* Executor::access(Slot slot, void const* p, unsigned bytes, Direction direction, Mechanism mechanism,
                       int operation) {
  auto const address = reinterpret_cast<std::uint64_t>(p);
  char const* const verb = direction == Direction::load ? "reads " : "writes ";
  Region* const r = memory.find(address);
  if (!r) fault(Check::bounds, std::string(verb) + str(bytes) + " bytes that belong to no buffer");
  auto const offset = std::size_t(static_cast<char const*>(p) - r->seen);
  if (address % bytes)
    fault(Check::alignment, std::string(verb) + str(bytes) + " bytes at " + element(*r, offset) + ", not aligned");
  if (offset + bytes > r->bytes) fault(Check::bounds, verb + element(*r, offset) + ", past the end of the buffer");

  if (log_.size() <= std::size_t(slot.place)) log_.resize(std::size_t(slot.place) + 1);
  auto& warps = log_[std::size_t(slot.place)];
  if (warps.empty()) warps.resize((count_ + 31) / 32);
  auto& requests = warps[rank() / 32];
  if (requests.size() <= slot.occurrence) requests.resize(slot.occurrence + 1);
  Request& q = requests[slot.occurrence];
  Operand const& operand = r->operand(offset);
  bool const store = direction == Direction::store;
  if (q.lanes.active && (q.operand != &operand || q.lanes.bytes != bytes || q.store != store))
    fault(Check::divergence, verb + element(*r, offset) + " where other lanes of its warp " +
                                 (q.store ? "write " : "read ") + q.operand->name + ", " + str(q.lanes.bytes) +
                                 " bytes");
  q.lanes.address[rank() % 32] = address;
  q.lanes.active |= 1u << rank() % 32;
  q.lanes.bytes = bytes;
  q.region = r, q.operand = &operand, q.store = store, q.mechanism = mechanism;

  if (r->space == Space::global)
    check_global(*r, offset, bytes, direction);
  else
    check_shared(offset, bytes, direction,
                 operation < 0 ? ordering_.now(rank()) : ordering_.in_operation(rank(), operation),
                 Ordering::Proxy::generic);
  return r->real + offset;
}

void Executor::check_global(Region& r, std::size_t offset, std::size_t bytes, Direction direction) {
  bool const load = direction == Direction::load;
  auto& state = load ? r.readable : r.writable;
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    if (state.empty() || !state[i])
      fault(Check::bounds, load ? "reads " + element(r, i) + ", which is no element of the source"
                                : "writes " + element(r, i) + ", which is no element of the destination");
    if (load) continue;
    if (state[i] == Region::kWritten) return report(Check::coverage, "writes " + element(r, i) + " once more");
    state[i] = Region::kWritten;
  }
}

void Executor::check_shared(std::size_t offset, std::size_t bytes, Direction direction, Event const& event,
                            Ordering::Proxy proxy) {
  bool told = false;  // one sentence an access
  auto const tell = [&](std::string const& how) {
    if (!told)
      report(Check::race,
             (direction == Direction::load ? "reads " : "writes ") + element(*shared_, offset) + ", " + how);
    told = true;
  };
  if (direction == Direction::load)
    ordering_.read(offset, bytes, event, rank(), proxy, tell);
  else
    ordering_.write(offset, bytes, event, rank(), proxy, tell);
}

void Executor::tally() {
  for (auto& warps : log_)
    for (auto& requests : warps) {
      for (Request const& q : requests) {
        if (!q.lanes.active) continue;
        Site& s = recorder_.site(q.operand->name, q.region->space, q.store, q.mechanism, q.lanes.bytes);
        ++s.traffic.requests;
        s.traffic.transactions +=
            q.region->space == Space::global
                ? banks::sectors(q.lanes)
                : banks::wavefronts(q.lanes, q.store ? banks::Access::store : banks::Access::load);
      }
      requests.clear();
    }
}

// ---- barriers
void Executor::sync(std::source_location at) {
  unsigned const t = rank();
  if (arrived_ && (barrier_at_.line() != at.line() || barrier_at_.file_name() != std::string_view(at.file_name())))
    report(Check::divergence, "is at the barrier of line " + str(at.line()) + ", other threads at that of line " +
                                  str(barrier_at_.line()));
  barrier_at_ = at;
  ordering_.barrier_arrive(t);
  std::uint64_t const generation = generation_;
  if (++arrived_ == count_)
    arrived_ = 0, ++generation_;
  else
    fibers_.wait_until([&] { return generation_ != generation; },
                       [&] {
                         return "the barrier of line " + str(at.line()) + " (" + str(arrived_) + " of " + str(count_) +
                                " arrived)";
                       });
  ordering_.barrier_leave(t);
}

// ---- cp.async: data lands at the covering wait of its own thread
int Executor::cp_async_operation() {
  Thread& x = thread();
  if (x.cp_operation < 0) x.cp_operation = ordering_.start("cp.async");
  return x.cp_operation;
}
void Executor::cp_async_fence() {
  Thread& x = thread();
  if (!x.cp_pending.empty())
    x.cp_groups.push_back({x.cp_operation, std::move(x.cp_pending)});
  else
    x.cp_groups.push_back({-1, {}});
  x.cp_pending.clear();
  x.cp_operation = -1;
}
void Executor::cp_async_wait(int keep) {
  for (auto& groups = thread().cp_groups; groups.size() > std::size_t(keep); groups.pop_front()) {
    for (auto& land : groups.front().land) land();
    if (groups.front().operation >= 0) ordering_.observe(groups.front().operation, rank());
  }
}

// ---- mbarriers: 8 bytes of shared memory whose state is kept here, by address
Executor::Mbarrier& Executor::mbarrier(void const* address) {
  auto const offset = std::size_t(static_cast<char const*>(address) - shared_->seen);
  auto it = mbarriers_.find(offset);
  if (it == mbarriers_.end()) fault(Check::misuse, "uses an mbarrier that nobody has initialised");
  if (!ordering_.before(it->second.init, rank()))
    report(Check::race, "uses the mbarrier " + element(*shared_, offset) + ", initialised by thread " +
                            str(it->second.init.thread) + " since the last barrier or wait");
  return it->second;
}
void Executor::mbarrier_init(void const* address, unsigned count) {
  Mbarrier m;
  m.count = m.pending = count;
  m.init = ordering_.now(rank());
  mbarriers_[std::size_t(static_cast<char const*>(address) - shared_->seen)] = std::move(m);
}
void Executor::flip(Mbarrier& m) {
  if (m.pending || m.missing_bytes) return;
  m.pending = m.count;
  ++m.phase;
  m.released = m.arriving;
}
void Executor::mbarrier_arrive(void const* address, std::int64_t expected_bytes) {
  Mbarrier& m = mbarrier(address);
  if (!m.pending) fault(Check::misuse, "arrives at an mbarrier that expects nobody any more");
  ordering_.release(rank(), m.arriving);
  m.missing_bytes += expected_bytes;
  --m.pending;
  flip(m);
}
void Executor::mbarrier_wait(void const* address, unsigned parity) {
  Mbarrier& m = mbarrier(address);
  fibers_.wait_until([&] { return (m.phase & 1) != parity; },
                     [&] {
                       auto const offset = std::size_t(static_cast<char const*>(address) - shared_->seen);
                       return "the mbarrier " + element(*shared_, offset) + ", parity " + str(parity) + " (" +
                              str(m.pending) + " arrivals and " + std::to_string(m.missing_bytes) + " bytes missing)";
                     });
  ordering_.acquire(rank(), m.released);
  for (int operation : m.landed) ordering_.observe(operation, rank());
}

// ---- TMA
CUtensorMap ReplayEncoder::operator()(TmaTensor const& tensor) const {
  static_assert(sizeof(TmaTensor) <= sizeof(CUtensorMap));
  // What the driver would refuse.
  TmaTensor const& t = tensor;
  bool ok = reinterpret_cast<std::uint64_t>(t.base) % 16 == 0 && t.box[0] * t.elem_bytes % 16 == 0;
  ok &= t.elem_bytes == 1 || t.elem_bytes == 2 || t.elem_bytes == 4 || t.elem_bytes == 8;
  for (std::int64_t stride : t.stride) ok &= stride > 0 && stride % 16 == 0 && stride >> 40 == 0;
  for (std::int64_t extent : t.extent) ok &= extent > 0 && extent >> 32 == 0;
  for (int edge : t.box) ok &= edge > 0 && edge <= 256;
  ok &= !t.swizzle_128b || t.box[0] * t.elem_bytes == 128;
  if (!ok) throw Fault(Check::misuse, "a TMA descriptor that the driver would refuse");
  CUtensorMap map{};
  std::memcpy(&map, &tensor, sizeof tensor);
  return map;
}
TmaTensor decode(CUtensorMap const& map) {
  TmaTensor t;
  std::memcpy(&t, &map, sizeof t);
  return t;
}

template <class F>
void Executor::over_box(TmaTensor const& map, std::size_t shared_offset, std::int64_t const (&c)[3], F f) {
  std::size_t const row_bytes = std::size_t(map.box[0]) * std::size_t(map.elem_bytes);
  std::size_t offset = shared_offset;
  for (int k = 0; k < map.box[2]; ++k)
    for (int j = 0; j < map.box[1]; ++j, offset += row_bytes) {
      bool const inside = std::min({c[0], c[1] + j, c[2] + k}) >= 0 && c[0] < map.extent[0] &&
                          c[1] + j < map.extent[1] && c[2] + k < map.extent[2];
      std::int64_t const n = inside ? std::min<std::int64_t>(map.box[0], map.extent[0] - c[0]) * map.elem_bytes : 0;
      char const* const row = static_cast<char const*>(map.base) + c[0] * map.elem_bytes + (c[1] + j) * map.stride[0] +
                              (c[2] + k) * map.stride[1];
      std::size_t const piece = map.swizzle_128b ? 16 : row_bytes;  // what stays together
      for (std::size_t at = 0; at < row_bytes; at += piece)
        f(row + at, map.swizzle_128b ? offset + (at ^ offset / 128 % 8 * 16) : offset + at,
          std::size_t(std::clamp<std::int64_t>(n - std::int64_t(at), 0, std::int64_t(piece))), piece);
    }
}

void Executor::check_box_place(TmaTensor const& map, std::size_t offset, char const* what) {
  std::size_t const multiple = map.swizzle_128b ? 1024 : 128;
  if (offset % multiple)
    fault(Check::alignment, what + element(*shared_, offset) + ", no multiple of " + str(multiple) + " bytes");
}

void Executor::tma_load(TmaTensor const& map, void const* bar, void const* smem, std::int64_t const (&c)[3]) {
  auto const to = std::size_t(static_cast<char const*>(smem) - shared_->seen);
  check_box_place(map, to, "TMA load to ");
  Mbarrier& m = mbarrier(bar);
  Region* const r = memory.find(reinterpret_cast<std::uint64_t>(map.base));
  if (!r) fault(Check::bounds, "TMA load from no buffer");
  int const operation = ordering_.start("TMA load");
  Site& site = recorder_.site(r->operand(0).name, Space::global, false, Mechanism::tma, 0);
  ++site.traffic.requests;
  std::int64_t total = 0;
  over_box(map, to, c, [&](char const* from, std::size_t offset, std::size_t inside, std::size_t row) {
    if (offset + row > shared_->bytes) fault(Check::bounds, "TMA load past the end of shared memory");
    if (inside) check_global(*r, std::size_t(from - r->seen), inside, Direction::load);
    check_shared(offset, row, Direction::store, ordering_.in_operation(rank(), operation), Ordering::Proxy::async);
    site.traffic.transactions += std::int64_t(inside);
    total += std::int64_t(row);
  });
  std::int64_t const at[3] = {c[0], c[1], c[2]};
  in_flight_.push_back([this, &m, map, to, r, total, operation, at0 = at[0], at1 = at[1], at2 = at[2]] {
    over_box(map, to, {at0, at1, at2}, [&](char const* from, std::size_t offset, std::size_t inside, std::size_t row) {
      std::memset(shared_->real + offset, 0, row);  // out of range reads zero
      if (inside) std::memcpy(shared_->real + offset, r->real + (from - r->seen), inside);
    });
    m.missing_bytes -= total;
    m.landed.push_back(operation);
    flip(m);
  });
}

void Executor::tma_store(TmaTensor const& map, void const* smem, std::int64_t const (&c)[3]) {
  auto const from = std::size_t(static_cast<char const*>(smem) - shared_->seen);
  check_box_place(map, from, "TMA store from ");
  Region* const r = memory.find(reinterpret_cast<std::uint64_t>(map.base));
  if (!r) fault(Check::bounds, "TMA store to no buffer");
  Thread& x = thread();
  if (x.store_operation < 0) x.store_operation = ordering_.start("TMA store");
  Event const e = ordering_.in_operation(rank(), x.store_operation);
  Site& site = recorder_.site(r->operand(0).name, Space::global, true, Mechanism::tma, 0);
  ++site.traffic.requests;
  over_box(map, from, c, [&](char const* to, std::size_t offset, std::size_t inside, std::size_t row) {
    if (offset + row > shared_->bytes) fault(Check::bounds, "TMA store past the end of shared memory");
    if (!inside) return;
    check_shared(offset, inside, Direction::load, e, Ordering::Proxy::async);
    check_global(*r, std::size_t(to - r->seen), inside, Direction::store);
    site.traffic.transactions += std::int64_t(inside);
    x.store_pending.push_back(
        [this, r, to, offset, inside] { std::memcpy(r->real + (to - r->seen), shared_->real + offset, inside); });
  });
}
void Executor::tma_store_commit() {
  Thread& x = thread();
  x.store_groups.push_back({x.store_operation, std::move(x.store_pending)});
  x.store_pending.clear();
  x.store_operation = -1;
}
void Executor::tma_store_wait(int keep) {
  for (auto& groups = thread().store_groups; groups.size() > std::size_t(keep); groups.pop_front()) {
    for (auto& land : groups.front().land) land();
    if (groups.front().operation >= 0) ordering_.observe(groups.front().operation, rank());
  }
}

}  // namespace inlay::replay
