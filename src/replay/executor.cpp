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
  warp_collectives_.assign(warps, nullptr);
  warpgroup_collectives_.assign(num_blocks() * warpgroups_of_block(), nullptr);
  cluster_barrier_ = nullptr;
  block_ends_.assign(num_blocks(), {.threads = block_threads_});
  exited_of_block_.assign(num_blocks(), 0);
  exited_of_warp_.assign(warps, 0);
  griddep_waits_.clear();
  registers_of_warpgroup_.assign(num_blocks() * warpgroups_of_block(), 0);
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
  if (launch_info_.follows)
    for (unsigned block = 0; block < num_blocks(); ++block)
      if (std::none_of(griddep_waits_.begin(), griddep_waits_.end(),
                       [&](Event const& e) { return e.thread / block_threads_ == block; }))
        recorder_.report(Check::race, recorder_.kernel + ", block " + str(first_block_ + block) +
                                          ": ends without griddep_wait(): the next kernel may begin before the "
                                          "previous one has ended");
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

}  // namespace inlay::replay
