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

// An access that bypasses the recorder is a segmentation fault. on_segv is installed while a Guard exists, and passes
// faults that are not the replay's to the handler that was installed before.
std::mutex handler_mutex;
int num_guards = 0;
struct sigaction previous_handler {};

// Throws, which is legal because replay units are compiled with -fnon-call-exceptions.
void on_segv(int signal, siginfo_t* info, void* context) {
  if (current_executor)
    if (auto sentence = current_executor->unrecorded(info->si_addr)) throw Fault(Check::unrecorded, *sentence);
  if (previous_handler.sa_flags & SA_SIGINFO) return previous_handler.sa_sigaction(signal, info, context);
  if (previous_handler.sa_handler != SIG_DFL && previous_handler.sa_handler != SIG_IGN)
    return previous_handler.sa_handler(signal);
  sigaction(signal, &previous_handler, nullptr);  // return, fault again, die
}

// Sets current_executor and installs the signal handler in a scope.
class Guard {
 public:
  explicit Guard(Executor& now) : outer_(std::exchange(current_executor, &now)) {
    std::lock_guard const lock(handler_mutex);
    if (num_guards++ || is_installed()) return;
    sigaction(SIGSEGV, nullptr, &previous_handler);  // first: the handler reads it
    struct sigaction action {};
    action.sa_sigaction = on_segv;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
  }
  ~Guard() {
    current_executor = outer_;
    std::lock_guard const lock(handler_mutex);
    if (--num_guards == 0 && is_installed()) sigaction(SIGSEGV, &previous_handler, nullptr);
  }
  Guard(Guard const&) = delete;

 private:
  // Asks the system, because other code may have replaced the handler, or saved it and installed it again.
  static bool is_installed() {
    struct sigaction now {};
    sigaction(SIGSEGV, nullptr, &now);
    return now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_segv;
  }
  Executor* const outer_;
};

}  // namespace

int Executor::new_call_site() {
  static std::atomic<int> call_sites = 0;
  return call_sites++;
}

// ---- sentences
std::string Executor::thread_name(unsigned rank) const {
  return recorder_.kernel + ", block " + str(first_block_ + rank / block_threads_) + ", thread " +
         str(rank % block_threads_) + ": ";
}
std::string Executor::location() const { return num_threads_ ? thread_name(rank()) : ""; }
std::string Executor::element(Region const& r, std::size_t offset) const {
  Operand const& o = r.operand(offset);
  std::size_t const in = offset - o.offset;
  return o.name + "[" + str(in / std::size_t(o.elem_bytes)) + "] (byte " + str(in) + ")";
}
std::optional<std::string> Executor::unrecorded(void const* address) const {
  Region const* r = memory.find(address);
  if (!r) return std::nullopt;
  return location() + "accesses " + element(*r, r->offset(address)) + " directly, not through a copy operation";
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

void Executor::begin_kernel(LaunchInfo const& launch_info, unsigned cluster, std::size_t smem_bytes,
                            std::vector<Operand> const& smem) {
  launch_info_ = launch_info, block_threads_ = unsigned(launch_info.threads);
  block_smem_bytes_ = cluster == 1 ? smem_bytes : (smem_bytes + 1023) / 1024 * 1024;
  call_site_by_id_.clear();
  call_sites_.clear();
  global.next_kernel();
  sums_.clear();
  griddep_waited_ = false;
  for (Region& r : memory.regions())
    if (std::exchange(r.stored, false))
      for (std::uint8_t& s : r.state) s |= std::uint8_t(s & Region::kWritten ? Region::kWrittenEarlier : 0);
  std::vector<Operand> operands;
  for (unsigned block = 0; block < cluster; ++block)
    for (Operand o : smem) o.offset += block * block_smem_bytes_, operands.push_back(std::move(o));
  shared_ = smem_bytes ? &memory.map(Space::shared, block_smem_bytes_ * cluster, std::move(operands)) : nullptr;
  num_threads_ = block_threads_ * cluster;
}

void Executor::run(std::int64_t first, std::int64_t blocks, LaunchInfo const& launch_info, unsigned cluster,
                   std::size_t smem_bytes, std::vector<Operand> const& smem, Body const& body) {
  begin_kernel(launch_info, cluster, smem_bytes, smem);
  struct Running {  // its destructor also runs when a body throws an exception of its own
    Executor& executor;
    Guard const guard{executor};
    ~Running() {
      executor.memory.unmap_shared();
      executor.shared_ = nullptr, executor.num_threads_ = 0;
    }
  } const running{*this};
  try {
    for (std::int64_t b = first; b < first + blocks; b += cluster) run_cluster(unsigned(b), body);
    if (launch_info_.follows && blocks > 0 && !griddep_waited_)
      recorder_.report(Check::race, recorder_.kernel +
                                        ": may begin before the previous kernel has ended, and no thread calls "
                                        "griddep_wait()");
  } catch (Fault const& f) {
    recorder_.report(f.check, f.what());
  } catch (Deadlock const& d) {
    recorder_.report(Check::deadlock, recorder_.kernel + ", block " + str(first_block_) + ": " + d.what());
  }
  count_incomplete_requests();
}

void Executor::begin_cluster(unsigned first) {
  first_block_ = first;
  std::size_t const warps = (num_threads_ + 31) / 32;
  threads_.assign(num_threads_, {});
  named_barriers_.assign(16 * num_blocks(), nullptr);
  warp_barriers_.assign(warps, nullptr);
  collectives_.assign(warps, nullptr);
  cluster_barrier_ = nullptr;
  block_ends_.assign(num_blocks(), {.threads = block_threads_});
  exited_of_block_.assign(num_blocks(), 0);
  exited_of_warp_.assign(warps, 0);
  griddep_waits_.clear();
  registers_of_warpgroup_.assign((num_threads_ + 127) / 128, 0);
  global.next_block(first);
  ordering_.reset(num_threads_, shared_ ? shared_->bytes : 0);
  mbarriers_.clear();
  is_mbarrier_.clear();
  tma_loads_in_flight_.clear();
  sync_arrivals_ = 0, fma_at_last_load_.reset();
  if (shared_) std::memset(shared_->real, 0xCD, shared_->bytes);
}

void Executor::run_cluster(unsigned first, Body const& body) {
  begin_cluster(first);
  fibers_.run(
      num_threads_,
      [&](unsigned rank) {
        unsigned const block = rank / block_threads_;
        body(first + block, rank % block_threads_, shared_ ? shared_->seen + block * block_smem_bytes_ : nullptr);
        thread_exits();
        emit(Happens::end);
      },
      [&] { return complete_tma_load(); });
  check_end_of_cluster();
  count_incomplete_requests();
}

bool Executor::complete_tma_load() {
  if (tma_loads_in_flight_.empty()) return false;
  auto const complete = std::move(tma_loads_in_flight_.front());
  tma_loads_in_flight_.pop_front();
  complete();
  return true;
}

void Executor::check_end_of_cluster() {
  if (!tma_loads_in_flight_.empty())
    recorder_.report(Check::misuse,
                     recorder_.kernel + ", block " + str(first_block_) + ": ends with a TMA load in flight");
  check_registers();
  if (shared_)
    std::erase_if(sums_, [&](auto const& s) {
      return s.first - shared_->real < std::ptrdiff_t(shared_->mapped) && s.first >= shared_->real;
    });
  for (unsigned t = 0; t < num_threads_; ++t) {
    Thread const& x = threads_[t];
    if (!x.cp_pending.empty() || !x.cp_groups.empty())
      recorder_.report(Check::misuse, thread_name(t) + "ends with a cp.async that it did not wait for");
    if (!x.wgmma.pending.empty() || !x.wgmma.groups.empty())
      recorder_.report(Check::misuse, thread_name(t) + "ends with a wgmma that it did not commit and wait for");
    if (!x.store_pending.empty() || !x.store_groups.empty())
      recorder_.report(Check::misuse, thread_name(t) + "ends with a TMA store that it did not wait for");
  }
}

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
  if (q.lanes.active && (q.operand != &operand || q.lanes.bytes != bytes || q.store != store))
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
// Counts the requests that not all lanes of their warp have passed when a block ends.
void Executor::count_incomplete_requests() {
  for (CallSite& call_site : call_sites_) {
    for (Warp& w : call_site.warps) {
      for (std::size_t i = w.done; i < w.requests.size(); ++i)
        if (w.requests[i].lanes.active) count_request(call_site, w.requests[i]);
      w.first = w.done = 0;
      w.requests.clear();
    }
    std::fill(call_site.passes.begin(), call_site.passes.end(), 0);
  }
}

}  // namespace inlay::replay
