// How threads wait for each other: barriers, flags, mbarriers.
#include <inlay/replay/executor.h>

#include <bit>
#include <cstring>
#include <string_view>

namespace inlay::replay {
// ---- barriers
void Executor::sync(std::source_location at) {
  tell(Happens::wait);
  unsigned const t = rank();
  if (count_ != block_threads_)  // the epochs below are those of all threads
    return meet(
        named_[member() * 16], [&] { return Round{.threads = block_threads_, .left = &left_of_block_[member()]}; },
        [&] { return "the barrier of line " + str(at.line()); });
  if (arrived_ && (barrier_at_.line() != at.line() || barrier_at_.file_name() != std::string_view(at.file_name())))
    report(Check::divergence, "is at the barrier of line " + str(at.line()) + ", other threads at that of line " +
                                  str(barrier_at_.line()));
  barrier_at_ = at;
  ordering_.barrier_arrive(t);
  std::uint64_t const generation = generation_;
  ++arrived_;
  settle();
  fibers_.wait_until([&] { return generation_ != generation; },
                     [&] {
                       return "the barrier of line " + str(at.line()) + " (" + str(arrived_) + " of " + str(count_) +
                              " arrived)";
                     });
  ordering_.barrier_leave(t);
}
// The barrier of the whole block waits for those who are still there.
void Executor::settle() {
  if (arrived_ == 0 || arrived_ + left_of_block_[0] < count_) return;
  arrived_ = 0, ++generation_;
  ordering_.barrier_complete();
}

unsigned Executor::counted(Round const& round) const {
  if (round.of_warp.empty()) return round.arrived + (round.left ? *round.left : 0);
  unsigned threads = 0;
  for (unsigned w = 0; w < round.of_warp.size(); ++w)
    if (round.of_warp[w] && round.of_warp[w] + left_of_warp_[w] == lanes_of(w)) threads += 32;
  return threads;
}
void Executor::settle(std::shared_ptr<Round>& open) const {
  if (!open || counted(*open) < open->threads) return;
  open->over = true, open.reset();
}
// A barrier of some of the threads: it orders those alone. `open` is its round that is not yet complete, fresh() another.
template <class Fresh, class What>
void Executor::meet(std::shared_ptr<Round>& open, Fresh const& fresh, What const& what) {
  tell(Happens::wait);
  if (!open) open = std::make_shared<Round>(fresh());
  std::shared_ptr<Round> const round = open;  // the next may begin before this thread goes on
  ordering_.release(rank(), round->clock);
  ++round->arrived;
  if (!round->of_warp.empty()) ++round->of_warp[rank() / 32];
  settle(open);
  fibers_.wait_until([&] { return round->over; },
                     [&] {
                       return what() + " (" + str(round->of_warp.empty() ? round->arrived : counted(*round)) + " of " +
                              str(round->threads) + " arrived)";
                     });
  ordering_.acquire(rank(), round->clock);
}
template <class What>
void Executor::check_threads(std::shared_ptr<Round> const& open, unsigned threads, What const& what) {
  if (open && open->threads != threads)
    fault(Check::misuse,
          "expects " + str(threads) + " threads at " + what() + ", where others expect " + str(open->threads));
}
// As the hardware counts: warps, 32 threads each, however many lanes they have; those that have ended do not arrive.
void Executor::sync(int id, unsigned threads, std::source_location at) {
  auto& open = named_[member() * 16 + unsigned(id)];
  auto const what = [&] { return "barrier " + std::to_string(id) + " of line " + str(at.line()); };
  check_threads(open, threads, what);
  meet(
      open, [&] { return Round{.threads = threads, .of_warp = std::vector<unsigned>(warps_.size())}; }, what);
}
void Executor::sync_cluster(unsigned threads, std::source_location at) {
  auto const what = [&] { return "the cluster's barrier of line " + str(at.line()); };
  threads *= count_ / block_threads_;
  check_threads(cluster_, threads, what);
  meet(
      cluster_, [&] { return Round{.threads = threads}; }, what);
}
void Executor::syncwarp(std::source_location at) {
  unsigned const warp = rank() / 32;
  meet(
      warps_[warp], [&] { return Round{.threads = lanes_of(warp), .left = &left_of_warp_[warp]}; },
      [&] { return "the warp's barrier of line " + str(at.line()); });
}

// A thread ends: barriers that count those who are there may be complete. A block's shared memory goes away with its
// last thread.
void Executor::leave() {
  unsigned const block = member(), warp = rank() / 32;
  ++left_of_block_[block], ++left_of_warp_[warp];
  ordering_.leave(rank());
  if (count_ == block_threads_) settle();
  for (unsigned id = 0; id < 16; ++id) settle(named_[block * 16 + id]);
  settle(warps_[warp]);
  settle(exchanges_[warp]);
  if (!shared_ || count_ == block_threads_) return;
  Round& round = ends_[block];
  ordering_.release(rank(), round.clock);
  if (++round.arrived < round.threads) return;
  round.over = true;
  if (std::string const how = ordering_.end(block * block_smem_, block_smem_, round.clock); !how.empty())
    report(Check::race, "is the last of its block, whose shared memory goes away, " + how);
}
void const* Executor::peer(void const* p, unsigned member_there) {
  if (unsigned const blocks = count_ / block_threads_; member_there >= blocks)
    fault(Check::misuse, "asks for block " + str(member_there) + " of a cluster of " + str(blocks));
  return static_cast<char const*>(p) +
         (std::ptrdiff_t(member_there) - std::ptrdiff_t(member())) * std::ptrdiff_t(block_smem_);
}

// ---- the lanes of a warp among themselves
void Executor::settle(std::shared_ptr<Exchange>& open) {
  unsigned const warp = rank() / 32;
  if (!open || unsigned(std::popcount(open->lanes)) + left_of_warp_[warp] < lanes_of(warp)) return;
  open->over = true, open.reset();
}
std::shared_ptr<Executor::Exchange const> Executor::exchange(char const* what, std::uint64_t value,
                                                             std::source_location at) {
  tell(Happens::wait);
  auto& open = exchanges_[rank() / 32];
  if (!open) open = std::make_shared<Exchange>(Exchange{what, at});
  std::shared_ptr<Exchange> const x = open;
  if (std::string_view(x->what) != what || x->at.line() != at.line())
    report(Check::divergence, std::string("is at ") + what + " of line " + str(at.line()) +
                                  ", other lanes of its warp at " + x->what + " of line " + str(x->at.line()));
  x->value[rank() % 32] = value;
  x->lanes |= 1u << rank() % 32;
  settle(open);
  fibers_.wait_until([&] { return x->over; },
                     [&] {
                       return std::string(what) + " of line " + str(at.line()) + " (" +
                              std::to_string(std::popcount(x->lanes)) + " of " + str(lanes_of(rank() / 32)) +
                              " lanes there)";
                     });
  return x;
}
std::uint64_t Executor::shuffle(char const* what, std::uint64_t value, unsigned from, std::source_location at) {
  auto const x = exchange(what, value, at);
  if (std::countr_zero(x->lanes) == int(rank() % 32)) ++recorder_.shuffles;
  if (!(x->lanes >> from & 1))
    report(Check::misuse, std::string("takes by ") + what + " of line " + str(at.line()) + " what lane " + str(from) +
                              " has, which is not there");
  return x->value[from];
}
std::uint32_t Executor::vote(char const* what, bool value, std::source_location at) {
  auto const x = exchange(what, value, at);
  if (std::countr_zero(x->lanes) == int(rank() % 32)) ++recorder_.votes;
  std::uint32_t lanes = 0;
  for (unsigned i = 0; i < 32; ++i) lanes |= std::uint32_t(x->value[i] & 1) << i;
  return std::string_view(what) == "all" ? lanes == x->lanes : std::string_view(what) == "any" ? lanes != 0 : lanes;
}

// ---- registers
void Executor::registers(int count) { registers_[rank() / 128] = count; }
// A block has the registers that it was launched with, at most those that the launch's bounds leave of the 65536.
void Executor::check_registers() {
  constexpr int kFile = 65536;
  int const warpgroups = int(block_threads_ + 127) / 128, blocks = std::max(facts_.min_blocks, 1);
  int const launched = std::min(kFile / (warpgroups * 128 * blocks) / 8 * 8, 256);
  for (std::size_t first = 0; first < registers_.size(); first += std::size_t(warpgroups)) {
    int all = 0;
    bool set = false;
    std::string each;
    for (std::size_t g = first; g < std::min(first + std::size_t(warpgroups), registers_.size()); ++g) {
      int const n = registers_[g] ? registers_[g] : launched;
      set |= registers_[g] != 0, all += n, each += (each.empty() ? "" : ", ") + std::to_string(n);
    }
    if (set && all > launched * warpgroups)
      recorder_.report(Check::misuse, recorder_.kernel + ", block " + str(block_) + ": its warpgroups want " + each +
                                          " registers a thread, " + std::to_string(all * 128) +
                                          " in all, where a block of " + str(block_threads_) + " threads has " +
                                          std::to_string(launched * warpgroups * 128));
  }
}

// ---- the kernel before
void Executor::griddep_wait() {
  waited_ = thread().may_touch = true;
  previous_ended_.push_back(ordering_.now(rank()));
}

// ---- flags
std::size_t Executor::flag(void const* address, char const* verb) {
  Region* const r = memory.find(reinterpret_cast<std::uint64_t>(address));
  if (!r || !r->workspace) fault(Check::misuse, std::string(verb) + "a flag that is no word of the workspace");
  auto const offset = std::size_t(static_cast<char const*>(address) - r->seen);
  if (offset % GlobalOrdering::kWord || offset + GlobalOrdering::kWord > r->bytes)
    fault(Check::bounds, verb + element(*r, offset) + ", which is no word of the workspace");
  if (facts_.follows) check_after_previous(*r, offset, verb);
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
  global.release(*r.places, offset, rank(), ordering_);
  banks::Request request{{}, 1, sizeof value};
  request.address[0] = reinterpret_cast<std::uint64_t>(address);
  recorder_.site(r.operand(offset).name, Space::global, true, Mechanism::plain, sizeof value).count(request);
}
void Executor::acquire(void const* address, std::uint32_t value) {
  std::size_t const offset = flag(address, "acquires ");
  Region const& r = *memory.find(address);
  auto const now = [&] {
    std::uint32_t word;
    std::memcpy(&word, r.real + offset, sizeof word);
    return word;
  };
  tell(Happens::wait);
  fibers_.wait_until([&] { return now() == value; },
                     [&] {
                       return "the flag " + element(r, offset) + " to become " + str(value) + " (it is " + str(now()) +
                              "; the blocks below have finished)";
                     });
  std::string const how = global.acquire(*r.places, offset, rank(), ordering_);
  if (!how.empty()) report(Check::race, "acquires " + element(r, offset) + ", " + how);
}

// ---- mbarriers: 8 bytes of shared memory whose state is kept here, by address; they live until their block ends
std::size_t Executor::mbarrier_place(void const* address, char const* verb) {
  auto const offset = std::size_t(static_cast<char const*>(address) - shared_->seen);
  if (!shared_ || offset + 8 > shared_->bytes) fault(Check::bounds, std::string(verb) + "outside shared memory");
  if (offset % 8) fault(Check::alignment, verb + element(*shared_, offset) + ", no multiple of 8 bytes");
  return offset;
}
Executor::Mbarrier& Executor::mbarrier(void const* address) {
  std::size_t const offset = mbarrier_place(address, "uses an mbarrier at ");
  auto it = mbarriers_.find(offset);
  if (it == mbarriers_.end()) fault(Check::misuse, "uses an mbarrier that nobody has initialised");
  if (!ordering_.before(it->second.init, rank()))
    report(Check::race, "uses the mbarrier " + element(*shared_, offset) + ", initialised by thread " +
                            str(it->second.init.thread) + " since the last barrier or wait");
  return it->second;
}
void Executor::mbarrier_init(void const* address, unsigned count) {
  std::size_t const offset = mbarrier_place(address, "initialises an mbarrier at ");
  if (auto const old = mbarriers_.find(offset); old != mbarriers_.end())
    report(Check::misuse, "initialises the mbarrier " + element(*shared_, offset) +
                              " once more, which is in use since thread " + str(old->second.init.thread) + " has");
  else if (std::string const how = ordering_.would_write(offset, 8, rank()); !how.empty())
    report(Check::race, "initialises the mbarrier " + element(*shared_, offset) + ", " + how);
  is_mbarrier_.resize(shared_->bytes / 8 + 1);
  is_mbarrier_[offset / 8] = true;
  Mbarrier m;
  m.count = m.pending = count;
  m.init = ordering_.now(rank());
  mbarriers_[offset] = std::move(m);
}
void Executor::fence_barrier_init() {
  for (auto& [offset, m] : mbarriers_)
    if (m.init.thread == rank() && !m.fenced) m.fenced = ordering_.now(rank());
}
void Executor::end_phase(Mbarrier& m, std::size_t offset) {
  m.pending = m.count;
  ++m.phase;
  m.released = m.arriving;
  m.landed = std::move(m.landing);
  m.landing.clear();
  tell(Happens::phase_ends, offset, 0);
}
void Executor::flip(Mbarrier& m, std::size_t offset) {
  if (!m.pending && !m.missing_bytes) end_phase(m, offset);
}
void Executor::mbarrier_arrive(void const* address, std::int64_t expected_bytes) {
  constexpr std::int64_t kMost = (1 << 20) - 1;
  Mbarrier& m = mbarrier(address);
  auto const offset = std::size_t(static_cast<char const*>(address) - shared_->seen);
  if (!m.pending) fault(Check::misuse, "arrives at an mbarrier that expects nobody any more");
  ordering_.release(rank(), m.arriving);
  m.missing_bytes += expected_bytes;
  if (m.missing_bytes > kMost)
    fault(Check::misuse, "expects " + std::to_string(m.missing_bytes) + " bytes at the mbarrier " +
                             element(*shared_, offset) + ", which counts to " + std::to_string(kMost));
  --m.pending;
  tell(Happens::arrive, offset, 0);
  if (!m.pending && m.missing_bytes < 0)
    report(Check::misuse, "is the last to arrive at the mbarrier " + element(*shared_, offset) + ", where " +
                              std::to_string(-m.missing_bytes) + " bytes more have landed than are expected");
  flip(m, offset);
}
// Bytes count as they land, in any pieces: where fewer are expected than a box has, the phase ends in its middle.
void Executor::box_lands(Mbarrier& m, std::size_t offset, std::int64_t bytes, int operation, unsigned issuer) {
  bool const too_few = !m.pending && m.missing_bytes > 0 && m.missing_bytes < bytes;
  if (too_few)
    recorder_.report(Check::misuse, who(issuer) + "its box of " + std::to_string(bytes) +
                                        " bytes lands where the mbarrier " + element(*shared_, offset) + " expects " +
                                        std::to_string(m.missing_bytes) + ": the phase ends in the middle of the box");
  m.missing_bytes -= bytes;
  if (too_few) end_phase(m, offset);
  m.landing.push_back(operation);
  tell(Happens::box_landed, offset, std::size_t(bytes));
  flip(m, offset);
}
void Executor::mbarrier_wait(void const* address, unsigned parity) {
  Mbarrier& m = mbarrier(address);
  tell(Happens::wait);
  fibers_.wait_until([&] { return (m.phase & 1) != parity; },
                     [&] {
                       auto const offset = std::size_t(static_cast<char const*>(address) - shared_->seen);
                       return "the mbarrier " + element(*shared_, offset) + ", parity " + str(parity) + " (" +
                              str(m.pending) + " arrivals and " + std::to_string(m.missing_bytes) + " bytes missing)";
                     });
  ordering_.acquire(rank(), m.released);
  for (int operation : m.landed) ordering_.observe(operation, rank());
}

}  // namespace inlay::replay
