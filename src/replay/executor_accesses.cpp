// Accesses of lanes: they are gathered into requests of warps, checked and counted.
#include <inlay/replay/executor.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace inlay::replay {
// ---- accesses of a lane
Executor::Pass Executor::begin_pass(int id) {
  auto const n = std::size_t(id);
  if (call_site_by_id_.size() <= n) call_site_by_id_.resize(n + 1);
  if (!call_site_by_id_[n]) {
    CallSite& added = call_sites_.emplace_back();
    added.warps.resize((num_threads_ + 31) / 32);
    added.passes.resize(num_threads_);
    call_site_by_id_[n] = &added;
  }
  CallSite& call_site = *call_site_by_id_[n];
  Warp& w = call_site.warps[rank() / 32];
  std::size_t const i = call_site.passes[rank()]++ - w.first;
  if (w.requests.size() <= i) w.requests.resize(i + 1);
  return {&call_site, &w, &w.requests[i]};
}

void Executor::end_pass(Pass pass) {
  if (++pass.request->passed < lanes_of(rank() / 32)) return;
  if (pass.request->lanes.active) count_request(*pass.call_site, *pass.request);
  Warp& w = *pass.warp;  // each lane passes in order, so requests are completed in order
  if (++w.done < w.requests.size()) return;
  w.first += w.done, w.done = 0;
  w.requests.clear();
}

Region& Executor::find_region(void const* p, unsigned bytes, char const* verb) {
  auto const address = reinterpret_cast<std::uint64_t>(p);
  Region* const r = shared_ && shared_->contains(address) ? shared_ : memory.find(address);
  if (!r) fault(Check::bounds, verb + str(bytes) + " bytes outside all buffers");
  std::size_t const offset = r->offset(p);
  if (address % bytes)
    fault(Check::alignment, verb + str(bytes) + " bytes at " + element(*r, offset) + ", not aligned");
  if (offset + bytes > r->bytes) fault(Check::bounds, verb + element(*r, offset) + ", past the end of the buffer");
  return *r;
}

void Executor::add_to_request(Request& q, Region& r, std::size_t offset, unsigned bytes, Direction direction,
                              Mechanism mechanism) {
  Operand const& operand = r.operand(offset);
  bool const store = direction == Direction::store;
  // An instruction accesses one array, which several blocks of a cluster may have.
  auto const is_same_array = [&] {
    return q.operand == &operand || (&r == shared_ && q.region == &r && q.operand->name == operand.name);
  };
  if (q.lanes.active && (!is_same_array() || q.lanes.bytes != bytes || q.store != store))
    fault(Check::divergence, (store ? "writes " : "reads ") + element(r, offset) + " where other lanes of its warp " +
                                 (q.store ? "write " : "read ") + q.operand->name + ", " + str(q.lanes.bytes) +
                                 " bytes");
  q.lanes.address[lane()] = reinterpret_cast<std::uint64_t>(r.seen) + offset;
  q.lanes.active |= 1u << lane();
  q.lanes.bytes = bytes;
  q.region = &r, q.operand = &operand, q.store = store, q.mechanism = mechanism;
}

char* Executor::access(Pass pass, void const* p, unsigned bytes, Direction direction, Mechanism mechanism,
                       int operation) {
  Region& r = find_region(p, bytes, direction == Direction::load ? "reads " : "writes ");
  std::size_t const offset = r.offset(p);
  add_to_request(*pass.request, r, offset, bytes, direction, mechanism);
  if (rank() % block_threads_ == 0) count_exposed_loads(r, direction, mechanism);
  Event const event = ordering_.in_operation(rank(), operation);
  if (r.space == Space::global)
    check_global(r, offset, bytes, direction, event, Proxy::generic);
  else
    check_shared(offset, bytes, direction, event, Proxy::generic);
  if (trace_) emit(r, offset, bytes, direction, mechanism);
  end_pass(pass);
  return r.real + offset;
}

void Executor::count_exposed_loads(Region const& r, Direction direction, Mechanism mechanism) {
  if (mechanism != Mechanism::plain) return;
  bool const load = direction == Direction::load, global = r.space == Space::global;
  if (load && global) fma_at_last_load_ = recorder_.fma;
  if (load || global) return;
  if (fma_at_last_load_ && *fma_at_last_load_ == recorder_.fma) ++recorder_.exposed_loads;
  fma_at_last_load_.reset();
}

void Executor::note_split_sectors(Pass pass, void const* from, void const* to) {
  auto const difference = reinterpret_cast<std::uint64_t>(from) - reinterpret_cast<std::uint64_t>(to);
  if (difference % 32 != 0) pass.request->split_sector_lanes |= 1u << lane();
}

void Executor::check_griddep_wait(Region const& r, std::size_t offset, char const* verb) {
  Thread& x = thread();
  if (x.may_access_global) return;
  x.may_access_global = true;  // report once per thread
  for (Event const& e : griddep_waits_)
    if (ordering_.before(e, rank())) return;
  report(Check::race, verb + element(r, offset) + " before griddep_wait(): the previous kernel may still be running");
}

void Executor::check_global(Region& r, std::size_t offset, std::size_t bytes, Direction direction, Event const& event,
                            Proxy proxy) {
  if (launch_info_.follows) check_griddep_wait(r, offset, direction == Direction::load ? "reads " : "writes ");
  if (r.workspace) return check_global_order(r, offset, bytes, direction, event, proxy);
  if (r.sampled) return;
  if (r.state.empty()) r.state.resize(r.bytes);
  if (event.is_atomic())
    check_atomic_access(r, offset, bytes, event);
  else
    check_operand_access(r, offset, bytes, direction);
  constexpr auto kBoth = Region::kReadable | Region::kWritable;
  if (event.is_atomic() || (r.state[offset] & kBoth) == kBoth)
    check_global_order(r, offset, bytes, direction, event, proxy);
}

void Executor::check_operand_access(Region& r, std::size_t offset, std::size_t bytes, Direction direction) {
  constexpr auto kReadable = Region::kReadable, kWritable = Region::kWritable, kWritten = Region::kWritten;
  bool const load = direction == Direction::load;
  std::uint8_t* const state = r.state.data() + offset;
  std::uint8_t const may = load ? kReadable : kWritable;
  if (!r.has_state(offset, bytes, may | kWritten, may)) {
    std::size_t const i = std::size_t(
        std::find_if(state, state + bytes, [&](std::uint8_t s) { return (s & (may | kWritten)) != may; }) - state);
    std::string const at = (load ? "reads " : "writes ") + element(r, offset + i);
    if (load && state[i] & kWritable && !(state[i] & kReadable))
      fault(Check::bounds, at + ", which the kernel may only write");
    if (!(state[i] & may))
      fault(Check::bounds, at + ", which is no element of the " + (load ? "source" : "destination"));
    if (load) return report(Check::race, at + ", which has been written already");
    report(Check::coverage, at + " once more");
  }
  if (load) return;
  r.stored = true;
  for (std::size_t i = 0; i < bytes; ++i) state[i] |= kWritten;
}

// An element may be changed atomically any number of times. It must have a value, from the caller or from an earlier
// kernel, unless the operation is an exchange.
void Executor::check_atomic_access(Region& r, std::size_t offset, std::size_t bytes, Event const& event) {
  auto const at = [&] { return "changes " + element(r, offset) + " atomically"; };
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    std::uint8_t& s = r.state[i];
    if (!(s & Region::kWritable)) fault(Check::bounds, at() + ", which is no element of the destination");
    if (!(s & (Region::kReadable | Region::kWritten)) && event.operation != Event::atomic(Atomic::exchange))
      fault(Check::bounds, at() + ", which has no value");
    if (s & Region::kWritten && !(s & (Region::kWrittenEarlier | Region::kChangedAtomically)))
      return report(Check::race, at() + ", which a store of this kernel has written");
    s |= Region::kWritten | Region::kChangedAtomically;
  }
}

// The order of accesses to the workspace, and to elements that may be both read and written.
void Executor::check_global_order(Region& r, std::size_t offset, std::size_t bytes, Direction direction,
                                  Event const& event, Proxy proxy) {
  char const* const verb = event.is_atomic() ? "changes " : direction == Direction::load ? "reads " : "writes ";
  if (r.workspace && (offset | bytes) % GlobalOrdering::kWord)
    fault(Check::misuse, verb + element(r, offset) + ", " + str(bytes) +
                             " bytes: accesses to the workspace must be whole words of 4 bytes");
  if (!r.history) r.history = std::make_shared<AccessHistory>(r.bytes, 1, true);
  AccessHistory& history = *r.history;
  std::string const how = event.is_atomic() ? global.change(history, offset, bytes, event, ordering_)
                          : direction == Direction::load
                              ? global.read(history, offset, bytes, event, ordering_, proxy)
                              : global.write(history, offset, bytes, event, ordering_, proxy);
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
    report(Check::misuse, verb + element(*shared_, offset) + ", which is an mbarrier until the block ends");
  std::string const how = event.is_atomic() ? ordering_.change(offset, bytes, event, rank())
                          : load            ? ordering_.read(offset, bytes, event, rank(), proxy)
                                            : ordering_.write(offset, bytes, event, rank(), proxy);
  bool const ended = block_ends_[offset / block_smem_bytes_].complete;
  if (!how.empty() || ended)
    report(Check::race, verb + element(*shared_, offset) + ", " + (ended ? "of a block that has ended" : how));
}

// ---- atomic operations
char* Executor::atomic(Pass pass, void const* p, unsigned bytes, Atomic kind) {
  return access(pass, p, bytes, Direction::store, Mechanism::atomic, Event::atomic(kind));
}

// Threads add in an unspecified order. The sum is the same in every order if no addition rounds: the sum of the
// magnitudes must be representable with the lowest digit of all addends.
void Executor::check_sum_order(char const* target, double old, double value, int mantissa_digits) {
  constexpr int kNoDigits = 1 << 20;  // of 0: higher than every digit
  auto const lowest_digit = [](double x) {
    int exponent = 0;
    if (!std::isfinite(x)) return -kNoDigits;
    for (x = std::frexp(x, &exponent); x != std::floor(x); x *= 2) --exponent;
    return exponent;
  };
  Region const* const r = memory.find_real(target);
  unsigned const block = first_block_ + block_rank(), t = rank() % block_threads_;
  auto const [at, added] =
      sums_.try_emplace(target, Sum{std::abs(old), old != 0 ? lowest_digit(old) : kNoDigits, block, t});
  Sum& sum = at->second;
  sum.magnitude += std::abs(value);
  if (value != 0) sum.lowest_digit = std::min(sum.lowest_digit, lowest_digit(value));
  bool const has_several_threads = sum.block != block || sum.thread != t;
  double const representable = std::ldexp(1., std::min(sum.lowest_digit, 1 << 10) + mantissa_digits);
  if (sum.reported || !has_several_threads || sum.magnitude <= representable) return;
  sum.reported = true;
  report(Check::result, "adds to " + element(*r, std::size_t(target - r->real)) +
                            " atomically, where sums are rounded: they depend on the order of the threads");
}

// ---- counts
void Executor::count_request(CallSite& call_site, Request const& q) {
  Request const& last = call_site.last;
  if (last.operand != q.operand || last.store != q.store || last.mechanism != q.mechanism ||
      last.lanes.bytes != q.lanes.bytes) {
    call_site.last = q;
    Site const& site = recorder_.site(q.operand->name, q.region->space, q.store, q.mechanism, q.lanes.bytes);
    call_site.site = std::size_t(&site - recorder_.sites.data());
  }
  recorder_.sites[call_site.site].count(q.lanes, q.split_sector_lanes);
}
void Executor::count_incomplete_requests(unsigned warp) {
  for (CallSite& call_site : call_sites_) {
    Warp& w = call_site.warps[warp];
    for (std::size_t i = w.done; i < w.requests.size(); ++i)
      if (w.requests[i].lanes.active) count_request(call_site, w.requests[i]);
    w.first = w.done = 0;
    w.requests.clear();
    std::fill_n(call_site.passes.begin() + 32 * warp, lanes_of(warp), 0);
  }
}
void Executor::count_incomplete_requests() {
  for (unsigned warp = 0; warp < (num_threads_ + 31) / 32; ++warp) count_incomplete_requests(warp);
}

}  // namespace inlay::replay
