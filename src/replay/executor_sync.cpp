// Synchronisation of threads: barriers, warp shuffles and votes, register allocation, griddep_wait, flags and
// mbarriers.
#include <inlay/replay/executor.h>

#include <bit>
#include <cstring>
#include <string_view>

namespace inlay::replay {
// ---- barriers
void Executor::sync(std::source_location at) {
  emit(Happens::wait);
  unsigned const t = rank();
  if (num_blocks() > 1)  // Ordering's epochs count barriers of all its threads, here those of the cluster
    return arrive_and_wait(
        named_barriers_[block_rank() * 16],
        [&] { return BarrierPhase{.threads = block_threads_, .exited = &exited_of_block_[block_rank()]}; },
        [&] { return "the barrier of line " + str(at.line()); });
  if (sync_arrivals_ &&
      (sync_location_.line() != at.line() || sync_location_.file_name() != std::string_view(at.file_name())))
    report(Check::divergence, "is at the barrier of line " + str(at.line()) + ", other threads at that of line " +
                                  str(sync_location_.line()));
  sync_location_ = at;
  ordering_.barrier_arrive(t);
  std::uint64_t const generation = sync_generation_;
  ++sync_arrivals_;
  complete_sync_if_due();
  fibers_.wait_until([&] { return sync_generation_ != generation; },
                     [&] {
                       return "the barrier of line " + str(at.line()) + " (" + str(sync_arrivals_) + " of " +
                              str(num_threads_) + " arrived)";
                     });
  ordering_.barrier_leave(t);
}
// sync() waits for the threads of the block that have not exited.
void Executor::complete_sync_if_due() {
  if (sync_arrivals_ == 0 || sync_arrivals_ + exited_of_block_[0] < num_threads_) return;
  sync_arrivals_ = 0, ++sync_generation_;
  ordering_.barrier_complete();
}

unsigned Executor::num_arrived(BarrierPhase const& phase) const {
  if (phase.arrived_of_warp.empty()) return phase.arrived + (phase.exited ? *phase.exited : 0);
  unsigned threads = 0;
  for (unsigned w = 0; w < phase.arrived_of_warp.size(); ++w)
    if (phase.arrived_of_warp[w] && phase.arrived_of_warp[w] + exited_of_warp_[w] == lanes_of(w)) threads += 32;
  return threads;
}
void Executor::complete_if_due(std::shared_ptr<BarrierPhase>& current) const {
  if (!current || num_arrived(*current) < current->threads) return;
  current->complete = true, current.reset();
}
// Arrives at a barrier and waits until its phase is complete. The barrier orders the threads of the phase only.
// `current` is the phase that is not complete; if there is none, new_phase() makes it. what() names the barrier.
template <class NewPhase, class What>
void Executor::arrive_and_wait(std::shared_ptr<BarrierPhase>& current, NewPhase const& new_phase, What const& what) {
  emit(Happens::wait);
  if (!current) current = std::make_shared<BarrierPhase>(new_phase());
  std::shared_ptr<BarrierPhase> const phase =
      current;  // other threads may begin the next phase before this one runs again
  ordering_.release(rank(), phase->clock);
  ++phase->arrived;
  if (!phase->arrived_of_warp.empty()) ++phase->arrived_of_warp[rank() / 32];
  complete_if_due(current);
  fibers_.wait_until([&] { return phase->complete; },
                     [&] {
                       unsigned const arrived = phase->arrived_of_warp.empty() ? phase->arrived : num_arrived(*phase);
                       return what() + " (" + str(arrived) + " of " + str(phase->threads) + " arrived)";
                     });
  ordering_.acquire(rank(), phase->clock);
}
template <class What>
void Executor::check_thread_count(std::shared_ptr<BarrierPhase> const& current, unsigned threads, What const& what) {
  if (current && current->threads != threads)
    fault(Check::misuse, "expects " + str(threads) + " threads at " + what() + ", where other threads expect " +
                             str(current->threads));
}
// The hardware counts warps: a warp arrives as 32 threads, whatever its number of lanes. Warps that have exited do not
// arrive.
void Executor::sync(int id, unsigned threads, std::source_location at) {
  auto& current = named_barriers_[block_rank() * 16 + unsigned(id)];
  auto const what = [&] { return "barrier " + std::to_string(id) + " of line " + str(at.line()); };
  auto const new_phase = [&] {
    return BarrierPhase{.threads = threads, .arrived_of_warp = std::vector<unsigned>(warp_barriers_.size())};
  };
  check_thread_count(current, threads, what);
  arrive_and_wait(current, new_phase, what);
}
void Executor::sync_cluster(unsigned threads, std::source_location at) {
  auto const what = [&] { return "the cluster's barrier of line " + str(at.line()); };
  threads *= num_blocks();
  check_thread_count(cluster_barrier_, threads, what);
  arrive_and_wait(
      cluster_barrier_, [&] { return BarrierPhase{.threads = threads}; }, what);
}
void Executor::syncwarp(std::source_location at) {
  unsigned const warp = rank() / 32;
  auto const& current = warp_barriers_[warp];
  if ((current ? current->arrived : 0) + 1 + exited_of_warp_[warp] == lanes_of(warp)) count_incomplete_requests(warp);
  arrive_and_wait(
      warp_barriers_[warp], [&] { return BarrierPhase{.threads = lanes_of(warp), .exited = &exited_of_warp_[warp]}; },
      [&] { return "the warp's barrier of line " + str(at.line()); });
}

// The running thread exits. That may complete barriers that count exited threads. The shared memory of a block of a
// cluster is gone when the block's last thread exits: accesses by other blocks must have come before.
void Executor::thread_exits() {
  unsigned const block = block_rank(), warp = rank() / 32;
  ++exited_of_block_[block], ++exited_of_warp_[warp];
  ordering_.leave(rank());
  bool const has_cluster = num_blocks() > 1;
  if (!has_cluster) complete_sync_if_due();
  for (unsigned id = 0; id < 16; ++id) complete_if_due(named_barriers_[block * 16 + id]);
  complete_if_due(warp_barriers_[warp]);
  complete_if_due(warp_collectives_[warp], exited_of_warp_[warp] + 32 - lanes_of(warp));
  if (!shared_ || !has_cluster) return;
  BarrierPhase& end = block_ends_[block];
  ordering_.release(rank(), end.clock);
  if (++end.arrived < end.threads) return;
  end.complete = true;
  if (std::string const how = ordering_.end(block * block_smem_bytes_, block_smem_bytes_, end.clock); !how.empty())
    report(Check::race, "is the last thread of its block, whose shared memory ends with it, " + how);
}
void const* Executor::map_shared_rank(void const* p, unsigned rank_of_block) {
  if (rank_of_block >= num_blocks())
    fault(Check::misuse, "maps shared memory of block " + str(rank_of_block) + " of a cluster of " + str(num_blocks()));
  auto const blocks = std::ptrdiff_t(rank_of_block) - std::ptrdiff_t(block_rank());
  return static_cast<char const*>(p) + blocks * std::ptrdiff_t(block_smem_bytes_);
}

// ---- instructions that the threads of a warp or warpgroup execute together
void Executor::complete_if_due(std::shared_ptr<Collective>& current, unsigned exited) {
  if (!current || current->arrived + (current->needs_all ? 0 : exited) < current->threads) return;
  std::shared_ptr<Collective> const done = std::move(current);
  current.reset();
  done->execute(done->f, done->operands);
  done->complete = true;
}
void Executor::collective(char const* what, std::source_location at, unsigned threads, bool needs_all, void* operands,
                          void (*execute)(void const*, std::vector<void*> const&), void const* f) {
  emit(Happens::wait);
  unsigned const first = first_of(threads);
  auto const name = [](char const* instruction, std::source_location const& where) {
    return instruction + (where.line() ? " of line " + str(where.line()) : "");
  };
  auto& current = threads == 32 ? warp_collectives_[first / 32] : warpgroup_collectives_[warpgroup()];
  if (current && (current->execute != execute || std::string_view(current->what) != what ||
                  current->at.line() != at.line() || current->threads != threads))
    fault(Check::divergence, "is at " + name(what, at) + ", other " +
                                 (threads == 32 ? "lanes of its warp" : "threads") + " at " +
                                 name(current->what, current->at));
  if (!current)
    current =
        std::make_shared<Collective>(Collective{what, at, threads, needs_all, execute, std::vector<void*>(threads)});
  std::shared_ptr<Collective> const x = current;
  x->operands[rank() - first] = operands, x->f = f, ++x->arrived;
  unsigned const present = std::min(threads, block_threads_ - first % block_threads_);
  complete_if_due(current, threads - present + (threads == 32 ? exited_of_warp_[first / 32] : 0));
  fibers_.wait_until([&] { return x->complete; },
                     [&] {
                       return name(what, at) + " (" + str(x->arrived) + " of " + str(needs_all ? threads : present) +
                              (threads == 32 ? " lanes there)" : " threads there)");
                     });
}
std::uint64_t Executor::shuffle(char const* what, std::uint64_t value, unsigned from, std::source_location at) {
  struct Lane {
    std::uint64_t value, result;
    unsigned from;
    bool has_source;
  } lane{value, 0, from, false};
  collective(what, at, 32, false, lane, [this](std::span<Lane* const> lanes) {
    ++recorder_.shuffles;
    for (Lane* x : lanes)
      if (x && lanes[x->from]) x->has_source = true, x->result = lanes[x->from]->value;
  });
  if (!lane.has_source)
    report(Check::misuse, std::string("reads by ") + what + " of line " + str(at.line()) + " the value of lane " +
                              str(from) + ", which does not take part");
  return lane.result;
}
std::uint32_t Executor::vote(char const* what, bool value, std::source_location at) {
  struct Lane {
    bool value;
    std::uint32_t ballot, present;
  } lane{value, 0, 0};
  collective(what, at, 32, false, lane, [this](std::span<Lane* const> lanes) {
    ++recorder_.votes;
    std::uint32_t ballot = 0, present = 0;
    for (unsigned i = 0; i < 32; ++i)
      if (lanes[i]) present |= 1u << i, ballot |= std::uint32_t(lanes[i]->value) << i;
    for (Lane* x : lanes)
      if (x) x->ballot = ballot, x->present = present;
  });
  std::string_view const kind = what;
  return kind == "all" ? lane.ballot == lane.present : kind == "any" ? lane.ballot != 0 : lane.ballot;
}

// ---- registers
void Executor::set_registers(int count) { registers_of_warpgroup_[warpgroup()] = count; }
// setmaxnreg redistributes the registers that a block is launched with. The launch bounds give a block at most its
// share of the 65536 registers of an SM.
void Executor::check_registers() {
  constexpr int kRegistersOfSm = 65536;
  int const warpgroups = int(warpgroups_of_block()), blocks = std::max(launch_info_.min_blocks, 1);
  int const launched = std::min(kRegistersOfSm / (warpgroups * 128 * blocks) / 8 * 8, 256);  // per thread
  for (std::size_t first = 0; first < registers_of_warpgroup_.size(); first += std::size_t(warpgroups)) {
    int sum = 0;
    bool is_set = false;
    std::string each;
    for (std::size_t g = first; g < std::min(first + std::size_t(warpgroups), registers_of_warpgroup_.size()); ++g) {
      int const n = registers_of_warpgroup_[g] ? registers_of_warpgroup_[g] : launched;
      is_set |= registers_of_warpgroup_[g] != 0, sum += n, each += (each.empty() ? "" : ", ") + std::to_string(n);
    }
    if (is_set && sum > launched * warpgroups)
      recorder_.report(Check::misuse, recorder_.kernel + ", block " + str(first_block_) + ": its warpgroups request " +
                                          each + " registers per thread, " + std::to_string(sum * 128) +
                                          " in total; a block of " + str(block_threads_) + " threads has " +
                                          std::to_string(launched * warpgroups * 128));
  }
}

// ---- programmatic dependent launch
void Executor::griddep_wait() {
  thread().may_access_global = true;
  griddep_waits_.push_back(ordering_.now(rank()));
}

// ---- flags
std::size_t Executor::flag_offset(void const* address, char const* verb) {
  Region* const r = memory.find(reinterpret_cast<std::uint64_t>(address));
  if (!r || !r->workspace) fault(Check::misuse, std::string(verb) + "a flag that is not a word of the workspace");
  std::size_t const offset = r->offset(address);
  if (offset % GlobalOrdering::kWord || offset + GlobalOrdering::kWord > r->bytes)
    fault(Check::bounds, verb + element(*r, offset) + ", which is not a word of the workspace");
  if (launch_info_.follows) check_griddep_wait(*r, offset, verb);
  return offset;
}
void Executor::release(void const* address, std::uint32_t value) {
  std::size_t const offset = flag_offset(address, "releases ");
  Region const& r = *memory.find(address);
  std::uint32_t old;
  std::memcpy(&old, r.real + offset, sizeof old);
  if (old == value)
    report(Check::race, "releases " + element(r, offset) + " with the value that it already has, " + str(value) +
                            ": a block that waits for it may have gone on before");
  std::memcpy(r.real + offset, &value, sizeof value);
  global.release(*r.history, offset, rank(), ordering_);
  banks::Request request{{}, 1, sizeof value};
  request.address[0] = reinterpret_cast<std::uint64_t>(address);
  recorder_.site(r.operand(offset).name, Space::global, true, Mechanism::plain, sizeof value).count(request);
}
void Executor::acquire(void const* address, std::uint32_t value) {
  std::size_t const offset = flag_offset(address, "acquires ");
  Region const& r = *memory.find(address);
  auto const current_value = [&] {
    std::uint32_t word;
    std::memcpy(&word, r.real + offset, sizeof word);
    return word;
  };
  emit(Happens::wait);
  fibers_.wait_until([&] { return current_value() == value; },
                     [&] {
                       return "the flag " + element(r, offset) + " to become " + str(value) + " (it is " +
                              str(current_value()) + "; all blocks of lower index have finished)";
                     });
  std::string const how = global.acquire(*r.history, offset, rank(), ordering_);
  if (!how.empty()) report(Check::race, "acquires " + element(r, offset) + ", " + how);
}

// ---- mbarriers: 8 bytes of shared memory each. Their state is kept in mbarriers_ until the block ends
std::size_t Executor::mbarrier_offset(void const* address, char const* verb) {
  if (!shared_ || shared_offset(address) + 8 > shared_->bytes)
    fault(Check::bounds, std::string(verb) + "outside shared memory");
  std::size_t const offset = shared_offset(address);
  if (offset % 8) fault(Check::alignment, verb + element(*shared_, offset) + ", no multiple of 8 bytes");
  return offset;
}
Executor::Mbarrier& Executor::mbarrier(void const* address) {
  std::size_t const offset = mbarrier_offset(address, "uses an mbarrier at ");
  auto it = mbarriers_.find(offset);
  if (it == mbarriers_.end()) fault(Check::misuse, "uses an mbarrier that no thread has initialised");
  if (!ordering_.before(it->second.init, rank()))
    report(Check::race, "uses the mbarrier " + element(*shared_, offset) + ", initialised by thread " +
                            str(it->second.init.thread) + " since the last barrier or wait");
  return it->second;
}
void Executor::mbarrier_init(void const* address, unsigned count) {
  std::size_t const offset = mbarrier_offset(address, "initialises an mbarrier at ");
  if (auto const old = mbarriers_.find(offset); old != mbarriers_.end())
    report(Check::misuse, "initialises the mbarrier " + element(*shared_, offset) +
                              " again, which is in use since thread " + str(old->second.init.thread) +
                              " initialised it");
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
    if (m.init.thread == rank() && !m.fence) m.fence = ordering_.now(rank());
}
void Executor::complete_phase(Mbarrier& m, std::size_t offset) {
  m.pending = m.count;
  ++m.phase;
  m.released = m.arriving;
  m.visible_loads = std::move(m.completed_loads);
  m.completed_loads.clear();
  emit(Happens::phase_ends, offset, 0);
}
void Executor::complete_phase_if_due(Mbarrier& m, std::size_t offset) {
  if (!m.pending && !m.pending_bytes) complete_phase(m, offset);
}
void Executor::mbarrier_arrive(void const* address, std::int64_t expected_bytes) {
  constexpr std::int64_t kMaxTxCount = (1 << 20) - 1;
  Mbarrier& m = mbarrier(address);
  std::size_t const offset = shared_offset(address);
  if (!m.pending) fault(Check::misuse, "arrives at an mbarrier whose phase has no arrivals left");
  ordering_.release(rank(), m.arriving);
  m.pending_bytes += expected_bytes;
  if (m.pending_bytes > kMaxTxCount)
    fault(Check::misuse, "expects " + std::to_string(m.pending_bytes) + " bytes at the mbarrier " +
                             element(*shared_, offset) + ", whose limit is " + std::to_string(kMaxTxCount));
  --m.pending;
  emit(Happens::arrive, offset, 0);
  if (!m.pending && m.pending_bytes < 0)
    report(Check::misuse, "is the last to arrive at the mbarrier " + element(*shared_, offset) + ", where " +
                              std::to_string(-m.pending_bytes) + " bytes more have arrived than are expected");
  complete_phase_if_due(m, offset);
}
void Executor::mbarrier_arrive_at(void const* address, unsigned block_rank) {
  Executor::mbarrier_arrive(Executor::map_shared_rank(address, block_rank), 0);
}
// Bytes count as they arrive. If a box has more bytes than the phase still expects, the phase completes before the box
// has arrived.
void Executor::complete_box(Mbarrier& m, std::size_t offset, std::int64_t bytes, int operation, unsigned issuer) {
  bool const completes_early = !m.pending && m.pending_bytes > 0 && m.pending_bytes < bytes;
  if (completes_early)
    recorder_.report(Check::misuse, thread_name(issuer) + "its box of " + std::to_string(bytes) +
                                        " bytes arrives where the mbarrier " + element(*shared_, offset) + " expects " +
                                        std::to_string(m.pending_bytes) + ": the phase ends in the middle of the box");
  m.pending_bytes -= bytes;
  if (completes_early) complete_phase(m, offset);
  m.completed_loads.push_back(operation);
  emit(Happens::box_landed, offset, std::size_t(bytes));
  complete_phase_if_due(m, offset);
}
void Executor::mbarrier_wait(void const* address, unsigned parity) {
  Mbarrier& m = mbarrier(address);
  emit(Happens::wait);
  fibers_.wait_until([&] { return (m.phase & 1) != parity; },
                     [&] {
                       return "the mbarrier " + element(*shared_, shared_offset(address)) + ", parity " + str(parity) +
                              " (" + str(m.pending) + " arrivals and " + std::to_string(m.pending_bytes) +
                              " bytes missing)";
                     });
  ordering_.acquire(rank(), m.released);
  for (int operation : m.visible_loads) ordering_.observe(operation, rank());
}

}  // namespace inlay::replay
