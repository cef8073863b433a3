// How threads wait for each other: barriers, flags, mbarriers.
#include <inlay/replay/executor.h>

#include <cstring>
#include <string_view>

namespace inlay::replay {
// ---- barriers
void Executor::sync(std::source_location at) {
  tell(Happens::wait);
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
  tell(Happens::wait);
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
  std::string const how = workspace.acquire(offset, rank(), ordering_);
  if (!how.empty()) report(Check::race, "acquires " + element(r, offset) + ", " + how);
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
void Executor::flip(Mbarrier& m, std::size_t offset) {
  if (m.pending || m.missing_bytes) return;
  m.pending = m.count;
  ++m.phase;
  m.released = m.arriving;
  m.landed = std::move(m.landing);
  m.landing.clear();
  tell(Happens::phase_ends, offset, 0);
}
void Executor::mbarrier_arrive(void const* address, std::int64_t expected_bytes) {
  Mbarrier& m = mbarrier(address);
  if (!m.pending) fault(Check::misuse, "arrives at an mbarrier that expects nobody any more");
  ordering_.release(rank(), m.arriving);
  m.missing_bytes += expected_bytes;
  --m.pending;
  auto const offset = std::size_t(static_cast<char const*>(address) - shared_->seen);
  tell(Happens::arrive, offset, 0);
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
