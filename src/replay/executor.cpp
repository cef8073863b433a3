#include "replay/executor.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

namespace inlay::replay {
namespace {

std::string str(std::uint64_t n) { return std::to_string(n); }

// An access that bypassed the recorder. Replay units are compiled with -fnon-call-exceptions: the handler may throw.
void on_segv(int signal, siginfo_t* info, void*) {
  if (current_executor)
    if (auto sentence = current_executor->unrecorded(info->si_addr)) throw Fault(Check::unrecorded, *sentence);
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

int Executor::new_place() {
  static std::atomic<int> places = 0;
  return places++;
}

// ---- sentences
std::string Executor::who(unsigned rank) const {
  return recorder_.kernel + ", block " + str(block_ + rank / block_threads_) + ", thread " +
         str(rank % block_threads_) + ": ";
}
std::string Executor::here() const { return who(rank()); }
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
void Executor::run(std::int64_t blocks, unsigned threads, unsigned cluster, std::size_t smem_bytes,
                   std::vector<Operand> const& smem, Body const& body) {
  watch_for_unrecorded();
  count_ = threads * cluster, block_threads_ = threads;
  block_smem_ = cluster == 1 ? smem_bytes : (smem_bytes + 1023) / 1024 * 1024;
  place_of_.clear();
  places_.clear();
  workspace.next_kernel();
  std::vector<Operand> operands;
  for (unsigned c = 0; c < cluster; ++c)
    for (Operand o : smem) o.offset += c * block_smem_, operands.push_back(std::move(o));
  shared_ = smem_bytes ? &memory.map(Space::shared, block_smem_ * cluster, std::move(operands)) : nullptr;
  struct Running {  // also when a body throws something of its own
    Executor* const outer;
    ~Running() { current_executor = outer; }
  } const restore{std::exchange(current_executor, this)};
  try {
    for (std::int64_t b = 0; b < blocks; b += cluster) run_cluster(unsigned(b), body);
  } catch (Fault const& f) {
    recorder_.report(f.check, f.what());
  } catch (Deadlock const& d) {
    recorder_.report(Check::deadlock, recorder_.kernel + ", block " + str(block_) + ": " + d.what());
  }
  tally();
  memory.unmap_shared();
  shared_ = nullptr;
}

void Executor::run_cluster(unsigned first, Body const& body) {
  block_ = first;
  threads_.assign(count_, {});
  named_.assign(16 * (count_ / block_threads_), nullptr);
  warps_.assign((count_ + 31) / 32, nullptr);
  cluster_ = nullptr;
  ends_.assign(count_ / block_threads_, {block_threads_, 0, false, {}});
  workspace.next_block(first);
  ordering_.reset(count_, shared_ ? shared_->bytes : 0);
  mbarriers_.clear();
  in_flight_.clear();
  arrived_ = 0;
  if (shared_) std::memset(shared_->real, 0xCD, shared_->bytes);
  fibers_.run(
      count_,
      [&](unsigned rank) {
        unsigned const member = rank / block_threads_;
        body(first + member, rank % block_threads_, shared_ ? shared_->seen + member * block_smem_ : nullptr);
        if (shared_ && count_ != block_threads_) leave();
      },
      [&] {
        if (in_flight_.empty()) return false;
        auto land = std::move(in_flight_.front());
        in_flight_.pop_front();
        land();
        return true;
      });
  if (!in_flight_.empty())
    recorder_.report(Check::misuse, recorder_.kernel + ", block " + str(first) + ": ends with a TMA load in flight");
  for (unsigned t = 0; t < count_; ++t) {
    Thread const& x = threads_[t];
    if (!x.cp_pending.empty() || !x.cp_groups.empty())
      recorder_.report(Check::misuse, who(t) + "ends with a cp.async that it did not wait for");
    if (!x.store_pending.empty() || !x.store_groups.empty())
      recorder_.report(Check::misuse, who(t) + "ends with a TMA store that it did not wait for");
  }
  tally();
}

// ---- one lane's access
Executor::Slot Executor::tick(int number) {
  auto const n = std::size_t(number);
  if (place_of_.size() <= n) place_of_.resize(n + 1);
  if (!place_of_[n]) {
    Place& fresh = places_.emplace_back();
    fresh.warps.resize((count_ + 31) / 32);
    fresh.passes.resize(count_);
    place_of_[n] = &fresh;
  }
  Place& place = *place_of_[n];
  Warp& w = place.warps[rank() / 32];
  std::size_t const i = place.passes[rank()]++ - w.first;
  if (w.requests.size() <= i) w.requests.resize(i + 1);
  return {&place, &w, &w.requests[i]};
}

void Executor::end_pass(Slot slot) {
  if (++slot.request->passed < lanes_of(rank() / 32)) return;
  if (slot.request->lanes.active) tally(*slot.place, *slot.request);
  Warp& w = *slot.warp;  // its lanes pass here in order: so do its requests end
  if (++w.done < w.requests.size()) return;
  w.first += w.done, w.done = 0;
  w.requests.clear();
}

char* Executor::access(Slot slot, void const* p, unsigned bytes, Direction direction, Mechanism mechanism,
                       int operation) {
  auto const address = reinterpret_cast<std::uint64_t>(p);
  char const* const verb = direction == Direction::load ? "reads " : "writes ";
  Region* const r = shared_ && shared_->contains(address) ? shared_ : memory.find(address);
  if (!r) fault(Check::bounds, std::string(verb) + str(bytes) + " bytes that belong to no buffer");
  auto const offset = std::size_t(static_cast<char const*>(p) - r->seen);
  if (address % bytes)
    fault(Check::alignment, std::string(verb) + str(bytes) + " bytes at " + element(*r, offset) + ", not aligned");
  if (offset + bytes > r->bytes) fault(Check::bounds, verb + element(*r, offset) + ", past the end of the buffer");

  Request& q = *slot.request;
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

  Event const event = operation < 0 ? ordering_.now(rank()) : ordering_.in_operation(rank(), operation);
  if (r->space == Space::global)
    check_global(*r, offset, bytes, direction, event);
  else
    check_shared(offset, bytes, direction, event, Ordering::Proxy::generic);
  end_pass(slot);
  return r->real + offset;
}

namespace {
// Are the bits of `mask` in each of n bytes those of `want`?
bool all(std::uint8_t const* state, std::size_t n, std::uint8_t mask, std::uint8_t want) {
  constexpr std::uint64_t kEach = 0x0101010101010101u;
  std::uint64_t wrong = 0, eight;
  for (; n >= 8; n -= 8, state += 8) {
    std::memcpy(&eight, state, 8);
    wrong |= (eight & kEach * mask) ^ kEach * want;
  }
  for (; n; --n, ++state) wrong |= (*state & mask) ^ want;
  return !wrong;
}
}  // namespace

void Executor::check_global(Region& r, std::size_t offset, std::size_t bytes, Direction direction, Event const& event) {
  if (r.workspace) return check_workspace(r, offset, bytes, direction, event);
  constexpr auto kReadable = Region::kReadable, kWritable = Region::kWritable, kWritten = Region::kWritten;
  bool const load = direction == Direction::load;
  if (r.state.empty()) r.state.resize(r.bytes);
  std::uint8_t* const state = r.state.data() + offset;
  std::uint8_t const may = load ? kReadable : kWritable;
  if (!all(state, bytes, may | kWritten, may)) {
    std::size_t const i = std::size_t(
        std::find_if(state, state + bytes, [&](std::uint8_t s) { return (s & (may | kWritten)) != may; }) - state);
    std::string const at = (load ? "reads " : "writes ") + element(r, offset + i);
    if (load && state[i] & kWritable && !(state[i] & kReadable))
      fault(Check::bounds, at + ", which is only to be written");
    if (!(state[i] & may))
      fault(Check::bounds, at + ", which is no element of the " + (load ? "source" : "destination"));
    if (load) return report(Check::race, at + ", which has been written already");
    report(Check::coverage, at + " once more");
  }
  if (!load)
    for (std::size_t i = 0; i < bytes; ++i) state[i] |= kWritten;
}

void Executor::check_workspace(Region const& r, std::size_t offset, std::size_t bytes, Direction direction,
                               Event const& event) {
  bool const load = direction == Direction::load;
  std::string const verb = load ? "reads " : "writes ";
  if ((offset | bytes) % Workspace::kWord)
    fault(Check::misuse, verb + element(r, offset) + ", " + str(bytes) + " bytes: no whole words of the workspace");
  std::string const how =
      load ? workspace.read(offset, bytes, rank(), ordering_) : workspace.write(offset, bytes, event, ordering_);
  if (!how.empty()) report(Check::race, verb + element(r, offset) + ", " + how);
}

void Executor::check_shared(std::size_t offset, std::size_t bytes, Direction direction, Event const& event,
                            Ordering::Proxy proxy) {
  bool const load = direction == Direction::load;
  std::string const how =
      load ? ordering_.read(offset, bytes, event, rank(), proxy) : ordering_.write(offset, bytes, event, rank());
  bool const gone = ends_[offset / block_smem_].over;
  if (!how.empty() || gone)
    report(Check::race, (load ? "reads " : "writes ") + element(*shared_, offset) + ", " +
                            (gone ? "of a block that has ended" : how));
}

void Executor::tally(Place& place, Request const& q) {
  Request const& last = place.last;
  if (last.operand != q.operand || last.store != q.store || last.mechanism != q.mechanism ||
      last.lanes.bytes != q.lanes.bytes) {
    place.last = q;
    place.site = std::size_t(&recorder_.site(q.operand->name, q.region->space, q.store, q.mechanism, q.lanes.bytes) -
                             recorder_.sites.data());
  }
  Traffic& t = recorder_.sites[place.site].traffic;
  ++t.requests;
  t.transactions += q.region->space == Space::global
                        ? banks::sectors(q.lanes)
                        : banks::wavefronts(q.lanes, q.store ? banks::Access::store : banks::Access::load);
}
// What is left when a block ends: requests that some lanes of a warp never came to.
void Executor::tally() {
  for (Place& place : places_) {
    for (Warp& w : place.warps) {
      for (std::size_t i = w.done; i < w.requests.size(); ++i)
        if (w.requests[i].lanes.active) tally(place, w.requests[i]);
      w.first = w.done = 0;
      w.requests.clear();
    }
    std::fill(place.passes.begin(), place.passes.end(), 0);
  }
}

// ---- barriers
void Executor::sync(std::source_location at) {
  unsigned const t = rank();
  if (count_ != block_threads_)  // the epochs below are those of all threads
    return meet(named_[member() * 16], block_threads_, [&] { return "the barrier of line " + str(at.line()); });
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

// A barrier of some of the threads: it orders those alone. `open` is its round that is not yet complete.
template <class What>
void Executor::meet(std::shared_ptr<Round>& open, unsigned threads, What const& what) {
  if (!open) open = std::make_shared<Round>(Round{threads, 0, false, {}});
  std::shared_ptr<Round> const round = open;  // the next may begin before this thread goes on
  if (round->threads != threads)
    fault(Check::misuse,
          "expects " + str(threads) + " threads at " + what() + ", where others expect " + str(round->threads));
  ordering_.release(rank(), round->clock);
  if (++round->arrived == threads)
    round->over = true, open.reset();
  else
    fibers_.wait_until([&] { return round->over; },
                       [&] { return what() + " (" + str(round->arrived) + " of " + str(threads) + " arrived)"; });
  ordering_.acquire(rank(), round->clock);
}
void Executor::sync(int id, unsigned threads, std::source_location at) {
  meet(named_[member() * 16 + unsigned(id)], threads,
       [&] { return "barrier " + std::to_string(id) + " of line " + str(at.line()); });
}
void Executor::sync_cluster(unsigned threads, std::source_location at) {
  meet(cluster_, threads * (count_ / block_threads_),
       [&] { return "the cluster's barrier of line " + str(at.line()); });
}
// A block's shared memory goes away with its last thread.
void Executor::leave() {
  Round& round = ends_[member()];
  ordering_.release(rank(), round.clock);
  if (++round.arrived < round.threads) return;
  round.over = true;
  if (std::string const how = ordering_.end(member() * block_smem_, block_smem_, round.clock); !how.empty())
    report(Check::race, "is the last of its block, whose shared memory goes away, " + how);
}
void const* Executor::peer(void const* p, unsigned member_there) {
  if (unsigned const blocks = count_ / block_threads_; member_there >= blocks)
    fault(Check::misuse, "asks for block " + str(member_there) + " of a cluster of " + str(blocks));
  return static_cast<char const*>(p) +
         (std::ptrdiff_t(member_there) - std::ptrdiff_t(member())) * std::ptrdiff_t(block_smem_);
}
void Executor::sync_warp(std::source_location at) {
  unsigned const warp = rank() / 32;
  meet(warps_[warp], lanes_of(warp), [&] { return "the warp's barrier of line " + str(at.line()); });
}

// ---- flags
std::size_t Executor::flag(void const* address, char const* verb) {
  Region* const r = memory.find(reinterpret_cast<std::uint64_t>(address));
  if (!r || !r->workspace) fault(Check::misuse, std::string(verb) + "a flag that is no word of the workspace");
  auto const offset = std::size_t(static_cast<char const*>(address) - r->seen);
  if (offset % Workspace::kWord || offset + Workspace::kWord > r->bytes)
    fault(Check::bounds, verb + element(*r, offset) + ", which is no word of the workspace");
  return offset;
}
void Executor::release(void const* address, std::uint32_t value) {
  std::size_t const offset = flag(address, "releases ");
  Region const& r = *memory.find(address);
  std::uint32_t old;
  std::memcpy(&old, r.real + offset, sizeof old);
  if (old == value)
    report(Check::race, "releases " + element(r, offset) + " with the value that it has, " + str(value) +
                            ": who waits for it may have gone on before");
  std::memcpy(r.real + offset, &value, sizeof value);
  workspace.release(offset, rank(), ordering_);
}
void Executor::acquire(void const* address, std::uint32_t value) {
  std::size_t const offset = flag(address, "acquires ");
  Region const& r = *memory.find(address);
  auto const now = [&] {
    std::uint32_t word;
    std::memcpy(&word, r.real + offset, sizeof word);
    return word;
  };
  fibers_.wait_until([&] { return now() == value; },
                     [&] {
                       return "the flag " + element(r, offset) + " to become " + str(value) + " (it is " + str(now()) +
                              "; the blocks below have finished)";
                     });
  std::string const how = workspace.acquire(offset, rank(), ordering_);
  if (!how.empty()) report(Check::race, "acquires " + element(r, offset) + ", " + how);
}

// ---- cp.async: data lands at the covering wait of its own thread
void Executor::land(std::vector<Group>& groups, int keep) {
  if (groups.size() <= std::size_t(keep)) return;
  auto const kept = groups.end() - keep;
  for (auto g = groups.begin(); g != kept; ++g) {
    for (Landing const& l : g->land)
      if (l.from)
        std::memcpy(l.to, l.from, l.bytes);
      else
        std::memset(l.to, 0, l.bytes);
    if (g->operation >= 0) ordering_.observe(g->operation, rank());
  }
  groups.erase(groups.begin(), kept);
}
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
void Executor::cp_async_wait(int keep) { land(thread().cp_groups, keep); }

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
  m.landed = std::move(m.landing);
  m.landing.clear();
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
  std::memcpy(static_cast<void*>(&t), &map, sizeof t);
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
  Event const e = ordering_.in_operation(rank(), operation);
  Site& site = recorder_.site(r->operand(0).name, Space::global, false, Mechanism::tma, 0);
  ++site.traffic.requests;
  std::int64_t total = 0;
  over_box(map, to, c, [&](char const* from, std::size_t offset, std::size_t inside, std::size_t row) {
    if (offset + row > shared_->bytes) fault(Check::bounds, "TMA load past the end of shared memory");
    if (inside) check_global(*r, std::size_t(from - r->seen), inside, Direction::load, e);
    check_shared(offset, row, Direction::store, e, Ordering::Proxy::async);
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
    m.landing.push_back(operation);
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
    check_global(*r, std::size_t(to - r->seen), inside, Direction::store, e);
    site.traffic.transactions += std::int64_t(inside);
    x.store_pending.push_back({r->real + (to - r->seen), shared_->real + offset, inside});
  });
}
void Executor::tma_store_commit() {
  Thread& x = thread();
  x.store_groups.push_back({x.store_operation, std::move(x.store_pending)});
  x.store_pending.clear();
  x.store_operation = -1;
}
void Executor::tma_store_wait(int keep) { land(thread().store_groups, keep); }

}  // namespace inlay::replay
