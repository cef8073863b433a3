#include <inlay/replay/executor.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

namespace inlay::replay {
namespace {

// An access that bypassed the recorder is a segmentation fault. This handler is in place while anything is guarded;
// what is not the replay's goes on to the handler that was there before.
std::mutex handling;
int guards = 0;
struct sigaction before {};

// Replay units are compiled with -fnon-call-exceptions: a handler may throw.
void on_segv(int signal, siginfo_t* info, void* context) {
  if (current_executor)
    if (auto sentence = current_executor->unrecorded(info->si_addr)) throw Fault(Check::unrecorded, *sentence);
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  sigaction(signal, &before, nullptr);  // return, fault again, die
}

// Who is current_executor in a scope.
class Guard {
 public:
  explicit Guard(Executor& now) : outer_(std::exchange(current_executor, &now)) {
    std::lock_guard const lock(handling);
    if (guards++ || ours()) return;
    sigaction(SIGSEGV, nullptr, &before);  // first: the handler reads it
    struct sigaction action {};
    action.sa_sigaction = on_segv;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
  }
  ~Guard() {
    current_executor = outer_;
    std::lock_guard const lock(handling);
    if (--guards == 0 && ours()) sigaction(SIGSEGV, &before, nullptr);
  }
  Guard(Guard const&) = delete;

 private:
  // Somebody else may have put one in its place, or kept this one and put it back.
  static bool ours() {
    struct sigaction now {};
    sigaction(SIGSEGV, nullptr, &now);
    return now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_segv;
  }
  Executor* const outer_;
};

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
std::string Executor::here() const { return count_ ? who(rank()) : ""; }
std::string Executor::element(Region const& r, std::size_t offset) const {
  Operand const& o = r.operand(offset);
  std::size_t const in = offset - o.offset;
  return o.name + "[" + str(in / std::size_t(o.elem_bytes)) + "] (byte " + str(in) + ")";
}
std::optional<std::string> Executor::unrecorded(void const* address) const {
  Region const* r = memory.find(address);
  if (!r) return std::nullopt;
  return here() + "touches " + element(*r, r->offset(address)) + " past the recorder, without a copy operation";
}

// ---- blocks
void Executor::guarded(std::function<void()> const& f) {
  Guard const guard(*this);
  try {
    f();
  } catch (Fault const& fault) {
    recorder_.report(fault.check, recorder_.kernel + ": " + fault.what());
  }
}

void Executor::run(std::int64_t first, std::int64_t blocks, LaunchInfo const& facts, unsigned cluster,
                   std::size_t smem_bytes, std::vector<Operand> const& smem, Body const& body) {
  facts_ = facts, block_threads_ = unsigned(facts.threads);
  block_smem_ = cluster == 1 ? smem_bytes : (smem_bytes + 1023) / 1024 * 1024;
  place_of_.clear();
  places_.clear();
  global.next_kernel();
  sums_.clear();
  waited_ = false;
  for (Region& r : memory.regions())
    if (std::exchange(r.stored, false))
      for (std::uint8_t& s : r.state) s |= std::uint8_t(s & Region::kWritten ? Region::kEarlier : 0);
  std::vector<Operand> operands;
  for (unsigned c = 0; c < cluster; ++c)
    for (Operand o : smem) o.offset += c * block_smem_, operands.push_back(std::move(o));
  shared_ = smem_bytes ? &memory.map(Space::shared, block_smem_ * cluster, std::move(operands)) : nullptr;
  count_ = block_threads_ * cluster;
  struct Running {  // also when a body throws something of its own
    Executor& executor;
    Guard const guard{executor};
    ~Running() {
      executor.memory.unmap_shared();
      executor.shared_ = nullptr, executor.count_ = 0;
    }
  } const running{*this};
  try {
    for (std::int64_t b = first; b < first + blocks; b += cluster) run_cluster(unsigned(b), body);
    if (facts_.follows && blocks > 0 && !waited_)
      recorder_.report(Check::race, recorder_.kernel +
                                        ": may begin before the kernel before it has ended, and no thread "
                                        "calls griddep_wait()");
  } catch (Fault const& f) {
    recorder_.report(f.check, f.what());
  } catch (Deadlock const& d) {
    recorder_.report(Check::deadlock, recorder_.kernel + ", block " + str(block_) + ": " + d.what());
  }
  tally();
}

void Executor::run_cluster(unsigned first, Body const& body) {
  block_ = first;
  threads_.assign(count_, {});
  named_.assign(16 * (count_ / block_threads_), nullptr);
  warps_.assign((count_ + 31) / 32, nullptr);
  exchanges_.assign(warps_.size(), nullptr);
  cluster_ = nullptr;
  ends_.assign(count_ / block_threads_, {.threads = block_threads_});
  left_of_block_.assign(count_ / block_threads_, 0);
  left_of_warp_.assign(warps_.size(), 0);
  previous_ended_.clear();
  registers_.assign((count_ + 127) / 128, 0);
  global.next_block(first);
  ordering_.reset(count_, shared_ ? shared_->bytes : 0);
  mbarriers_.clear();
  is_mbarrier_.clear();
  in_flight_.clear();
  arrived_ = 0, loaded_at_.reset();
  if (shared_) std::memset(shared_->real, 0xCD, shared_->bytes);
  fibers_.run(
      count_,
      [&](unsigned rank) {
        unsigned const member = rank / block_threads_;
        body(first + member, rank % block_threads_, shared_ ? shared_->seen + member * block_smem_ : nullptr);
        leave();
        tell(Happens::end);
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
  check_registers();
  if (shared_)
    std::erase_if(sums_, [&](auto const& s) {
      return s.first - shared_->real < std::ptrdiff_t(shared_->mapped) && s.first >= shared_->real;
    });
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

  if (rank() % block_threads_ == 0) watch_for_exposed_loads(*r, direction, mechanism);
  Event const event = ordering_.in_operation(rank(), operation);
  if (r->space == Space::global)
    check_global(*r, offset, bytes, direction, event, Proxy::generic);
  else
    check_shared(offset, bytes, direction, event, Proxy::generic);
  if (trace_) tell(*r, offset, bytes, direction, mechanism);
  end_pass(slot);
  return r->real + offset;
}

void Executor::watch_for_exposed_loads(Region const& r, Direction direction, Mechanism mechanism) {
  if (mechanism != Mechanism::plain) return;
  bool const load = direction == Direction::load, global = r.space == Space::global;
  if (load && global) loaded_at_ = recorder_.fma;
  if (load || global) return;
  if (loaded_at_ && *loaded_at_ == recorder_.fma) ++recorder_.exposed_loads;
  loaded_at_.reset();
}

void Executor::meets_halves(Slot slot, void const* from, void const* to) {
  auto const apart = reinterpret_cast<std::uint64_t>(from) - reinterpret_cast<std::uint64_t>(to);
  if (apart % 32 != 0) slot.request->halves |= 1u << rank() % 32;
}

void Executor::check_after_previous(Region const& r, std::size_t offset, char const* verb) {
  Thread& x = thread();
  if (x.may_touch) return;
  x.may_touch = true;  // one finding a thread is enough
  for (Event const& e : previous_ended_)
    if (ordering_.before(e, rank())) return;
  report(Check::race, verb + element(r, offset) + " before griddep_wait(): the kernel before may still run");
}

void Executor::check_global(Region& r, std::size_t offset, std::size_t bytes, Direction direction, Event const& event,
                            Proxy proxy) {
  if (facts_.follows) check_after_previous(r, offset, direction == Direction::load ? "reads " : "writes ");
  if (r.workspace) return check_order(r, offset, bytes, direction, event, proxy);
  if (r.loose) return;
  if (r.state.empty()) r.state.resize(r.bytes);
  if (event.is_atomic())
    check_change(r, offset, bytes, event);
  else
    check_state(r, offset, bytes, direction);
  constexpr auto kBoth = Region::kReadable | Region::kWritable;
  if (event.is_atomic() || (r.state[offset] & kBoth) == kBoth) check_order(r, offset, bytes, direction, event, proxy);
}

void Executor::check_state(Region& r, std::size_t offset, std::size_t bytes, Direction direction) {
  constexpr auto kReadable = Region::kReadable, kWritable = Region::kWritable, kWritten = Region::kWritten;
  bool const load = direction == Direction::load;
  std::uint8_t* const state = r.state.data() + offset;
  std::uint8_t const may = load ? kReadable : kWritable;
  if (!r.all(offset, bytes, may | kWritten, may)) {
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
  if (load) return;
  r.stored = true;
  for (std::size_t i = 0; i < bytes; ++i) state[i] |= kWritten;
}

// Atomically an element is changed as often as one likes, from what the caller or an earlier kernel has put there.
void Executor::check_change(Region& r, std::size_t offset, std::size_t bytes, Event const& event) {
  auto const at = [&] { return "changes " + element(r, offset) + " atomically"; };
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    std::uint8_t& s = r.state[i];
    if (!(s & Region::kWritable)) fault(Check::bounds, at() + ", which is no element of the destination");
    if (!(s & (Region::kReadable | Region::kWritten)) && event.operation != Event::atomic(Atomic::exchange))
      fault(Check::bounds, at() + ", which nobody has set");
    if (s & Region::kWritten && !(s & (Region::kEarlier | Region::kChanged)))
      return report(Check::race, at() + ", which a store of this kernel has written");
    s |= Region::kWritten | Region::kChanged;
  }
}

// The workspace, and what is both read and written.
void Executor::check_order(Region& r, std::size_t offset, std::size_t bytes, Direction direction, Event const& event,
                           Proxy proxy) {
  char const* const verb = event.is_atomic() ? "changes " : direction == Direction::load ? "reads " : "writes ";
  if (r.workspace && (offset | bytes) % GlobalOrdering::kWord)
    fault(Check::misuse, verb + element(r, offset) + ", " + str(bytes) + " bytes: no whole words of the workspace");
  if (!r.places) r.places = std::make_shared<Places>(r.bytes, 1, true);
  Places& p = *r.places;
  std::string const how = event.is_atomic()              ? global.change(p, offset, bytes, event, ordering_)
                          : direction == Direction::load ? global.read(p, offset, bytes, event, ordering_, proxy)
                                                         : global.write(p, offset, bytes, event, ordering_, proxy);
  if (!how.empty()) report(Check::race, verb + element(r, offset) + ", " + how);
}

bool Executor::holds_mbarrier(std::size_t offset, std::size_t bytes) const {
  if (is_mbarrier_.empty()) return false;
  for (std::size_t i = offset / 8; i <= (offset + bytes - 1) / 8; ++i)
    if (is_mbarrier_[i]) return true;
  return false;
}

void Executor::check_shared(std::size_t offset, std::size_t bytes, Direction direction, Event const& event,
                            Proxy proxy) {
  bool const load = direction == Direction::load;
  char const* const verb = event.is_atomic() ? "changes " : load ? "reads " : "writes ";
  if (holds_mbarrier(offset, bytes))
    report(Check::misuse, verb + element(*shared_, offset) + ", where an mbarrier lives until the block ends");
  std::string const how = event.is_atomic() ? ordering_.change(offset, bytes, event, rank())
                          : load            ? ordering_.read(offset, bytes, event, rank(), proxy)
                                            : ordering_.write(offset, bytes, event, rank(), proxy);
  bool const gone = ends_[offset / block_smem_].over;
  if (!how.empty() || gone)
    report(Check::race, verb + element(*shared_, offset) + ", " + (gone ? "of a block that has ended" : how));
}

// ---- atomic operations
char* Executor::atomic(Slot slot, void const* p, unsigned bytes, Atomic kind) {
  return access(slot, p, bytes, Direction::store, Mechanism::atomic, Event::atomic(kind));
}

// Threads add in an order that nobody decides. A sum is the same in any, if all that is added, taken without its signs,
// fits the digits between the lowest one of them and the format's.
void Executor::adds(char const* place, double old, double value, int digits) {
  auto const lowest = [](double x) {
    int e = 0;
    if (!std::isfinite(x)) return -(1 << 20);
    for (x = std::frexp(x, &e); x != std::floor(x); x *= 2) --e;
    return e;
  };
  Region const* const r = memory.find_real(place);
  unsigned const block = block_ + member(), t = rank() % block_threads_;
  auto const [at, fresh] = sums_.try_emplace(place, Sum{std::abs(old), old != 0 ? lowest(old) : 1 << 20, block, t});
  Sum& sum = at->second;
  sum.magnitude += std::abs(value);
  if (value != 0) sum.digit = std::min(sum.digit, lowest(value));
  bool const others = sum.block != block || sum.thread != t;
  if (sum.reported || !others || sum.magnitude <= std::ldexp(1., std::min(sum.digit, 1 << 10) + digits)) return;
  sum.reported = true;
  report(Check::result, "adds to " + element(*r, std::size_t(place - r->real)) +
                            " atomically, where sums are rounded: they depend on the order of the threads");
}

void Executor::tally(Place& place, Request const& q) {
  Request const& last = place.last;
  if (last.operand != q.operand || last.store != q.store || last.mechanism != q.mechanism ||
      last.lanes.bytes != q.lanes.bytes) {
    place.last = q;
    place.site = std::size_t(&recorder_.site(q.operand->name, q.region->space, q.store, q.mechanism, q.lanes.bytes) -
                             recorder_.sites.data());
  }
  recorder_.sites[place.site].count(q.lanes, q.halves);
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

}  // namespace inlay::replay
